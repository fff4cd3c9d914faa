"""The demo's report: every number, as data and for reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from laya_eval.inspect.collection import Collection, Question
from laya_eval.inspect.ranking import DEPTH, RRF_K, TOP, Ranker, Trace, missing
from laya_eval.inspect.vectors import VECTORS, Vectors
from laya_eval.markdown import markdown_table
from laya_eval.metrics import per_query
from laya_eval.reading import file_sha256

SCHEMA_VERSION = 1
KIND = "inspectable"
CHANNELS = ("bm25", "dense", "fused")
#: What is reported, by its name in ir-measures.
MEASURES = {"R@5": "Recall@5", "MRR@5": "MRR@5"}
#: Decimals of what is written: a last bit that differs between processors must not change a byte.
DECIMALS = 9


def report_data(collection: Collection, vectors: Vectors) -> dict[str, Any]:
    """Settings, provenance, and the traces of all saved queries; the content of `report.json`."""
    ranker = Ranker(collection, vectors)
    traces = {query.id: ranker.trace(query.text, query.id) for query in collection.queries}
    data = {
        "schema_version": SCHEMA_VERSION,
        "kind": KIND,
        "sources": {
            **collection.sources,
            VECTORS: file_sha256(collection.folder / VECTORS),
        },
        "stack": {"name": collection.stack.model.name, "hash": collection.stack.hash},
        "bm25": _bm25(collection, ranker),
        "dense": vectors.encoder,
        "fusion": {"k": RRF_K, "depth": DEPTH, "top": TOP},
        "paragraphs": [
            {
                "id": paragraph.id,
                "title": paragraph.title,
                "text": paragraph.text,
                "length": ranker.lengths[paragraph.id],
                "length_norm": ranker.length_norm(paragraph.id),
                "frequencies": dict(sorted(ranker.frequencies[paragraph.id].items())),
                **_provenance(vectors.documents[paragraph.id]),
            }
            for paragraph in collection.paragraphs
        ],
        "questions": [
            {
                **_query(question, vectors, traces[question.id]),
                "answer": _answer(collection, question, traces[question.id]),
            }
            for question in collection.questions
        ],
        "evaluation": _evaluation(collection, vectors, traces),
    }
    rounded: dict[str, Any] = _rounded(data)
    return rounded


def report_json(data: Mapping[str, Any]) -> str:
    """`report.json`."""
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def report_markdown(data: Mapping[str, Any]) -> str:
    """`report.md`."""
    bm25, fusion = data["bm25"], data["fusion"]
    evaluation = data["evaluation"]
    lines = [
        "# Retrieval you can inspect",
        "",
        f"{len(data['paragraphs'])} paragraphs, {len(data['questions'])} example questions, "
        f"{len(evaluation['queries'])} evaluation questions with one labelled paragraph each. "
        f"BM25 with k1 {bm25['k1']:g}, b {bm25['b']:g}, titles × {bm25['title_weight']}; cosine of "
        f"vectors of `{data['dense']['provider']}` ({data['dense']['fingerprint']}); "
        f"{fusion['depth']} candidates of each leg, Σ 1/({fusion['k']} + rank), "
        f"top {fusion['top']}, no reranker. Written by `laya inspect build`, compared byte for "
        "byte by `laya eval check`.",
        "",
        "## Evaluation",
        "",
        markdown_table(
            [
                ["channel", *MEASURES.values()],
                *(
                    [channel, *(f"{mean:.3f}" for mean in evaluation["means"][channel].values())]
                    for channel in CHANNELS
                ),
            ]
        ),
        "",
        f"Where the labelled paragraph is; – means not in the first {fusion['top']}.",
        "",
        markdown_table(
            [
                ["", "question", "labelled paragraph", *CHANNELS],
                *(
                    [
                        query["id"],
                        query["text"],
                        query["paragraph"],
                        *(str(query["ranks"][channel] or "–") for channel in CHANNELS),
                    ]
                    for query in evaluation["queries"]
                ),
            ]
        ),
        "",
        "## Examples",
        "",
    ]
    for question in data["questions"]:
        lines += [f"### {question['text']}", "", *_example(question, fusion["top"]), ""]
    lines += [
        "## Sources",
        "",
        markdown_table(
            [
                ["file", "SHA-256"],
                *([f"`{name}`", f"`{digest}`"] for name, digest in data["sources"].items()),
            ]
        ),
    ]
    return "\n".join(lines) + "\n"


def _example(question: Mapping[str, Any], top: int) -> list[str]:
    rows = [["rank", "paragraph", "BM25 rank (score)", "dense rank (cosine)", "Σ"]]
    for hit in question["fused"][:top]:
        legs = {part["leg"]: part for part in hit["contributions"]}
        cells = [
            f"{legs[leg]['rank']} ({legs[leg]['score']:.4f})" if leg in legs else "–"
            for leg in ("bm25", "dense")
        ]
        rows.append([str(hit["rank"]), hit["id"], *cells, f"{hit['score']:.6f}"])
    table = markdown_table(rows)
    answer = question["answer"]
    if answer["shown"]:
        said = " ".join(f"{part['text']} [{part['paragraph']}]" for part in answer["sentences"])
        return [table, "", said]
    lacking = ", ".join(answer["missing"])
    return [table, "", f"The written answer is withheld: not in the top {top}: {lacking}."]


def _bm25(collection: Collection, ranker: Ranker) -> dict[str, Any]:
    block, tokenizer = collection.bm25, collection.tokenizer()
    return {
        "k1": block.k1,
        "b": block.b,
        "title_weight": block.title_weight,
        "average_length": ranker.average_length,
        "tokenizer": {
            "provider": block.provider,
            "config": block.config,
            "fingerprint": tokenizer.fingerprint,
        },
    }


def _query(question: Question, vectors: Vectors, trace: Trace) -> dict[str, Any]:
    return {
        "id": question.id,
        "text": question.text,
        **_provenance(vectors.queries[question.id]),
        "terms": [asdict(term) for term in trace.terms],
        "bm25": [asdict(hit) for hit in trace.bm25],
        "dense": [
            {"id": hit.id, "rank": hit.rank, "score": hit.score} for hit in trace.dense or ()
        ],
        "fused": [asdict(hit) for hit in trace.fused],
    }


def _answer(collection: Collection, question: Question, trace: Trace) -> dict[str, Any]:
    """The sentences are there only when the answer may be shown."""
    answer = collection.answers[question.id]
    lacking = missing(answer, trace)
    return {
        "needs": list(answer.needs),
        "shown": not lacking,
        "missing": list(lacking),
        "sentences": [] if lacking else [part.model_dump() for part in answer.sentences],
    }


def _evaluation(
    collection: Collection, vectors: Vectors, traces: Mapping[str, Trace]
) -> dict[str, Any]:
    qrels = {query.id: {str(query.paragraph): 1} for query in collection.evaluation}
    runs = {
        channel: {query.id: _ids(traces[query.id], channel) for query in collection.evaluation}
        for channel in CHANNELS
    }
    values = {channel: per_query(run, qrels, tuple(MEASURES)) for channel, run in runs.items()}
    return {
        "means": {
            channel: {MEASURES[name]: sum(by.values()) / len(by) for name, by in found.items()}
            for channel, found in values.items()
        },
        "queries": [
            {
                **_query(query, vectors, traces[query.id]),
                "paragraph": query.paragraph,
                "ranks": {
                    channel: _place(runs[channel][query.id], str(query.paragraph))
                    for channel in CHANNELS
                },
            }
            for query in collection.evaluation
        ],
    }


def _ids(trace: Trace, channel: str) -> list[str]:
    return [hit.id for hit in getattr(trace, channel)]


def _place(ids: Sequence[str], wanted: str) -> int | None:
    return ids.index(wanted) + 1 if wanted in ids[:TOP] else None


def _provenance(vector: Any) -> dict[str, str]:
    return {"input_sha256": vector.input_sha256, "vector_sha256": vector.sha256}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
