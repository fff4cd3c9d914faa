"""Reading the labelled data, fixing the held-out splits, and small text tools."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SPLIT_SALT = "laya-mini-decision-1"
# How many big and small SQuAD articles each split takes; the rest are for training.
SQUAD_SPLITS = {"test": (3, 3), "val": (1, 2), "cal": (1, 2)}
WORD = re.compile(r"\w+", re.UNICODE)
STOP = frozenset(
    "a an the of in on at to for and or is are was were be been by with from as that this it its"
    " which what who whom whose when where why how did do does has have had not than then there"
    " their they he she his her into about can could would may many much".split()
)


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Every record of a gzipped JSON-lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Relevance judgements as query id -> document id -> grade."""
    out: dict[str, dict[str, int]] = defaultdict(dict)
    with path.open(encoding="utf-8") as handle:
        next(handle)
        for line in handle:
            query, doc, score = line.rstrip("\n").split("\t")[:3]
            out[query][doc] = int(score)
    return dict(out)


def rank(name: str) -> float:
    """A stable pseudo-random number in [0, 1) for a group name: what fixes the splits."""
    digest = hashlib.sha256(f"{SPLIT_SALT}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def split_by_hash(name: str, test: float, val: float, cal: float) -> str:
    """The split of a group, by its hash alone."""
    x = rank(name)
    if x < test:
        return "test"
    if x < test + val:
        return "val"
    return "cal" if x < test + val + cal else "train"


def words(text: str) -> list[str]:
    """Lower-case word tokens."""
    return [w.lower() for w in WORD.findall(text)]


def content_words(text: str) -> set[str]:
    """Lower-case word tokens without function words."""
    return {w for w in words(text) if w not in STOP}


SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n+")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences (rule based, good enough for augmentation)."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in SENTENCE.finditer(text):
        if match.start() - start < 25:  # abbreviations and initials: do not cut there
            continue
        spans.append((start, match.start()))
        start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return [(a, b) for a, b in spans if text[a:b].strip()]


class BM25:
    """Plain Okapi BM25 (k1 .9, b .4, no stemming, no stop words), ties broken by position."""

    def __init__(self, texts: Iterable[str], k1: float = 0.9, b: float = 0.4) -> None:
        docs = [words(t) for t in texts]
        self.n = len(docs)
        mean = sum(map(len, docs)) / max(1, self.n)
        self.post: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for i, doc in enumerate(docs):
            norm = k1 * (1 - b + b * len(doc) / mean)
            for w, tf in Counter(doc).items():
                self.post[w].append((i, tf * (k1 + 1) / (tf + norm)))
        self.idf = {
            w: math.log(1 + (self.n - len(p) + 0.5) / (len(p) + 0.5)) for w, p in self.post.items()
        }

    def top(self, query: str, k: int, skip: set[int] | None = None) -> list[int]:
        """The best k document positions, without those in skip."""
        score: dict[int, float] = defaultdict(float)
        for w, qtf in Counter(words(query)).items():
            for i, s in self.post.get(w, ()):
                score[i] += qtf * self.idf[w] * s
        skip = skip or set()
        order = sorted((-s, i) for i, s in score.items() if i not in skip)
        return [i for _, i in order[:k]]


def shingles(text: str, n: int = 8) -> set[tuple[str, ...]]:
    """Word n-grams, for near-duplicate checks."""
    toks = words(text)
    return {tuple(toks[i : i + n]) for i in range(len(toks) - n + 1)}


class Squad:
    """SQuAD 2.0 dev with its unlabelled half, split by article."""

    def __init__(self, data: Path) -> None:
        self.pairs = read_jsonl(data / "squad2_dev" / "pairs.jsonl.gz")
        unlabelled = read_jsonl(data / "squad2_unlabelled" / "questions.jsonl.gz")
        sizes = Counter(p["group"] for p in self.pairs)
        big = sorted((g for g in sizes if sizes[g] >= 100), key=rank)
        groups = {p["group"] for p in self.pairs} | {u["group"] for u in unlabelled}
        small = sorted((g for g in groups if sizes.get(g, 0) < 100), key=rank)
        small = [g for g in small if g != "Miscellaneous"]
        self.split = dict.fromkeys(groups, "train")
        at_big = at_small = 0
        for name, (nb, ns) in SQUAD_SPLITS.items():
            for g in big[at_big : at_big + nb] + small[at_small : at_small + ns]:
                self.split[g] = name
            at_big, at_small = at_big + nb, at_small + ns
        # Paragraphs by article, labelled or not, each once.
        self.group_of: dict[str, str] = {}
        for p in self.pairs:
            self.group_of.setdefault(p["passage"], p["group"])
        for u in unlabelled:
            self.group_of.setdefault(u["passage"], u["group"])
        self.unlabelled = [u for u in unlabelled if self.group_of[u["passage"]] == u["group"]]
        self._drop_near_duplicates()

    def _drop_near_duplicates(self) -> None:
        """Take near-duplicates of a held-out paragraph, and its questions, out of training."""
        held: set[tuple[str, ...]] = set()
        held_q: set[str] = set()
        for passage, group in self.group_of.items():
            if self.split[group] != "train":
                held |= shingles(passage)
        for p in self.pairs:
            if self.split[p["group"]] != "train":
                held_q.add(p["query"].lower().strip())
        bad = set()
        for passage, group in self.group_of.items():
            if self.split[group] == "train" and len(shingles(passage) & held) >= 3:
                bad.add(passage)
        self.held = held
        self.dropped = len(bad)
        self.group_of = {p: g for p, g in self.group_of.items() if p not in bad}
        self.pairs = [p for p in self.pairs if p["passage"] in self.group_of]
        self.pairs = [
            p
            for p in self.pairs
            if self.split[p["group"]] != "train" or p["query"].lower().strip() not in held_q
        ]
        self.unlabelled = [u for u in self.unlabelled if u["passage"] in self.group_of]
        for u in self.unlabelled:
            u["questions"] = [q for q in u["questions"] if q.lower().strip() not in held_q]

    def of(self, split: str) -> list[dict[str, Any]]:
        """The labelled pairs of a split."""
        return [p for p in self.pairs if self.split[p["group"]] == split]


def doc_text(title: str, text: str) -> str:
    """A document as the gate shows it: the title in front unless the text begins with it."""
    title, text = title.strip(), text.strip()
    return text if not title or text.startswith(title) else f"{title}\n{text}"


def seeded(seed: int, name: str) -> random.Random:
    """A generator of its own for each part of the build, so parts can change independently."""
    return random.Random(f"{seed}/{name}")
