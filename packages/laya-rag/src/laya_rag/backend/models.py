"""What turns a question into the signals that a bundle is searched by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from laya_index.bundle.manifest import Manifest, SignalEntry
from laya_index.graph.entity import EntityExtractor
from laya_index.registry import registry
from laya_retrieval.retrieve.backend import Capability
from laya_retrieval.retrieve.query import QueryBundle
from laya_signals import Encoder, Tokenizer, signals
from laya_signals.fde import FdeEncoder
from laya_signals.multivector import MultiVectorEncoder
from laya_signals.sparse import CompositionConfig, SparseEncoder, SparseVector, compose

from laya_rag.errors import ModelMismatchError


class _Made(Protocol):
    @property
    def fingerprint(self) -> str: ...


T = TypeVar("T", bound=_Made)


class _Entry(Protocol):
    @property
    def provider(self) -> str: ...
    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def fingerprint(self) -> str: ...


@dataclass(frozen=True)
class QuerySparse:
    """A sparse encoder, and what the index composed its vectors with: a query does the same."""

    encoder: SparseEncoder
    composition: CompositionConfig | None = None
    extractor: EntityExtractor | None = None

    @classmethod
    def of(cls, encoder: SparseEncoder | None, entry: SignalEntry | None) -> QuerySparse | None:
        """That of the manifest's entry; None without one."""
        if encoder is None or entry is None:
            return None
        if entry.compose is None:
            return cls(encoder)
        weights = {key: entry.compose[key] for key in CompositionConfig.model_fields}
        extractor = entry.compose.get("entities")
        return cls(
            encoder,
            CompositionConfig.model_validate(weights),
            None if extractor is None else registry.resolve(extractor, EntityExtractor),
        )

    def encode(self, text: str) -> SparseVector:
        """A query's vector, with the terms of its entities where those of passages were added."""
        if self.composition is None:
            return self.encoder.encode([text])[0]
        mentions = [] if self.extractor is None else self.extractor.find(text)
        entities = [(mention.name, mention.confidence) for mention in mentions]
        return compose(self.encoder, [text], self.composition, entities=[entities])[0]


@dataclass(frozen=True)
class QueryModels:
    """The components that made a bundle's signals, built again; models load at the first text.

    `encoders` are by the column that each of them made.
    """

    tokenizer: Tokenizer | None = None
    encoders: Mapping[str, Encoder] = field(default_factory=dict)
    sparse: QuerySparse | None = None
    tokens: MultiVectorEncoder | None = None
    fde: FdeEncoder | None = None

    @classmethod
    def of(cls, manifest: Manifest, path: Path | str) -> QueryModels:
        """Those of the bundle at `path`, or of one that was pushed there.

        Raises `ModelMismatchError`, with both fingerprints, for one whose results this installation
        cannot reproduce.
        """

        def same(what: str, made: T, built: str) -> T:
            if made.fingerprint != built:
                raise ModelMismatchError(
                    f"bundle {str(path)!r} was built with {what} {built}, this installation has "
                    f"{made.fingerprint}; run `laya process` again to rebuild it"
                )
            return made

        def signal(what: str, entry: _Entry | None, seam: type[T]) -> T | None:
            if entry is None:
                return None
            block = {"provider": entry.provider, "config": entry.config}
            return same(what, signals.resolve(block, seam), entry.fingerprint)

        tokenizer = None
        if (bm25 := manifest.bm25) is not None:
            made = signals.resolve(bm25.tokenizer, Tokenizer)
            tokenizer = same("tokenizer", made, bm25.tokenizer_fingerprint)
        encoders = {}
        for name, entry in manifest.embeddings.items():
            encoder = signal("encoder", entry, Encoder)
            if encoder is not None:
                encoders[name] = encoder
        others = manifest.signals
        return cls(
            tokenizer,
            encoders,
            QuerySparse.of(
                signal("sparse encoder", others.get("sparse"), SparseEncoder), others.get("sparse")
            ),
            signal("multi-vector encoder", others.get("multivector"), MultiVectorEncoder),
            signal("encoding of multi-vectors", others.get("fde"), FdeEncoder),
        )

    def query(self, text: str, capabilities: frozenset[Capability], **options: Any) -> QueryBundle:
        """A query with every signal that `capabilities` can be searched by.

        A signal that `options` give, or whose leg their `modes` leave out, is not computed.
        """
        modes = options.get("modes")

        def wanted(capability: Capability, key: str) -> bool:
            asked = modes is None or capability.value in modes
            return asked and capability in capabilities and key not in options

        if text.strip():
            if Capability.DENSE in capabilities:
                options |= self._vectors(text, options)
            if self.sparse is not None and wanted(Capability.SPARSE, "sparse_terms"):
                options["sparse_terms"] = self.sparse.encode(text)
            if self.tokens is not None and wanted(Capability.MULTIVECTOR, "multivector"):
                options["multivector"] = self.tokens.encode_query(text)
        return QueryBundle(text=text, **options)

    def _vectors(self, text: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options `vector` and `vectors`, as far as they are wanted and not given."""
        modes = options.get("modes")
        known: dict[str, Any] = {}
        named = dict(options.get("vectors") or {})
        found: dict[str, Any] = {}
        for column, encoder in self.encoders.items():
            leg = leg_of(column)
            name = leg.partition(":")[2]
            given = name in named if name else "vector" in options
            if given or not (modes is None or leg in modes):
                continue
            # Two columns of one encoder, rounded differently, share a query's vector.
            if encoder.fingerprint not in known:
                known[encoder.fingerprint] = encoder.encode_queries([text])[0]
            if name:
                named[name] = known[encoder.fingerprint]
            else:
                found["vector"] = known[encoder.fingerprint]
        return found | ({"vectors": named} if named else {})


def leg_of(column: str) -> str:
    """The leg of an embedding column: `dense`, or `dense:<name>` for `embedding_<name>`."""
    name = column.removeprefix("embedding").removeprefix("_")
    return f"{Capability.DENSE.value}:{name}" if name else Capability.DENSE.value
