"""Cross-encoders: models that read two texts at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from laya_signals.component import Component, ComponentConfig
from laya_signals.errors import ConfigError, MissingExtraError


@runtime_checkable
class PairScorer(Protocol):
    """Scores pairs of texts; a sentence-transformers `CrossEncoder` is one."""

    def predict(self, sentences: Sequence[tuple[str, str]]) -> Any:
        """One number per pair, as anything numpy can read."""
        ...


class CrossEncoderConfig(ComponentConfig):
    """Settings of a component that asks a cross-encoder."""

    #: Name or folder of a sentence-transformers cross-encoder, for when none is injected.
    model: str | None = None


C = TypeVar("C", bound=CrossEncoderConfig)


class CrossEncoderComponent(Component[C]):
    """Holds the cross-encoder that its settings name, or one that is there already (`model=`)."""

    def __init__(
        self,
        config: Mapping[str, Any] | CrossEncoderConfig | None = None,
        /,
        *,
        model: PairScorer | str | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(model, str):
            settings["model"], model = model, None
        super().__init__(config, **settings)
        name = type(self).__name__
        if model is None and self.config.model is None:
            raise ConfigError(f"{name}: give model= an object with predict(), or name one")
        if model is not None and not isinstance(model, PairScorer):
            raise ConfigError(f"{name}: {type(model).__name__} has no predict()")
        self._model = model

    @property
    def model(self) -> PairScorer:
        """The cross-encoder; loads the one that the settings name on first use."""
        if self._model is None:
            self._model = load_cross_encoder(str(self.config.model))
        return self._model


def load_cross_encoder(name: str) -> PairScorer:
    """A sentence-transformers `CrossEncoder`; raises `MissingExtraError` without the package."""
    try:
        from sentence_transformers import (  # type: ignore[import-not-found,unused-ignore]
            CrossEncoder,
        )
    except ImportError as error:
        raise MissingExtraError(
            f"cross-encoder {name!r} needs sentence-transformers: install laya-retrieval[rerank]"
        ) from error
    model: PairScorer = CrossEncoder(name)
    return model
