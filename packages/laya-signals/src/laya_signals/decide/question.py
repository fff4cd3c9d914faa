"""Typed questions: checked, in one form, and the texts of their options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast, get_args

from laya_signals.decide.base import Questions, QuestionType
from laya_signals.decide.errors import QuestionError

#: The row of each type in a checkpoint's type embedding, and its place in `temperature`.
TYPE_INDEX: Final[Mapping[QuestionType, int]] = {"choice": 0, "score": 1, "noul": 2}

_NOUL_LABELS: Final = ("false", "true")
_NOUL_DESCRIPTIONS: Final = ("no, the statement does not hold", "yes, the statement holds")
_KEYS: Final = {"id", "type", "instructions", "options", "criteria", "labels"}


@dataclass(frozen=True)
class TypedQuestion:
    """A question that a model can be asked.

    `labels` are the keys of its answer's probabilities: a choice's labels, the numbers of a score's
    levels as text, a noul's words for false and true. `descriptions` go with them; None where there
    is none.
    """

    id: str
    type: QuestionType
    instructions: str
    labels: tuple[str, ...]
    descriptions: tuple[str | None, ...]

    @property
    def index(self) -> int:
        """The row of the question's type: choice 0, score 1, noul 2."""
        return TYPE_INDEX[self.type]

    @property
    def options(self) -> tuple[str, ...]:
        """The text of each option as the model reads it, before any cut."""
        pairs = zip(self.labels, self.descriptions, strict=True)
        if self.type == "score":
            return tuple(f"level {label}: {text or ''}" for label, text in pairs)
        if self.type == "choice":
            return tuple(f"{label}: {text}" if text else label for label, text in pairs)
        return tuple(
            f"{label}: {text or default}"
            for (label, text), default in zip(pairs, _NOUL_DESCRIPTIONS, strict=True)
        )

    def wire(self) -> dict[str, Any]:
        """The definition as the System One protocol and the public `laya` package write it."""
        definition: dict[str, Any] = {"type": self.type, "instructions": self.instructions}
        if self.type == "choice":
            definition["criteria"] = dict(zip(self.labels, self.descriptions, strict=True))
        elif self.type == "score":
            definition["criteria"] = [text or "" for text in self.descriptions]
        else:
            described = zip(_NOUL_LABELS, self.descriptions, strict=True)
            if criteria := {key: text for key, text in described if text}:
                definition["criteria"] = criteria
            if self.labels != _NOUL_LABELS:
                definition["labels"] = dict(zip(_NOUL_LABELS, self.labels, strict=True))
        return definition


def by_id(questions: Questions) -> dict[str, dict[str, Any]]:
    """Questions by id, as the public `laya` package's agents and System One servers take them."""
    return {question.id: question.wire() for question in parse_questions(questions)}


def parse_questions(questions: Questions) -> list[TypedQuestion]:
    """Check questions given as a list or by id.

    Raises `QuestionError`, naming the question, when there is none, two have one id, or one cannot
    be answered: no instructions, an unknown type or key, options that do not fit the type.
    """
    if isinstance(questions, Mapping):
        items = [_definition(value, key) | {"id": key} for key, value in questions.items()]
    elif isinstance(questions, str):
        raise QuestionError("questions are a list or a mapping, not one text")
    else:
        items = [_definition(value, number) for number, value in enumerate(questions)]
    if not items:
        raise QuestionError("ask at least one question")
    parsed = [_parse(item, number) for number, item in enumerate(items)]
    ids = [question.id for question in parsed]
    if repeated := next((name for name in ids if ids.count(name) > 1), None):
        raise QuestionError(f"two questions have the id {repeated!r}")
    return parsed


def _definition(value: Any, where: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise QuestionError(f"question {where!r} is a {type(value).__name__}, not a mapping")
    return dict(value)


def _parse(item: Mapping[str, Any], number: int) -> TypedQuestion:
    name = item.get("id")
    if not isinstance(name, str) or not name.strip():
        raise QuestionError(f"question {number} has no id: give it a non-empty text")
    if unknown := set(item) - _KEYS:
        raise QuestionError(f"question {name!r}: unknown key {sorted(map(str, unknown))[0]!r}")
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in TYPE_INDEX:
        known = ", ".join(get_args(QuestionType))
        raise QuestionError(f"question {name!r}: unknown type {kind!r}; use one of {known}")
    instructions = item.get("instructions")
    if not isinstance(instructions, str | Mapping | list | tuple) or not instructions:
        raise QuestionError(f"question {name!r}: instructions must be a non-empty text")
    text = _text(instructions, name)
    if not text.strip():
        raise QuestionError(f"question {name!r}: instructions must be a non-empty text")
    labels, descriptions = _OPTIONS[kind](item, name)
    return TypedQuestion(name, cast(QuestionType, kind), text, labels, descriptions)


_Parts = tuple[tuple[str, ...], tuple[str | None, ...]]


def _choice(item: Mapping[str, Any], name: str) -> _Parts:
    given = _given(item, name)
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif _is_list(given):
        pairs = [(label, None) for label in given]
    else:
        raise QuestionError(
            f"question {name!r}: a choice needs options, label to description or a list of labels"
        )
    labels = _labels([label for label, _ in pairs], name)
    return labels, tuple(_described(text, name) for _, text in pairs)


def _score(item: Mapping[str, Any], name: str) -> _Parts:
    given = _given(item, name)
    if not _is_list(given) or not given:
        raise QuestionError(f"question {name!r}: a score needs a list of levels, lowest first")
    if None in given:
        raise QuestionError(f"question {name!r}: level {list(given).index(None)} has no text")
    return tuple(map(str, range(len(given)))), tuple(_described(text, name) for text in given)


def _noul(item: Mapping[str, Any], name: str) -> _Parts:
    options = item.get("options")
    if options is not None:
        if "criteria" in item or "labels" in item:
            raise QuestionError(f"question {name!r}: give options, or criteria and labels")
        if isinstance(options, Mapping):
            pairs = list(options.items())
        elif _is_list(options):
            pairs = [(label, None) for label in options]
        else:
            pairs = []
        if len(pairs) != 2:
            raise QuestionError(f"question {name!r}: a noul takes two labels, false first")
        stripped = [label.strip() if isinstance(label, str) else label for label, _ in pairs]
        return _labels(stripped, name), tuple(_described(text, name) for _, text in pairs)
    criteria = item.get("criteria") or {}
    if isinstance(criteria, Mapping):
        criteria = {str(key).lower(): text for key, text in criteria.items()}
    if not isinstance(criteria, Mapping) or not set(criteria) <= set(_NOUL_LABELS):
        raise QuestionError(f"question {name!r}: a noul's criteria are keyed 'false' and 'true'")
    words = item.get("labels", dict(zip(_NOUL_LABELS, _NOUL_LABELS, strict=True)))
    if not isinstance(words, Mapping) or set(words) != set(_NOUL_LABELS):
        raise QuestionError(f"question {name!r}: a noul's labels are keyed 'false' and 'true'")
    stripped = [w.strip() if isinstance(w, str) else w for w in map(words.get, _NOUL_LABELS)]
    descriptions = tuple(_described(criteria.get(key), name) for key in _NOUL_LABELS)
    return _labels(stripped, name), descriptions


_OPTIONS: Final = {"choice": _choice, "score": _score, "noul": _noul}


def _given(item: Mapping[str, Any], name: str) -> Any:
    if "labels" in item:
        raise QuestionError(f"question {name!r}: only a noul takes labels")
    if "options" in item and "criteria" in item:
        raise QuestionError(f"question {name!r}: give options or criteria, not both")
    return item.get("options", item.get("criteria"))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _labels(labels: Sequence[Any], name: str) -> tuple[str, ...]:
    if not labels:
        raise QuestionError(f"question {name!r} has no option")
    for label in labels:
        if not isinstance(label, str) or not label:
            raise QuestionError(f"question {name!r}: a label is a non-empty text, not {label!r}")
    if len(set(labels)) < len(labels):
        raise QuestionError(f"question {name!r} has one label twice")
    return tuple(labels)


def _described(value: Any, name: str) -> str | None:
    return None if value is None else _text(value, name)


def _text(value: Any, name: str) -> str:
    """A text as it is, anything else as one line of JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise QuestionError(f"question {name!r}: {error}") from error
