"""Which corpus and which models a result rests on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from laya_index.bundle.manifest import Manifest
from laya_retrieval.retrieve.backend import Capability

#: Raised when a key of any result's JSON changes its meaning or goes away.
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class CorpusIdentity:
    """The corpus that was asked.

    `identity` changes with every change of the corpus. Whoever sees some tenants only does not get
    it: it would tell that something of the others' changed.
    """

    stack: str
    stack_hash: str
    identity: str | None

    def to_json(self) -> dict[str, Any]:
        """As every result has it under `bundle`."""
        return {"stack": self.stack, "stack_hash": self.stack_hash, "identity": self.identity}


def leg_names(manifest: Manifest, capabilities: Collection[Capability]) -> tuple[str, ...]:
    """The legs that a corpus with these capabilities can run, by name."""
    names = {capability.value for capability in capabilities} - {Capability.FILTER.value}
    if Capability.DENSE in capabilities:
        further = (column.partition("_")[2] for column in manifest.embeddings)
        names |= {f"dense:{name}" for name in further if name}
    return tuple(sorted(names))


def leg_models(manifest: Manifest, legs: Collection[str]) -> dict[str, str]:
    """The fingerprint of what made each leg's signal; a leg without a model of its own has none."""
    found: dict[str, str] = {}
    for leg in legs:
        kind, _, name = leg.partition(":")
        if kind == "bm25" and manifest.bm25 is not None:
            found[leg] = manifest.bm25.tokenizer_fingerprint
        elif kind == "dense":
            entry = manifest.embeddings.get(f"embedding_{name}" if name else "embedding")
            if entry is not None:
                found[leg] = entry.fingerprint
        elif kind in manifest.signals:
            found[leg] = manifest.signals[kind].fingerprint
    return found
