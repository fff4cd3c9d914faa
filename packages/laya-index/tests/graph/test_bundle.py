"""The graph in the bundle: what it holds, and that no history shows in it."""

import importlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laya_index import shard as sharding
from laya_index.bundle import writer as bundle_writer
from laya_index.bundle.cache import cache_folder
from laya_index.bundle.manifest import FILE_NAME, read_manifest
from laya_index.bundle.reader import BundleReader
from laya_index.errors import SignalStageError, StackError
from laya_index.graph.entity import canonical_key, node_id
from laya_index.process import RunReport, process
from laya_index.stack import Stack, parse_stack

Run = Callable[..., RunReport]
Write = Callable[[Path, dict[str, str | bytes]], Path]
BytesOf = Callable[[Path], dict[str, bytes]]
StackOf = Callable[..., Stack]

WIRED = "graph.provider=graph.patterns"
PLAIN = ("signals.bm25=null", "signals.embedding=null")
TWO_HOPS = {
    "a.txt": "they say Ada Lovelace worked with Charles Babbage.",
    "b.txt": "they say Charles Babbage designed the Difference Engine (DE).",
    "c.txt": "it is known that DE stands in the Science Museum.",
    "d.txt": "nothing at all",
}


def node(name: str, kind: str = "name") -> str:
    return node_id(kind, canonical_key(kind, name))


@pytest.fixture(autouse=True)
def _no_flush_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_writer, "_sync", lambda path: None)


@pytest.fixture
def root(tmp_path: Path, write: Write) -> Path:
    return write(tmp_path / "in", dict(TWO_HOPS))


# What it holds


def test_nodes_edges_and_headers_of_a_small_corpus(root: Path, tmp_path: Path, run: Run) -> None:
    report = run(root, tmp_path / "out", WIRED, *PLAIN)
    with BundleReader.open(tmp_path / "out") as reader:
        nodes = {row["canonical_name"]: row for row in reader.read("graph-nodes").to_pylist()}
        edges = reader.read("graph-edges").to_pylist()
        headers = reader.read("chunks")["context_header"].to_pylist()
        entry = reader.manifest.graph
    ada, babbage, engine, museum = (
        node(name)
        for name in ("Ada Lovelace", "Charles Babbage", "Difference Engine", "Science Museum")
    )
    # An acronym and its long form are one node, in other documents too.
    assert {row["node_id"] for row in nodes.values()} == {ada, babbage, engine, museum}
    found = nodes["Difference Engine"]
    assert (found["type"], found["mentions"]) == ("name", ["DE", "Difference Engine"])
    assert (found["mention_count"], found["chunk_count"]) == (3, 2)
    assert (found["source_documents"], found["document_count"]) == (["b.txt", "c.txt"], 2)
    assert found["centrality"] == found["pagerank"] == 1.0
    assert found["degree"] == 1.0
    assert nodes["Ada Lovelace"]["degree"] == pytest.approx(2 / 3)
    assert {tuple(sorted((ada, babbage))), tuple(sorted((babbage, engine)))} < {
        (row["source"], row["target"]) for row in edges
    }
    assert all(row["source"] < row["target"] for row in edges)
    (edge,) = (row for row in edges if {row["source"], row["target"]} == {ada, babbage})
    assert (edge["evidence"], edge["evidence_count"]) == (["a.txt#chunk-0"], 1)
    assert edge["weight"] == pytest.approx(1 / 2**0.5)
    assert set(headers[0]["kg_node_ids"]) == {ada, babbage}
    assert headers[0]["neighbor_node_ids"] == [engine]
    assert headers[2]["neighbor_node_ids"] == [babbage]
    names = {row["node_id"]: row for row in nodes.values()}
    for header in headers:
        own = [names[name] for name in header["kg_node_ids"]]
        assert header["kg_node_centrality"] == pytest.approx([row["centrality"] for row in own])
        assert header["kg_node_community"] == [row["community"] for row in own]
    assert list(headers[3].values()) == [[], [], [], []]
    assert entry is not None
    assert (entry.nodes, entry.edges, entry.centrality) == (4, 3, "pagerank")
    assert entry.communities == len({row["community"] for row in nodes.values()})
    assert report.seconds["graph"] > 0


def test_all_but_the_header_is_what_a_stack_without_a_graph_writes(
    root: Path, tmp_path: Path, run: Run
) -> None:
    run(root, tmp_path / "with", WIRED)
    run(root, tmp_path / "without")
    with (
        BundleReader.open(tmp_path / "with") as one,
        BundleReader.open(tmp_path / "without") as other,
    ):
        left, right = one.read("chunks").drop_columns(["context_header"]), other.read("chunks")
        assert left.schema.equals(right.schema)
        assert left.equals(right)
        bare = other.manifest.to_json()
    assert "graph" not in bare
    for kind in ("documents", "bm25-terms", "bm25-postings"):
        sums = [
            read_manifest(tmp_path / name).of_kind(kind)[0].sha256 for name in ("with", "without")
        ]
        assert sums[0] == sums[1]
    assert not (cache_folder(tmp_path / "without") / "mentions").exists()


def test_a_stack_without_a_graph_keeps_its_hash(tmp_path: Path, stack_of: StackOf) -> None:
    stack = stack_of(tmp_path, tmp_path / "out")
    assert "graph" not in stack.model.model_dump()
    assert stack.hash != stack_of(tmp_path, tmp_path / "out", WIRED).hash


def test_limits_hold_and_counts_say_what_was_left_out(
    tmp_path: Path, write: Write, run: Run
) -> None:
    many = ", ".join(f"the Big Thing{chr(97 + n)} Here" for n in range(12))
    root = write(tmp_path / "in", {f"{n}.txt": f"see {many}" for n in range(5)})
    limits = ["graph.max_nodes=4", "graph.max_neighbors=1", "graph.max_evidence=2"]
    run(root, tmp_path / "out", "chunk.chars=2000", WIRED, *limits, *PLAIN)
    with BundleReader.open(tmp_path / "out") as reader:
        headers = reader.read("chunks")["context_header"].to_pylist()
        edges = reader.read("graph-edges").to_pylist()
        nodes = reader.read("graph-nodes").to_pylist()
    assert max(len(header["kg_node_ids"]) for header in headers) <= 4
    assert {len(header["neighbor_node_ids"]) for header in headers} <= {0, 1}
    assert {len(row["evidence"]) for row in edges} == {2}
    assert {row["evidence_count"] for row in edges} == {5}
    assert {len(row["source_documents"]) for row in nodes} == {2}
    assert {row["document_count"] for row in nodes} == {5}


def test_the_manifest_says_the_limits_that_are_not_the_usual_ones(
    root: Path, tmp_path: Path, run: Run
) -> None:
    run(root, tmp_path / "usual", WIRED, *PLAIN)
    run(root, tmp_path / "out", WIRED, "graph.max_nodes=4", *PLAIN)
    said = [json.loads((tmp_path / name / FILE_NAME).read_text()) for name in ("usual", "out")]
    assert [sorted(name for name in one["graph"] if "max" in name) for one in said] == [
        [],
        ["max_nodes"],
    ]
    # A manifest of a release that did not say them: the next run does.
    del said[1]["graph"]["max_nodes"]
    (tmp_path / "out" / FILE_NAME).write_text(json.dumps(said[1]))
    run(root, tmp_path / "out", WIRED, "graph.max_nodes=4", *PLAIN)
    graph = read_manifest(tmp_path / "out").graph
    assert graph is not None
    assert graph.max_nodes == 4


def test_an_acronym_is_what_its_own_document_says(tmp_path: Path, write: Write, run: Run) -> None:
    texts = {
        "a.txt": "we fuse with Reciprocal Rank Fusion (RRF) today. and RRF again.",
        "b.txt": "they run on Really Rusty Farms (RRF) today. and RRF again.",
        "c.txt": "here it says RRF and nothing else",
    }
    root = write(tmp_path / "in", texts)
    run(root, tmp_path / "out", WIRED, *PLAIN)
    with BundleReader.open(tmp_path / "out") as reader:
        headers = reader.read("chunks")["context_header"].to_pylist()
    assert headers[0]["kg_node_ids"] == [node("reciprocal rank fusion")]
    assert headers[1]["kg_node_ids"] == [node("really rusty farms")]
    # Which of the two is meant nobody knows.
    assert headers[2]["kg_node_ids"] == [node("RRF", "acronym")]
    (root / "b.txt").unlink()
    run(root, tmp_path / "out", WIRED, *PLAIN)
    with BundleReader.open(tmp_path / "out") as reader:
        headers = reader.read("chunks")["context_header"].to_pylist()
    assert headers[1]["kg_node_ids"] == [node("reciprocal rank fusion")]


def test_links_of_different_folders_meet_in_one_node(
    tmp_path: Path, write: Write, run: Run
) -> None:
    texts = {"x/a.md": "see [this](../y/b.md#top)", "y/c.md": "see [that](b.md)"}
    run(write(tmp_path / "in", texts), tmp_path / "out", WIRED, *PLAIN)
    with BundleReader.open(tmp_path / "out") as reader:
        (row,) = reader.read("graph-nodes").to_pylist()
    assert (row["type"], row["canonical_name"], row["document_count"]) == ("link", "y/b.md", 2)


@pytest.mark.parametrize("files", [{}, {"a.txt": "nothing to see"}, {"a.bin": b"\0"}])
def test_a_corpus_without_entities_has_empty_files(
    tmp_path: Path, write: Write, run: Run, files: dict
) -> None:
    root = tmp_path / "in"
    root.mkdir()
    run(write(root, files), tmp_path / "out", WIRED)
    with BundleReader.open(tmp_path / "out") as reader:
        assert reader.read("graph-nodes").num_rows == reader.read("graph-edges").num_rows == 0
        assert reader.manifest.graph is not None
        assert reader.manifest.graph.communities == 0
        assert "context_header" in reader.read("chunks").column_names


# No history shows


WORDS = ["Ada Lovelace", "Charles Babbage", "Difference Engine (DE)", "DE", "Dread Empire (DE)"]
WORDS += ["snake_case", "https://example.com/x", "mail a@example.com", "\n\n", "# Ada Lovelace\n\n"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(
    lambda words: "with " + " and ".join(words)
)
NAMES = st.sampled_from([f"{folder}{n}.md" for folder in ("", "x/") for n in range(5)])
OVERRIDES = ["graph.max_nodes=2", "graph.max_neighbors=1", "chunk.chars=120", "redact.kinds=[]"]
OVERRIDES += ["graph.features=[{provider: graph_features.degree}]", "graph.config={kinds: [name]}"]
EDITS = st.one_of(
    st.tuples(st.just("write"), NAMES, TEXTS),
    st.tuples(st.just("write"), NAMES, TEXTS),
    st.tuples(st.just("delete"), NAMES, st.none()),
    st.tuples(st.just("set"), st.sampled_from([*OVERRIDES, "graph=off"]), st.none()),
    st.tuples(st.just("forget"), st.sampled_from(["all", "mentions", "postings"]), st.none()),
    st.tuples(
        st.just("damage"), st.sampled_from(["chunks", "graph-nodes", "graph-edges"]), st.none()
    ),
)
LONG = {"suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
STEPS = st.lists(st.lists(EDITS, min_size=1, max_size=4), min_size=1, max_size=5)


def history(steps: list, stack_of: StackOf, bytes_of: BytesOf, workers: int = 1) -> None:
    """Apply the edits, and hold the bundle to a fresh one after each step."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharding, "SHARD_DOCUMENTS", 2)
        folder = Path(name)
        root, kept = folder / "in", folder / "kept"
        root.mkdir()
        option = ""
        for number, edits in enumerate(steps):
            for kind, what, text in edits:
                if kind == "write":
                    (root / what).parent.mkdir(exist_ok=True)
                    (root / what).write_text(text)
                elif kind == "delete":
                    (root / what).unlink(missing_ok=True)
                elif kind == "set":
                    option = "" if option else what
                elif kind == "forget":
                    gone = cache_folder(kept) if what == "all" else cache_folder(kept) / what
                    shutil.rmtree(gone, ignore_errors=True)
                elif (kept / "manifest.json").exists():
                    for entry in read_manifest(kept).of_kind(what)[:1]:
                        (kept / entry.path).unlink(missing_ok=True)
            sets = [] if option == "graph=off" else [WIRED, *([option] if option else [])]
            fresh = folder / f"fresh{number}"
            process(stack_of(root, kept, *sets), workers=workers)
            process(stack_of(root, fresh, *sets), workers=1)
            assert bytes_of(kept) == bytes_of(fresh)
            assert process(stack_of(root, kept, *sets), workers=1).state == "unchanged"


@settings(max_examples=3, **LONG)
@given(STEPS)
def test_any_history_of_edits_ends_in_the_bytes_of_a_fresh_build(
    stack_of: StackOf, bytes_of: BytesOf, steps: list
) -> None:
    history(steps, stack_of, bytes_of)


@pytest.mark.slow
@settings(max_examples=150, **LONG)
@given(STEPS)
def test_many_histories_of_edits_end_in_the_bytes_of_a_fresh_build(
    stack_of: StackOf, bytes_of: BytesOf, steps: list
) -> None:
    history(steps, stack_of, bytes_of)


@pytest.mark.slow
def test_the_number_of_workers_does_not_show(
    tmp_path: Path, write: Write, run: Run, bytes_of: BytesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharding, "SHARD_DOCUMENTS", 40)
    texts = {
        f"{n}.txt": f"of {WORDS[n % 7]} and {WORDS[n % 3]} in Place {chr(65 + n % 26)}x. " * (n % 5)
        for n in range(120)
    }
    root = write(tmp_path / "in", texts)
    run(root, tmp_path / "one", WIRED, workers=1)
    run(root, tmp_path / "two", WIRED, workers=2)
    assert len(read_manifest(tmp_path / "one").of_kind("chunks")) == 4
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    write(root, {"5.txt": "of Ada Lovelace and Another Person", "new.txt": "with DE"})
    run(root, tmp_path / "one", WIRED, workers=2)
    run(root, tmp_path / "two", WIRED, workers=1)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")


def test_a_shard_that_did_not_change_is_not_read_again(
    tmp_path: Path, write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharding, "SHARD_DOCUMENTS", 2)
    root = write(tmp_path / "in", {f"{n}.txt": f"of Ada Lovelace {n}" for n in range(16)})
    run(root, tmp_path / "out", WIRED)
    before = {entry.path for entry in read_manifest(tmp_path / "out").of_kind("chunks")}
    read: list[str] = []

    def spy(pipeline, documents):
        read.extend(document.id for document in documents)
        return index(pipeline, documents)

    running = importlib.import_module("laya_index.process")
    index = running.index_documents
    monkeypatch.setattr(running, "index_documents", spy)
    write(root, {"3.txt": "of Ada Lovelace and Charles Babbage"})
    run(root, tmp_path / "out", WIRED)
    assert "3.txt" in read
    assert len(read) < 8
    # Its headers are new all the same: Ada has a neighbour now.
    after = {entry.path for entry in read_manifest(tmp_path / "out").of_kind("chunks")}
    assert not before & after
    read.clear()
    write(root, {"3.txt": "of Ada Lovelace and Charles  Babbage"})
    run(root, tmp_path / "out", WIRED)
    # Now they are not, and only the shard of the document that changed is written again.
    assert len(after - {e.path for e in read_manifest(tmp_path / "out").of_kind("chunks")}) == 1


def test_an_unchanged_run_writes_nothing(root: Path, tmp_path: Path, run: Run) -> None:
    def times() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}

    run(root, tmp_path / "out", WIRED)
    before = times()
    assert run(root, tmp_path / "out", WIRED).state == "unchanged"
    assert times() == before


@pytest.mark.parametrize("damage", [b"", b"garbage" * 1000])
def test_a_damaged_cache_is_rebuilt(
    root: Path, tmp_path: Path, run: Run, bytes_of: BytesOf, write: Write, damage: bytes
) -> None:
    run(root, tmp_path / "out", WIRED)
    (file,) = (cache_folder(tmp_path / "out") / "mentions").glob("*.parquet")
    file.write_bytes(damage)
    run(root, tmp_path / "out", WIRED)
    run(root, tmp_path / "fresh", WIRED)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "fresh")


def test_the_cache_forgets_the_mentions_of_old_shards(
    root: Path, tmp_path: Path, run: Run, write: Write
) -> None:
    run(root, tmp_path / "out", WIRED)
    write(root, {"a.txt": "changed"})
    run(root, tmp_path / "out", WIRED)
    assert len(list((cache_folder(tmp_path / "out") / "mentions").glob("*"))) == 1
    run(root, tmp_path / "out")
    assert not list((cache_folder(tmp_path / "out") / "mentions").glob("*"))
    assert not list((tmp_path / "out").glob("graph-*"))


# Personal data


def test_planted_personal_data_is_in_no_node_edge_or_header(
    tmp_path: Path, write: Write, run: Run
) -> None:
    planted = ["jane.roe@example.com", "+49 30 901820", "DE89370400440532013000"]
    planted += ["4532015112830366", "203.0.113.77", "ghp_" + "a1B2" * 9]
    body = " and ".join(f"`{item}` of Mr {item} ({item})" for item in planted)
    links = " ".join(
        f"[x](docs/{item.replace(' ', '')}.md) https://x.org/{item}" for item in planted
    )
    text = f"# {planted[0]}\n\nsee Ada Lovelace, {body}.\n\n{links}\n"
    folder = "jane.roe@example.com"
    root = write(tmp_path / "in", {"a.md": text, f"{folder}/b.md": "[y](c.md) of Ada Lovelace"})
    run(root, tmp_path / "out", WIRED, "chunk.chars=2000", "chunk.overlap=0")
    fragments = [*planted, "jane", "roe", "901820", "3704", "453201", "203.0.113", "a1b2a1"]
    cached = (cache_folder(tmp_path / "out") / "mentions").glob("*.parquet")
    with BundleReader.open(tmp_path / "out") as reader:
        tables = [reader.read(kind) for kind in ("graph-nodes", "graph-edges")]
        tables.append(reader.read("chunks", ["context_header"]))
        names = reader.read("graph-nodes")["canonical_name"].to_pylist()
    assert "Ada Lovelace" in names
    for table in [*tables, *(pq.read_table(path) for path in cached)]:
        # Ids of documents and records are identities, and no part of the graph's content.
        kept = [name for name in table.column_names if name not in {"source_documents", "evidence"}]
        said = re.sub(r"[0-9a-f]{16}", "<id>", str(table.select(kept).to_pylist()).lower())
        assert [item for item in fragments if item.lower() in said] == []
    for name in names:
        assert not re.search(r"[\[\]]|EMAIL|PHONE|IBAN|CARD|SECRET", name), name


# Components of one's own


def test_an_extractor_and_a_feature_of_ones_own(
    root: Path, tmp_path: Path, run: Run, providers: Path
) -> None:
    own = "graph.provider=laya_index_entities:EveryWord"
    feature = "graph.features=[{provider: 'laya_index_entities:Odd', config: {value: 0.25}}]"
    run(root, tmp_path / "out", own, feature)
    with BundleReader.open(tmp_path / "out") as reader:
        rows = reader.read("graph-nodes").to_pylist()
        assert reader.manifest.graph is not None
        assert reader.manifest.graph.centrality == "odd"
    assert {row["canonical_name"] for row in rows} >= {"nothing", "at", "all"}
    assert {(row["type"], row["centrality"], row["odd"]) for row in rows} == {("word", 0.25, 0.25)}
    assert "pagerank" not in rows[0]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("outside", "outside the text"),
        ("blank", "no name or no type"),
        ("untyped", "no name or no type"),
        ("unsure", "confidence 0.0"),
        ("nan", "confidence nan"),
    ],
)
def test_an_extractor_that_breaks_its_promise_stops_the_run(
    root: Path, tmp_path: Path, run: Run, how: str, message: str
) -> None:
    own = ["graph.provider=laya_index_entities:EveryWord", f"graph.config={{how: {how}}}"]
    with pytest.raises(SignalStageError, match=rf"a\.txt.*{message}"):
        run(root, tmp_path / "out", *own)
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_feature_that_is_no_share_stops_the_run(root: Path, tmp_path: Path, run: Run) -> None:
    feature = "graph.features=[{provider: 'laya_index_entities:Odd'}]"
    with pytest.raises(SignalStageError, match=r"odd must give each of 4 nodes one number"):
        run(root, tmp_path / "out", WIRED, feature)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("{provider: graph.pattern}", r"s.yaml:4: .*did you mean 'graph.patterns'"),
        ("{provider: graph.patterns, features: []}", "at least 1 item"),
        ("{provider: graph.patterns, config: {kind: []}}", "did you mean 'kinds'"),
        ("{provider: graph.patterns, max_node: 1}", "did you mean 'max_nodes'"),
        (
            "{provider: graph.patterns, features: [{provider: graph_features.rank}]}",
            "s.yaml:4: .*did you mean 'graph_features.pagerank'|graph_features",
        ),
        (
            "{provider: graph.patterns, features: [{provider: graph_features.pagerank, "
            "config: {alpha: 1}}]}",
            "graph.features.0.config.alpha",
        ),
        (
            "{provider: graph.patterns, features: [{provider: graph_features.degree}, "
            "{provider: graph_features.degree}]}",
            "column 'degree' already",
        ),
        (
            "{provider: graph.patterns, features: [{provider: 'laya_index_entities:Odd', "
            "config: {name: community}}]}",
            "column 'community' already",
        ),
        ("{provider: tokenizer.word}", "which is no EntityExtractor"),
    ],
)
def test_a_wrong_block_is_named(tmp_path: Path, providers: Path, block: str, message: str) -> None:
    text = f"name: s\nsource: {{provider: source.files, config: {{root: .}}}}\n\ngraph: {block}\n"
    with pytest.raises(StackError, match=message):
        process(parse_stack(f"{text}export: {{path: {tmp_path / 'out'}}}\n", "s.yaml"))
    assert not (tmp_path / "out").exists()


def test_a_column_of_the_same_name_is_refused(root: Path, tmp_path: Path, run: Run) -> None:
    block = "{provider: 'laya_index_columns:Words', config: {column: context_header}}"
    with pytest.raises(StackError, match="'context_header', which graph has already"):
        run(root, tmp_path / "out", WIRED, f"signals.columns={{mine: {block}}}")
