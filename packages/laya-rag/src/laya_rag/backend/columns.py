"""What is known of every chunk besides its text: fetched by row, filtered by column.

A column is one of four kinds. Texts become codes, positions in the sorted list of distinct texts,
so that a comparison with a text is one with a number; a list of texts becomes a run of codes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from laya_index.errors import BundleError
from laya_retrieval.errors import FilterError
from laya_retrieval.filters import And, Comparison, Exists, Filter, Not, Operator, Or
from numpy.typing import NDArray

from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.strings import Strings, write_strings

Mask = NDArray[np.bool_]

#: The code of a text that is not there.
NOTHING = np.uint32(0xFFFFFFFF)

_NEGATED = {Operator.NE: Operator.EQ, Operator.NIN: Operator.IN}
_COMPARE: dict[Operator, Callable[[Any, Any], Any]] = {
    Operator.EQ: np.equal,
    Operator.GT: np.greater,
    Operator.GTE: np.greater_equal,
    Operator.LT: np.less,
    Operator.LTE: np.less_equal,
}
# Beyond this a float64 no longer tells neighbouring integers apart.
_EXACT = 1 << 53


class Values(ABC):
    """The single values of a column, or those in its lists, one after the other."""

    @abstractmethod
    def take(self, positions: NDArray[np.integer]) -> list[Any]:
        """The values at `positions` as Python's own."""

    @abstractmethod
    def holds(self, op: Operator, operand: Any) -> Mask:
        """Where a comparison holds, `(n,)`; `op` is EQ, IN or an ordering."""

    @abstractmethod
    def present(self) -> Mask:
        """Where there is a value, `(n,)`."""


class TextValues(Values):
    """Codes, and the texts that they stand for."""

    def __init__(self, arrays: ArrayFolder, name: str) -> None:
        self.codes: NDArray[np.uint32] = arrays[f"{name}.codes"]
        self.texts = Strings(arrays, f"{name}.texts")

    def take(self, positions: NDArray[np.integer]) -> list[str | None]:
        """Texts, or None."""
        codes = self.codes[positions].tolist()
        known: dict[int, str | None] = {int(NOTHING): None}
        for code in codes:
            if code not in known:
                known[code] = self.texts[code]
        return [known[code] for code in codes]

    def holds(self, op: Operator, operand: Any) -> Mask:
        """A text is compared by its place among the sorted texts."""
        if op is Operator.IN:
            found = [self.texts.find(text) for text in operand if isinstance(text, str)]
            return np.isin(self.codes, [code for code in found if code is not None])
        if not isinstance(operand, str):
            return np.zeros(len(self.codes), dtype=bool)
        # Of the texts, those from `low` on and below `high` fulfil the comparison.
        low, high = 0, len(self.texts)
        if op in (Operator.EQ, Operator.GTE):
            low = self.texts.bound(operand)
        elif op is Operator.GT:
            low = self.texts.bound(operand, after=True)
        if op in (Operator.EQ, Operator.LTE):
            high = self.texts.bound(operand, after=True)
        elif op is Operator.LT:
            high = self.texts.bound(operand)
        held: Mask = (self.codes >= low) & (self.codes < high)
        return held

    def present(self) -> Mask:
        """Where the code stands for a text."""
        present: Mask = self.codes != NOTHING
        return present


class NumberValues(Values):
    """Numbers in a type that holds them exactly; a missing one is marked in an array of its own."""

    def __init__(self, arrays: ArrayFolder, name: str) -> None:
        self.numbers: NDArray[Any] = arrays[f"{name}.numbers"]
        self._present = arrays.get(f"{name}.present")

    def take(self, positions: NDArray[np.integer]) -> list[Any]:
        """Numbers, or None."""
        values: list[Any] = self.numbers[positions].tolist()
        if self._present is None:
            return values
        present = self._present[positions].tolist()
        return [value if there else None for value, there in zip(values, present, strict=True)]

    def holds(self, op: Operator, operand: Any) -> Mask:
        """A number is compared exactly."""
        if op is Operator.IN:
            found = np.zeros(len(self.numbers), dtype=bool)
            for one in operand:
                found |= self.holds(Operator.EQ, one)
            return found
        if isinstance(operand, bool) or not isinstance(operand, int | float):
            return np.zeros(len(self.numbers), dtype=bool)
        compare = _COMPARE[op]
        numbers: Any = self.numbers
        if abs(operand) > _EXACT:
            numbers = self.numbers.astype(object)
        held: Mask = np.asarray(compare(numbers, operand), dtype=bool) & self.present()
        return held

    def present(self) -> Mask:
        """Where there is a number."""
        if self._present is None:
            return np.ones(len(self.numbers), dtype=bool)
        return self._present


class Column(ABC):
    """One field of every chunk."""

    @abstractmethod
    def take(self, rows: NDArray[np.integer]) -> list[Any]:
        """The field of the chunks `rows`, as Python's own values."""

    @abstractmethod
    def holds(self, op: Operator, operand: Any) -> Mask:
        """Where the comparison holds for the value, or for one of the values, `(n,)`."""

    @abstractmethod
    def present(self) -> Mask:
        """Where the field is not None, `(n,)`."""


@dataclass(frozen=True, slots=True)
class SingleColumn(Column):
    """One value for each chunk."""

    values: Values

    def take(self, rows: NDArray[np.integer]) -> list[Any]:
        """Values."""
        return self.values.take(rows)

    def holds(self, op: Operator, operand: Any) -> Mask:
        """Where it holds for the value."""
        return self.values.holds(op, operand)

    def present(self) -> Mask:
        """Where there is a value."""
        return self.values.present()


class ListColumn(Column):
    """Any number of values for each chunk, or None."""

    def __init__(self, arrays: ArrayFolder, name: str, values: Values) -> None:
        self._offsets: NDArray[np.int64] = arrays[f"{name}.offsets"]
        self._present = arrays.get(f"{name}.listed")
        self._values = values

    def take(self, rows: NDArray[np.integer]) -> list[Any]:
        """Lists, or None."""
        starts = self._offsets[rows]
        counts = self._offsets[np.asarray(rows, np.int64) + 1] - starts
        ends = np.cumsum(counts)
        positions = np.arange(int(counts.sum())) + np.repeat(starts - ends + counts, counts)
        flat = self._values.take(positions)
        present = self.present()[rows].tolist()
        bounds = zip(ends.tolist(), counts.tolist(), present, strict=True)
        return [flat[end - count : end] if there else None for end, count, there in bounds]

    def holds(self, op: Operator, operand: Any) -> Mask:
        """Where it holds for one of the values."""
        before = np.concatenate([[0], np.cumsum(self._values.holds(op, operand))])
        found: Mask = before[self._offsets[1:]] > before[self._offsets[:-1]]
        return found

    def present(self) -> Mask:
        """Where there is a list, if an empty one."""
        if self._present is None:
            return np.ones(len(self._offsets) - 1, dtype=bool)
        return self._present


class Columns:
    """All fields of all chunks, in the order in which `write` was given them."""

    def __init__(self, arrays: ArrayFolder) -> None:
        self._columns = {
            name: _column(arrays, f"column.{name}", kind)
            for name, kind in arrays.facts["columns"].items()
        }

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The fields."""
        return tuple(self._columns)

    def take(self, rows: NDArray[np.integer]) -> list[dict[str, Any]]:
        """The fields of the chunks `rows`."""
        taken = [column.take(rows) for column in self._columns.values()]
        names = self.names
        return [dict(zip(names, values, strict=True)) for values in zip(*taken, strict=True)]

    def matching(self, tree: Filter) -> Mask:
        """Which chunks `Filter.matches`, `(n,)`; the fields were checked before."""
        match tree:
            case Comparison(op, field, value):
                return self._compared(self._columns[field], op, value)
            case Exists(field, wanted):
                present = self._columns[field].present()
                return present if wanted else ~present
            case And(children):
                return self._all([self.matching(child) for child in children])
            case Or(children):
                return ~self._all([~self.matching(child) for child in children])
            case Not(child):
                return ~self.matching(child)
        raise FilterError(f"this source cannot filter by a {type(tree).__name__}")

    def _compared(self, column: Column, op: Operator, value: Any) -> Mask:
        if op in _NEGATED:
            return ~self._compared(column, _NEGATED[op], value)
        return column.holds(op, value)

    def _all(self, masks: Sequence[Mask]) -> Mask:
        found = np.ones_like(next(iter(self._columns.values())).present())
        for mask in masks:
            found &= mask
        return found


def _column(arrays: ArrayFolder, name: str, kind: str) -> Column:
    values: Values = (
        TextValues(arrays, name) if kind.startswith("text") else NumberValues(arrays, name)
    )
    return ListColumn(arrays, name, values) if kind.endswith("s") else SingleColumn(values)


def write_column(writer: ArrayWriter, field: str, column: pa.ChunkedArray) -> str:
    """Write a field of all chunks, and give its kind: text, texts, number or numbers.

    Raises `BundleError` for a column of another type.
    """
    name = f"column.{field}"
    array = column.combine_chunks()
    if pa.types.is_list(array.type):
        counts = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
        writer.put(f"{name}.offsets", offsets)
        _write_present(writer, f"{name}.listed", array)
        inner = array.flatten()
        if pa.types.is_string(inner.type):
            _write_texts(writer, name, inner)
            return "texts"
        if _is_number(inner.type) and not inner.null_count:
            _write_numbers(writer, name, inner)
            return "numbers"
    elif pa.types.is_string(array.type):
        _write_texts(writer, name, array)
        return "text"
    elif _is_number(array.type):
        _write_numbers(writer, name, array)
        _write_present(writer, f"{name}.present", array)
        return "number"
    raise BundleError(f"chunk column {field!r} has type {array.type}, which nothing searches by")


def _write_texts(writer: ArrayWriter, name: str, array: pa.Array) -> None:
    # Here, since it takes a tenth of a second to load and a query has no need of it.
    import pyarrow.compute as pc

    encoded = array.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    place = np.empty(len(order) + 1, np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    place[-1] = NOTHING
    codes = encoded.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)
    writer.put(f"{name}.codes", place[codes])
    write_strings(writer, f"{name}.texts", encoded.dictionary.take(pa.array(order)).to_pylist())


def _write_numbers(writer: ArrayWriter, name: str, array: pa.Array) -> None:
    kind = np.int64 if pa.types.is_integer(array.type) else np.float64
    filled = array.fill_null(0).to_numpy(zero_copy_only=False)
    writer.put(f"{name}.numbers", filled.astype(kind))


def _write_present(writer: ArrayWriter, name: str, array: pa.Array) -> None:
    if array.null_count:
        writer.put(name, array.is_valid().to_numpy(zero_copy_only=False))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
