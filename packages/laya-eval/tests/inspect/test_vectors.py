"""Saved vectors: of these texts, from this encoder, unaltered."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from laya_eval.errors import DataError, StaleError
from laya_eval.inspect.collection import load_collection
from laya_eval.inspect.vectors import (
    VECTORS,
    check_encoding,
    encode,
    load_vectors,
    vectors_text,
)

from .conftest import STACK, edit


def test_every_text_has_a_unit_vector(vectors):
    assert (len(vectors.documents), len(vectors.queries)) == (24, 28)
    for vector in (*vectors.documents.values(), *vectors.queries.values()):
        assert vector.values.shape == (384,)
        assert vector.values.dtype == np.float32
        assert abs(np.linalg.norm(vector.values.astype(np.float64)) - 1) < 1e-6


def test_reading_and_writing_give_the_same_bytes(folder, vectors):
    assert vectors_text(vectors) == (folder / VECTORS).read_text(encoding="utf-8")


def test_the_encoder_gives_these_vectors_and_twice_the_same_bits(collection, vectors):
    fresh = encode(collection)
    assert vectors_text(fresh) == vectors_text(encode(collection))
    assert fresh.encoder == vectors.encoder
    assert 0.99 < check_encoding(vectors, fresh) <= 1.0 + 1e-6


def test_a_vector_of_another_direction_is_refused(vectors):
    documents = dict(vectors.documents)
    first, second = "fog-bell", "salt-marsh"
    documents[first] = replace(documents[first], values=documents[second].values)
    with pytest.raises(StaleError, match="document fog-bell is not what the encoder gives"):
        check_encoding(replace(vectors, documents=documents), vectors)


@pytest.mark.parametrize(
    ("name", "before", "after", "words"),
    [
        ("corpus.jsonl", "driven by the tide", "driven by tides", "tide-mill-wheel is of another"),
        ("corpus.jsonl", "What the mill grinds", "The flour", "flour-grades is of another text"),
        ("questions.jsonl", "Is my ticket", "Is your ticket", "vector of ticket is of another"),
        ("evaluation.jsonl", "Why does one kind", "Why has one kind", "e03 is of another text"),
        (VECTORS, '"provider": "encoder.mini"', '"provider": "encoder.x"', "encoder is not the"),
    ],
)
def test_a_vector_that_does_not_belong_is_refused(folder, name, before, after, words):
    edit(folder / name, before, after)
    with pytest.raises(StaleError, match=words):
        load_vectors(load_collection(STACK))


def change_vectors(folder, change):
    content = json.loads((folder / VECTORS).read_text())
    change(content)
    (folder / VECTORS).write_text(json.dumps(content))


def test_altered_missing_and_superfluous_vectors_are_refused(folder, collection):
    def alter(content):
        entry = content["documents"]["fog-bell"]
        entry["float32"] = ("B" if entry["float32"][0] == "A" else "A") + entry["float32"][1:]

    original = (folder / VECTORS).read_text()
    for change, words in (
        (alter, "vector of fog-bell is altered"),
        (lambda content: content["queries"].pop("e24"), "its queries are not those"),
        (lambda content: content["documents"].update(x=content["queries"]["e01"]), "documents are"),
    ):
        (folder / VECTORS).write_text(original)
        change_vectors(folder, change)
        with pytest.raises(StaleError, match=words):
            load_vectors(collection)


def test_a_vector_must_have_unit_length(folder, collection, vectors):
    long = replace(vectors.documents["fog-bell"], values=vectors.documents["fog-bell"].values * 2)
    changed = replace(vectors, documents={**vectors.documents, "fog-bell": long})
    (folder / VECTORS).write_text(vectors_text(changed))
    with pytest.raises(StaleError, match="fog-bell has not unit length"):
        load_vectors(collection)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"encoder": {}, "documents": {"a": 1}, "queries": {}}']
)
def test_a_malformed_file_is_refused(folder, collection, content):
    (folder / VECTORS).write_text(content)
    with pytest.raises(DataError, match=r"vectors\.json: it cannot be read"):
        load_vectors(collection)


def test_a_missing_file_names_the_command(folder, collection):
    (folder / VECTORS).unlink()
    with pytest.raises(DataError, match="laya inspect vectors"):
        load_vectors(collection)
