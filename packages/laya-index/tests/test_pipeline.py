import pickle
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from laya_index.bundle.schema import CHUNK_COLUMNS, DOCUMENT_COLUMNS, POSTING_COLUMNS, write_table
from laya_index.document import SourceDocument
from laya_index.pipeline import Part, Pipeline, index_documents
from laya_index.stack import Stack

DOCUMENTS = [
    SourceDocument("a", "Some text. " * 20, "Title", metadata={"k": "v"}),
    SourceDocument("b", "mail x@example.com"),
    SourceDocument("c", " "),
]


@pytest.fixture
def pipeline(tmp_path: Path, stack_of: Callable[..., Stack]) -> Pipeline:
    stack = stack_of(tmp_path, tmp_path / "out", "trust.tenants={t: ['a']}")
    return Pipeline.of(stack, tmp_path / "cache")


def tables(part: Part) -> list[pa.Table]:
    assert part.postings is not None
    return [part.documents, part.chunks, part.postings]


def test_sidecars_come_back_from_a_worker_too(
    tmp_path: Path, stack_of: Callable[..., Stack]
) -> None:
    tokens = "signals.multivector={provider: multivector.hashing, config: {dimension: 8}}"
    stack = stack_of(tmp_path, tmp_path / "out", tokens)
    part = index_documents(Pipeline.of(stack, tmp_path / "cache"), DOCUMENTS)
    sent = pickle.loads(pickle.dumps(part))
    assert list(sent.sidecars) == ["multivectors"]
    one, other = part.sidecars["multivectors"], sent.sidecars["multivectors"]
    assert one.schema.equals(other.schema, check_metadata=True)
    assert parquet(one) == parquet(other)


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    write_table(table, sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("documents", [DOCUMENTS, DOCUMENTS[2:], []])
def test_a_part_comes_back_from_a_worker_as_it_was(
    pipeline: Pipeline, documents: list[SourceDocument]
) -> None:
    part = index_documents(pipeline, documents)
    sent = pickle.loads(pickle.dumps(part))
    for one, other in zip(tables(part), tables(sent), strict=True):
        assert one.schema.equals(other.schema, check_metadata=True)
        assert parquet(one) == parquet(other)
    assert sent.seconds == part.seconds
    assert [key for key, _ in sent.vectors["embedding"]] == [
        key for key, _ in part.vectors["embedding"]
    ]


def test_the_columns_are_those_of_the_contract(pipeline: Pipeline) -> None:
    documents, chunks, postings = tables(index_documents(pipeline, DOCUMENTS))
    assert documents.schema.equals(DOCUMENT_COLUMNS)
    assert postings.schema.equals(POSTING_COLUMNS)
    assert pa.schema(list(chunks.schema)[:-1]).equals(CHUNK_COLUMNS)
    assert documents["chunks"].to_pylist() == [chunks.num_rows - 1, 1, 0]
    assert documents["tenants"].to_pylist() == [["t"], [], []]
    assert documents["redactions"].to_pylist() == [[], [("EMAIL", 1)], []]
    assert chunks["classification"].to_pylist()[-1] == {"pii_kinds": ["EMAIL"], "pii_count": 1}


def test_how_the_documents_are_batched_does_not_show(pipeline: Pipeline) -> None:
    whole = index_documents(pipeline, DOCUMENTS)
    parts = [index_documents(pipeline, [document]) for document in DOCUMENTS]
    for name in ("documents", "chunks"):
        joined = pa.concat_tables([getattr(part, name) for part in parts])
        assert joined.equals(getattr(whole, name))


def test_the_fingerprint_follows_every_component(
    tmp_path: Path, stack_of: Callable[..., Stack]
) -> None:
    sets = [
        "signals.sparse={provider: sparse.hashing}",
        "signals.multivector={provider: multivector.hashing}",
        "signals.embedding_b={provider: encoder.fake}",
        "signals.embedding.dtype=float16",
        "signals.columns={words: {provider: 'laya_index_columns:Words'}}",
    ]
    sets += ["chunk.chars=90", "trust.default_tier=trusted", "redact.kinds=[]", "signals.bm25=null"]
    sets += ["signals.bm25.title_weight=2", "signals.bm25.stem=english", "signals.embedding.seed=9"]
    stacks = [stack_of(tmp_path, tmp_path / "out", *item) for item in ([], *([s] for s in sets))]
    fingerprints = {Pipeline.of(stack, tmp_path).fingerprint for stack in stacks}
    assert len(fingerprints) == len(sets) + 1
    scoring = stack_of(tmp_path, tmp_path / "out", "signals.bm25.k1=2", "source.include=[]")
    assert Pipeline.of(scoring, tmp_path).fingerprint in fingerprints
