"""Our reranker and NLI gate over real sentence-transformers cross-encoders, made here.

Prints one line of JSON. Runs in the isolated environment; argument: a folder to work in.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from laya_retrieval import Candidate, NliGate, Reranker
from laya_retrieval.errors import GateError
from sentence_transformers import CrossEncoder
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

WORDS = "the annual report covers revenue and tax a recipe for sourdough bread quarterly grew fell"
POOL = [
    Candidate("a", 0.4, "the annual report covers revenue and tax"),
    Candidate("b", 0.9, "a recipe for sourdough bread"),
    Candidate("c", 0.5, "quarterly revenue grew and tax fell"),
]
QUERY = "revenue and tax"


def make(folder: Path, labels: int) -> str:
    """A random BERT with `labels` outputs, saved as sentence-transformers loads it."""
    folder.mkdir(parents=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(WORDS.split())]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        num_labels=labels,
        initializer_range=0.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


def main() -> None:
    """Compare with the cross-encoder's own numbers."""
    work = Path(sys.argv[1])
    pairs = [(QUERY, candidate.text) for candidate in POOL]
    single, three = make(work / "single", 1), make(work / "nli", 3)
    expected = CrossEncoder(single).predict(pairs)
    reranked = Reranker(model=single).process(QUERY, POOL)
    wanted = sorted(zip(expected.tolist(), POOL, strict=True), key=lambda pair: -pair[0])
    gate = NliGate(model=three)
    verdict = gate.judge(QUERY, POOL)
    hypothesis = gate.config.hypothesis.format(query=QUERY)
    logits = CrossEncoder(three).predict([(c.text, hypothesis) for c in POOL])
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    entailment = (odds / odds.sum(axis=1, keepdims=True))[:, 1]
    found = {c.id: c.metadata["laya_relevance"] for c in (*verdict.kept, *verdict.dropped)}
    try:
        NliGate(model=single).judge(QUERY, POOL)
        refused = ""
    except GateError as error:
        refused = str(error)
    print(
        json.dumps(
            {
                "order": [c.id for c in reranked] == [c.id for _, c in wanted],
                "score": max(
                    abs(c.score - score) for c, (score, _) in zip(reranked, wanted, strict=True)
                ),
                "spread": float(np.ptp(expected)),
                "entailment": max(
                    abs(found[c.id] - value)
                    for c, value in zip(POOL, entailment.tolist(), strict=True)
                ),
                "refused": refused,
            }
        )
    )


if __name__ == "__main__":
    main()
