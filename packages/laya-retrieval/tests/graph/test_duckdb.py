"""Graph edges read by DuckDB."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from laya_retrieval import DuckDbGraphSource, ExpandError

pytestmark = pytest.mark.slow
pytest.importorskip("duckdb", reason="needs the dependency group `oracles`")
pyarrow = pytest.importorskip("pyarrow", reason="writing the edges needs pyarrow")
from pyarrow import parquet  # noqa: E402


def write(path, **columns):
    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ExpandError, match=r"graph-edges\.parquet"):
        DuckDbGraphSource(tmp_path)


def test_a_manifest_says_which_file_holds_the_edges(tmp_path):
    write(tmp_path / "graph-edges-0.parquet", source=["a"], target=["old"])
    write(tmp_path / "graph-edges-1.parquet", source=["a"], target=["b"])
    files = [{"path": "chunks/x.parquet", "kind": "chunks"}]
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"files": files}))
    with pytest.raises(ExpandError, match="built without a graph"):
        DuckDbGraphSource(tmp_path)
    files.append({"path": "graph-edges-1.parquet", "kind": "graph-edges"})
    manifest.write_text(json.dumps({"files": files}))
    assert DuckDbGraphSource(tmp_path).neighbors(["a"], 1) == {"b": 1}
    (tmp_path / "graph-edges-1.parquet").unlink()
    with pytest.raises(ExpandError, match=r"no graph edges at .*graph-edges-1"):
        DuckDbGraphSource(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": [{}]}', '{"files": 3}'])
def test_a_broken_manifest_is_named(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ExpandError, match=r"cannot read .*manifest\.json"):
        DuckDbGraphSource(tmp_path)


def test_missing_columns_are_named(tmp_path):
    with pytest.raises(ExpandError, match="source and target"):
        DuckDbGraphSource(write(tmp_path / "e.parquet", a=["x"]))


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    (tmp_path / "e.parquet").write_text("nonsense")
    with pytest.raises(ExpandError, match=r"e\.parquet"):
        DuckDbGraphSource(tmp_path / "e.parquet")


def test_a_quote_in_the_path_is_only_a_quote(tmp_path):
    path = write(tmp_path / "it's'); SELECT 1; --.parquet", source=["a"], target=["b"])
    assert DuckDbGraphSource(path).neighbors(["a"], 1) == {"b": 1}


def test_edges_with_a_missing_end_are_ignored(tmp_path):
    path = write(tmp_path / "e.parquet", source=["a", None, "a"], target=["b", "a", None])
    assert DuckDbGraphSource(path).neighbors(["a"], 3) == {"b": 1}


def test_threads_may_share_a_source(tmp_path):
    names = [f"n{i}" for i in range(50)]
    source = DuckDbGraphSource(write(tmp_path / "e.parquet", source=names[:-1], target=names[1:]))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: source.neighbors([n], 1), names[1:-1]))
    assert all(len(near) == 2 for near in found)
    source.close()
    source.close()
