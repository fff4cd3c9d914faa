"""Corpora that lack half of what answers, with questions that are labelled accordingly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laya_eval.beir import load_judged
from laya_eval.gate.labels import LabelledQuery
from laya_eval.gate.squad import kept_articles
from laya_eval.study.decisions import held_out
from laya_eval.study.decisions.data import rows
from laya_eval.study.decisions.held_out import drawn, rank

#: Documents of SciFact that answer none of the questions, beside those that do.
DISTRACTORS = 1000
#: For every question that the decision model judges, how many the feature gate may be fitted on.
FITTED = 4


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the documents that answer it, and whether no training step saw it."""

    id: str
    text: str
    #: Empty where nothing answers it.
    answers: tuple[str, ...]
    group: str
    held_out: bool


@dataclass(frozen=True, slots=True)
class LabelledCorpus:
    """Documents `{"_id", "title", "text"}`, and questions on them.

    `judged` are the ids of the questions that the decision model is measured on; the feature gate
    is measured on the same, and fitted on the others too.
    """

    documents: tuple[dict[str, str], ...]
    labels: tuple[LabelledQuery, ...]
    judged: frozenset[str]
    #: Questions left out: some of their documents are there, and some are not.
    ambiguous: int


@dataclass(frozen=True, slots=True)
class CorpusSet:
    """What a labelled corpus is made of; `load` takes the data set's folder and the cap."""

    name: str
    folder: str
    about: str
    load: Callable[[Path, int], LabelledCorpus]


def labelled(
    documents: Sequence[dict[str, Any]],
    questions: Sequence[Question],
    cap: int,
    *,
    missing: Collection[str],
) -> LabelledCorpus:
    """The corpus without the documents `missing`, and at most `cap` questions to judge.

    A question is answerable when all documents that answer it are there, unanswerable when none
    is; in between it is left out.
    """
    gone = set(missing)
    labels: list[tuple[Question, LabelledQuery]] = []
    for question in questions:
        there = [document for document in question.answers if document not in gone]
        if len(there) in (0, len(question.answers)):
            label = LabelledQuery(
                question.id, question.text, bool(there), question.group, tuple(there)
            )
            labels.append((question, label))
    judged = drawn([q.id for q, _ in labels if q.held_out], cap, str)
    others = [q.id for q, _ in labels if q.id not in set(judged)]
    used = {*judged, *drawn(others, FITTED * cap - len(judged), str)}
    return LabelledCorpus(
        documents=tuple(
            {"_id": row["_id"], "title": row["title"], "text": row["text"]}
            for row in documents
            if row["_id"] not in gone
        ),
        labels=tuple(label for question, label in labels if question.id in used),
        judged=frozenset(judged),
        ambiguous=len(questions) - len(labels),
    )


def half(questions: Sequence[Question]) -> set[str]:
    """Half of the documents that answer a question, by a hash of their ids."""
    answering = {document for question in questions for document in question.answers}
    return {document for document in answering if rank("missing/" + document) < 0.5}


def _squad(folder: Path) -> tuple[list[dict[str, Any]], list[Question]]:
    """All paragraphs, and the questions that one of them answers."""
    corpus = rows(folder / "corpus.jsonl.gz")
    title = {row["_id"]: row["title"] for row in corpus}
    judged = relevant_documents(folder)
    questions = [
        Question(
            row["query_id"],
            row["query"],
            judged[row["query_id"]],
            title[judged[row["query_id"]][0]],
            held_out.squad(title[judged[row["query_id"]][0]]),
        )
        for row in rows(folder / "pairs.jsonl.gz")
        if row["query_id"] in judged
    ]
    return corpus, questions


def relevant_documents(folder: Path) -> dict[str, tuple[str, ...]]:
    """Query id to the documents that are relevant to it, at least one."""
    return {
        query: relevant
        for query, grades in load_judged(folder).qrels.items()
        if (relevant := tuple(sorted(name for name, grade in grades.items() if grade > 0)))
    }


def squad_articles(folder: Path, cap: int) -> LabelledCorpus:
    """Every second article is missing."""
    corpus, questions = _squad(folder)
    kept = kept_articles(row["title"] for row in corpus)
    missing = {row["_id"] for row in corpus if row["title"] not in kept}
    return labelled(corpus, questions, cap, missing=missing)


def squad_paragraphs(folder: Path, cap: int) -> LabelledCorpus:
    """Half of the paragraphs are missing; others of the article are there."""
    corpus, questions = _squad(folder)
    return labelled(corpus, questions, cap, missing=half(questions))


def medquad(folder: Path, cap: int) -> LabelledCorpus:
    """Half of the answers are missing; other answers on the entity are there."""
    corpus: dict[str, dict[str, Any]] = {}
    questions: list[Question] = []
    for number, row in enumerate(rows(folder / "qa.jsonl.gz")):
        if not held_out.medquad(row["group"]):
            continue
        same = corpus.setdefault(
            row["answer"], {"_id": f"a{number}", "title": "", "text": row["answer"]}
        )
        questions.append(
            Question(f"q{number}", row["question"], (same["_id"],), row["group"], True)
        )
    return labelled(list(corpus.values()), questions, cap, missing=half(questions))


def pubmedqa(folder: Path, cap: int) -> LabelledCorpus:
    """Half of the abstracts are missing."""
    corpus: list[dict[str, Any]] = []
    questions: list[Question] = []
    for row in rows(folder / "qa.jsonl.gz"):
        name = row["group"]
        corpus.append({"_id": name, "title": "", "text": "\n".join(row["contexts"])})
        questions.append(Question(name, row["question"], (name,), name, held_out.pubmedqa(name)))
    return labelled(corpus, questions, cap, missing=half(questions))


def anthropic_docs(folder: Path, cap: int) -> LabelledCorpus:
    """Half of the sections that answer a question are missing."""
    judged = load_judged(folder).queries
    questions = [
        Question(
            name,
            judged[name],
            documents,
            documents[0].partition("#")[0],
            held_out.anthropic_docs(name),
        )
        for name, documents in relevant_documents(folder).items()
    ]
    return labelled(rows(folder / "corpus.jsonl.gz"), questions, cap, missing=half(questions))


def wikiqa(folder: Path, cap: int) -> LabelledCorpus:
    """The summaries of the test questions, whole; for most questions no sentence answers."""
    sentences: dict[str, list[str]] = {}
    asked: dict[str, Question] = {}
    for row in rows(folder / "pairs.jsonl.gz"):
        if row["split"] != "test":
            continue
        name, group = row["query_id"], row["group"]
        text = sentences.setdefault(group, [])
        if row["passage"] not in text:
            text.append(row["passage"])
        answers = (group,) if row["query_answerable"] else ()
        asked[name] = Question(name, row["query"], answers, group, True)
    corpus = [
        {"_id": group, "title": "", "text": " ".join(texts)} for group, texts in sentences.items()
    ]
    return labelled(corpus, list(asked.values()), cap, missing=())


def scifact(folder: Path, cap: int) -> LabelledCorpus:
    """Half of the abstracts that the test claims cite are missing; others are distractors."""
    claims = load_judged(folder).queries
    questions = [
        Question(name, claims[name], documents, documents[0], True)
        for name, documents in relevant_documents(folder).items()
    ]
    cited = {document for question in questions for document in question.answers}
    corpus = rows(folder / "corpus.jsonl.gz")
    others = [str(row["_id"]) for row in corpus if row["_id"] not in cited]
    kept = cited | set(drawn(others, DISTRACTORS, str))
    corpus = [row for row in corpus if row["_id"] in kept]
    return labelled(corpus, questions, cap, missing=half(questions))


CORPUS_SETS: Sequence[CorpusSet] = (
    CorpusSet(
        "SQuAD, half of the articles",
        "squad2_dev",
        "questions on an article that is missing have no answer; the others are on other subjects",
        squad_articles,
    ),
    CorpusSet(
        "SQuAD, half of the paragraphs",
        "squad2_dev",
        "the paragraph that answers is missing, others of its article are there",
        squad_paragraphs,
    ),
    CorpusSet(
        "MedQuAD",
        "medquad_sample",
        "the answer is missing, others on the same entity are there",
        medquad,
    ),
    CorpusSet("PubMedQA", "pubmedqa_labelled", "half of the abstracts are missing", pubmedqa),
    CorpusSet(
        "Technical documentation",
        "anthropic_docs",
        "half of the sections that answer are missing",
        anthropic_docs,
    ),
    CorpusSet(
        "WikiQA",
        "wikiqa",
        "nothing was taken out: people found no sentence of the summary that answers",
        wikiqa,
    ),
    CorpusSet(
        "SciFact",
        "scifact",
        f"half of the abstracts that claims cite are missing, {DISTRACTORS:,} others are there",
        scifact,
    ),
)
