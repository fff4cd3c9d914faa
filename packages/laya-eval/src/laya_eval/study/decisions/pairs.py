"""Questions with one text each, and whether that text answers them: the gate without a search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laya_retrieval.candidate import Candidate
from laya_retrieval.process.bm25 import Bm25Rescorer
from laya_signals.passage import titled

from laya_eval.beir import load_judged
from laya_eval.gate.labels import LabelledQuery
from laya_eval.study.decisions import held_out
from laya_eval.study.decisions.data import rows
from laya_eval.study.decisions.held_out import drawn, rank


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, the text that is shown, and in `label.answerable` whether that answers."""

    label: LabelledQuery
    evidence: str


@dataclass(frozen=True, slots=True)
class PairSet:
    """What a set of pairs is made of; `load` takes the data set's folder and a cap on questions."""

    name: str
    folder: str
    about: str
    load: Callable[[Path, int], list[Pair]]


def _pair(question: str, kind: str, query: str, text: str, answers: bool, group: str) -> Pair:
    return Pair(LabelledQuery(f"{question}/{kind}", query, answers, group), text)


def _nearest(query: str, texts: Iterable[str]) -> list[str]:
    """The texts by BM25, best first; they alone are the corpus."""
    pool = [Candidate(f"{number:06}", 0.0, text, {}) for number, text in enumerate(texts)]
    return [candidate.text for candidate in Bm25Rescorer(k1=0.9, b=0.4).process(query, pool)]


def _squad(folder: Path, cap: int) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """The held-out questions with their paragraph, and each held-out article's paragraphs."""
    asked = [row for row in rows(folder / "pairs.jsonl.gz") if held_out.squad(row["group"])]
    paragraphs: dict[str, dict[str, None]] = defaultdict(dict)
    for row in asked:
        paragraphs[row["group"]][row["passage"]] = None
    questions = drawn(asked, cap, lambda row: str(row["query_id"]))
    return questions, {article: list(texts) for article, texts in paragraphs.items()}


def squad_own(folder: Path, cap: int) -> list[Pair]:
    """Each question with the paragraph that it was written on."""
    return [
        _pair(
            row["query_id"],
            "own",
            row["query"],
            row["passage"],
            bool(row["answerable"]),
            row["group"],
        )
        for row in _squad(folder, cap)[0]
    ]


def squad_near(folder: Path, cap: int) -> list[Pair]:
    """Answerable questions with their paragraph, and with the article's nearest without answer."""
    questions, paragraphs = _squad(folder, cap)
    pairs: list[Pair] = []
    for row in questions:
        if not row["answerable"]:
            continue
        answers = [answer["text"].lower() for answer in row.get("answers") or ()]
        others = [
            text
            for text in paragraphs[row["group"]]
            if text != row["passage"] and not any(answer in text.lower() for answer in answers)
        ]
        pairs.append(
            _pair(row["query_id"], "own", row["query"], row["passage"], True, row["group"])
        )
        if others and answers:
            near = _nearest(row["query"], others)[0]
            pairs.append(_pair(row["query_id"], "near", row["query"], near, False, row["group"]))
    return pairs


def medquad(folder: Path, cap: int) -> list[Pair]:
    """The answer, another aspect of the same entity, and the same aspect of another entity."""
    of: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number, row in enumerate(rows(folder / "qa.jsonl.gz")):
        if held_out.medquad(row["group"]):
            of[row["group"]].append({**row, "id": str(number)})
    asked = [row for name in sorted(of) for row in of[name]]
    pairs: list[Pair] = []
    for row in drawn(asked, cap, lambda row: str(row["id"])):
        question, group, answer = row["question"], row["group"], row["answer"]
        pairs.append(_pair(row["id"], "own", question, answer, True, group))
        aspects = [
            other["answer"]
            for other in of[group]
            if other["qtype"] != row["qtype"] and other["answer"] != answer
        ]
        if aspects:
            text = aspects[int(rank(f"aspect/{row['id']}") * len(aspects))]
            pairs.append(_pair(row["id"], "aspect", question, text, False, group))
        for entity in _nearest(group, (name for name in sorted(of) if name != group))[:8]:
            same = [other for other in of[entity] if other["qtype"] == row["qtype"]]
            if same:
                pairs.append(_pair(row["id"], "entity", question, same[0]["answer"], False, group))
                break
    return pairs


def pubmedqa(folder: Path, cap: int) -> list[Pair]:
    """The question's abstract, where it says yes or no, and the nearest other abstract."""
    found = [row for row in rows(folder / "qa.jsonl.gz") if held_out.pubmedqa(row["group"])]
    texts = {row["group"]: "\n".join(row["contexts"]) for row in found}
    pairs: list[Pair] = []
    for row in drawn(found, cap, lambda row: str(row["group"])):
        name, question = row["group"], row["question"]
        if row["decision"] != "maybe":
            pairs.append(_pair(name, "own", question, texts[name], True, name))
        others = [text for other, text in texts.items() if other != name]
        if others:
            pairs.append(_pair(name, "near", question, _nearest(question, others)[0], False, name))
    return pairs


def anthropic_docs(folder: Path, cap: int) -> list[Pair]:
    """The sections that answer, and as many of the nearest that do not."""
    judged = load_judged(folder)
    texts = {
        row["_id"]: titled(row["title"], row["text"]) for row in rows(folder / "corpus.jsonl.gz")
    }
    asked = [name for name in judged.queries if held_out.anthropic_docs(name)]
    pairs: list[Pair] = []
    for name in drawn(asked, cap, str):
        question = judged.queries[name]
        gold = sorted(document for document, grade in judged.qrels[name].items() if grade > 0)
        page = gold[0].partition("#")[0]
        others = [text for document, text in texts.items() if document not in gold]
        near = _nearest(question, others)[: len(gold)]
        for number, document in enumerate(gold):
            pairs.append(_pair(name, f"own{number}", question, texts[document], True, page))
        for number, text in enumerate(near):
            pairs.append(_pair(name, f"near{number}", question, text, False, page))
    return pairs


def wikiqa(folder: Path, cap: int) -> list[Pair]:
    """The test questions with every sentence of their article's summary, as people judged them."""
    found = [row for row in rows(folder / "pairs.jsonl.gz") if row["split"] == "test"]
    return _judged(found, cap, "relevant")


def scifact(folder: Path, cap: int) -> list[Pair]:
    """Claims with the abstract that they cite, which supports or refutes them or does neither."""
    return _judged(rows(folder / "pairs.jsonl.gz"), cap, "answerable")


def _judged(found: Sequence[dict[str, Any]], cap: int, key: str) -> list[Pair]:
    """The pairs of at most `cap` questions, labelled by what is under `key`."""
    asked = set(drawn(list(dict.fromkeys(row["query_id"] for row in found)), cap, str))
    return [
        _pair(
            row["query_id"], str(number), row["query"], row["passage"], bool(row[key]), row["group"]
        )
        for number, row in enumerate(found)
        if row["query_id"] in asked
    ]


PAIR_SETS: Sequence[PairSet] = (
    PairSet(
        "SQuAD, own paragraph",
        "squad2_dev",
        "held-out articles' questions, answerable or not, each with its own paragraph",
        squad_own,
    ),
    PairSet(
        "SQuAD, nearest paragraph",
        "squad2_dev",
        "held-out articles' answerable questions with their own paragraph, and with the nearest "
        "of the article that does not have the answer",
        squad_near,
    ),
    PairSet(
        "MedQuAD",
        "medquad_sample",
        "held-out entities' questions with the answer, another aspect of the entity, and the same "
        "aspect of another entity",
        medquad,
    ),
    PairSet(
        "PubMedQA",
        "pubmedqa_labelled",
        "held-out abstracts' questions with the abstract, and with the nearest other one",
        pubmedqa,
    ),
    PairSet(
        "Technical documentation",
        "anthropic_docs",
        "held-out questions with the sections that answer, and with the nearest others",
        anthropic_docs,
    ),
    PairSet("WikiQA", "wikiqa", "test questions with each sentence of a summary", wikiqa),
    PairSet("SciFact", "scifact", "claims with the abstract that they cite", scifact),
)
