"""A retrieval task of our own, scored by MTEB's evaluator over our engine.

    python mteb_task.py WORK

`WORK` is an empty folder. Prints one line of JSON: what MTEB says, and what it should say.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import mteb
from datasets import Dataset
from laya_eval.metrics import per_query
from laya_eval.mteb import MtebSearch
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models import SearchProtocol

STACK = """
name: coast
source: {provider: source.jsonl, config: {path: corpus.jsonl}}
chunk: {provider: chunker.paragraph, config: {chars: 60, overlap: 0, min_chars: 1}}
signals: {bm25: {provider: tokenizer.word, config: {stem: english, stop_words: english}}}
export: {path: bundle}
"""
CORPUS = {
    "tides": ("Tides", "High water is twice a day.\n\nLow water comes six hours after high water."),
    "ferry": ("Ferry", "The ferry leaves at high water and takes two hours."),
    "seals": ("Seals", "Seals rest on the sandbanks at low water.\n\nA seal pup is born in June."),
    "lights": ("Lighthouse", "The lighthouse was built in 1820 and painted red."),
    "mill": ("", "The mill was painted white and stands on the dyke."),
}
QUERIES = {
    "q1": "when is high water",
    "q2": "what was painted red",
    "q3": "where do seals rest",
    "q4": "zeppelin",
}
RELEVANT = {
    "q1": {"ferry": 1, "tides": 1},
    "q2": {"mill": 1},
    "q3": {"seals": 1, "tides": 1},
    "q4": {"tides": 1},
}


class CoastRetrieval(AbsTaskRetrieval):
    """A corpus that fits on a page."""

    metadata = TaskMetadata(
        name="CoastRetrieval",
        description="Questions about an island.",
        reference=None,
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score="ndcg_at_10",
        dataset={"path": "none/coast", "revision": "1"},
        date=None,
        domains=None,
        task_subtypes=None,
        license=None,
        annotations_creators=None,
        dialect=None,
        sample_creation=None,
        bibtex_citation=None,
    )
    top_ranked: dict[str, list[str]] | None = None

    def load_data(self, *_: Any, **__: Any) -> None:
        """The task from memory."""
        rows = [{"id": k, "title": v[0], "text": v[1]} for k, v in CORPUS.items()]
        queries = [{"id": k, "text": v} for k, v in QUERIES.items()]
        self.dataset = {
            "default": {
                "test": {
                    "corpus": Dataset.from_list(rows),
                    "queries": Dataset.from_list(queries),
                    "relevant_docs": {k: dict(v) for k, v in RELEVANT.items()},
                    "top_ranked": self.top_ranked,
                }
            }
        }
        self.data_loaded = True


def scores(model: MtebSearch, task: CoastRetrieval) -> dict[str, float]:
    """What MTEB says of the test split."""
    result = mteb.evaluate(model, task, cache=None, show_progress_bar=False)
    found = result.task_results[0].scores["test"][0]
    return {name: found[name] for name in ("ndcg_at_10", "recall_at_100", "map_at_100")}


def main() -> None:
    """Evaluate the task twice: over everything, and over given documents only."""
    work = Path(sys.argv[1])
    stack = work / "stack.yaml"
    stack.write_text(STACK)
    with MtebSearch(stack, folder=work / "bundles") as model:
        assert isinstance(model, SearchProtocol)
        plain = scores(model, CoastRetrieval())
        again = scores(model, CoastRetrieval())
        rows = [{"id": k, "text": v} for k, v in QUERIES.items()]
        found = model.search(rows, top_k=100)
        given = CoastRetrieval()
        given.top_ranked = {query: ["tides", "mill"] for query in QUERIES}
        only = model.search(rows, top_k=100, top_ranked=given.top_ranked)
        meta = model.mteb_model_meta
        report = {
            "plain": plain,
            "again": again,
            "given": scores(model, given),
            "ours": measured(found),
            "ours_given": measured(only),
            "only": sorted({name for documents in only.values() for name in documents}),
            "name": meta.name,
            "revision": meta.revision == model.fingerprint,
        }
    print(json.dumps(report))


def measured(found: dict[str, dict[str, float]]) -> dict[str, float]:
    """The same measures by ir-measures, from the order in which the documents came back."""
    run = {query: list(documents) for query, documents in found.items()}
    names = {"ndcg_at_10": "nDCG@10", "recall_at_100": "R@100", "map_at_100": "MAP@100"}
    values = per_query(run, RELEVANT, list(names.values()))
    return {name: sum(values[ours].values()) / len(RELEVANT) for name, ours in names.items()}


if __name__ == "__main__":
    main()
