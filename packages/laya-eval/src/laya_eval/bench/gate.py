"""The embedded gate against a cross-encoder of six MiniLM layers in float32, in one run.

Run it with `python -m laya_eval.bench.gate` where torch, transformers and sentence-transformers are
installed. The cross-encoder has random weights, since its speed does not depend on them, and the
embedded tokenizer. Both read the same twenty passages of about 160 tokens.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import laya_mini
from laya_signals.decide.base import Question
from laya_signals.decide.mini import MiniDecision

from laya_eval.bench.packing import median_ms

QUERY = "which flour goes into the bread that the school bakes on Tuesdays"
SENTENCE = "The mill grinds spelt, rye and a little buckwheat when the tide has turned the wheel. "
RELEVANCE: Question = {
    "id": "relevance",
    "type": "noul",
    "instructions": "The document is relevant to the query.",
}


def passages(count: int, sentences: int) -> list[str]:
    """`count` different passages of `sentences` sentences (about 19 tokens each)."""
    return [f"Passage {n}. " + SENTENCE * sentences for n in range(count)]


def cross_encoder(folder: Path, threads: int) -> Any:
    """A BERT of six layers, 384 wide, with one output."""
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.set_num_threads(threads)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(laya_mini.data_folder() / "encoder" / "tokenizer.json"),
        **{f"{name}_token": f"[{name.upper()}]" for name in ("cls", "sep", "pad", "unk", "mask")},
        model_max_length=512,
    )
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return CrossEncoder(str(folder), device="cpu")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--sentences", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    texts = passages(options.candidates, options.sentences)
    model = MiniDecision(threads=options.threads)
    states = [{"query": QUERY, "document": text} for text in texts]
    ours = median_ms(lambda: model.predict_batch(states, [RELEVANCE]), options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        peer = cross_encoder(Path(folder), options.threads)
        pairs = [(QUERY, text) for text in texts]
        theirs = median_ms(lambda: peer.predict(pairs, show_progress_bar=False), options.rounds)
    print(f"gate           {ours:7.1f} ms for {len(texts)} candidates")  # noqa: T201
    print(f"cross-encoder  {theirs:7.1f} ms")  # noqa: T201
    print(f"ratio          {ours / theirs:7.2f}")  # noqa: T201


if __name__ == "__main__":
    main()
