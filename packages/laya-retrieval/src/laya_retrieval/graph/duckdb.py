"""The edges of a bundle, read by DuckDB (extra `duckdb`)."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from laya_signals.errors import MissingExtraError

from laya_retrieval.errors import ExpandError
from laya_retrieval.graph.base import breadth_first, check_request

_STEP = """
    SELECT target::VARCHAR FROM edges
    WHERE source::VARCHAR IN (SELECT unnest(?::VARCHAR[])) AND target IS NOT NULL
    UNION
    SELECT source::VARCHAR FROM edges
    WHERE target::VARCHAR IN (SELECT unnest(?::VARCHAR[])) AND source IS NOT NULL
"""


class DuckDbGraphSource:
    """Walks a Parquet file of edges (columns `source` and `target`, others are ignored).

    `path` is the file, or a bundle folder: then its manifest says which file that is, or without a
    manifest it is `graph-edges.parquet`. One scan of the two columns per hop, so resident memory
    does not grow with the graph. A bundle that is built again has another file: make another
    source. Safe to use from several threads. Raises `ExpandError` when there is no such file or it
    lacks the columns, `MissingExtraError` without duckdb.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise MissingExtraError(
                "reading graph edges needs duckdb: install laya-retrieval[duckdb]"
            ) from error
        file = Path(path)
        if file.is_dir():
            file = _edges_of(file)
        if not file.is_file():
            raise ExpandError(f"no graph edges at {file}")
        self._errors = duckdb.Error
        self._connection: Any = duckdb.connect(":memory:")
        try:
            # A view takes no parameters, so the path is quoted by doubling its quotes.
            quoted = str(file.resolve()).replace("'", "''")
            view = f"CREATE VIEW edges AS SELECT * FROM read_parquet('{quoted}')"  # noqa: S608
            self._connection.execute(view)
            self._connection.execute("SELECT source, target FROM edges LIMIT 0")
        except duckdb.Error as error:
            raise ExpandError(
                f"{file} has no readable columns source and target: {error}"
            ) from error

    def neighbors(self, seeds: Collection[str], max_hops: int) -> dict[str, int]:
        """See `GraphSource.neighbors`."""
        check_request(seeds, max_hops)
        cursor = self._connection.cursor()
        try:
            return breadth_first(
                seeds,
                max_hops,
                lambda frontier: [
                    row[0] for row in cursor.execute(_STEP, [frontier, frontier]).fetchall()
                ],
            )
        except self._errors as error:
            raise ExpandError(f"reading graph edges failed: {error}") from error
        finally:
            cursor.close()

    def close(self) -> None:
        """Close the database; a second time does nothing."""
        self._connection.close()


def _edges_of(bundle: Path) -> Path:
    manifest = bundle / "manifest.json"
    if not manifest.is_file():
        return bundle / "graph-edges.parquet"
    try:
        files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        found = [str(entry["path"]) for entry in files if entry["kind"] == "graph-edges"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ExpandError(f"cannot read {manifest}: {error!r}") from error
    if not found:
        raise ExpandError(f"the bundle {bundle} was built without a graph")
    return bundle / found[0]
