"""What requests hold: what is not named here is refused, and types are exact."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from laya_retrieval.errors import FilterError, OrchestrationError
from laya_retrieval.filters import parse_filter
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from laya_rag.config import Settings
from laya_rag.http.problems import invalid


def _sendable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair") from None
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank")
    return _sendable(text)


def _is_filter(spec: dict[str, Any]) -> dict[str, Any]:
    _sendable(json.dumps(spec, ensure_ascii=False))
    try:
        parse_filter(spec)
    except FilterError as error:
        raise ValueError(str(error)) from error
    return spec


Id = Annotated[str, AfterValidator(_sendable), Field(min_length=1, max_length=1000)]
Query = Annotated[
    str,
    AfterValidator(_not_blank),
    Field(max_length=4000, description="What to look for, in plain words."),
]
Answer = Annotated[
    str,
    AfterValidator(_not_blank),
    Field(max_length=50_000, description="The text to check; [n] cites a passage."),
]
Text = Annotated[str, AfterValidator(_sendable), Field(max_length=100_000)]
Filters = Annotated[
    dict[str, Any] | None,
    AfterValidator(lambda spec: None if spec is None else _is_filter(spec)),
    Field(description='Only what matches, such as {"media_type": "text/html"}.'),
]


class Body(BaseModel):
    """Base of what requests hold."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class QueryBody(Body):
    """A question, and how to look for it; what is left out is as the server is set up."""

    query: Query
    filters: Filters = None
    keep: Annotated[int | None, Field(ge=1, le=100, description="Passages to keep.")] = None
    depth: Annotated[
        int | None, Field(ge=1, le=1000, description="Candidates to take from each leg.")
    ] = None
    legs: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]] | None,
        Field(min_length=1, max_length=20, description="Only these legs, such as bm25."),
    ] = None
    gate: Annotated[bool | None, Field(description="Whether the decision model reads.")] = None
    budget: Annotated[
        int | None, Field(ge=1, le=1_000_000, description="Pack the evidence into these tokens.")
    ] = None

    def settings(self, base: Settings) -> Settings:
        """The server's settings with those of this request."""
        given = {
            "search.keep": self.keep,
            "search.depth": self.depth,
            "search.legs": self.legs,
            "gate.enabled": self.gate,
            "second.pack.budget": self.budget,
        }
        changes = {key: value for key, value in given.items() if value is not None}
        return base.updated(changes) if changes else base

    @contextmanager
    def naming_legs(self) -> Iterator[None]:
        """Within this, a leg that the corpus lacks is the fault of the request that named it."""
        try:
            yield
        except OrchestrationError:
            if self.legs is None:
                raise
            raise invalid("body", "/legs", "this corpus has no such leg") from None


class ComposeBody(QueryBody):
    """A question to answer in prose."""

    adjudicate: Annotated[
        bool, Field(description="Look for support of each claim in the whole corpus too.")
    ] = False


class PassageBody(Body):
    """A passage that an answer was written from."""

    record_id: Id | None = None
    text: Text


class VerifyBody(Body):
    """An answer, and exactly one of `passages`, `records` and `query`."""

    answer: Answer
    passages: Annotated[
        list[Text | PassageBody] | None,
        Field(max_length=100, description="What [1], [2], … stand for, in order."),
    ] = None
    records: Annotated[
        list[Id] | None, Field(max_length=100, description="Or their record ids.")
    ] = None
    query: Annotated[Query | None, Field(description="Or a question, whose evidence they are.")] = (
        None
    )
    filters: Filters = None

    @model_validator(mode="after")
    def _one_source(self) -> VerifyBody:
        given = (self.passages, self.records, self.query)
        if sum(item is not None for item in given) != 1:
            raise ValueError("give exactly one of passages, records and query")
        return self


class AdjudicateBody(Body):
    """An answer to hold against the corpus."""

    answer: Answer
    filters: Filters = None


class IndexBody(Body):
    """What to index, and what that may do."""

    folder: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=4000,
            description="Index this folder instead of the stack's source.",
        ),
    ] = None
    dry_run: Annotated[bool, Field(description="Say what would change; write nothing.")] = False
    remove_missing: Annotated[
        bool, Field(description="Let documents leave that are indexed but not in the source.")
    ] = False


class ResetBody(Body):
    """The word without which an index is not deleted."""

    confirm: Annotated[Literal["reset"], Field(description='Must be "reset".')]


class DeleteBody(Body):
    """Which documents to take out and keep out, by id or by pattern."""

    ids: Annotated[list[Id], Field(max_length=10_000, description="Ids of documents.")] = []
    paths: Annotated[
        list[Id],
        Field(max_length=100, description="Every id that matches, as in a .gitignore file."),
    ] = []
    next_run: Annotated[
        bool, Field(description="Leave them to the next index run to take out.")
    ] = False
    dry_run: Annotated[bool, Field(description="Say what would change; write nothing.")] = False

    @model_validator(mode="after")
    def _names_some(self) -> DeleteBody:
        if not self.ids and not self.paths:
            raise ValueError("name documents by ids or paths")
        return self
