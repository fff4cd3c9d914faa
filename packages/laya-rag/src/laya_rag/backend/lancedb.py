"""A corpus in LanceDB: tables for each version, and a small table that says which one counts.

LanceDB compares vectors and filters rows. It has no sparse vectors, and its own full-text search
scores otherwise than a bundle; so BM25 weights lie in a table by term, a query adds up the rows of
its terms, and LanceDB is asked which of the best chunks pass the filter.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import FilterError
from laya_retrieval.filters import Operator
from laya_signals.sparse.vector import SparseVector
from numpy.typing import NDArray

from laya_rag.access import Access
from laya_rag.backend.base import DocumentRow, Totals
from laya_rag.backend.push import KINDS, Corpus, Kind, Sink, document_rows, matrix
from laya_rag.backend.store import (
    VERSION,
    Header,
    StoreBackend,
    StoreView,
    Target,
    Translator,
    document_row,
    whole_bounds,
)
from laya_rag.errors import MissingExtraError, StoreError

if TYPE_CHECKING:
    from lancedb.db import DBConnection
    from lancedb.table import Table

_SIGNS = {
    Operator.EQ: "=",
    Operator.GT: ">",
    Operator.GTE: ">=",
    Operator.LT: "<",
    Operator.LTE: "<=",
}
# How many of the best chunks are looked up at once.
_LOOKED_UP = 512
# A scope is the number of its weights, see `Header.scopes`; `rows` are numbers of chunks.
_TERMS = pa.schema(
    [
        pa.field("number", pa.int64(), nullable=False),
        pa.field("term", pa.string(), nullable=False),
        pa.field("scope", pa.int32(), nullable=False),
        pa.field("rows", pa.list_(pa.int64()), nullable=False),
        pa.field("weights", pa.list_(pa.float32()), nullable=False),
    ]
)
_INDEXED: Mapping[Kind, Sequence[str]] = {
    "chunks": ("number", "record_id", "document_id"),
    "documents": ("document_id",),
    "terms": ("term",),
}


def connect(target: Target) -> DBConnection:
    """The database in the target's folder; raises `MissingExtraError` without the client."""
    try:
        library = importlib.import_module("lancedb")
    except ImportError as error:
        raise MissingExtraError("lancedb is not installed: install laya-rag[lancedb]") from error
    with _asking(target):
        database: DBConnection = library.connect(str(target.folder))
        return database


@contextmanager
def _asking(target: Target) -> Iterator[None]:
    """What the client raises as a `StoreError`."""
    try:
        yield
    except (ValueError, OSError, RuntimeError, pa.ArrowException) as error:
        text = str(error).strip().partition("\n")[0]
        raise StoreError(f"{target}: {type(error).__name__}: {text}") from error


def _names(database: DBConnection) -> list[str]:
    names: list[str] = []
    token: str | None = None
    while True:
        page = database.list_tables(page_token=token)
        names += page.tables
        token = page.page_token
        if not token:
            return names


def _header(database: DBConnection, target: Target) -> Header | None:
    """The header of the corpus that readers see."""
    with _asking(target):
        if target.name not in _names(database):
            return None
        table = database.open_table(target.name)
        if table.schema.names != ["header"]:
            raise StoreError(f"{target} is a table that no push made; choose another name")
        text = table.to_arrow()["header"][0].as_py()
    return Header.from_json(text, str(target))


class LanceDbSink(Sink):
    """Writes a corpus to LanceDB."""

    #: Each batch is a file of its own until publishing joins them.
    batch = 8192

    def __init__(self, target: Target) -> None:
        self._target = target
        self._database = connect(target)
        self._tables: dict[Kind, Table] = {}

    def current(self) -> str | None:
        """See `Sink`."""
        header = _header(self._database, self._target)
        return None if header is None else header.identity

    def begin(self, corpus: Corpus) -> None:
        """See `Sink`."""
        with _asking(self._target):
            there = set(_names(self._database))
            for kind in KINDS:
                name = _table_name(self._target, corpus.version, kind)
                if name in there:
                    self._tables[kind] = self._database.open_table(name)
                else:
                    schema = _rows(corpus, kind, 0, 0).schema
                    self._tables[kind] = self._database.create_table(name, schema=schema)

    def done(self, kind: Kind) -> int:
        """See `Sink`."""
        with _asking(self._target):
            # A term has a row for each scope that has it; the first scope has all of them.
            return int(self._tables[kind].count_rows("scope = 0" if kind == "terms" else None))

    def write(self, corpus: Corpus, kind: Kind, start: int, stop: int) -> None:
        """See `Sink`."""
        with _asking(self._target):
            self._tables[kind].delete(f"`number` >= {start}")
            self._tables[kind].add(_rows(corpus, kind, start, stop))

    def publish(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Sink`."""
        from lancedb.index import BTree

        header = pa.table({"header": [corpus.header.to_json()]})
        with _asking(self._target):
            for kind, columns in _INDEXED.items():
                self._tables[kind].optimize()
                for column in columns:
                    self._tables[kind].create_index(column, config=BTree(), replace=True)
            names = _names(self._database)
            if self._target.name in names:
                self._database.open_table(self._target.name).add(header, mode="overwrite")
            else:
                self._database.create_table(self._target.name, header)
            kept = {_table_name(self._target, corpus.version, kind) for kind in KINDS}
            removed = [
                name
                for name in sorted(names)
                if name not in kept
                and (version := name.rpartition(".")[0])
                and VERSION.search(version)
                and VERSION.sub("", version) == self._target.name
            ]
            for name in removed:
                self._database.drop_table(name)
            return tuple(removed)

    def close(self) -> None:
        """See `Sink`; an embedded database needs no closing."""


def _table_name(target: Target, version: str, kind: Kind) -> str:
    return f"{target.name}-{version}.{kind}"


def _rows(corpus: Corpus, kind: Kind, start: int, stop: int) -> pa.Table:
    """Rows of a kind as a table."""
    if kind == "terms":
        return _term_rows(corpus, start, stop)
    if kind == "documents":
        rows = document_rows(corpus, start, stop)
        table = corpus.documents.drop_columns(["digest", "redactions"]).slice(start, stop - start)
        metadata = pa.array([row["metadata"] for row in rows], pa.string())
        place = table.column_names.index("metadata")
        table = table.set_column(place, "metadata", metadata)
    else:
        table = corpus.chunks.select([*corpus.columns, *corpus.header.vectors.values()])
        table = table.slice(start, stop - start)
        for column in corpus.header.vectors.values():
            vectors = pa.FixedSizeListArray.from_arrays(
                pa.array(matrix(corpus, column, start, stop).ravel()),
                corpus.manifest.embeddings[column].dimension,
            )
            table = table.set_column(table.column_names.index(column), column, vectors)
    return table.append_column("number", pa.array(range(start, stop), pa.int64()))


def _term_rows(corpus: Corpus, start: int, stop: int) -> pa.Table:
    """A row for each term `start:stop` and each scope that has it."""
    found: list[tuple[int, str, int, NDArray[np.int64], NDArray[np.float32]]] = []
    for scope in corpus.scopes:
        rows = np.repeat(scope.rows, np.diff(scope.offsets))
        chosen = np.flatnonzero((scope.terms >= start) & (scope.terms < stop))
        # Stable, so that a term's rows stay ascending.
        chosen = chosen[np.argsort(scope.terms[chosen], kind="stable")]
        terms, firsts = np.unique(scope.terms[chosen], return_index=True)
        bounds = [*firsts.tolist(), len(chosen)]
        for term, low, high in zip(terms.tolist(), bounds, bounds[1:], strict=False):
            part = chosen[low:high]
            text = corpus.terms[term]
            found.append((term, text, scope.number, rows[part], scope.weights[part]))
    columns = [list(column) for column in zip(*found, strict=True)] or [[] for _ in _TERMS]
    return pa.table(columns, schema=_TERMS)


class LanceDbTranslator(Translator[str]):
    """The filter language to LanceDB's SQL; lists cannot be ordered there."""

    def all_of(self, parts: Sequence[str]) -> str:
        """See `Translator`."""
        return f"({' AND '.join(parts)})"

    def any_of(self, parts: Sequence[str]) -> str:
        """See `Translator`."""
        return f"({' OR '.join(parts)})"

    def negate(self, part: str) -> str:
        """See `Translator`; parts are never unknown, so that SQL's NOT is ours."""
        return f"(NOT {part})"

    def missing(self, field: str) -> str:
        """See `Translator`."""
        return f"(`{field}` IS NULL)"

    def text_is(self, field: str, texts: Sequence[str]) -> str:
        """See `Translator`."""
        listed = ", ".join(_literal(text) for text in dict.fromkeys(texts))
        if self.fields[field] == "texts":
            return self._known(field, f"array_has_any(`{field}`, [{listed}])")
        return self._known(field, f"`{field}` IN ({listed})")

    def text_ordered(self, field: str, op: Operator, text: str) -> str:
        """See `Translator`; texts are compared byte by byte, which is by code point."""
        self._refuse_list(field, op)
        return self._known(field, f"`{field}` {_SIGNS[op]} {_literal(text)}")

    def number(self, field: str, op: Operator, number: float) -> str | bool:
        """See `Translator`."""
        self._refuse_list(field, op)
        bounds = whole_bounds(op, number)
        if bounds is None:
            return False
        return self._known(field, f"`{field}` {_SIGNS[bounds[0]]} {bounds[1]}")

    def _refuse_list(self, field: str, op: Operator) -> None:
        if self.fields[field].endswith("s"):
            raise FilterError(
                f"field {field!r}: LanceDB cannot compare the values of a list by {op.value}"
            )

    def _known(self, field: str, condition: str) -> str:
        return f"(`{field}` IS NOT NULL AND {condition})"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class LanceDbBackend(StoreBackend):
    """A corpus that `laya push` wrote to LanceDB.

    `exact` leaves aside an index of vectors that somebody made on the table; a push makes none. A
    push of another corpus removes the tables that were opened: searches then raise `StoreError`,
    and opening again finds the new ones.
    """

    def __init__(self, target: Target, *, exact: bool = False) -> None:
        self.exact = exact
        self.target = target
        database = connect(target)
        header = _header(database, target)
        if header is None:
            raise StoreError(f"{target} holds no corpus; `laya push BUNDLE --to` puts one there")
        super().__init__(header, str(target))
        version = header.identity[:16]
        with _asking(target):
            self.tables: dict[Kind, Table] = {
                kind: database.open_table(_table_name(target, version, kind)) for kind in KINDS
            }

    def view(self, access: Access) -> LanceDbView:
        """See `CorpusBackend`."""
        return LanceDbView(self, access)

    def close(self) -> None:
        """See `CorpusBackend`; an embedded database needs no closing."""


class LanceDbView(StoreView[str]):
    """What one caller sees of a corpus in LanceDB."""

    backend: LanceDbBackend

    def __init__(self, backend: LanceDbBackend, access: Access) -> None:
        super().__init__(backend, access, LanceDbTranslator(backend.header.fields))
        self._columns = ["record_id", "content", *backend.header.fields]

    @property
    def has_sparse(self) -> bool:
        """LanceDB has no sparse vectors."""
        return False

    def lexical(self, terms: Mapping[str, int], where: str | bool, limit: int) -> list[Candidate]:
        """See `StoreView`."""
        if self.scope is None or not terms:
            return []
        listed = ", ".join(_literal(term) for term in terms)
        wanted = f"`scope` = {self.scope} AND `term` IN ({listed})"
        # In the order of the terms, so that sums of the same weights are the same bits.
        found = self._rows("terms", wanted, ["term", "rows", "weights"]).sort_by("term")
        if not found.num_rows:
            return []
        lists = found["rows"].combine_chunks()
        times = np.repeat(
            [terms[term] for term in found["term"].to_pylist()],
            lists.value_lengths().to_numpy(),
        )
        weights = found["weights"].combine_chunks().flatten().to_numpy().astype(np.float64)
        rows, inverse = np.unique(lists.flatten().to_numpy(), return_inverse=True)
        scores = np.bincount(inverse, weights=times * weights).astype(np.float64)
        # Chunks are numbered by ascending id, so that ids decide ties.
        order = np.lexsort((rows, -scores))
        best: list[Candidate] = []
        for start in range(0, len(order), _LOOKED_UP):
            block = order[start : start + _LOOKED_UP]
            best += self._passing(rows[block], scores[block], where)
            if len(best) >= limit:
                break
        return best[:limit]

    def _passing(
        self, rows: NDArray[np.int64], scores: NDArray[np.float64], where: str | bool
    ) -> list[Candidate]:
        """Those of the chunks `rows` that `where` lets pass, in their order."""
        listed = f"`number` IN ({', '.join(map(str, rows.tolist()))})"
        wanted = f"{listed} AND {where}" if isinstance(where, str) else listed
        found = {
            row["number"]: row
            for row in self._rows("chunks", wanted, ["number", *self._columns]).to_pylist()
        }
        pairs = zip(rows.tolist(), scores.tolist(), strict=True)
        return [self.candidate(found[row], score) for row, score in pairs if row in found]

    def sparse(
        self,
        terms: SparseVector,  # noqa: ARG002 - there is nothing to ask
        where: str | bool,  # noqa: ARG002
        limit: int,  # noqa: ARG002
    ) -> list[Candidate]:
        """Never asked: there is no such leg."""
        raise StoreError(f"{self.backend.target} has no sparse vectors")

    def dense(
        self, column: str, vector: NDArray[np.float32], where: str | bool, limit: int
    ) -> list[Candidate]:
        """See `StoreView`."""
        with _asking(self.backend.target):
            asked: Any = self.backend.tables["chunks"].search(vector, vector_column_name=column)
            asked = asked.distance_type("dot").limit(limit).select([*self._columns, "_distance"])
            if isinstance(where, str):
                asked = asked.where(where, prefilter=True)
            if self.backend.exact:
                asked = asked.bypass_vector_index()
            found = asked.to_arrow().to_pylist()
        return [self.candidate(row, 1.0 - row["_distance"]) for row in found]

    def _rows(self, kind: Kind, where: str | bool, columns: Sequence[str]) -> pa.Table:
        with _asking(self.backend.target):
            asked = self.backend.tables[kind].search().select(list(columns))
            if isinstance(where, str):
                asked = asked.where(where)
            return asked.to_arrow()

    def totals(self) -> Totals:
        """See `CorpusView`."""
        where = self.where()
        if where is False:
            return Totals(0, 0)
        with _asking(self.backend.target):
            documents, chunks = (
                self.backend.tables[kind].count_rows(where if isinstance(where, str) else None)
                for kind in ("documents", "chunks")
            )
        return Totals(documents, chunks)

    def documents(self, *, after: str | None = None, limit: int = 100) -> list[DocumentRow]:
        """See `CorpusView`."""
        from lancedb.query import ColumnOrdering

        parts = [part for part in (self.where(),) if part is not True]
        if False in parts or limit < 1:
            return []
        if after is not None:
            parts.append(f"(`document_id` > {_literal(after)})")
        order = ColumnOrdering(column_name="document_id", ascending=True, nulls_first=False)
        with _asking(self.backend.target):
            asked = self.backend.tables["documents"].search().order_by([order]).limit(limit)
            if parts:
                asked = asked.where(" AND ".join(str(part) for part in parts))
            rows = asked.to_arrow().to_pylist()
        return [document_row(row) for row in rows]

    def find_document(self, document_id: str) -> DocumentRow | None:
        """See `StoreView`."""
        found = self._named("documents", "document_id", [document_id])
        return document_row(found[0]) if found else None

    def find_records(self, record_ids: Sequence[str]) -> dict[str, Candidate]:
        """See `StoreView`."""
        rows = [self.candidate(row) for row in self._named("chunks", "record_id", record_ids)]
        return {row.id: row for row in rows}

    def _named(self, kind: Kind, column: str, names: Sequence[str]) -> list[dict[str, Any]]:
        """The permitted rows whose `column` is one of `names`."""
        where = self.where()
        if where is False or not names:
            return []
        named = f"`{column}` IN ({', '.join(_literal(name) for name in names)})"
        wanted = f"{named} AND {where}" if isinstance(where, str) else named
        columns = self.backend.tables[kind].schema.names
        kept = [name for name in columns if name not in self.header.vectors.values()]
        found: list[dict[str, Any]] = self._rows(kind, wanted, kept).to_pylist()
        return found
