"""The documents of a corpus and the chunks that each of them has."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.base import DocumentRow
from laya_rag.backend.scope import Scope
from laya_rag.backend.strings import Strings, write_strings

#: What a listing shows of a document besides its id and its number of chunks.
FIELDS = ("title", "uri", "media_type", "characters", "trust_tier", "tenants", "metadata")


class Documents:
    """Documents that have chunks, by ascending id; their chunks by ascending ordinal."""

    def __init__(self, arrays: ArrayFolder) -> None:
        self._ids = Strings(arrays, "documents.ids")
        self._rows = Strings(arrays, "documents.rows")
        self._offsets: NDArray[np.int64] = arrays["documents.offsets"]
        self._chunks: NDArray[np.uint32] = arrays["documents.chunks"]

    def find(self, document_id: str, scope: Scope) -> int | None:
        """The place of a document; None for an unknown one, and for one without chunks in scope."""
        place = self._ids.find(document_id)
        if place is None or not len(self.chunks(place, scope)):
            return None
        return place

    def chunks(self, place: int, scope: Scope) -> NDArray[np.int64]:
        """The rows of a document's permitted chunks, by ordinal."""
        rows = self._chunks[int(self._offsets[place]) : int(self._offsets[place + 1])]
        return rows[scope.permitted(rows)].astype(np.int64)

    def row(self, place: int, scope: Scope) -> DocumentRow:
        """What is shown of a document."""
        fields = json.loads(self._rows[place])
        tenants = fields.pop("tenants")
        return DocumentRow(
            document_id=self._ids[place],
            chunks=len(self.chunks(place, scope)),
            tenants=None if tenants is None else tuple(tenants),
            **fields,
        )

    def page(self, scope: Scope, after: str | None, limit: int) -> list[int]:
        """The places of up to `limit` documents with chunks in scope, behind the id `after`."""
        first = 0 if after is None else self._ids.bound(after, after=True)
        found: list[int] = (first + np.flatnonzero(self._shown(scope)[first:])[:limit]).tolist()
        return found

    def count(self, scope: Scope) -> int:
        """Documents with chunks in scope."""
        return int(np.count_nonzero(self._shown(scope)))

    def _shown(self, scope: Scope) -> NDArray[np.bool_]:
        before = np.concatenate([[0], np.cumsum(scope.permitted(self._chunks))])
        shown: NDArray[np.bool_] = before[self._offsets[1:]] > before[self._offsets[:-1]]
        return shown


def write_documents(writer: ArrayWriter, documents: pa.Table, chunks: pa.Table) -> None:
    """Write the arrays of `Documents`; `chunks` has `document_id` and `ordinal`."""
    order = chunks.append_column("row", pa.array(np.arange(len(chunks)), pa.int64())).sort_by(
        [("document_id", "ascending"), ("ordinal", "ascending"), ("row", "ascending")]
    )
    encoded = order["document_id"].combine_chunks().dictionary_encode()
    ids = encoded.dictionary.to_pylist()
    counts = np.bincount(encoded.indices.to_numpy(), minlength=len(ids))
    writer.put("documents.offsets", np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    writer.put("documents.chunks", order["row"].to_numpy().astype(np.uint32))
    write_strings(writer, "documents.ids", ids)
    rows = documents.select(["document_id", *FIELDS]).to_pylist()
    shown = {
        row.pop("document_id"): json.dumps(row | {"metadata": dict(row["metadata"])})
        for row in rows
    }
    write_strings(writer, "documents.rows", [shown[document_id] for document_id in ids])
