"""What corpora in a store have in common, whichever store it is.

`laya push` writes a bundle's rows into a store as they are, and beside them a header: the bundle's
manifest, which fields can be filtered by, and where each leg's vectors are. A backend over a store
opens the header and asks the store the rest.
"""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np
from laya_index.bundle.manifest import Manifest
from laya_retrieval.candidate import Candidate, ranked
from laya_retrieval.errors import FilterError, OrchestrationError
from laya_retrieval.filters import And, Comparison, Exists, Filter, Not, Operator, Or, parse_filter
from laya_retrieval.retrieve.backend import Capability, Legs
from laya_retrieval.retrieve.query import QueryBundle
from laya_signals.sparse.vector import SparseVector
from numpy.typing import NDArray
from pydantic import ValidationError

from laya_rag.access import Access
from laya_rag.backend.base import DocumentRow, Totals
from laya_rag.backend.models import QueryModels
from laya_rag.errors import ModelMismatchError, NotFoundError, StoreError

#: Raised when a store's rows change their meaning.
FORMAT = 1
#: What separates a target's name from the version of the corpus that is in it.
VERSION = re.compile(r"-[0-9a-f]{16}\Z")

_EXAMPLES = (
    "qdrant://localhost:6333/notes, qdrant:///srv/qdrant/notes or lancedb:///srv/lance/notes"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
# Beyond this a float64 no longer tells neighbouring integers apart.
_EXACT = 1 << 53

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a corpus is pushed to: a store, and a collection or table in it.

    `url` is the address of a server, "" for a store in the folder `folder`.
    """

    kind: str
    url: str
    folder: Path | None
    name: str

    def __str__(self) -> str:
        if not self.url:
            return f"{self.kind}://{self.folder}/{self.name}"
        scheme, _, host = self.url.partition("://")
        kind = self.kind if scheme == "http" else f"{self.kind}+{scheme}"
        return f"{kind}://{host}/{self.name}"


def parse_target(text: str) -> Target:
    """The target of an address such as `qdrant://localhost:6333/notes`.

    Raises `StoreError` for one that names no known store, no collection, or a password: secrets
    come from the environment.
    """
    parts = urlsplit(text)
    kind, _, scheme = parts.scheme.partition("+")
    if kind not in ("qdrant", "lancedb") or scheme not in ("", "http", "https"):
        raise StoreError(f"{text!r} names no store that is known; write {_EXAMPLES}")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise StoreError("an address has no user, password, query or fragment; see `laya push -h`")
    above, _, name = unquote(parts.path).rpartition("/")
    if not _NAME.fullmatch(name) or VERSION.search(name):
        raise StoreError(f"{text!r} ends in no name for a collection or table; write {_EXAMPLES}")
    if parts.netloc:
        if kind == "lancedb" or above:
            raise StoreError(f"{text!r} is no address that {kind} has; write {_EXAMPLES}")
        return Target(kind, f"{scheme or 'http'}://{parts.netloc}", None, name)
    if scheme or not above:
        raise StoreError(f"{text!r} names no folder; write {_EXAMPLES}")
    return Target(kind, "", Path(above), name)


@dataclass(frozen=True, slots=True)
class Header:
    """What has to be known of a corpus in a store.

    `fields` maps what a candidate's metadata has to its kind: text, texts, number or numbers.
    `vectors` maps dense legs to the columns of their vectors. `scopes` maps a least trust tier to a
    tenant ("" for all) to the number of the BM25 weights that hold for whoever sees just that;
    `terms` is the number of terms.
    """

    identity: str
    manifest: str
    fields: Mapping[str, str]
    vectors: Mapping[str, str]
    scopes: Mapping[str, Mapping[str, int]]
    terms: int
    format: int = FORMAT

    def to_json(self) -> str:
        """As it is written into a store."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str, where: str) -> Header:
        """Raises `StoreError` for a header that this release does not read."""
        try:
            data = json.loads(text)
            if data.get("format") != FORMAT:
                raise StoreError(
                    f"{where} has format {data.get('format')!r}, this release reads {FORMAT}; "
                    "push the bundle again"
                )
            return cls(**data)
        except (ValueError, TypeError, AttributeError) as error:
            raise StoreError(f"{where} is damaged: {error}; push the bundle again") from error

    def read_manifest(self, where: str) -> Manifest:
        """The bundle's manifest."""
        try:
            return Manifest.model_validate_json(self.manifest)
        except ValidationError as error:
            raise StoreError(f"{where} has a damaged manifest; push the bundle again") from error


class Translator(ABC, Generic[P]):
    """The filter language to a store's own predicates.

    Fails closed: what a store cannot decide exactly as `Filter.matches` does raises `FilterError`.
    `True` and `False` stand for predicates that hold for every row and for none.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = fields

    def translate(self, tree: Filter) -> P | bool:
        """The predicate; raises `FilterError` also for a field that rows do not have."""
        return self._walk(parse_filter(tree, fields=self.fields.keys()))

    def _walk(self, tree: Filter) -> P | bool:
        match tree:
            case And(children):
                return self._joined([self._walk(child) for child in children], until=False)
            case Or(children):
                return self._joined([self._walk(child) for child in children], until=True)
            case Not(child):
                return self._negated(self._walk(child))
            case Exists(field, present):
                missing = self.missing(field)
                return self.negate(missing) if present else missing
            case Comparison(op, field, value):
                return self._compared(op, field, value)
        raise FilterError(f"a store cannot filter by a {type(tree).__name__}")

    def _negated(self, found: P | bool) -> P | bool:
        return not found if isinstance(found, bool) else self.negate(found)

    def _joined(self, parts: Sequence[P | bool], *, until: bool) -> P | bool:
        """All (`until` False) or any (`until` True) of `parts`."""
        if any(part is until for part in parts):
            return until
        left = [part for part in parts if not isinstance(part, bool)]
        if len(left) < 2:
            return left[0] if left else not until
        return self.any_of(left) if until else self.all_of(left)

    def _compared(self, op: Operator, field: str, value: Any) -> P | bool:
        if op in (Operator.NE, Operator.NIN):
            positive = Operator.EQ if op is Operator.NE else Operator.IN
            return self._negated(self._compared(positive, field, value))
        kind = self.fields[field]
        wanted = value if op is Operator.IN else (value,)
        if kind.startswith("text"):
            texts = [one for one in wanted if isinstance(one, str)]
            if not texts:
                return False
            if op in (Operator.EQ, Operator.IN):
                return self.text_is(field, texts)
            return self.text_ordered(field, op, texts[0])
        numbers = [n for n in wanted if isinstance(n, int | float) and not isinstance(n, bool)]
        parts: list[P | bool] = []
        for number in numbers:
            if abs(number) > _EXACT:
                raise FilterError(f"field {field!r}: a store cannot compare {number} exactly")
            parts.append(self.number(field, Operator.EQ if op is Operator.IN else op, number))
        return self._joined(parts, until=True)

    @abstractmethod
    def all_of(self, parts: Sequence[P]) -> P:
        """Every part holds."""

    @abstractmethod
    def any_of(self, parts: Sequence[P]) -> P:
        """One of the parts holds."""

    @abstractmethod
    def negate(self, part: P) -> P:
        """The part does not hold, also where the row lacks the field."""

    @abstractmethod
    def missing(self, field: str) -> P:
        """The row lacks the field; an empty list is none."""

    @abstractmethod
    def text_is(self, field: str, texts: Sequence[str]) -> P:
        """The field, or one of its values, is one of `texts`."""

    @abstractmethod
    def text_ordered(self, field: str, op: Operator, text: str) -> P:
        """The field, or one of its values, comes before or after `text` by code point."""

    @abstractmethod
    def number(self, field: str, op: Operator, number: float) -> P | bool:
        """The field, or one of its values, compares so with `number`."""


class StoreBackend(ABC):
    """A corpus in a store, as one push left it; see `laya_rag.backend.base.CorpusBackend`.

    Raises `StoreError` when the store cannot be reached or has no such corpus, and
    `ModelMismatchError` when queries would be encoded by other models than the passages were.
    """

    def __init__(self, header: Header, where: str) -> None:
        self.header = header
        self.where = where
        self._manifest = header.read_manifest(where)
        self.models = QueryModels.of(self._manifest, where)

    @property
    def manifest(self) -> Manifest:
        """The manifest of the bundle that was pushed."""
        return self._manifest

    @property
    def identity(self) -> str:
        """The SHA-256 of the manifest's text."""
        return self.header.identity

    @abstractmethod
    def view(self, access: Access) -> StoreView[Any]:
        """What `access` may see; raises `AccessError` when it may see nothing by rule."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the connection; a second time does nothing."""

    def __enter__(self) -> StoreBackend:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class StoreView(ABC, Generic[P]):
    """What one caller sees of a corpus in a store.

    The caller's rules are part of every predicate that the store is asked with. Where BM25 weights
    for just what the caller sees were not pushed (a caller of several tenants), there is no lexical
    leg: weights of a larger corpus would tell of what the caller may not see.
    """

    def __init__(self, backend: StoreBackend, access: Access, translator: Translator[P]) -> None:
        self.backend = backend
        self.header = backend.header
        self._translator = translator
        self._rules = access.rules(backend.manifest.tenants is not None)
        self.scope, self._lexical = self._scope(access)

    def _scope(self, access: Access) -> tuple[int | None, bool]:
        """The number of the caller's BM25 weights, None where it sees nothing, and if it has any.

        Tenants that no chunk belongs to change nothing.
        """
        by_tenant = self.header.scopes.get(access.min_trust, {})
        if access.all_tenants or not access.tenants:
            return by_tenant.get(""), True
        known = [tenant for tenant in access.tenants if tenant in by_tenant]
        return (by_tenant[known[0]] if len(known) == 1 else None), len(known) < 2

    @property
    def capabilities(self) -> frozenset[Capability]:
        """FILTER, and the legs whose signals were pushed."""
        found = {Capability.FILTER}
        if self.backend.models.tokenizer is not None and self._lexical:
            found.add(Capability.BM25)
        if self.header.vectors:
            found.add(Capability.DENSE)
        if self.backend.models.sparse is not None and self.has_sparse:
            found.add(Capability.SPARSE)
        return frozenset(found)

    @property
    @abstractmethod
    def has_sparse(self) -> bool:
        """Whether the store has sparse vectors."""

    def query(self, text: str, **options: Any) -> QueryBundle:
        """See `CorpusView`."""
        return self.backend.models.query(text, self.capabilities, **options)

    def search(self, query: QueryBundle) -> Legs:
        """The permitted candidates of every leg; ties go by id.

        Raises `FilterError` for a filter that the store cannot apply exactly, otherwise as
        `BundleView.search` does.
        """
        where = self.where(query.filters)
        legs: dict[str, list[Candidate]] = {}
        for leg in query.legs(self.capabilities):
            fetch = self._leg(leg, query)
            legs[leg] = [] if where is False else _best(fetch, where, query.depth)
        return legs

    def where(self, filters: Filter | None = None) -> P | bool:
        """The caller's rules and `filters` as one predicate."""
        rules = self._rules if filters is None else (*self._rules, filters)
        return self._translator.translate(And(rules))

    def _leg(self, leg: str, query: QueryBundle) -> Callable[[P | bool, int], list[Candidate]]:
        if leg == Capability.BM25.value:
            tokenizer = self.backend.models.tokenizer
            times = Counter(tokenizer.tokenize(query.text)) if tokenizer is not None else {}
            return lambda where, limit: self.lexical(times, where, limit)
        if leg == Capability.SPARSE.value:
            terms = query.sparse_terms
            return lambda where, limit: [] if terms is None else self.sparse(terms, where, limit)
        name = leg.partition(":")[2]
        vector = query.vectors[name] if name else query.vector
        column = self.header.vectors.get(leg)
        if column is None or vector is None:
            raise OrchestrationError(
                f"leg {leg!r}: {self.backend.where} has no such embedding; it has "
                f"{', '.join(sorted(self.header.vectors))}"
            )
        size = self.backend.manifest.embeddings[column].dimension
        if len(vector) != size:
            raise ModelMismatchError(
                f"leg {leg!r}: the query's vector has {len(vector)} components, those of "
                f"{self.backend.where} have {size}"
            )
        return lambda where, limit: self.dense(column, vector, where, limit)

    @abstractmethod
    def lexical(self, terms: Mapping[str, int], where: P | bool, limit: int) -> list[Candidate]:
        """The best by BM25 for terms that occur so often in the query."""

    @abstractmethod
    def sparse(self, terms: SparseVector, where: P | bool, limit: int) -> list[Candidate]:
        """The best by dot product with the sparse signal."""

    @abstractmethod
    def dense(
        self, column: str, vector: NDArray[np.float32], where: P | bool, limit: int
    ) -> list[Candidate]:
        """The best by dot product with the vectors of `column`."""

    def document(self, document_id: str) -> DocumentRow:
        """See `CorpusView`."""
        found = self.find_document(document_id)
        if found is None:
            raise NotFoundError(f"no document {document_id!r}")
        return found

    @abstractmethod
    def find_document(self, document_id: str) -> DocumentRow | None:
        """The permitted document of that id."""

    @abstractmethod
    def totals(self) -> Totals:
        """See `CorpusView`."""

    @abstractmethod
    def documents(self, *, after: str | None = None, limit: int = 100) -> list[DocumentRow]:
        """See `CorpusView`."""

    def chunks(
        self, document_id: str, *, after: int | None = None, limit: int | None = None
    ) -> list[Candidate]:
        """See `CorpusView`."""
        row = self.document(document_id)
        first = 0 if after is None else max(after + 1, 0)
        last = row.chunks if limit is None else min(first + max(limit, 0), row.chunks)
        ids = [f"{document_id}#chunk-{ordinal}" for ordinal in range(first, last)]
        return self.records(ids)

    def records(self, record_ids: Sequence[str]) -> list[Candidate]:
        """See `CorpusView`."""
        found = self.find_records(list(dict.fromkeys(record_ids)))
        for name in record_ids:
            if name not in found:
                raise NotFoundError(f"no chunk {name!r}")
        return [found[name] for name in record_ids]

    @abstractmethod
    def find_records(self, record_ids: Sequence[str]) -> dict[str, Candidate]:
        """The permitted chunks among those with these ids."""

    def candidate(self, row: Mapping[str, Any], score: float = 0.0) -> Candidate:
        """A row of the store as a candidate."""
        metadata = {field: row[field] for field in self.header.fields}
        return Candidate(row["record_id"], score, row["content"], metadata)


def document_row(row: Mapping[str, Any]) -> DocumentRow:
    """A document row of a store."""
    tenants = row["tenants"]
    return DocumentRow(
        document_id=row["document_id"],
        title=row["title"],
        uri=row["uri"],
        media_type=row["media_type"],
        characters=row["characters"],
        chunks=row["chunks"],
        trust_tier=row["trust_tier"],
        tenants=None if tenants is None else tuple(tenants),
        metadata=json.loads(row["metadata"]),
    )


def whole_bounds(op: Operator, number: float) -> tuple[Operator, int] | None:
    """The comparison of an integer field with `number` as one with an integer; None: never holds.

    `number` is finite, or one of the infinities.
    """
    if math.isinf(number):
        raise FilterError("a store cannot compare with an infinite number")
    low, high = math.floor(number), math.ceil(number)
    if op is Operator.EQ:
        return (op, low) if low == high else None
    return op, low if op in (Operator.GT, Operator.LTE) else high


def _best(
    fetch: Callable[[P | bool, int], list[Candidate]], where: P | bool, depth: int
) -> list[Candidate]:
    """The best `depth`, where everything that ties with the last one has competed by its id."""
    limit = depth + 1
    while True:
        found = ranked(fetch(where, limit))
        if len(found) < limit or found[-1].score < found[depth - 1].score:
            return found[:depth]
        limit *= 2
