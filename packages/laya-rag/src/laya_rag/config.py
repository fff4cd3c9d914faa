"""Settings: what they are, and where each of their values came from.

Four layers, the later ones winning: defaults, a TOML file, environment variables `LAYA_RAG_*`,
flags. A key is written with dots (`search.keep`); in the file the part before the dot is a table,
in a variable's name each dot is two underscores (`LAYA_RAG_SEARCH__KEEP`).
"""

from __future__ import annotations

import difflib
import ipaddress
import itertools
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from laya_retrieval.extract import ExtractConfig
from laya_retrieval.process.cover import CoverConfig
from laya_retrieval.process.dedup import DedupConfig
from laya_retrieval.process.pack import PackConfig
from laya_retrieval.process.quota import QuotaConfig
from laya_retrieval.process.rerank import RerankConfig
from laya_signals.http import server_address
from laya_signals.registry import ProviderBlock
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError as SourceError
from pydantic_settings.sources import PydanticBaseSettingsSource

from laya_rag.access import Access
from laya_rag.errors import AccessError, SettingsError

#: Read from the current folder when no other file is named.
FILE_NAME = "laya.toml"
PREFIX = "LAYA_RAG_"
#: What is shown of a secret.
MASK = "***"

_SECRET = re.compile(r"(?:^|_)(?:key|token|secret|password)$", re.IGNORECASE)

Place: TypeAlias = tuple[str, ...]


def _split(value: Any) -> Any:
    """A variable holds names as `a,b`, or as JSON where one has a comma; a list is left alone."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [part.strip() for part in value.split(",")]


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Probability = Annotated[float, Field(ge=0, le=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SearchSettings(_Table):
    """`search.*`: the first stage."""

    #: Candidates to take from each leg.
    depth: int = Field(default=100, ge=1)
    #: Passages to keep at the end.
    keep: int = Field(default=5, ge=1)
    #: Only these legs; null for all that the corpus has signals for.
    legs: Names | None = None
    #: How legs become one list: `fuser.weighted`, `fuser.rrf` or `fuser.log_odds`.
    fuser: ProviderBlock = ProviderBlock(provider="fuser.weighted")
    #: Weight by leg; one that is not named gets 1, or what its kind of encoder is worth.
    weights: dict[str, Annotated[NonNegativeFloat, Field(allow_inf_nan=False)]] = {}
    #: Compare vectors approximately; null leaves it to the size of the corpus, or to the store.
    approximate: bool | None = None
    #: A second search for the names that the first one found and the question lacks.
    iterate: bool = False
    #: How many such names to search for.
    probes: int = Field(default=3, ge=1)
    #: What a leg of a probe weighs, beside 1 for the same leg of the question.
    probe_weight: Probability = 0.5


class GateSettings(_Table):
    """`gate.*`: the decision about what was found."""

    enabled: bool = True
    #: Which gate: `gate.laya`, `gate.nli` or `gate.features`.
    judge: ProviderBlock = ProviderBlock(provider="gate.laya")
    #: The decision model that `gate.laya` asks.
    model: ProviderBlock = ProviderBlock(provider="decision.mini")
    #: The first this many candidates are read; the others are dropped unread.
    candidates: int = Field(default=20, ge=1)
    #: Probability from which a passage is relevant.
    relevance: Probability = 0.5
    #: Probability from which the evidence answers.
    answerability: Probability = 0.5
    #: `incoming` keeps the order of the search, `relevance` sorts by probability.
    order: Literal["incoming", "relevance"] = "incoming"
    #: Passages per call of the model; between two calls the work can be stopped.
    batch: int = Field(default=8, ge=1)


class SecondStageSettings(_Table):
    """`second.*`: what happens between the search and the evidence; null is off."""

    #: False skips all of it, the gate too.
    enabled: bool = True
    dedup: DedupConfig | None = None
    rerank: RerankConfig | None = None
    #: `top_k` is `search.keep` unless it is given.
    cover: CoverConfig | None = None
    #: `documents` is `search.keep` unless it is given.
    quota: QuotaConfig | None = None
    pack: PackConfig | None = None


class AccessSettings(_Table):
    """`access.*`: who asks, where a call does not say."""

    tenants: Names = ()
    all_tenants: bool = False
    min_trust: str = "untrusted"

    @model_validator(mode="after")
    def _is_an_access(self) -> AccessSettings:
        try:
            self.access()
        except AccessError as error:
            raise ValueError(str(error)) from error
        return self

    def access(self) -> Access:
        """The same as an `Access`."""
        return Access(self.tenants, self.all_tenants, self.min_trust)


class CacheSettings(_Table):
    """`cache.*`: what is kept in memory between questions; never a result."""

    #: Questions whose vectors are kept; 0 keeps none.
    vectors: int = Field(default=256, ge=0)


class ComposeSettings(_Table):
    """`compose.*`: the language model that writes an answer from the evidence."""

    #: `ollama` for Ollama's own route, `openai` for any server that speaks OpenAI's, `none` for
    #: no composition.
    provider: Literal["none", "ollama", "openai"] = "none"
    #: Where the server is: null for an Ollama on this machine, up to `/v1` for `openai`.
    url: str | None = None
    #: The model's name on that server.
    model: str | None = None
    #: Sent as bearer token, and never shown.
    api_key: SecretStr | None = None
    #: Name of an environment variable that holds the key.
    api_key_env: str | None = None
    #: Send evidence and key in the clear to a server on another machine.
    plain_http: bool = False
    #: `answerable` asks no model where the gate says that the evidence does not answer; `always`
    #: does. A gate that is off says nothing, and without evidence no model is ever asked.
    when: Literal["answerable", "always"] = "answerable"
    #: Null leaves it to the server, as some models want it.
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = 0.0
    #: Null leaves it to the server.
    seed: int | None = 0
    #: Tokens of the answer, thinking included; an answer that reaches them is cut short.
    max_tokens: int = Field(default=1024, ge=1)
    #: Tokens of prompt and answer together; Ollama is told, other servers know.
    context: int = Field(default=8192, ge=512)
    #: Characters of evidence to show where `second.pack` has no budget for it.
    evidence: int = Field(default=12_000, ge=1)
    #: Seconds for the whole answer.
    timeout: float = Field(default=300.0, gt=0, allow_inf_nan=False)
    #: Seconds without a sign of life.
    idle_timeout: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    #: Further tries when the server is busy or failed, before it has written anything.
    retries: int = Field(default=2, ge=0)
    #: More of the request's body, as the server documents it.
    extra: dict[str, Any] = {}

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        return None if url is None else server_address(url)

    @field_validator("extra")
    @classmethod
    def _is_more(cls, extra: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(extra.keys() & {"model", "messages", "stream"}):
            raise ValueError(f"{', '.join(taken)}: not for this table to set")
        return extra

    @model_validator(mode="after")
    def _can_be_used(self) -> ComposeSettings:
        if self.api_key is not None and self.api_key_env is not None:
            raise ValueError("give api_key or api_key_env, not both")
        if self.provider == "none":
            return self
        if self.model is None:
            raise ValueError(f"provider {self.provider} needs compose.model, the model's name")
        if self.provider == "openai" and self.url is None:
            raise ValueError(
                "provider openai needs compose.url, the server's address up to /v1, such as "
                "http://127.0.0.1:8000/v1"
            )
        if not (self.plain_http or self.address.startswith("https:") or self.loopback):
            raise ValueError(
                f"{self.address} would get the evidence in the clear: use https, or set "
                "compose.plain_http where the network is yours"
            )
        return self

    @property
    def address(self) -> str:
        """Where the server is; an Ollama on this machine unless `url` says otherwise."""
        return self.url or "http://127.0.0.1:11434"

    @property
    def loopback(self) -> bool:
        """Whether that is this machine, by its name alone."""
        host = urlsplit(self.address).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


class Settings(BaseSettings):
    """Everything that can be set, with a working default for each.

    Built from keywords alone: what a program passes is what it gets. `load_settings` reads the
    file and the environment. Immutable; `updated` gives a copy.
    """

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_parse_none_str="null",
    )

    #: The bundle's folder, or the address of the store that it was pushed to.
    bundle: str = ".laya/default"
    search: SearchSettings = SearchSettings()
    gate: GateSettings = GateSettings()
    second: SecondStageSettings = SecondStageSettings()
    #: Sentences word for word: how many, and how much of the question each must hold.
    extract: ExtractConfig = ExtractConfig()
    access: AccessSettings = AccessSettings()
    cache: CacheSettings = CacheSettings()
    compose: ComposeSettings = ComposeSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Keywords only."""
        return (init_settings,)

    def updated(self, changes: Mapping[str, Any]) -> Settings:
        """A copy with other values by dotted key; raises `SettingsError` as `load_settings` does.

        >>> Settings().updated({"search.keep": 3}).search.keep
        3
        """
        own = _Layer("", self.model_dump(exclude_unset=True), "file")
        return _combined([own, *(_nested(key, value, "") for key, value in changes.items())])


@dataclass(frozen=True, slots=True)
class Flag:
    """A value that the command line gave for the setting `key`; `option` is how it was written."""

    key: str
    value: Any
    option: str

    @classmethod
    def parse(cls, text: str) -> Flag:
        """`--set KEY=VALUE`: the value as TOML, `null` for none, or else a plain text."""
        key, equals, raw = text.partition("=")
        if not equals or not all(key.strip().split(".")):
            raise SettingsError(f"--set wants KEY=VALUE, such as search.keep=3, not {text!r}")
        try:
            value = None if raw.strip() == "null" else tomllib.loads(f"value = {raw}")["value"]
        except tomllib.TOMLDecodeError:
            value = raw
        return cls(key.strip(), value, f"--set {key.strip()}")


@dataclass(frozen=True, slots=True)
class Effective:
    """One setting: its key, its value as JSON holds it, and where that came from."""

    key: str
    value: Any
    layer: Literal["default", "file", "environment", "flag"]
    #: The file and line, the variable or the option; empty for a default.
    source: str


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force, and the origin of each."""

    settings: Settings
    origins: tuple[Effective, ...]


def load_settings(*, file: Path | None = None, flags: Sequence[Flag] = ()) -> LoadedSettings:
    """Defaults, then the file, then the environment, then `flags`.

    `file` must exist; without it, `laya.toml` of the current folder is read if there is one.
    A table is merged key by key, but a block that names another provider replaces the whole block.

    Raises `SettingsError` naming the file and line, the variable or the option, and the nearest
    known key for an unknown one.
    """
    layers = [*_file_layers(file), *_environment_layers()]
    layers += [_nested(flag.key, flag.value, flag.option) for flag in flags]
    settings = _combined(layers)
    return LoadedSettings(settings, tuple(_effective(settings, layers)))


@dataclass(frozen=True, slots=True)
class _Layer:
    """Values from one place: a variable, an option, one key of a file."""

    source: str
    values: dict[str, Any]
    kind: Literal["file", "environment", "flag"] = "flag"

    def gives(self, place: Place) -> bool:
        """Whether it says anything about the key: about it, below it, or above it.

        An empty table says nothing about its keys.
        """
        return any(
            given[: len(place)] == place or (place[: len(given)] == given and value != {})
            for given, value in _leaves(self.values, ())
        )


def _leaves(values: Mapping[str, Any], place: Place) -> Iterator[tuple[Place, Any]]:
    """Every key down to what is no table, with its value."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*place, str(key)))
        else:
            yield (*place, str(key)), value


def _nested(
    key: str | Place,
    value: Any,
    source: str,
    kind: Literal["file", "environment", "flag"] = "flag",
) -> _Layer:
    values: Any = value
    for part in reversed(key.split(".") if isinstance(key, str) else key):
        values = {part: values}
    return _Layer(source, values, kind)


def _file_layers(file: Path | None) -> list[_Layer]:
    """One layer for each key of the file, so that each knows its line."""
    path = Path(FILE_NAME) if file is None else file
    if file is None and not path.is_file():
        return []
    try:
        text = path.read_text(encoding="utf-8-sig")
        values = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise SettingsError(f"cannot read {str(path)!r}: {error}") from error
    lines = _lines(text)
    layers = []
    for place, value in _leaves(values, ()):
        layers.append(_nested(place, value, f"{path}:{lines[place]}", "file"))
    return layers


def _lines(text: str) -> dict[Place, int]:
    """The line on which each key begins: the first after which the text so far has that key."""
    found: dict[Place, int] = {}
    rows = text.splitlines(keepends=True)
    begin = 1
    for number in range(1, len(rows) + 1):
        try:
            values = tomllib.loads("".join(rows[:number]))
        except tomllib.TOMLDecodeError:
            continue  # in the middle of a value
        for place, _ in _leaves(values, ()):
            found.setdefault(place, begin)
        begin = number + 1
    return found


def _environment_layers() -> list[_Layer]:
    """One layer for each variable, so that each can be named; a longer name wins over a shorter."""
    layers = []
    for name in sorted(name for name in os.environ if name.upper().startswith(PREFIX)):
        source = EnvSettingsSource(Settings)
        source.env_vars = {name.lower(): os.environ[name]}
        try:
            values = source()
        except SourceError as error:
            # Without the value: it may hold a key.
            raise SettingsError(f"{name}: a JSON value is needed, and this is none") from error
        if values and os.environ[name] == "null":
            [(place, _)] = _leaves(values, ())
            layers.append(_nested(place, None, name, "environment"))
        elif values:
            layers.append(_Layer(name, values, "environment"))
        else:
            key = name[len(PREFIX) :].lower().replace("__", ".")
            layers.append(_nested(key, os.environ[name], name, "environment"))
    return layers


def _combined(layers: Sequence[_Layer]) -> Settings:
    merged: dict[str, Any] = {}
    for _, group in itertools.groupby(layers, key=lambda layer: layer.kind):
        # What one file or environment says is one table, in whatever order.
        together: dict[str, Any] = {}
        for layer in group:
            together = _merged(together, layer.values, blocks=False)
        merged = _merged(merged, together)
    try:
        return Settings(**merged)
    except ValidationError as error:
        raise SettingsError("\n".join(_problems(error, layers))) from error


def _merged(
    low: Mapping[str, Any], high: Mapping[str, Any], *, blocks: bool = True
) -> dict[str, Any]:
    merged = dict(low)
    if blocks and high.get("provider", low.get("provider")) != low.get("provider"):
        merged.pop("config", None)  # the settings of one provider mean nothing to another
    for key, value in high.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            value = _merged(below, value, blocks=blocks)
        merged[key] = value
    return merged


def _problems(error: ValidationError, layers: Sequence[_Layer]) -> Iterator[str]:
    for item in error.errors(include_url=False, include_input=False):
        place = tuple(str(part) for part in item["loc"])
        key = ".".join(place)
        if item["type"] == "extra_forbidden":
            message = f"unknown key {key!r}{_suggestion(place)}"
        else:
            message = f"{key}: {item['msg'].removeprefix('Value error, ')}"
        # What is missing from a table is the fault of who gave the table.
        givers = [_giver(place[:depth], layers) for depth in range(len(place), 0, -1)]
        source = next((giver.source for giver in givers if giver is not None), "")
        yield f"{source}: {message}" if source else message


def _giver(place: Place, layers: Sequence[_Layer]) -> _Layer | None:
    """The layer whose word on the key counts: the last that has one."""
    return next((layer for layer in reversed(layers) if layer.gives(place)), None)


def _suggestion(place: Place) -> str:
    """The known key that is nearest, wherever it is; else what is known at that place."""
    known = [".".join(found) for found in _keys(Settings, ())]
    beside = [key for key in known if key.split(".")[:-1] == list(place[:-1])]
    for names in (beside, known):
        if near := difflib.get_close_matches(".".join(place), names, n=1):
            return f"; did you mean {near[0]!r}?"
    last = [key for key in known if key.split(".")[-1] == place[-1]]
    if last:
        return f"; did you mean {last[0]!r}?"
    return f"; known are {', '.join(beside)}" if beside else ""


def _keys(model: type[BaseModel], place: Place) -> Iterator[Place]:
    """Every key, tables and what they hold."""
    for name, field in model.model_fields.items():
        yield (*place, name)
        for kind in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _keys(kind, (*place, name))


def _effective(settings: Settings, layers: Sequence[_Layer]) -> Iterator[Effective]:
    for place, value in _values(settings, ()):
        giver = _giver(place, layers)
        if giver is None:
            yield Effective(".".join(place), value, "default", "")
        else:
            yield Effective(".".join(place), value, giver.kind, giver.source)


def _values(table: BaseModel, place: Place) -> Iterator[tuple[Place, Any]]:
    """The settings one by one; a block or a stage's settings are one value."""
    plain = table.model_dump(mode="json")
    for name in type(table).model_fields:
        value = getattr(table, name)
        if isinstance(value, (_Table, ExtractConfig)):
            yield from _values(value, (*place, name))
        else:
            yield (*place, name), _without_secrets({name: plain[name]})[name]


def _without_secrets(value: Any) -> Any:
    """The value with keys and passwords masked, for it is going to be shown."""
    if not isinstance(value, dict):
        return value
    return {
        key: MASK if _SECRET.search(key) and inner is not None else _without_secrets(inner)
        for key, inner in value.items()
    }
