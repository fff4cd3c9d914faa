"""Gold nuggets: what an answer to a question has to say, and how much of that a text says.

After the nuggets of TREC's question answering track (Voorhees, Overview of the TREC 2003 Question
Answering Track), with word-for-word containment in the place of an assessor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from laya_eval.errors import DataError
from laya_eval.reading import json_objects

#: One thing to say, in one or several wordings: saying one of them is enough.
Nugget: TypeAlias = tuple[str, ...]
#: Query id to its nuggets.
Nuggets: TypeAlias = Mapping[str, Sequence[Nugget]]

_OWN = ("nuggets.jsonl", "nuggets.jsonl.gz")
_PAIRS = ("pairs.jsonl", "pairs.jsonl.gz")
_QUERIES = ("queries.jsonl", "queries.jsonl.gz")
_FULL = ("docs_full.jsonl", "docs_full.jsonl.gz")


def load_nuggets(folder: Path) -> dict[str, list[Nugget]]:
    """The gold nuggets of a data folder, by query id.

    From the first of these that is there:

    - `nuggets.jsonl[.gz]`: `{"query": id, "nuggets": [text or list of wordings, …]}`;
    - `pairs.jsonl[.gz]` with `query_id` and SQuAD's `answers` (`[{"text": …}, …]`): the wordings of
      one nugget;
    - `queries.jsonl[.gz]` with `spans` (`[[start, end], …]`, characters of the document `doc` or
      `type` in `docs_full.jsonl[.gz]`): a nugget each.

    Raises `DataError` when there is none of them, and for a malformed line.
    """
    if path := _there(folder, _OWN):
        found = {place: _own(place, row) for place, row in json_objects(path)}
    elif path := _there(folder, _PAIRS):
        found = {place: _squad(place, row) for place, row in json_objects(path)}
    elif (path := _there(folder, _QUERIES)) and (full := _there(folder, _FULL)):
        texts = {str(row.get("_id")): str(row.get("text", "")) for _, row in json_objects(full)}
        found = {place: _spans(place, row, texts) for place, row in json_objects(path)}
    else:
        found = {}
    nuggets: dict[str, list[Nugget]] = {}
    for query, said in found.values():
        if said:
            nuggets.setdefault(query, []).extend(said)
    if not nuggets:
        raise DataError(
            f"{folder}: no gold nuggets: nuggets.jsonl, answers in pairs.jsonl, or spans in "
            "queries.jsonl beside docs_full.jsonl"
        )
    return nuggets


def nugget_files(folder: Path) -> list[Path]:
    """The files that `load_nuggets` reads beside those of the judgements."""
    for names in (_OWN, _PAIRS, _FULL):
        if path := _there(folder, names):
            return [path]
    return []


def said(nuggets: Sequence[Nugget], text: str) -> int:
    """How many nuggets `text` contains, case and white space aside."""
    plain = _plain(text)
    return sum(any(_plain(wording) in plain for wording in nugget) for nugget in nuggets)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _there(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).exists()), None)


def _own(place: str, row: Mapping[str, Any]) -> tuple[str, list[Nugget]]:
    query, raw = row.get("query"), row.get("nuggets")
    if not isinstance(query, str) or not isinstance(raw, list):
        raise DataError(f'{place}: {{"query": id, "nuggets": [text, …]}} is wanted')
    return query, [_nugget(place, [item] if isinstance(item, str) else item) for item in raw]


def _squad(place: str, row: Mapping[str, Any]) -> tuple[str, list[Nugget]]:
    answers = row.get("answers") or []
    if not isinstance(answers, list) or not all(isinstance(item, dict) for item in answers):
        raise DataError(f"{place}: answers is no list of objects with a text")
    query = row.get("query_id")
    if answers and not isinstance(query, str):
        raise DataError(f"{place}: answers without a query_id")
    wordings = list(dict.fromkeys(item.get("text") for item in answers))
    return str(query), [_nugget(place, wordings)] if wordings else []


def _spans(
    place: str, row: Mapping[str, Any], texts: Mapping[str, str]
) -> tuple[str, list[Nugget]]:
    spans = row.get("spans") or []
    text = texts.get(str(row.get("doc", row.get("type"))), "")
    nuggets = []
    for span in spans:
        start, end = span if isinstance(span, list) and len(span) == 2 else (0, 0)
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)):
            raise DataError(f"{place}: span {span!r} is not within the full text of its document")
        nuggets.append(_nugget(place, [text[start:end]]))
    return str(row.get("_id")), nuggets


def _nugget(place: str, wordings: Any) -> Nugget:
    usable = isinstance(wordings, list) and wordings
    if not usable or not all(isinstance(text, str) and text.strip() for text in wordings):
        raise DataError(f"{place}: a nugget is a text or a list of texts, none of them blank")
    return tuple(wordings)
