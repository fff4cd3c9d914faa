"""The stack file: what to index, how, and where to."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from laya_signals import ConfigError, ProviderBlock, RegistryError, SignalError
from laya_signals.component import fingerprint_of
from laya_signals.sparse import CompositionConfig
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails

from laya_index.errors import StackError
from laya_index.registry import registry

T = TypeVar("T")

Place = tuple[str | int, ...]

#: What an embedding beside the first is called: it is a leg of its own at query time.
NAMED_EMBEDDING = re.compile(r"embedding_[a-z0-9][a-z0-9_]{0,31}")
_COLUMN_SIGNAL = re.compile(r"[a-z][a-z0-9_]{0,63}")


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Bm25FieldBlock(_Block):
    """How one field counts in BM25F; `b` is the lexical signal's unless it is given here."""

    weight: float = Field(default=1.0, gt=0, le=1000)
    b: float | None = Field(default=None, ge=0, le=1)


class Bm25FieldsBlock(_Block):
    """The fields that BM25F keeps apart; one that is not named is not searched."""

    title: Bm25FieldBlock | None = None
    headings: Bm25FieldBlock | None = None
    content: Bm25FieldBlock | None = None

    @property
    def named(self) -> dict[str, Bm25FieldBlock]:
        """The fields that are there, by name."""
        found = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: block for name, block in found.items() if block is not None}

    @model_validator(mode="after")
    def _some(self) -> Bm25FieldsBlock:
        if not self.named:
            raise ValueError("name at least one field: title, headings or content")
        return self


class Bm25Block(ProviderBlock):
    """The lexical signal: a tokenizer, and the parameters that queries score with.

    `title_weight` counts each term of the title that many times; `bm25f` keeps fields apart
    instead, each with a weight and a length normalisation of its own.
    """

    k1: float = Field(default=1.2, ge=0, allow_inf_nan=False)
    b: float = Field(default=0.75, ge=0, le=1)
    title_weight: int = Field(default=1, ge=0, le=100)
    bm25f: Bm25FieldsBlock | None = Field(default=None, exclude_if=lambda bm25f: bm25f is None)

    @property
    def fields(self) -> dict[str, Bm25FieldBlock]:
        """BM25F's fields by name; none for BM25."""
        return {} if self.bm25f is None else self.bm25f.named

    @model_validator(mode="after")
    def _one_weight_for_titles(self) -> Bm25Block:
        if self.bm25f is not None and self.title_weight != 1:
            raise ValueError(
                "with bm25f the title's weight is bm25f.title.weight: drop title_weight"
            )
        return self


class EmbeddingBlock(ProviderBlock):
    """A dense signal: an encoder, and what its column holds; `float16` halves the column."""

    # Left out where it has no effect, so that a stack that never heard of it keeps its hash.
    dtype: Literal["float32", "float16"] = Field(
        default="float32", exclude_if=lambda dtype: dtype == "float32"
    )


class ComposeBlock(CompositionConfig):
    """What is added to a sparse encoder's vectors, and with which weights.

    `entities` names the extractor whose mentions in a passage count; `metadata` the keys of a
    document's metadata whose values do.
    """

    entities: ProviderBlock | None = None
    metadata: tuple[str, ...] = ()


class SparseBlock(ProviderBlock):
    """A sparse signal: an encoder, and what its vectors are composed with."""

    compose: ComposeBlock | None = Field(default=None, exclude_if=lambda compose: compose is None)


class MultiVectorBlock(ProviderBlock):
    """One vector per token: kept beside the chunks, or only read by `fde`."""

    keep_multivectors: bool = True


def _absent(value: object) -> bool:
    return not value


class SignalsBlock(_Block):
    """Which signals to compute; one that is not named adds no column and no file.

    Keys `embedding_<name>` add further embeddings; `columns` holds generators of one's own.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, EmbeddingBlock]

    bm25: Bm25Block | None = None
    embedding: EmbeddingBlock | None = None
    sparse: SparseBlock | None = Field(default=None, exclude_if=_absent)
    multivector: MultiVectorBlock | None = Field(default=None, exclude_if=_absent)
    fde: ProviderBlock | None = Field(default=None, exclude_if=_absent)
    columns: dict[str, ProviderBlock] = Field(default_factory=dict, exclude_if=_absent)

    @property
    def embeddings(self) -> dict[str, EmbeddingBlock]:
        """Every embedding by its column, the unnamed one first and the others by name."""
        first = {} if self.embedding is None else {"embedding": self.embedding}
        return first | dict(sorted((self.__pydantic_extra__ or {}).items()))

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, data: Any) -> Any:
        unknown = [
            InitErrorDetails(type="extra_forbidden", loc=(key,), input=value)
            for key, value in (data.items() if isinstance(data, Mapping) else ())
            if key not in cls.model_fields and not NAMED_EMBEDDING.fullmatch(str(key))
        ]
        if unknown:
            raise ValidationError.from_exception_data(cls.__name__, unknown)
        if isinstance(data, Mapping):  # `--set signals.embedding_x=null` switches it off
            named = (key for key in data if key not in cls.model_fields)
            off = {key for key in named if data[key] is None}
            return {key: value for key, value in data.items() if key not in off}
        return data

    @field_validator("columns")
    @classmethod
    def _names(cls, columns: dict[str, ProviderBlock]) -> dict[str, ProviderBlock]:
        for name in columns:
            if not _COLUMN_SIGNAL.fullmatch(name):
                raise ValueError(f"{name!r} is no name: use small letters, digits and _")
        return columns

    @model_validator(mode="after")
    def _multivectors_are_used(self) -> SignalsBlock:
        if self.fde is not None and self.multivector is None:
            raise ValueError("fde reads token vectors: name a multivector encoder too")
        if self.fde is None and self.multivector and not self.multivector.keep_multivectors:
            raise ValueError("multivectors that nothing reads and nobody keeps: wire fde, or keep")
        return self


class GraphBlock(ProviderBlock):
    """The graph of the corpus: an extractor of entities, and what is computed on the graph.

    The first feature is the centrality in context headers. A chunk has at most `max_nodes` nodes
    and its header names at most `max_neighbors` nodes next to them; a node lists at most
    `max_evidence` of its documents, an edge so many of its chunks.
    """

    features: tuple[ProviderBlock, ...] = Field(
        default=(
            ProviderBlock(provider="graph_features.pagerank"),
            ProviderBlock(provider="graph_features.degree"),
        ),
        min_length=1,
    )
    max_nodes: int = Field(default=32, ge=1, le=1024)
    max_neighbors: int = Field(default=32, ge=0, le=1024)
    max_evidence: int = Field(default=16, ge=1, le=1024)


class ExportBlock(_Block):
    """Where the bundle goes: a folder of its own, relative to the current one."""

    path: Path

    @field_validator("path")
    @classmethod
    def _has_a_name(cls, path: Path) -> Path:
        if path.name in {"", ".."}:
            raise ValueError("name a folder for the bundle alone, `.laya/<stack name>` for one")
        return path


class StackModel(_Block):
    """The keys of a stack file."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
    source: ProviderBlock
    chunk: ProviderBlock = ProviderBlock(provider="chunker.paragraph")
    context: ProviderBlock | None = Field(default=None, exclude_if=_absent)
    redact: ProviderBlock | None = None
    trust: ProviderBlock = ProviderBlock(provider="trust.manifest")
    signals: SignalsBlock = SignalsBlock()
    graph: GraphBlock | None = Field(default=None, exclude_if=_absent)
    export: ExportBlock


@dataclass(frozen=True, slots=True)
class Stack:
    """A validated stack file; `lines` maps a key's place in it to its line."""

    model: StackModel
    file: str
    lines: Mapping[Place, int]

    @property
    def hash(self) -> str:
        """Sixteen hex digits over everything in the stack that can change the bundle.

        Where the input lies and where the output goes cannot: two machines that keep the same
        documents in different folders build the same bytes.
        """
        facts = self.model.model_dump(mode="json", exclude={"export"})
        for place in ("root", "path", "endpoint_override", "region"):
            facts["source"]["config"].pop(place, None)
        return fingerprint_of(facts)

    def build(self, place: Place, seam: type[T]) -> T:
        """The component at `place` (`("signals", "bm25")`, say).

        Raises `StackError` naming file, line and key when it cannot be built.
        """
        block: Any = self.model
        for key in place:
            held = isinstance(block, Mapping | tuple)
            block = block[key] if held else getattr(block, str(key))
        plain = ProviderBlock(provider=block.provider, config=block.config)
        try:
            return registry.resolve(plain, seam)
        except RegistryError as error:
            raise self._error((*place, "provider"), str(error)) from error
        except ConfigError as error:
            cause = error.__cause__
            if not isinstance(cause, ValidationError):
                raise self._error((*place, "config"), str(error)) from error
            model = registry.load(block.provider).Config
            base = (*place, "config")
            raise StackError(
                "\n".join(_problems(cause, model, base, self.file, self.lines))
            ) from error
        except SignalError as error:
            raise self._error((*place, "provider"), str(error)) from error

    def _error(self, place: Place, message: str) -> StackError:
        return StackError(_located(self.file, self.lines, place, message))


def load_stack(
    path: Path,
    *,
    sets: Sequence[str] = (),
    root: Path | None = None,
    out: Path | None = None,
) -> Stack:
    """Read and validate the stack file `path`.

    `sets` are `stage.key=value` overrides whose values are YAML; `root` replaces the folder that
    a `source.files` stack reads, `out` the bundle's folder. Raises `StackError` naming the file,
    the line and the key, and suggests the nearest known key for a misspelt one.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise StackError(f"cannot read stack file {str(path)!r}: {error}") from error
    return parse_stack(text, str(path), sets=sets, root=root, out=out)


def parse_stack(
    text: str,
    file: str = "<stack>",
    *,
    sets: Sequence[str] = (),
    root: Path | None = None,
    out: Path | None = None,
) -> Stack:
    """Validate a stack given as text; see `load_stack`."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        raise StackError(f"{file}: not YAML: {error}") from error
    if not isinstance(data, dict) or not isinstance(node, yaml.MappingNode):
        raise StackError(
            f"{file}: a stack is a mapping with keys {_known(StackModel.model_fields)}"
        )
    try:
        lines = dict(_lines(node, (), file))
    except RecursionError as error:
        raise StackError(f"{file}: an alias (`*…`) that contains itself") from error
    for item in sets:
        _apply(data, item)
    if root is not None:
        if _provider(data.get("source")) != "source.files":
            raise StackError(f"{file}: --root replaces the folder of a source.files stack")
        _holder(data["source"], "root", "--root")["root"] = str(root)
    if out is not None:
        data["export"] = {"path": str(out)}
    try:
        model = StackModel.model_validate(data)
    except ValidationError as error:
        raise StackError("\n".join(_problems(error, StackModel, (), file, lines))) from error
    return Stack(model, file, lines)


def _provider(block: Any) -> Any:
    return block.get("provider") if isinstance(block, dict) else None


def _lines(node: yaml.Node, place: Place, file: str) -> Iterator[tuple[Place, int]]:
    """The line of every key and list item, and the check that no key is given twice."""
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.value in seen:
                raise StackError(
                    f"{file}:{line}: key {key.value!r} was already given on line {seen[key.value]}"
                )
            seen[key.value] = line
            yield (*place, key.value), line
            yield from _lines(value, (*place, key.value), file)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*place, index), value.start_mark.line + 1
            yield from _lines(value, (*place, index), file)


_NEW = ["provider"]


def _apply(data: dict[str, Any], item: str) -> None:
    """Put one `stage.key=value` into the raw stack."""
    path, equals, raw = item.partition("=")
    keys = path.strip().split(".")
    if not equals or len(keys) < 2 or not all(keys):
        raise StackError(f"--set wants stage.key=value, not {item!r}")
    try:
        value = yaml.safe_load(raw)
    except (yaml.YAMLError, ValueError) as error:
        raise StackError(f"--set {path}: the value is not YAML: {error}") from error
    default = StackModel.model_fields[keys[0]].default if keys[0] in StackModel.model_fields else 0
    if keys[0] not in data and isinstance(default, ProviderBlock):
        data[keys[0]] = {"provider": default.provider}
    elif data.get(keys[0]) is None and keys[0] in StackModel.model_fields and keys[1:] == _NEW:
        data[keys[0]] = {}  # a stage that is off until its provider is named
    target: Any = data
    for depth, key in enumerate(keys[:-1]):
        inner = _holder(target, key, f"--set {path}").get(key)
        if inner is None:
            raise StackError(f"--set {path}: the stack has no {'.'.join(keys[: depth + 1])!r}")
        if not isinstance(inner, dict):
            raise StackError(f"--set {path}: {'.'.join(keys[: depth + 1])!r} has no keys below it")
        target = inner
    _holder(target, keys[-1], f"--set {path}")[keys[-1]] = value


# The blocks with settings of their own beside the provider's.
_BLOCKS = (Bm25Block, EmbeddingBlock, SparseBlock, MultiVectorBlock, GraphBlock)


def _holder(target: dict[str, Any], key: str, option: str) -> dict[str, Any]:
    """Where `key` belongs: a provider's own settings are named without the `config` between."""
    if "provider" not in target or any(key in model.model_fields for model in _BLOCKS):
        return target
    if target.get("config") is None:
        target["config"] = {}
    config = target["config"]
    if not isinstance(config, dict):
        raise StackError(f"{option}: the config of {target['provider']!r} is no mapping")
    return config


# How pydantic names the alternatives of `int | Literal["auto"]` in the place of an error.
_UNION_BRANCH = re.compile(r"int|float|bool|str|none|(?:literal|list|tuple|dict|set)\[.*\]")


def _problems(
    error: ValidationError,
    model: type[BaseModel],
    base: Place,
    file: str,
    lines: Mapping[Place, int],
) -> Iterator[str]:
    for item in error.errors(include_url=False, include_input=False):
        place: Place = (*base, *item["loc"])
        about_a_key = item["type"] in {"extra_forbidden", "missing"}
        if not about_a_key and _UNION_BRANCH.fullmatch(str(place[-1])):
            place = place[:-1]  # which of the allowed types an error is about is in its message
        if item["type"] == "extra_forbidden":
            known = list(_fields_at(model, item["loc"][:-1]))
            message = f"unknown key {str(place[-1])!r}{_suggest(str(place[-1]), known)}"
        elif item["type"] == "missing":
            message = f"key {'.'.join(map(str, place))!r} is missing"
        else:
            message = f"{'.'.join(map(str, place))}: {item['msg'].removeprefix('Value error, ')}"
        yield _located(file, lines, place, message)


def _fields_at(model: type[BaseModel], place: Place) -> Mapping[str, Any]:
    """The known keys of `model`, or of the model that it holds at `place`."""
    current: type[BaseModel] | None = model
    for key in place:
        if isinstance(key, int):
            continue  # every item of a list is of the same model
        if current is SignalsBlock and NAMED_EMBEDDING.fullmatch(key):
            key = "embedding"
        field = None if current is None else current.model_fields.get(key)
        current = None if field is None else next(_models_in(field.annotation), None)
    return {} if current is None else current.model_fields


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _models_in(argument)


def _suggest(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known are {_known(known)}" if known else ""


def _known(names: Mapping[str, Any] | Sequence[str]) -> str:
    return ", ".join(sorted(names))


def _located(file: str, lines: Mapping[Place, int], place: Place, message: str) -> str:
    for depth in range(len(place), 0, -1):
        if (line := lines.get(place[:depth])) is not None:
            return f"{file}:{line}: {message}"
    return f"{file}: {message}"
