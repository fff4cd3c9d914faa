"""Signals are additive: what is wired adds its columns and files, what is not leaves no trace."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from laya_index import shard as sharding
from laya_index.bundle import writer as bundle_writer
from laya_index.bundle.cache import cache_folder
from laya_index.bundle.manifest import read_manifest
from laya_index.bundle.reader import BundleReader
from laya_index.bundle.schema import CHUNK_COLUMNS, MULTIVECTOR_COLUMNS
from laya_index.errors import SignalStageError, StackError
from laya_index.process import RunReport
from laya_retrieval import SpladeQueryEncoder
from laya_signals import signals
from laya_signals.fde import FdeEncoder
from laya_signals.multivector import MultiVectorEncoder
from laya_signals.passage import titled
from laya_signals.sparse import CompositionConfig, SparseEncoder

Run = Callable[..., RunReport]
Write = Callable[[Path, dict[str, str | bytes]], Path]
BytesOf = Callable[[Path], dict[str, bytes]]

SPARSE = "signals.sparse={provider: sparse.hashing, config: {vocab_size: 1000}}"
COMPOSED = (
    "signals.sparse={provider: sparse.hashing, config: {vocab_size: 1000}, compose: "
    "{entity_boost: 2, metadata: [topic], "
    "entities: {provider: 'laya_index.graph.patterns:PatternExtractor'}}}"
)
TOKENS = "signals.multivector={provider: multivector.hashing, config: {dimension: 8}}"
FDE = "signals.fde={provider: fde.muvera, config: {repetitions: 2, k_sim: 2, projection: 4}}"
NAMED = "signals.embedding_other={provider: encoder.fake, config: {seed: 7}}"
HALF = "signals.embedding_half={provider: encoder.fake, dtype: float16}"
WORDS = "signals.columns={words: {provider: 'laya_index_columns:Words'}}"
CONTEXT = "context.provider=context.breadcrumb"
UNKEPT = "signals.multivector.keep_multivectors=false"
EVERYTHING = (SPARSE, TOKENS, FDE, NAMED, HALF, WORDS)


@pytest.fixture(autouse=True)
def _no_flush_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_writer, "_sync", lambda path: None)


@pytest.fixture
def root(tmp_path: Path, write: Write) -> Path:
    texts = {f"{n}.md": f"# Title {n}\n\n" + f"word{n} and more words. " * n for n in range(6)}
    return write(tmp_path / "in", {**texts, "mail.txt": "ask jane@example.com", "dots.txt": "..."})


@pytest.mark.parametrize(
    ("item", "columns", "kinds"),
    [
        (SPARSE, ["sparse_indices", "sparse_values"], []),
        (COMPOSED, ["sparse_indices", "sparse_values"], []),
        (TOKENS, [], ["multivectors"]),
        (NAMED, ["embedding_other"], []),
        (HALF, ["embedding_half"], []),
        (WORDS, ["words"], []),
        ("signals.embedding_other=null", [], []),
    ],
)
def test_a_generator_adds_its_own_and_changes_nothing_else(
    item: str,
    columns: list[str],
    kinds: list[str],
    root: Path,
    tmp_path: Path,
    run: Run,
    bytes_of: BytesOf,
) -> None:
    run(root, tmp_path / "without")
    run(root, tmp_path / "with", item)
    plain, more = read_manifest(tmp_path / "without"), read_manifest(tmp_path / "with")
    assert {e.kind for e in more.files} - {e.kind for e in plain.files} == set(kinds)
    [one], [other] = plain.of_kind("chunks"), more.of_kind("chunks")
    before = pq.read_table(tmp_path / "without" / one.path)
    after = pq.read_table(tmp_path / "with" / other.path)
    assert after.column_names == before.column_names + columns
    assert after.drop_columns(columns).equals(before)
    for kind in ("documents", "bm25-terms", "bm25-postings"):
        assert [e.sha256 for e in more.of_kind(kind)] == [e.sha256 for e in plain.of_kind(kind)]
    # And once it is taken out again, the bundle is the bytes that it was before.
    run(root, tmp_path / "with")
    assert bytes_of(tmp_path / "with") == bytes_of(tmp_path / "without")
    assert sorted(p.name for p in (tmp_path / "with").iterdir()) == sorted(
        p.name for p in (tmp_path / "without").iterdir()
    )


def test_a_bundle_without_generators_does_not_know_that_there_are_any(
    root: Path, tmp_path: Path, run: Run
) -> None:
    run(root, tmp_path / "out")
    text = (tmp_path / "out" / "manifest.json").read_text()
    for word in ("signals", "dtype", "sparse", "multivector", "fde", "columns", "compose"):
        assert f'"{word}"' not in text
    assert not (tmp_path / "out" / "multivectors").exists()


def test_a_query_is_composed_as_the_manifest_says(
    root: Path, tmp_path: Path, write: Write, run: Run
) -> None:
    text = "---\ntopic: tax law\n---\nOur report praises Ada Lovelace again.\n"
    write(root, {"a.md": text})
    run(root, tmp_path / "out", COMPOSED)
    with BundleReader.open(tmp_path / "out") as reader:
        entry = reader.manifest.signals["sparse"]
        rows = reader.read("chunks").to_pylist()
    assert entry.compose is not None
    settings = {key: entry.compose[key] for key in CompositionConfig.model_fields}
    block = {"provider": entry.provider, "config": entry.config}
    query = SpladeQueryEncoder(settings | {"model": block})
    assert query.model.fingerprint == entry.fingerprint
    [row] = [row for row in rows if row["document_id"] == "a.md"]
    content = titled(row["title"], row["content"])
    expected = query.encode(content, entities=[("Ada Lovelace", 0.8)], metadata_terms=["tax law"])
    assert row["sparse_indices"] == expected.indices.tolist()
    assert row["sparse_values"] == expected.values.tolist()


def test_costly_sparse_vectors_are_kept_between_runs_and_composed_afresh(
    root: Path, tmp_path: Path, write: Write, run: Run, bytes_of: BytesOf
) -> None:
    from laya_index_sparse import CostlySparseEncoder

    encoded = CostlySparseEncoder.encoded
    costly = COMPOSED.replace("sparse.hashing", "'laya_index_sparse:CostlySparseEncoder'")
    encoded.clear()
    run(root, tmp_path / "out", costly)
    assert len(encoded) == read_manifest(tmp_path / "out").counts.chunks
    encoded.clear()
    run(root, tmp_path / "out", costly, "signals.sparse.compose.entity_boost=5")
    assert encoded == []
    write(root, {"new.md": "Another page, by Grace Hopper.\n"})
    run(root, tmp_path / "out", costly)
    assert len(encoded) == 1
    run(root, tmp_path / "fresh", costly, workers=2)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "fresh")
    run(root, tmp_path / "cheap", COMPOSED)
    chunks = [read_manifest(tmp_path / name).of_kind("chunks")[0] for name in ("out", "cheap")]
    assert chunks[0].sha256 == chunks[1].sha256


def test_every_signal_holds_what_its_encoder_says(root: Path, tmp_path: Path, run: Run) -> None:
    run(root, tmp_path / "out", *EVERYTHING)
    with BundleReader.open(tmp_path / "out") as reader:
        manifest, chunks = reader.manifest, reader.read("chunks")
        vectors = reader.read("multivectors")
    assert chunks.column_names == [
        *CHUNK_COLUMNS.names,
        *["embedding", "embedding_half", "embedding_other", "sparse_indices", "sparse_values"],
        *["fde_embedding", "words"],
    ]
    assert vectors.schema.equals(MULTIVECTOR_COLUMNS)
    assert vectors["record_id"].equals(chunks["record_id"])

    def encoder(name: str, seam: type) -> object:
        entry = manifest.signals[name]
        built = signals.resolve({"provider": entry.provider, "config": entry.config}, seam)
        assert built.fingerprint == entry.fingerprint
        return built

    sparse = encoder("sparse", SparseEncoder)
    tokens, fde = encoder("multivector", MultiVectorEncoder), encoder("fde", FdeEncoder)
    for row, kept in zip(chunks.to_pylist(), vectors["multivector"].to_pylist(), strict=True):
        title, content = row["title"], row["content"]
        text = content if content.lstrip("# ").startswith(title) else f"{title}\n{content}"
        [expected] = sparse.encode([text])
        assert row["sparse_indices"] == expected.indices.tolist() == sorted(row["sparse_indices"])
        assert row["sparse_values"] == expected.values.tolist()
        [token_vectors] = tokens.encode_documents([text])
        assert np.array_equal(np.array(kept, np.float32).reshape(-1, 8), token_vectors)
        encoded = fde.encode_document(token_vectors)
        assert np.array_equal(np.array(row["fde_embedding"], np.float32), encoded)
        assert row["words"] == len(content.split())
        half = np.array(row["embedding"], np.float32).astype(np.float16)
        assert np.array_equal(np.array(row["embedding_half"], np.float16), half)
        assert row["embedding_other"] != row["embedding"]
    assert manifest.signals["multivector"].kind == "multivectors"
    assert manifest.signals["fde"].columns == ["fde_embedding"]
    assert manifest.signals["fde"].dimension == chunks["fde_embedding"].type.list_size == 32
    assert manifest.embeddings["embedding_half"].dtype == "float16"
    assert manifest.embeddings["embedding_half"].fingerprint == (
        manifest.embeddings["embedding"].fingerprint
    )


def test_multivectors_that_are_not_kept_give_the_same_encodings(
    root: Path, tmp_path: Path, run: Run
) -> None:
    run(root, tmp_path / "kept", TOKENS, FDE)
    run(root, tmp_path / "out", TOKENS, FDE, UNKEPT)
    columns = []
    for name in ("kept", "out"):
        with BundleReader.open(tmp_path / name) as reader:
            columns.append(reader.read("chunks")["fde_embedding"])
            assert bool(reader.manifest.of_kind("multivectors")) == (name == "kept")
    assert columns[0].equals(columns[1])


def test_indices_beyond_32_bits_are_kept_whole(root: Path, tmp_path: Path, run: Run) -> None:
    large = "signals.sparse={provider: sparse.hashing, config: {vocab_size: 4611686018427387904}}"
    run(root, tmp_path / "out", large)
    with BundleReader.open(tmp_path / "out") as reader:
        lists = reader.read("chunks")["sparse_indices"].to_pylist()
    assert max(max(indices, default=0) for indices in lists) > 1 << 32
    assert all(indices == sorted(set(indices)) for indices in lists)


def test_planted_data_reaches_no_signal(root: Path, tmp_path: Path, run: Run) -> None:
    run(root, tmp_path / "out", *EVERYTHING)
    with BundleReader.open(tmp_path / "out") as reader:
        rows = reader.read("chunks").to_pylist()
    [row] = [row for row in rows if row["document_id"] == "mail.txt"]
    assert row["content"] == "ask [EMAIL]"
    sparse = signals.resolve(
        {"provider": "sparse.hashing", "config": {"vocab_size": 1000}}, SparseEncoder
    )
    assert not set(sparse.term_ids("jane example")) & set(row["sparse_indices"])


# Incremental equals fresh


@pytest.mark.parametrize("seed", range(3))
def test_any_history_ends_in_the_bytes_of_a_fresh_build(
    seed: int,
    root: Path,
    tmp_path: Path,
    run: Run,
    bytes_of: BytesOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sharding, "SHARD_DOCUMENTS", 3)
    rng = random.Random(seed)
    for step in range(5):
        for _ in range(rng.randint(1, 3)):
            path = root / f"{rng.randint(0, 9)}.md"
            if path.exists() and rng.random() < 0.3:
                path.unlink()
            else:
                words = rng.choices(["alpha", "Größe", "東京都", "a@example.com", "..."], k=20)
                path.write_text(" ".join(words[: rng.randint(0, 20)]))
        if rng.random() < 0.2:
            shutil.rmtree(cache_folder(tmp_path / "kept"), ignore_errors=True)
        sets = [item for item in EVERYTHING[:2] + EVERYTHING[3:] if rng.random() < 0.7]
        sets += [CONTEXT] if rng.random() < 0.3 else []
        sets += [FDE] if TOKENS in sets else []
        sets += [UNKEPT] if FDE in sets and rng.random() < 0.3 else []
        run(root, tmp_path / "kept", *sets, full=rng.random() < 0.15)
        run(root, tmp_path / f"fresh{step}", *sets)
        assert bytes_of(tmp_path / "kept") == bytes_of(tmp_path / f"fresh{step}"), (step, sets)


@pytest.mark.slow
def test_the_number_of_workers_does_not_show(
    root: Path, tmp_path: Path, run: Run, bytes_of: BytesOf, write: Write
) -> None:
    write(root, {f"more/{n}.txt": f"document {n}. " * (n % 9 + 1) for n in range(80)})
    run(root, tmp_path / "one", *EVERYTHING, workers=1)
    run(root, tmp_path / "two", *EVERYTHING, workers=2)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")


def test_token_vectors_and_encodings_are_cached(
    root: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from laya_signals.multivector import HashingMultiVectorEncoder as Encoder

    seen: list[str] = []
    original = Encoder.encode_documents

    def counting(self: Encoder, texts: list[str]) -> list[np.ndarray]:
        seen.extend(texts)
        return original(self, texts)

    monkeypatch.setattr(Encoder, "encode_documents", counting)
    for sets in ([TOKENS, FDE], [TOKENS, FDE, UNKEPT]):
        run(root, tmp_path / "out", *sets)
        assert seen
        seen.clear()
        run(root, tmp_path / "out", *sets, "trust.default_tier=trusted")
        assert seen == []
        run(root, tmp_path / "out")
    run(root, tmp_path / "out", TOKENS)
    seen.clear()
    run(root, tmp_path / "out", TOKENS, FDE)
    assert seen == [], "another encoding is made from the token vectors that are there"


def test_a_column_that_rounds_costs_no_second_encoding(
    root: Path, tmp_path: Path, run: Run, encoded: list[str]
) -> None:
    run(root, tmp_path / "plain")
    once = sorted(encoded)
    encoded.clear()
    run(root, tmp_path / "out", HALF)
    assert sorted(encoded) == once
    encoded.clear()
    run(root, tmp_path / "plain", HALF)
    assert encoded == []


@pytest.mark.parametrize("how", ["missing", "short"])
def test_a_damaged_sidecar_is_mended(
    how: str, root: Path, tmp_path: Path, run: Run, bytes_of: BytesOf
) -> None:
    run(root, tmp_path / "out", TOKENS)
    right = bytes_of(tmp_path / "out")
    file = tmp_path / "out" / read_manifest(tmp_path / "out").of_kind("multivectors")[0].path
    if how == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-9])
    run(root, tmp_path / "out", TOKENS)
    assert bytes_of(tmp_path / "out") == right


# What is refused


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("none", "0 arrays for 1 columns"),
        ("short", "'wrong' is .* values of type int32, not .* of type int32"),
        ("type", "values of type int64, not .* of type int32"),
        ("null", "'wrong' has a null"),
        ("raises", r"among the records .*0.md#chunk-0.*: no idea"),
    ],
)
def test_a_generator_is_held_to_its_promise(
    how: str, message: str, root: Path, tmp_path: Path, run: Run
) -> None:
    wrong = f"{{wrong: {{provider: 'laya_index_columns:Wrong', config: {{how: '{how}'}}}}}}"
    with pytest.raises(SignalStageError, match=rf"columns.wrong: .*{message}"):
        run(root, tmp_path / "out", f"signals.columns={wrong}")
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_the_order_in_a_stack_file_does_not_show(
    root: Path, tmp_path: Path, run: Run, bytes_of: BytesOf
) -> None:
    words = "{provider: 'laya_index_columns:Words', config: {column: %s}}"
    one, other = f"a: {words % 'x'}", f"b: {words % 'y'}"
    run(root, tmp_path / "out", f"signals.columns={{{one}, {other}}}")
    run(root, tmp_path / "out", f"signals.columns={{{other}, {one}}}")
    run(root, tmp_path / "fresh", f"signals.columns={{{other}, {one}}}")
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "fresh")


@pytest.mark.parametrize(("kind", "sets"), [("mine", []), ("multivectors", [TOKENS])])
def test_a_file_of_another_kind_or_signal_is_refused(
    kind: str, sets: list[str], root: Path, tmp_path: Path, run: Run
) -> None:
    beside = f"{{f: {{provider: 'laya_index_columns:Beside', config: {{files: {kind}}}}}}}"
    with pytest.raises(StackError, match=rf"signals.columns.f writes '{kind}' files"):
        run(root, tmp_path / "out", *sets, f"signals.columns={beside}")


@pytest.mark.parametrize("column", ["content", "embedding", "sparse_values"])
def test_a_column_may_not_be_taken_already(
    column: str, root: Path, tmp_path: Path, run: Run
) -> None:
    with pytest.raises(StackError, match=rf"adds the column '{column}', which .* has already"):
        run(root, tmp_path / "out", SPARSE, WORDS, f"signals.columns.words.column={column}")
