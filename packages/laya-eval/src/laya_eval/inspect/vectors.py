"""The demo's saved vectors: where they come from, and whether they still belong to their texts."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from laya_signals.component import Component
from laya_signals.encode.base import Encoder
from numpy.typing import NDArray

from laya_eval.errors import DataError, StaleError
from laya_eval.inspect.collection import Collection

VECTORS = "vectors.json"
#: On another type of processor the int8 model rounds differently: a cosine of .005 was measured
#: (adr/0006), and twice that is allowed for.
LEAST_COSINE = 0.99


@dataclass(frozen=True, slots=True)
class SavedVector:
    """A unit vector, `(d,)` float32, and the SHA-256 of the text that it is of."""

    input_sha256: str
    values: NDArray[np.float32]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the components, as little-endian float32."""
        return hashlib.sha256(self._raw).hexdigest()

    @property
    def base64(self) -> str:
        """The same bytes as text."""
        return base64.b64encode(self._raw).decode("ascii")

    @property
    def _raw(self) -> bytes:
        return self.values.astype("<f4").tobytes()


@dataclass(frozen=True, slots=True)
class Vectors:
    """Every saved vector by the id of its paragraph or query, and the encoder they are from."""

    encoder: Mapping[str, Any]
    documents: Mapping[str, SavedVector]
    queries: Mapping[str, SavedVector]


def encoder_facts(collection: Collection, encoder: Encoder) -> dict[str, Any]:
    """What identifies an encoder: its provider, settings, fingerprint, and the hashes of its files.

    None of it depends on the machine.
    """
    facts: dict[str, Any] = {
        "provider": collection.embedding.provider,
        "fingerprint": encoder.fingerprint,
        "dimension": encoder.dimension,
        "max_tokens": encoder.max_tokens,
    }
    if isinstance(encoder, Component) and (files := encoder.fingerprint_extra()):
        facts["files"] = dict(files)
    return facts


def encode(collection: Collection) -> Vectors:
    """Fresh vectors of every paragraph and of every query that has one.

    The same bits whenever it runs on one type of processor; see `LEAST_COSINE` for others.
    """
    encoder = collection.encoder()
    documents = [paragraph.encoded for paragraph in collection.paragraphs]
    queries = [query.text for query in collection.queries]
    return Vectors(
        encoder_facts(collection, encoder),
        _saved(collection.paragraphs, documents, encoder.encode_documents(documents)),
        _saved(collection.queries, queries, encoder.encode_queries(queries)),
    )


def vectors_text(vectors: Vectors) -> str:
    """The file of `vectors`: JSON with one vector on each line, so that a change shows as lines."""
    lines = [f'{{"encoder": {json.dumps(vectors.encoder, sort_keys=True)}']
    for role in ("documents", "queries"):
        entries = [
            f"  {json.dumps(name)}: " + json.dumps(_entry(vector))
            for name, vector in getattr(vectors, role).items()
        ]
        lines.append(f',"{role}": {{\n' + ",\n".join(entries) + "\n}")
    return "\n".join(lines) + "}\n"


def load_vectors(collection: Collection) -> Vectors:
    """The saved vectors, each of which is of the text that the collection has now.

    Raises `DataError` for a malformed file, and `StaleError`, naming every vector that is missing,
    altered, superfluous or of another text, and an encoder that is not the installed one.
    """
    path = collection.folder / VECTORS
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = Vectors(
            content["encoder"],
            *(
                {name: _vector(entry) for name, entry in content[role].items()}
                for role in ("documents", "queries")
            ),
        )
        recorded = {
            (role, name): entry["sha256"]
            for role in ("documents", "queries")
            for name, entry in content[role].items()
        }
    except FileNotFoundError as error:
        raise DataError(f"{path}: it is missing; `laya inspect vectors` writes it") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: it cannot be read: {error!r}") from error
    wrong = _problems(collection, found, recorded)
    if wrong:
        raise StaleError(f"{path}: {'; '.join(wrong)}; run `laya inspect vectors`")
    return found


def check_encoding(saved: Vectors, fresh: Vectors) -> float:
    """The least cosine of a saved vector and a fresh one of the same text.

    Raises `StaleError`, naming the first vector for which it is under `LEAST_COSINE`.
    """
    least = 1.0
    for kind, mine, other in (
        ("document", saved.documents, fresh.documents),
        ("query", saved.queries, fresh.queries),
    ):
        for name, vector in mine.items():
            cosine = float(vector.values.astype(np.float64) @ other[name].values)
            if cosine < LEAST_COSINE:
                raise StaleError(
                    f"the vector of {kind} {name} is not what the encoder gives (their cosine is "
                    f"{cosine:.4f}); run `laya inspect vectors`"
                )
            least = min(least, cosine)
    return least


def _problems(
    collection: Collection, found: Vectors, recorded: Mapping[tuple[str, str], str]
) -> list[str]:
    encoder = encoder_facts(collection, collection.encoder())
    wrong = [] if found.encoder == encoder else ["the encoder is not the one that is installed"]
    texts = {
        "documents": {row.id: row.encoded for row in collection.paragraphs},
        "queries": {row.id: row.text for row in collection.queries},
    }
    for role, wanted in texts.items():
        vectors: Mapping[str, SavedVector] = getattr(found, role)
        if list(vectors) != list(wanted):
            wrong.append(f"its {role} are not those of the collection, in their order")
            continue
        for name, vector in vectors.items():
            if vector.sha256 != recorded[role, name]:
                wrong.append(f"the vector of {name} is altered")
            elif vector.input_sha256 != _digest(wanted[name]):
                wrong.append(f"the vector of {name} is of another text")
            elif vector.values.shape != (encoder["dimension"],):
                wrong.append(f"the vector of {name} has {vector.values.size} components")
            elif abs(float(np.linalg.norm(vector.values.astype(np.float64))) - 1) > 1e-6:
                wrong.append(f"the vector of {name} has not unit length")
    return wrong


def _saved(rows: Any, texts: list[str], vectors: NDArray[np.float32]) -> dict[str, SavedVector]:
    return {
        row.id: SavedVector(_digest(text), vector)
        for row, text, vector in zip(rows, texts, vectors, strict=True)
    }


def _entry(vector: SavedVector) -> dict[str, str]:
    return {
        "input_sha256": vector.input_sha256,
        "sha256": vector.sha256,
        "float32": vector.base64,
    }


def _vector(entry: Mapping[str, str]) -> SavedVector:
    try:
        raw = base64.b64decode(entry["float32"], validate=True)
    except binascii.Error as error:
        raise ValueError(f"no base64: {error}") from error
    return SavedVector(entry["input_sha256"], np.frombuffer(raw, "<f4").astype(np.float32))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
