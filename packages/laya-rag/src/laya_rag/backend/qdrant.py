"""A corpus in Qdrant: one collection for each version, and an alias for the one that counts.

Points are chunks (with the named vectors of every embedding, sparse vectors `bm25` and `sparse`),
documents, terms, and the header; `kind` tells them apart. BM25 is the dot product of a query's
counts of terms with weights that were computed when the corpus was pushed.
"""

from __future__ import annotations

import bisect
import importlib
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import FilterError
from laya_retrieval.filters import Operator
from laya_signals.sparse.vector import SparseVector
from numpy.typing import NDArray

from laya_rag.access import Access
from laya_rag.backend.base import DocumentRow, Totals
from laya_rag.backend.push import Corpus, Kind, Sink, chunk_rows, document_rows, matrix
from laya_rag.backend.store import (
    VERSION,
    Header,
    StoreBackend,
    StoreView,
    Target,
    Translator,
    document_row,
)
from laya_rag.errors import MissingExtraError, StoreError

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

#: Where a server's key comes from.
KEY_VARIABLE = "LAYA_QDRANT_API_KEY"

_NAMESPACE = uuid.UUID("6f5e8a1c-7a3b-5d0e-9c41-2b8f4f0d6e17")
_HEADER = str(uuid.uuid5(_NAMESPACE, "header"))
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
# Indices of sparse vectors are 32 bits wide.
_INDICES = 1 << 32
# Points of terms that a backend remembers.
_TERMS_KEPT = 256
_INDEXED = {
    "kind": "keyword",
    "document_id": "keyword",
    "trust_tier": "keyword",
    "tenants": "keyword",
    "media_type": "keyword",
    "ordinal": "integer",
    "start": "integer",
    "end": "integer",
}


def point_id(record_id: str) -> str:
    """The UUID of a chunk's point: version 5, of its record id."""
    return str(uuid.uuid5(_NAMESPACE, f"chunk:{record_id}"))


def _terms_id(start: int) -> str:
    """The point of the terms from number `start` on."""
    return str(uuid.uuid5(_NAMESPACE, f"terms:{start}"))


def _library() -> Any:
    try:
        return importlib.import_module("qdrant_client")
    except ImportError as error:
        raise MissingExtraError(
            "qdrant-client is not installed: install laya-rag[qdrant]"
        ) from error


def connect(target: Target) -> QdrantClient:
    """A client for `target`: of a server, or of a folder.

    The key of a server is read from the environment variable `LAYA_QDRANT_API_KEY` and goes nowhere
    else. Raises `MissingExtraError` without the client, and `StoreError` where the key would cross
    a network in the clear, or the folder is in use.
    """
    library = _library()
    where: dict[str, Any] = {"path": str(target.folder)}
    if target.url:
        key = os.environ.get(KEY_VARIABLE) or None
        host = target.url.partition("://")[2].rsplit(":", 1)[0]
        if key and target.url.startswith("http://") and host not in _LOOPBACK:
            raise StoreError(
                f"{KEY_VARIABLE} is set, and {target.url} is not encrypted; use qdrant+https://"
            )
        where = {"url": target.url, "api_key": key, "timeout": 60, "check_compatibility": False}
    with _asking(target):
        client: QdrantClient = library.QdrantClient(**where)
    return client


@contextmanager
def _asking(target: Target) -> Iterator[None]:
    """What the client raises as a `StoreError`; neither has the key."""
    httpx = importlib.import_module("httpx")
    exceptions = importlib.import_module("qdrant_client.http.exceptions")
    try:
        yield
    except (exceptions.ApiException, httpx.HTTPError, ValueError, KeyError, OSError) as error:
        text = str(error).strip().partition("\n")[0]
        raise StoreError(f"{target}: {type(error).__name__}: {text}") from error
    except RuntimeError as error:
        # What a folder says that another process has open.
        raise StoreError(f"{target}: {error}") from error


class QdrantSink(Sink):
    """Writes a corpus to Qdrant."""

    def __init__(self, target: Target, client: QdrantClient | None = None) -> None:
        self._target = target
        self._library = _library()
        self._client = connect(target) if client is None else client
        self._owned = client is None
        self._name = ""

    def current(self) -> str | None:
        """See `Sink`."""
        with _asking(self._target):
            points = _published(self._client, self._target)
            if points is None:
                if self._client.collection_exists(self._target.name):
                    raise StoreError(
                        f"{self._target} is a collection that no push made; choose another name"
                    )
                return None
            found = self._client.retrieve(points, [_HEADER], with_payload=["identity"])
            return str((found[0].payload or {})["identity"]) if found else None

    def begin(self, corpus: Corpus) -> None:
        """See `Sink`."""
        models = self._library.models
        if len(corpus.scopes) * corpus.header.terms >= _INDICES:
            raise StoreError(
                f"{self._target}: {corpus.header.terms} terms for {len(corpus.scopes)} groups of "
                "callers are more than a sparse vector has indices"
            )
        self._name = f"{self._target.name}-{corpus.version}"
        sparse = {"bm25"} if corpus.manifest.bm25 else set()
        if "sparse" in corpus.manifest.signals:
            if (corpus.manifest.signals["sparse"].dimension or 0) > _INDICES:
                raise StoreError(f"{self._target}: sparse indices go up to 2^32 at most")
            sparse.add("sparse")
        with _asking(self._target):
            if not self._client.collection_exists(self._name):
                self._client.create_collection(
                    self._name,
                    vectors_config={
                        column: models.VectorParams(
                            size=corpus.manifest.embeddings[column].dimension,
                            distance=models.Distance.DOT,
                            on_disk=True,
                        )
                        for column in corpus.header.vectors.values()
                    },
                    sparse_vectors_config={
                        name: models.SparseVectorParams() for name in sorted(sparse)
                    },
                )
            if self._target.url:
                for field, kind in _INDEXED.items():
                    schema = models.PayloadSchemaType(kind)
                    self._client.create_payload_index(self._name, field, schema)

    def done(self, kind: Kind) -> int:
        """See `Sink`."""
        with _asking(self._target):
            points: int = self._client.count(self._name, _kind_filter(kind), exact=True).count
            # A point holds a whole batch of terms.
            return points * (self.batch if kind == "terms" else 1)

    def write(self, corpus: Corpus, kind: Kind, start: int, stop: int) -> None:
        """See `Sink`."""
        models = self._library.models
        make = {"chunks": self._chunks, "documents": self._documents, "terms": self._terms}[kind]
        points = [
            models.PointStruct(id=name, payload={**payload, "kind": kind}, vector=vectors)
            for name, payload, vectors in make(corpus, start, stop)
        ]
        with _asking(self._target):
            self._client.upsert(self._name, points, wait=True)

    def _chunks(
        self, corpus: Corpus, start: int, stop: int
    ) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        models = self._library.models
        dense = {
            column: matrix(corpus, column, start, stop) for column in corpus.header.vectors.values()
        }
        sparse = None
        if "sparse" in corpus.manifest.signals:
            columns = corpus.chunks.select(["sparse_indices", "sparse_values"])
            sparse = columns.slice(start, stop - start).to_pylist()
        for place, row in enumerate(chunk_rows(corpus, start, stop)):
            vectors: dict[str, Any] = {name: rows[place].tolist() for name, rows in dense.items()}
            parts = [(scope.number, *scope.of(start + place)) for scope in corpus.scopes]
            indices = np.concatenate(
                [np.empty(0, np.int64), *(n * corpus.header.terms + terms for n, terms, _ in parts)]
            )
            if len(indices):
                weights = np.concatenate([weights for _, _, weights in parts])
                vectors["bm25"] = models.SparseVector(
                    indices=indices.tolist(), values=weights.tolist()
                )
            if sparse is not None and sparse[place]["sparse_indices"]:
                vectors["sparse"] = models.SparseVector(
                    indices=sparse[place]["sparse_indices"], values=sparse[place]["sparse_values"]
                )
            yield point_id(row["record_id"]), row, vectors

    def _documents(
        self, corpus: Corpus, start: int, stop: int
    ) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
        # Numbers, because points are listed by ascending id.
        for row in document_rows(corpus, start, stop):
            yield row["place"], row, {}

    def _terms(
        self, corpus: Corpus, start: int, stop: int
    ) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        yield _terms_id(start), {"start": start, "terms": corpus.terms[start:stop]}, {}

    def publish(self, corpus: Corpus) -> tuple[str, ...]:
        """See `Sink`."""
        models = self._library.models
        header = {
            "kind": "header",
            "identity": corpus.header.identity,
            "header": corpus.header.to_json(),
            # Terms are sorted: these say in which point each of them is.
            "firsts": corpus.terms[:: self.batch],
            "batch": self.batch,
        }
        name = self._target.name
        with _asking(self._target):
            self._client.upsert(
                self._name,
                [models.PointStruct(id=_HEADER, payload=header, vector={})],
                wait=True,
            )
            change: list[Any] = [
                models.CreateAliasOperation(
                    create_alias=models.CreateAlias(collection_name=self._name, alias_name=name)
                )
            ]
            if _published(self._client, self._target) is not None:
                # Both in one request, so that the name is never without a corpus.
                drop = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name))
                change.insert(0, drop)
            self._client.update_collection_aliases(change)
            others = [
                found.name
                for found in self._client.get_collections().collections
                if found.name != self._name
                and VERSION.search(found.name)
                and VERSION.sub("", found.name) == name
            ]
            for other in sorted(others):
                self._client.delete_collection(other)
            return tuple(sorted(others))

    def close(self) -> None:
        """See `Sink`."""
        if self._owned:
            self._client.close()


def _published(client: QdrantClient, target: Target) -> str | None:
    """The collection that the target's alias stands for."""
    for alias in client.get_aliases().aliases:
        if alias.alias_name == target.name:
            return str(alias.collection_name)
    return None


def _filter(**parts: Any) -> models.Filter:
    found: models.Filter = _library().models.Filter(**parts)
    return found


def _kind_filter(kind: str) -> models.Filter:
    models = _library().models
    return _filter(must=[models.FieldCondition(key="kind", match=models.MatchValue(value=kind))])


class QdrantTranslator(Translator["models.Filter"]):
    """The filter language to Qdrant's; texts cannot be ordered there."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__(fields)
        self._models = _library().models

    def all_of(self, parts: Sequence[models.Filter]) -> models.Filter:
        """See `Translator`."""
        return _filter(must=list(parts))

    def any_of(self, parts: Sequence[models.Filter]) -> models.Filter:
        """See `Translator`."""
        return _filter(should=list(parts))

    def negate(self, part: models.Filter) -> models.Filter:
        """See `Translator`."""
        return _filter(must_not=[part])

    def missing(self, field: str) -> models.Filter:
        """See `Translator`; every field of a pushed row is there, if as a null."""
        models = self._models
        null = models.IsNullCondition(is_null=models.PayloadField(key=field))
        return _filter(must=[null])

    def text_is(self, field: str, texts: Sequence[str]) -> models.Filter:
        """See `Translator`."""
        match = self._models.MatchAny(any=list(dict.fromkeys(texts)))
        return _filter(must=[self._models.FieldCondition(key=field, match=match)])

    def text_ordered(self, field: str, op: Operator, text: str) -> models.Filter:
        """Always raises `FilterError`."""
        raise FilterError(f"field {field!r}: Qdrant cannot order texts, so not {op.value} {text!r}")

    def number(self, field: str, op: Operator, number: float) -> models.Filter:
        """See `Translator`."""
        bounds = {op.value: number} if op is not Operator.EQ else {"gte": number, "lte": number}
        condition = self._models.FieldCondition(key=field, range=self._models.Range(**bounds))
        return _filter(must=[condition])


class QdrantBackend(StoreBackend):
    """A corpus that `laya push` wrote to Qdrant.

    `exact` has vectors compared one and all; without it Qdrant's own index answers, which may miss
    some. A client that is given is used and left open. A push of another corpus removes the
    collection that was opened: searches then raise `StoreError`, and opening again finds the new
    one.
    """

    def __init__(
        self, target: Target, *, exact: bool = False, client: QdrantClient | None = None
    ) -> None:
        _library()
        self.exact = exact
        self.target = target
        self._owned = client is None
        self.client = connect(target) if client is None else client
        try:
            with _asking(target):
                name = _published(self.client, target)
                found = [] if name is None else self.client.retrieve(name, [_HEADER])
            if name is None or not found:
                raise StoreError(
                    f"{target} holds no corpus; `laya push BUNDLE --to` puts one there"
                )
            payload = found[0].payload or {}
            super().__init__(Header.from_json(payload["header"], str(target)), str(target))
        except BaseException:
            self.close()
            raise
        self.collection: str = name
        self._firsts: list[str] = payload["firsts"]
        self._batch: int = payload["batch"]
        self._terms = lru_cache(maxsize=_TERMS_KEPT)(self._terms_from)

    def term_numbers(self, terms: Iterable[str]) -> dict[str, int]:
        """The numbers of those terms that the corpus has."""
        found = {}
        for term in terms:
            place = bisect.bisect_right(self._firsts, term) - 1
            number = self._terms(place * self._batch).get(term) if place >= 0 else None
            if number is not None:
                found[term] = number
        return found

    def _terms_from(self, start: int) -> dict[str, int]:
        with _asking(self.target):
            (point,) = self.client.retrieve(self.collection, [_terms_id(start)])
        terms: list[str] = (point.payload or {})["terms"]
        return {term: number for number, term in enumerate(terms, start)}

    def view(self, access: Access) -> QdrantView:
        """See `CorpusBackend`."""
        return QdrantView(self, access)

    def close(self) -> None:
        """See `CorpusBackend`."""
        if self._owned:
            self.client.close()


class QdrantView(StoreView["models.Filter"]):
    """What one caller sees of a corpus in Qdrant."""

    backend: QdrantBackend

    def __init__(self, backend: QdrantBackend, access: Access) -> None:
        super().__init__(backend, access, QdrantTranslator(backend.header.fields))
        # In a folder or in memory everything is exact, and saying so is warned about.
        server = bool(backend.target.url) and backend.exact
        self._params = _library().models.SearchParams(exact=True) if server else None

    @property
    def has_sparse(self) -> bool:
        """Qdrant has sparse vectors."""
        return True

    def lexical(
        self, terms: Mapping[str, int], where: models.Filter | bool, limit: int
    ) -> list[Candidate]:
        """See `StoreView`."""
        if self.scope is None:
            return []
        base = self.scope * self.header.terms
        weights = {
            base + number: float(terms[term])
            for term, number in self.backend.term_numbers(terms).items()
        }
        return self._sparse("bm25", weights, where, limit)

    def sparse(
        self, terms: SparseVector, where: models.Filter | bool, limit: int
    ) -> list[Candidate]:
        """See `StoreView`."""
        return self._sparse("sparse", dict(terms), where, limit)

    def _sparse(
        self, name: str, weights: Mapping[int, float], where: models.Filter | bool, limit: int
    ) -> list[Candidate]:
        if not weights:
            return []
        order = sorted(weights)
        vector = _library().models.SparseVector(
            indices=order, values=[weights[index] for index in order]
        )
        return self._points(name, vector, where, limit)

    def dense(
        self, column: str, vector: NDArray[np.float32], where: models.Filter | bool, limit: int
    ) -> list[Candidate]:
        """See `StoreView`."""
        return self._points(column, vector.tolist(), where, limit)

    def _points(
        self, using: str, query: Any, where: models.Filter | bool, limit: int
    ) -> list[Candidate]:
        with _asking(self.backend.target):
            found = self.backend.client.query_points(
                self.backend.collection,
                query=query,
                using=using,
                query_filter=self._of_kind("chunks", where),
                search_params=self._params,
                limit=limit,
                with_payload=True,
            )
        return [self.candidate(point.payload or {}, point.score) for point in found.points]

    def _of_kind(self, kind: str, where: models.Filter | bool) -> models.Filter:
        of_kind = _kind_filter(kind)
        if isinstance(where, bool):
            if not where:
                raise StoreError("a predicate that nothing fulfils is not for the store to answer")
            return of_kind
        return _filter(must=[of_kind, where])

    def totals(self) -> Totals:
        """See `CorpusView`."""
        where = self.where()
        if where is False:
            return Totals(0, 0)
        with _asking(self.backend.target):
            documents, chunks = (
                self.backend.client.count(
                    self.backend.collection, self._of_kind(kind, where), exact=True
                ).count
                for kind in ("documents", "chunks")
            )
        return Totals(documents, chunks)

    def documents(self, *, after: str | None = None, limit: int = 100) -> list[DocumentRow]:
        """See `CorpusView`."""
        where = self.where()
        if where is False or limit < 1:
            return []
        first = 0 if after is None else self._place_behind(after)
        with _asking(self.backend.target):
            found, _ = self.backend.client.scroll(
                self.backend.collection,
                self._of_kind("documents", where),
                limit=limit,
                offset=first,
                with_payload=True,
            )
        return [document_row(point.payload or {}) for point in found]

    def _place_behind(self, document_id: str) -> int:
        """How many documents have this id or a lesser one, whoever may see them.

        Asks the same questions whether or not there is such a document.
        """
        with _asking(self.backend.target):
            low, high = (
                0,
                self.backend.client.count(
                    self.backend.collection, _kind_filter("documents"), exact=True
                ).count,
            )
            while low < high:
                middle = (low + high) // 2
                found = self.backend.client.retrieve(
                    self.backend.collection, [middle], with_payload=["document_id"]
                )
                if (found[0].payload or {})["document_id"] <= document_id:
                    low = middle + 1
                else:
                    high = middle
        return low

    def find_document(self, document_id: str) -> DocumentRow | None:
        """See `StoreView`."""
        where = self.where()
        if where is False:
            return None
        models = _library().models
        named = models.FieldCondition(key="document_id", match=models.MatchValue(value=document_id))
        wanted = _filter(must=[self._of_kind("documents", where), named])
        with _asking(self.backend.target):
            found, _ = self.backend.client.scroll(self.backend.collection, wanted, limit=1)
        return document_row(found[0].payload or {}) if found else None

    def find_records(self, record_ids: Sequence[str]) -> dict[str, Candidate]:
        """See `StoreView`."""
        where = self.where()
        if where is False or not record_ids:
            return {}
        models = _library().models
        named = models.HasIdCondition(has_id=[point_id(name) for name in record_ids])
        wanted = _filter(must=[self._of_kind("chunks", where), named])
        with _asking(self.backend.target):
            found, _ = self.backend.client.scroll(
                self.backend.collection, wanted, limit=len(record_ids), with_payload=True
            )
        rows = [self.candidate(point.payload or {}) for point in found]
        return {row.id: row for row in rows}
