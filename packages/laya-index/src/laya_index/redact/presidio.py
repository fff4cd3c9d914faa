"""Names and whatever else takes a language model to find, through Presidio (extra `presidio`)."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from laya_signals import Component, ComponentConfig, ConfigError
from laya_signals.errors import MissingExtraError, ModelError
from laya_signals.model_file import digest_of
from pydantic import Field, field_validator

from laya_index.redact.base import Finding
from laya_index.redact.patterns import PatternRedactor, PatternRedactorConfig

# spaCy needs about a gigabyte for 100,000 characters; a name does not need so much around it.
_WINDOW = 20_000
# Presidio checks an address's domain against a list that it downloads: what is found would depend
# on the day and on the network.
_ONLINE = frozenset({"EMAIL_ADDRESS"})


class PresidioRedactorConfig(ComponentConfig):
    """Settings of `redact.presidio`.

    `model` is a spaCy pipeline: the name of an installed one, or its folder. `entities` are
    Presidio's names of what to replace, or labels of the pipeline's own; a finding below the score
    `threshold` stays. `patterns` are the settings of `redact.patterns`, which looks at the same
    text: `true` for its defaults, `false` to leave it out.
    """

    model: str = Field(default="en_core_web_lg", min_length=1)
    language: str = Field(default="en", pattern=r"^[a-z]{2,3}$")
    entities: tuple[str, ...] = Field(default=("PERSON",), min_length=1)
    threshold: float = Field(default=0.5, ge=0, le=1)
    patterns: bool | PatternRedactorConfig = True

    @field_validator("entities")
    @classmethod
    def _found_offline(cls, entities: tuple[str, ...]) -> tuple[str, ...]:
        for name in _ONLINE.intersection(entities):
            raise ValueError(f"{name} needs the network in Presidio; `patterns` finds it as EMAIL")
        return entities


class PresidioRedactor(Component[PresidioRedactorConfig]):
    """What Presidio's recognisers find in a text, on top of what `redact.patterns` finds.

    Where findings overlap, all of it is replaced by the kind that begins first. The same text gives
    the same findings with the same versions and model on the same kind of processor.

    Raises `MissingExtraError` when presidio-analyzer is not installed, `ModelError` when the spaCy
    pipeline is not, and `ConfigError` for an entity that no recogniser of the language finds.
    """

    Config = PresidioRedactorConfig

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        patterns = self.config.patterns
        self._patterns = (
            PatternRedactor(patterns if isinstance(patterns, PatternRedactorConfig) else None)
            if patterns
            else None
        )
        # Loaded once a process, here already: what is wrong is told before anything is read.
        _analyzer(self.config.model, self.config.language, self.config.entities)

    def fingerprint_extra(self) -> Any:
        """Versions and the model's files, and what decides for the patterns."""
        return {
            "presidio-analyzer": installed("presidio-analyzer"),
            "spacy": installed("spacy"),
            "model": _identity(_model_folder(self.config.model)),
            "patterns": None if self._patterns is None else self._patterns.fingerprint,
        }

    def find(self, text: str) -> list[Finding]:
        """What to replace in `text`, in its order; findings may overlap."""
        config = self.config
        analyzer = _analyzer(config.model, config.language, config.entities)
        found = [] if self._patterns is None else self._patterns.find(text)
        for begin, window in _windows(text):
            results = analyzer.analyze(
                window,
                language=config.language,
                entities=list(config.entities),
                score_threshold=config.threshold,
            )
            found += [Finding(begin + r.start, begin + r.end, r.entity_type) for r in results]
        return sorted(found, key=lambda item: (item.start, item.end, item.kind))


@lru_cache(maxsize=4)
def _analyzer(model: str, language: str, entities: tuple[str, ...]) -> Any:
    """An `AnalyzerEngine` on the processor that downloads nothing."""
    try:
        import spacy
        from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
        from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine
        from presidio_analyzer.predefined_recognizers import SpacyRecognizer
    except ImportError as error:
        raise MissingExtraError(
            f"redact.presidio needs presidio-analyzer: install laya-index[presidio] ({error})"
        ) from error
    # It warns of recognisers for other languages; what matters here is checked below.
    logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
    folder = _model_folder(model)
    try:
        pipeline = spacy.load(folder)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{model!r} is no spaCy pipeline that this spaCy reads: {error}"
        ) from error
    labels = {label for names in pipeline.pipe_labels.values() for label in names}
    mapping = NerModelConfiguration().model_to_presidio_entity_mapping
    mapping |= {name: name for name in entities if name in labels}
    unwanted = sorted(label for label in labels if mapping.get(label) not in entities)
    engine = SpacyNlpEngine(
        [{"lang_code": language, "model_name": model}],
        NerModelConfiguration(model_to_presidio_entity_mapping=mapping, labels_to_ignore=unwanted),
    )
    # Its own `load` would fetch what is missing, and take a graphics card if it finds one.
    engine.nlp = {language: pipeline}
    registry = RecognizerRegistry(supported_languages=[language])
    registry.load_predefined_recognizers([language], engine)
    analyzer = AnalyzerEngine(registry, engine, supported_languages=[language])
    # The pipeline's recogniser claims every name that Presidio has, whatever the pipeline knows.
    known = {mapping.get(label, label) for label in labels}
    for recognizer in registry.recognizers:
        if not isinstance(recognizer, SpacyRecognizer):
            known.update(recognizer.supported_entities)
    for name in entities:
        if name not in known:
            raise ConfigError(
                f"PresidioRedactor: entities: nothing finds {name!r} in {language!r} "
                f"with {model!r}; known are {', '.join(sorted(known - _ONLINE))}"
            )
    return analyzer


def _model_folder(model: str) -> Path:
    """The folder of a pipeline that is installed or named by its path."""
    if (path := Path(model).expanduser()).is_dir():
        return path
    from spacy.util import get_model_meta, get_package_path, is_package

    if not is_package(model):
        raise ModelError(
            f"there is no spaCy pipeline {model!r}: name a folder, or install it with "
            f"`python -m spacy download {model}`"
        )
    package: Path = get_package_path(model)
    try:
        meta = get_model_meta(package)
    except OSError as error:
        raise ModelError(f"the package {model!r} is no spaCy pipeline: {error}") from error
    return package / f"{meta['lang']}_{meta['name']}-{meta['version']}"


@lru_cache(maxsize=4)
def _identity(folder: Path) -> dict[str, str]:
    """A pipeline's name and version, and the SHA-256 over the hashes of its files."""
    try:
        meta = json.loads((folder / "meta.json").read_bytes())
    except (OSError, ValueError) as error:
        raise ModelError(f"{str(folder)!r} is no spaCy pipeline: {error}") from error
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    hashes = [(path.relative_to(folder).as_posix(), digest_of(path)) for path in files]
    return {
        "name": f"{meta.get('lang')}_{meta.get('name')}",
        "version": str(meta.get("version")),
        "sha256": hashlib.sha256(json.dumps(hashes).encode()).hexdigest(),
    }


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Pieces of `text` and where they begin, cut between paragraphs, else lines, else words."""
    begin = 0
    while len(text) - begin > _WINDOW:
        end = begin + _WINDOW
        cuts = (text.rfind(mark, begin, end) + len(mark) for mark in ("\n\n", "\n", " "))
        end = next((cut for cut in cuts if cut > begin + _WINDOW // 2), end)
        yield begin, text[begin:end]
        begin = end
    if text[begin:].strip():
        yield begin, text[begin:]
