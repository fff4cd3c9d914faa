"""The filter language: a parsed, validated tree over a row's metadata.

In JSON, keys are fields and their values say what must hold; several keys all must hold:

>>> parse_filter({"year": {"gte": 2020, "lt": 2025}, "lang": "en"}).matches(
...     {"year": 2021, "lang": "en"}
... )
True

`and` and `or` take a list of filters, `not` takes one. A bare value means `eq`. A dot in a field
name that is no key itself descends into nested mappings (`classification.label`).

What holds, precisely:

* A row lacks a field when the key is missing or its value is None. `eq`, `in`, `gt`, `gte`, `lt`
  and `lte` do not hold there; `ne` and `nin`, their negations, do.
* On a field with a list of values, `eq`, `in` and the comparisons hold when they hold for one of
  them.
* Values of different kinds (a number, a text, a truth value) are never equal and never ordered.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from laya_retrieval.errors import FilterError

#: What a field is compared with.
Scalar: TypeAlias = str | int | float | bool

#: Deeper nesting is refused: it is no filter that a person wrote.
MAX_DEPTH = 64


class Operator(Enum):
    """The comparisons; `exists`, `and`, `or` and `not` are nodes of their own."""

    EQ = "eq"
    NE = "ne"
    IN = "in"
    NIN = "nin"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"


_ORDERED: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.GT: operator.gt,
    Operator.GTE: operator.ge,
    Operator.LT: operator.lt,
    Operator.LTE: operator.le,
}
_LOGICAL = ("and", "or", "not")
_OPERATORS = (*(op.value for op in Operator), "exists")


@dataclass(frozen=True, slots=True)
class Filter(ABC):
    """A node of the tree; `matches` decides one row, the subclasses are there to be walked."""

    @abstractmethod
    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether a row with this metadata is wanted."""

    def children_of(self) -> tuple[Filter, ...]:
        """The nodes directly below this one."""
        return ()

    def fields(self) -> frozenset[str]:
        """Every field that the tree reads."""
        return frozenset().union(*(child.fields() for child in self.children_of()))

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The JSON form, which parses back to an equal tree."""


@dataclass(frozen=True, slots=True)
class Comparison(Filter):
    """A field against a value; for `in` and `nin` the value is a tuple."""

    op: Operator
    field: str
    value: Scalar | tuple[Scalar, ...]

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether the comparison holds for the field's value, or for one of its values."""
        found = values_of(metadata, self.field)
        match self.op:
            case Operator.EQ:
                return any(_equal(value, self.value) for value in found)
            case Operator.NE:
                return not any(_equal(value, self.value) for value in found)
            case Operator.IN:
                return any(_equal(value, wanted) for value in found for wanted in self._wanted())
            case Operator.NIN:
                return not any(
                    _equal(value, wanted) for value in found for wanted in self._wanted()
                )
            case _:
                compare = _ORDERED[self.op]
                return any(
                    _kind(value) == _kind(self.value) and compare(value, self.value)
                    for value in found
                )

    def _wanted(self) -> tuple[Scalar, ...]:
        return self.value if isinstance(self.value, tuple) else (self.value,)

    def fields(self) -> frozenset[str]:
        """The one field compared."""
        return frozenset({self.field})

    def to_json(self) -> dict[str, Any]:
        """`{field: {op: value}}`."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {self.field: {self.op.value: value}}


@dataclass(frozen=True, slots=True)
class Exists(Filter):
    """A field has a value, or with `present=False` lacks one."""

    field: str
    present: bool = True

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether presence is as wanted; None counts as absent."""
        return (lookup(metadata, self.field) is not None) == self.present

    def fields(self) -> frozenset[str]:
        """The one field looked for."""
        return frozenset({self.field})

    def to_json(self) -> dict[str, Any]:
        """`{field: {"exists": present}}`."""
        return {self.field: {"exists": self.present}}


@dataclass(frozen=True, slots=True)
class And(Filter):
    """Every child holds; without children it always holds."""

    children: tuple[Filter, ...]

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether every child holds."""
        return all(child.matches(metadata) for child in self.children)

    def children_of(self) -> tuple[Filter, ...]:
        """The children."""
        return self.children

    def to_json(self) -> dict[str, Any]:
        """`{"and": […]}`."""
        return {"and": [child.to_json() for child in self.children]}


@dataclass(frozen=True, slots=True)
class Or(Filter):
    """At least one child holds; without children it never does."""

    children: tuple[Filter, ...]

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether at least one child holds."""
        return any(child.matches(metadata) for child in self.children)

    def children_of(self) -> tuple[Filter, ...]:
        """The children."""
        return self.children

    def to_json(self) -> dict[str, Any]:
        """`{"or": […]}`."""
        return {"or": [child.to_json() for child in self.children]}


@dataclass(frozen=True, slots=True)
class Not(Filter):
    """The child does not hold."""

    child: Filter

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether the child does not hold."""
        return not self.child.matches(metadata)

    def children_of(self) -> tuple[Filter, ...]:
        """The one child."""
        return (self.child,)

    def to_json(self) -> dict[str, Any]:
        """`{"not": {…}}`."""
        return {"not": self.child.to_json()}


def parse_filter(
    spec: Mapping[str, Any] | Filter, *, fields: Collection[str] | None = None
) -> Filter:
    """The tree of a JSON filter.

    `fields` are the names that may be filtered by; None allows any. Raises `FilterError` for an
    unknown operator or field, an operand of the wrong kind, and nesting deeper than 64.
    """
    tree = spec if isinstance(spec, Filter) else _parse(spec, 0)
    if fields is not None and (unknown := sorted(tree.fields() - set(fields))):
        raise FilterError(
            f"unknown field {unknown[0]!r}; this source can filter by "
            f"{', '.join(sorted(fields)) or 'nothing'}"
        )
    return tree


def lookup(metadata: Mapping[str, Any], field: str) -> Any:
    """A field's value, None when the row lacks it; a dot descends into nested mappings."""
    if field in metadata:
        return metadata[field]
    head, dot, tail = field.partition(".")
    if dot and isinstance(below := metadata.get(head), Mapping):
        return lookup(below, tail)
    return None


def values_of(metadata: Mapping[str, Any], field: str) -> Iterator[Any]:
    """The field's value, or each of its values when it holds a list; nothing when it is lacking."""
    value = lookup(metadata, field)
    if isinstance(value, list | tuple | set | frozenset):
        yield from (item for item in value if item is not None)
    elif value is not None:
        yield value


def _parse(spec: Any, depth: int) -> Filter:
    if depth > MAX_DEPTH:
        raise FilterError(f"a filter may be nested {MAX_DEPTH} deep at most")
    if not isinstance(spec, Mapping):
        raise FilterError(f"a filter is a mapping, not {type(spec).__name__}")
    nodes: list[Filter] = []
    for key, operand in spec.items():
        if not isinstance(key, str) or not key:
            raise FilterError(f"a field is a non-empty name, not {key!r}")
        if key in _LOGICAL:
            nodes.append(_logical(key, operand, depth))
        elif isinstance(operand, Mapping):
            if not operand:
                raise FilterError(f"field {key!r}: name an operator, one of {_known()}")
            nodes.extend(_leaf(key, name, value) for name, value in operand.items())
        else:
            nodes.append(_leaf(key, "eq", operand))
    return nodes[0] if len(nodes) == 1 else And(tuple(nodes))


def _logical(name: str, operand: Any, depth: int) -> Filter:
    if name == "not":
        return Not(_parse(operand, depth + 1))
    if not isinstance(operand, list | tuple):
        raise FilterError(f"{name!r} takes a list of filters, not {type(operand).__name__}")
    children = tuple(_parse(child, depth + 1) for child in operand)
    return And(children) if name == "and" else Or(children)


def _leaf(field: str, name: Any, value: Any) -> Filter:
    if name == "exists":
        if not isinstance(value, bool):
            raise FilterError(f"field {field!r}: exists takes true or false, not {value!r}")
        return Exists(field, value)
    try:
        op = Operator(name)
    except ValueError:
        raise FilterError(
            f"field {field!r}: unknown operator {name!r}; known are {_known()}"
        ) from None
    if op in (Operator.IN, Operator.NIN):
        if not isinstance(value, list | tuple | set | frozenset):
            raise FilterError(f"field {field!r}: {name} takes a list, not {value!r}")
        members = value if isinstance(value, list | tuple) else sorted(value, key=repr)
        return Comparison(op, field, tuple(_scalar(field, name, member) for member in members))
    scalar = _scalar(field, name, value)
    if op in _ORDERED and isinstance(scalar, bool):
        raise FilterError(f"field {field!r}: {name} orders numbers or texts, not {value!r}")
    return Comparison(op, field, scalar)


def _scalar(field: str, name: str, value: Any) -> Scalar:
    if isinstance(value, bool | str | int):
        return value
    if isinstance(value, float) and value == value:
        return value
    hint = "; use exists to ask whether it is there" if value is None else ""
    raise FilterError(
        f"field {field!r}: {name} compares with a text, number or truth value, not {value!r}{hint}"
    )


def _known() -> str:
    return ", ".join(_OPERATORS)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, int | float):
        return "number"
    return type(value).__name__


def _equal(left: Any, right: Any) -> bool:
    return _kind(left) == _kind(right) and bool(left == right)
