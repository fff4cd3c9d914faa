"""What the inspectable demo is made of: a stack, paragraphs, questions, answers, labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from laya_index.source.jsonl import JsonlSource
from laya_index.stack import Bm25Block, EmbeddingBlock, Stack, load_stack
from laya_signals.encode.base import Encoder
from laya_signals.passage import titled
from laya_signals.tokenize.base import Tokenizer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from laya_eval.errors import DataError
from laya_eval.reading import file_sha256, json_objects

QUESTIONS, EVALUATION, ANSWERS = "questions.jsonl", "evaluation.jsonl", "answers.jsonl"


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Paragraph(_Row):
    """One passage of the corpus: the whole text of a document."""

    id: str = Field(alias="_id", min_length=1)
    title: str = Field(min_length=1)
    text: str = Field(min_length=1)

    @property
    def encoded(self) -> str:
        """What its vector is of: the title, then the paragraph, as at index time."""
        return titled(self.title, self.text)


class Question(_Row):
    """A query whose vector is saved; one of the evaluation set names the paragraph it is about."""

    id: str = Field(alias="_id", min_length=1)
    text: str = Field(min_length=1)
    paragraph: str | None = None


class Sentence(_Row):
    """A sentence of an answer, and the paragraph that says so."""

    text: str = Field(min_length=1)
    paragraph: str


class Answer(_Row):
    """A written answer, and the paragraphs without which it must not be shown."""

    question: str
    needs: tuple[str, ...] = Field(min_length=1)
    sentences: tuple[Sentence, ...] = Field(min_length=1)


Row = TypeVar("Row", bound=_Row)


@dataclass(frozen=True, slots=True)
class Collection:
    """The demo's content, checked; `sources` has the SHA-256 of each file by its name."""

    stack: Stack
    bm25: Bm25Block
    embedding: EmbeddingBlock
    folder: Path
    paragraphs: tuple[Paragraph, ...]
    questions: tuple[Question, ...]
    evaluation: tuple[Question, ...]
    answers: Mapping[str, Answer] = field(repr=False)
    sources: Mapping[str, str] = field(repr=False)

    @property
    def queries(self) -> tuple[Question, ...]:
        """Every query that has a vector."""
        return self.questions + self.evaluation

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the stack names."""
        return self.stack.build(("signals", "bm25"), Tokenizer)

    def encoder(self) -> Encoder:
        """The encoder that the stack names."""
        return self.stack.build(("signals", "embedding"), Encoder)


def load_collection(path: Path) -> Collection:
    """What the stack file at `path` and the files beside its corpus hold.

    Raises `StackError` for a stack that is wrong, and `DataError`, naming the file, for one that
    does not fit the demo, a malformed line, an id used twice, a name that is no paragraph's, and a
    question without an answer.
    """
    stack = load_stack(path)
    source = stack.model.source
    if source.provider != "source.jsonl":
        raise DataError(f"{path}: the demo reads source.jsonl, not {source.provider}")
    bm25, embedding = stack.model.signals.bm25, stack.model.signals.embedding
    if bm25 is None or bm25.bm25f is not None or embedding is None:
        raise DataError(f"{path}: the demo needs the signals bm25, without fields, and embedding")
    corpus = JsonlSource(source.config).config.path
    folder = corpus.parent
    paragraphs = _rows(corpus, Paragraph, lambda row: row.id)
    questions = _rows(folder / QUESTIONS, Question, lambda row: row.id)
    evaluation = _rows(folder / EVALUATION, Question, lambda row: row.id)
    answers = _rows(folder / ANSWERS, Answer, lambda row: row.question)
    known = {paragraph.id for paragraph in paragraphs}
    for question in evaluation:
        if question.paragraph is None:
            raise DataError(f"{folder / EVALUATION}: {question.id} has no label `paragraph`")
        _check_known({question.paragraph}, known, f"{folder / EVALUATION}: {question.id}")
    if twice := {row.id for row in questions} & {row.id for row in evaluation}:
        raise DataError(f"{folder / EVALUATION}: {min(twice)!r} is in {QUESTIONS} too")
    for answer in answers:
        place = f"{folder / ANSWERS}: {answer.question}"
        _check_known(set(answer.needs), known, place)
        if {sentence.paragraph for sentence in answer.sentences} != set(answer.needs):
            raise DataError(f"{place}: `needs` has to name the paragraphs of its sentences")
    unanswered = {row.id for row in questions} ^ {row.question for row in answers}
    if unanswered:
        raise DataError(f"{folder / ANSWERS}: {min(unanswered)!r} needs one question, one answer")
    files = (path, corpus, *(folder / name for name in (QUESTIONS, EVALUATION, ANSWERS)))
    return Collection(
        stack,
        bm25,
        embedding,
        folder,
        paragraphs,
        questions,
        evaluation,
        {answer.question: answer for answer in answers},
        {file.name: file_sha256(file) for file in files},
    )


def _rows(path: Path, kind: type[Row], key: Callable[[Row], str]) -> tuple[Row, ...]:
    """Every line of `path`, in order; raises `DataError` for a bad one and for a key used twice."""
    rows: dict[str, Row] = {}
    for place, content in json_objects(path):
        try:
            row = kind.model_validate(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = ".".join(str(part) for part in first["loc"])
            raise DataError(f"{place}: {name}: {first['msg']}") from error
        if key(row) in rows:
            raise DataError(f"{place}: {key(row)!r} is there twice")
        rows[key(row)] = row
    if not rows:
        raise DataError(f"{path}: it is empty")
    return tuple(rows.values())


def _check_known(names: set[str], known: set[str], place: str) -> None:
    if unknown := names - known:
        raise DataError(f"{place}: {min(unknown)!r} is no paragraph of the corpus")
