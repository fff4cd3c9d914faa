"""The embedded gate against a cross-encoder of six MiniLM layers in float32, in one run.

The cross-encoder has random weights, since its speed does not depend on them, and the embedded
tokenizer. Both read the same twenty passages of about 160 tokens.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import laya_mini
from laya_signals.decide.base import Question
from laya_signals.decide.mini import MiniDecision

from laya_eval.bench.peers import SENTENCE_TRANSFORMERS
from laya_eval.bench.row import Row
from laya_eval.bench.setup import THREADS, Setup
from laya_eval.bench.timing import median_ms
from laya_eval.errors import MissingPeerError

QUERY = "which flour goes into the bread that the school bakes on Tuesdays"
SENTENCE = "The mill grinds spelt, rye and a little buckwheat when the tide has turned the wheel. "
RELEVANCE: Question = {
    "id": "relevance",
    "type": "noul",
    "instructions": "The document is relevant to the query.",
}


def measure(setup: Setup) -> Iterator[Row]:
    """One question about twenty passages, two threads each."""
    count = setup.of(20, 20, 2)
    texts = passages(count, 8)
    model = MiniDecision(threads=THREADS)
    states = [{"query": QUERY, "document": text} for text in texts]
    rounds = setup.of(7, 3, 1)
    ours = median_ms(lambda: model.predict_batch(states, [RELEVANCE]), rounds)
    task = f"judge {count} passages of about 160 tokens"
    with tempfile.TemporaryDirectory() as folder:
        try:
            peer = cross_encoder(Path(folder), THREADS)
        except MissingPeerError as error:
            yield SENTENCE_TRANSFORMERS.missing(task, "ms", ours, error)
            return
        pairs = [(QUERY, text) for text in texts]
        theirs = median_ms(lambda: peer.predict(pairs, show_progress_bar=False), rounds)
    note = "a cross-encoder of six MiniLM layers, float32"
    yield Row(task, "ms", ours, SENTENCE_TRANSFORMERS.name, theirs, note)


def passages(count: int, sentences: int) -> list[str]:
    """`count` different passages of `sentences` sentences (about 19 tokens each)."""
    return [f"Passage {n}. " + SENTENCE * sentences for n in range(count)]


def cross_encoder(folder: Path, threads: int) -> Any:
    """A BERT of six layers, 384 wide, with one output; raises `MissingPeerError`."""
    library = SENTENCE_TRANSFORMERS.load()
    mini_lm(folder, threads, "BertForSequenceClassification", num_labels=1)
    return library.CrossEncoder(str(folder), device="cpu")


def mini_lm(folder: Path, threads: int, kind: str = "BertModel", **settings: Any) -> None:
    """Write a model of MiniLM's shape with random weights; torch uses `threads` from then on.

    Raises `MissingPeerError`.
    """
    transformers = SENTENCE_TRANSFORMERS.load("transformers")
    SENTENCE_TRANSFORMERS.load("torch").set_num_threads(threads)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(laya_mini.data_folder() / "encoder" / "tokenizer.json"),
        **{f"{name}_token": f"[{name.upper()}]" for name in ("cls", "sep", "pad", "unk", "mask")},
        model_max_length=512,
    )
    tokenizer.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        **settings,
    )
    getattr(transformers, kind)(config).save_pretrained(folder)
