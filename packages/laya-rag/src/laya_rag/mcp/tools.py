"""The tools as data: name, title, arguments, result, and what calling one may change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from laya_rag.mcp import arguments as given
from laya_rag.mcp import results


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; `needs` is what the server must have for it."""

    name: str
    title: str
    arguments: type[given.Arguments]
    result: type[results.ToolResult]
    needs: Literal["backend", "engine", "writing"] = "engine"
    destructive: bool = False

    @property
    def read_only(self) -> bool:
        """Whether a call changes nothing."""
        return self.needs != "writing"

    @property
    def annotations(self) -> dict[str, bool]:
        """The hints of the protocol, by their names there."""
        return {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": True,
            "openWorldHint": False,
        }


def _tools(*tools: Tool) -> Mapping[str, Tool]:
    return MappingProxyType({tool.name: tool for tool in tools})


TOOLS = _tools(
    Tool("search", "Search", given.SearchArguments, results.SearchOutput, "backend"),
    Tool(
        "more_like_this",
        "More like this",
        given.MoreLikeThisArguments,
        results.SearchOutput,
        "backend",
    ),
    Tool(
        "get_context",
        "Read around a passage",
        given.GetContextArguments,
        results.ContextOutput,
        "backend",
    ),
    Tool(
        "search_evidence",
        "Search evidence",
        given.SearchEvidenceArguments,
        results.EvidenceOutput,
    ),
    Tool(
        "extract_answer", "Extract an answer", given.SearchEvidenceArguments, results.ExtractOutput
    ),
    Tool("verify_answer", "Verify an answer", given.VerifyAnswerArguments, results.VerifyOutput),
    Tool(
        "adjudicate_answer",
        "Adjudicate an answer",
        given.AdjudicateAnswerArguments,
        results.AdjudicateOutput,
    ),
    Tool("list_sources", "List sources", given.ListSourcesArguments, results.SourcesOutput),
    Tool("list_documents", "List documents", given.ListDocumentsArguments, results.DocumentsOutput),
    Tool("read_document", "Read a document", given.ReadDocumentArguments, results.DocumentOutput),
    Tool("index_status", "Index status", given.NoArguments, results.StatusOutput),
    Tool("corpus_stats", "Corpus statistics", given.NoArguments, results.StatsOutput),
    Tool("check_index_integrity", "Check the index", given.NoArguments, results.IntegrityOutput),
    Tool(
        "index_documents",
        "Index documents",
        given.IndexDocumentsArguments,
        results.IndexOutput,
        "writing",
        destructive=True,
    ),
    Tool(
        "reset_index",
        "Delete the index",
        given.ResetIndexArguments,
        results.ResetOutput,
        "writing",
        destructive=True,
    ),
)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is listed: everything an agent is told about it."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    annotations: Mapping[str, bool]


def spec_of(tool: Tool, description: str) -> ToolSpec:
    """The tool with its description and its schemas, made afresh: nobody else holds them."""
    return ToolSpec(
        name=tool.name,
        title=tool.title,
        description=description,
        input_schema=tool.arguments.model_json_schema(),
        output_schema=tool.result.model_json_schema(mode="serialization"),
        annotations=tool.annotations,
    )
