"""Synthetic corpora are reproducible, with rare and common words, and vectors that mean them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from laya_eval.bench import synthetic


def test_a_corpus_is_reproducible_and_has_rare_and_common_words(tmp_path: Path) -> None:
    for name in ("a", "b"):
        synthetic.write_corpus(tmp_path / name, 300)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    rows = [json.loads(line) for line in (tmp_path / "a").read_text().splitlines()]
    assert len({row["_id"] for row in rows}) == 300
    containing = Counter(word for row in rows for word in set(row["text"].split()))
    assert containing["the"] > 250
    assert sum(count == 1 for count in containing.values()) > 2000


def test_words_are_different_and_plain() -> None:
    words = synthetic.vocabulary()
    assert len(set(words)) == len(words) == synthetic.WORDS
    assert all(word.isascii() and word.isalpha() and word.islower() for word in words)


def test_questions_are_made_of_the_words_of_one_document(tmp_path: Path) -> None:
    synthetic.write_corpus(tmp_path / "corpus", 20)
    rows = (tmp_path / "corpus").read_text().splitlines()
    documents = [set(json.loads(row)["text"].split()) for row in rows]
    found = synthetic.queries(tmp_path / "corpus", 10)
    assert found == synthetic.queries(tmp_path / "corpus", 10)
    assert all(any(set(text.split()) <= words for words in documents) for text in found)


def test_texts_with_rare_words_in_common_are_near_each_other() -> None:
    rare = synthetic.vocabulary()[9000:9004]
    texts = [
        f"the of {rare[0]} {rare[1]}",
        f"and in {rare[0]} {rare[1]}",
        f"the of {rare[2]} {rare[3]}",
    ]
    vectors = synthetic.WordVectors().encode_documents(texts)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]


def test_prose_has_sentences_and_paragraphs() -> None:
    assert (
        synthetic.prose(["a b c d"] * 3, sentence=4, paragraph=2) == "A b c d. A b c d.\n\nA b c d."
    )
