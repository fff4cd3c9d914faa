"""Counting tokens without a tokenizer: the packer's heuristic against a WordPiece tokenizer."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import laya_mini
from laya_retrieval.tokens import heuristic_tokens

from laya_eval.bench.peers import TOKENIZERS
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Setup
from laya_eval.bench.timing import race


def measure(setup: Setup) -> Iterator[Row]:
    """The first 300 documents; the words of the synthetic ones are those of the tokenizer."""
    texts = list(setup.corpus(setup.of(300, 300, 20)).texts.values())
    task = f"count the tokens of {len(texts)} documents"
    path = laya_mini.data_folder() / "encoder" / "tokenizer.json"
    tokenizer = TOKENIZERS.load().Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    shares = sorted(heuristic_tokens(text) / count(text) for text in texts if count(text))
    nine = [shares[round(place * (len(shares) - 1))] for place in (0.05, 0.95)]
    times = race(
        {
            "ours": lambda: [heuristic_tokens(text) for text in texts],
            "theirs": lambda: [count(text) for text in texts],
        },
        rounds=setup.of(10, 5, 1),
    )
    note = f"heuristic / WordPiece: mean {statistics.fmean(shares):.2f}, "
    note += f"90 % of documents {nine[0]:.2f} to {nine[1]:.2f}"
    yield Row(task, "ms", times["ours"], TOKENIZERS.name, times["theirs"], note)
