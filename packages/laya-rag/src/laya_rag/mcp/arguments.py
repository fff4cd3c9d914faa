"""The arguments of every tool: what is not named here is refused, and types are exact."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from laya_retrieval.errors import FilterError
from laya_retrieval.filters import parse_filter
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from laya_rag.serving.errors import InvalidArgumentsError

M = TypeVar("M", bound="Arguments")


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank")
    return text


def _is_filter(spec: dict[str, Any]) -> dict[str, Any]:
    try:
        parse_filter(spec)
    except FilterError as error:
        raise ValueError(str(error)) from error
    return spec


Id = Annotated[str, Field(min_length=1, max_length=1000)]
Query = Annotated[
    str,
    AfterValidator(_not_blank),
    Field(min_length=1, max_length=4000, description="What to look for, in plain words."),
]
Answer = Annotated[
    str,
    AfterValidator(_not_blank),
    Field(min_length=1, max_length=50_000, description="The text to check; [n] cites a passage."),
]
FilterSpec = Annotated[
    dict[str, Any] | None,
    AfterValidator(lambda spec: None if spec is None else _is_filter(spec)),
    Field(description='Only what matches, such as {"media_type": "text/html"}.'),
]
Limit = Annotated[int, Field(ge=1, le=50, description="How many to return at most.")]
PageSize = Annotated[int, Field(ge=1, le=200, description="How many to return at most.")]


class Arguments(BaseModel):
    """Base of the arguments of a tool."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class NoArguments(Arguments):
    """A tool without arguments."""


class SearchArguments(Arguments):
    """`search`."""

    query: Query
    limit: Limit = 10
    filter: FilterSpec = None


class MoreLikeThisArguments(Arguments):
    """`more_like_this`."""

    record_id: Id = Field(description="The record_id of a passage that was returned before.")
    limit: Limit = 10
    filter: FilterSpec = None


class GetContextArguments(Arguments):
    """`get_context`."""

    record_id: Id = Field(description="The record_id of a passage that was returned before.")
    before: int = Field(default=2, ge=0, le=20, description="Passages before it.")
    after: int = Field(default=2, ge=0, le=20, description="Passages after it.")


class SearchEvidenceArguments(Arguments):
    """`search_evidence` and `extract_answer`."""

    query: Query
    limit: Annotated[int | None, Field(ge=1, le=20, description="Passages to keep at most.")] = None
    filter: FilterSpec = None


class VerifyAnswerArguments(Arguments):
    """`verify_answer`: one of `record_ids`, `passages` and `query`."""

    answer: Answer
    record_ids: Annotated[
        list[Id] | None,
        Field(max_length=100, description="The records that [1], [2], … stand for, in order."),
    ] = None
    passages: Annotated[
        list[str] | None,
        Field(max_length=100, description="Their texts instead, where there are no records."),
    ] = None
    query: Annotated[
        str | None,
        Field(min_length=1, max_length=4000, description="Or a question, whose evidence they are."),
    ] = None
    filter: FilterSpec = None

    @model_validator(mode="after")
    def _one_source(self) -> VerifyAnswerArguments:
        given = [self.record_ids, self.passages, self.query]
        if sum(item is not None for item in given) != 1:
            raise ValueError("give exactly one of record_ids, passages and query")
        if self.query is not None:
            _not_blank(self.query)
        return self


class AdjudicateAnswerArguments(Arguments):
    """`adjudicate_answer`."""

    answer: Answer
    filter: FilterSpec = None


class ListSourcesArguments(Arguments):
    """`list_sources`."""

    after: Annotated[
        str | None, Field(max_length=1000, description="Go on behind this source.")
    ] = None
    limit: PageSize = 50


class ListDocumentsArguments(Arguments):
    """`list_documents`."""

    after: Annotated[
        str | None, Field(max_length=1000, description="Go on behind this document_id.")
    ] = None
    limit: PageSize = 50


class ReadDocumentArguments(Arguments):
    """`read_document`."""

    document_id: Id
    after: Annotated[
        int | None, Field(ge=-1, lt=2**31, description="Go on behind the passage of this ordinal.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=100, description="Passages to return at most.")] = 20


class IndexDocumentsArguments(Arguments):
    """`index_documents`."""

    folder: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=4000,
            description="Index this folder instead of the configured source.",
        ),
    ] = None
    dry_run: bool = Field(default=False, description="Say what would change; write nothing.")
    remove_missing: bool = Field(
        default=False,
        description="Allow documents that are indexed, but not in the source, to leave the index.",
    )


class ResetIndexArguments(Arguments):
    """`reset_index`."""

    confirm: Literal["reset"] = Field(description='Must be "reset".')


def parse(model: type[M], given: Any) -> M:
    """The arguments as the tool takes them; raises `InvalidArgumentsError` naming the first wrong.

    The message holds names and rules, never a value that was given.
    """
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part)[:80] for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = ", ".join(model.model_fields) or "none"
            raise InvalidArgumentsError(f"unknown argument {name!r}; known are {known}") from None
        message = first["msg"].removeprefix("Value error, ")
        raise InvalidArgumentsError(f"{name}: {message}" if name else message) from None
