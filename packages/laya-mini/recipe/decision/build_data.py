"""Build the training, validation, calibration and test items of the decision model.

    python build_data.py --data DATA --out OUT [--seed 7]

Deterministic for a seed. Held-out groups are fixed first, by a hash of the article, entity,
abstract or document, and nothing of theirs enters training. Each item is one JSON line:
`t` (rel or ans), `q`, `d` (the document or evidence), `y` (probability of yes), `span`
(characters of the answer in d, for the auxiliary loss), `src`, `g` (group).
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import augment as aug
from sources import (
    BM25,
    Squad,
    content_words,
    doc_text,
    rank,
    read_jsonl,
    read_qrels,
    seeded,
    sentence_spans,
    shingles,
    split_by_hash,
)

Item = dict[str, Any]
EVIDENCE_CHARS = 1000  # usual cap while training: keeps a step cheap; some items go longer


def item(t: str, q: str, d: str, y: float, src: str, g: str, span: aug.Span = None) -> Item:
    """One labelled pair."""
    return {"t": t, "q": q.strip(), "d": d, "y": y, "src": src, "g": g, "span": span}


def has_answer(text: str, answers: list[dict[str, Any]]) -> bool:
    """Whether one of the answers occurs in the text."""
    low = text.lower()
    return any(a["text"].lower() in low for a in answers)


def roughen(it: Item, rng: random.Random, title: str = "") -> Item:
    """Messy text and messy questions for a share of the items."""
    span = tuple(it["span"]) if it["span"] else None
    if rng.random() < 0.10:
        it["d"], span = aug.messy(it["d"], span, rng)
    if title and rng.random() < 0.18:
        it["d"], span = aug.wrap(it["d"], span, rng, title.replace("_", " "))
    if rng.random() < 0.15:
        it["q"] = aug.messy_question(it["q"], rng)
    it["span"] = list(span) if span else None
    return it


class SquadItems:
    """Everything that is made from SQuAD 2.0."""

    def __init__(self, squad: Squad) -> None:
        self.sq = squad
        self.passages = list(squad.group_of)
        self.index = {p: i for i, p in enumerate(self.passages)}
        self.by_split: dict[str, set[int]] = defaultdict(set)
        self.by_group: dict[str, set[int]] = defaultdict(set)
        for p, i in self.index.items():
            g = squad.group_of[p]
            self.by_split[squad.split[g]].add(i)
            self.by_group[g].add(i)
        self.bm25 = BM25(self.passages)

    def near(self, query: str, passage: str, k: int = 4) -> list[str]:
        """Paragraphs of the same article that BM25 likes best, without its own."""
        g = self.sq.group_of[passage]
        mine = self.by_group[g]
        own = self.index[passage]
        return [self.passages[i] for i in self.bm25.top(query, 4000) if i in mine and i != own][:k]

    def far(self, query: str, passage: str, split: str, k: int = 4) -> list[str]:
        """Paragraphs of other articles of the split that BM25 likes best."""
        g = self.sq.group_of[passage]
        ok = self.by_split[split] - self.by_group[g]
        return [self.passages[i] for i in self.bm25.top(query, 4000) if i in ok][:k]

    def train(self, seed: int) -> tuple[list[Item], list[Item], list[Item]]:
        """Answerability items, relevance items and warm-up items."""
        rng = seeded(seed, "squad")
        ans: list[Item] = []
        rel: list[Item] = []
        pairs = self.sq.of("train")
        train_passages = [self.passages[i] for i in sorted(self.by_split["train"])]

        answers_of: dict[tuple[str, str], list[str]] = defaultdict(list)
        for p in pairs:
            for a in (p.get("answers") or [])[:1]:
                if len(a["text"]) < 60:
                    answers_of[p["group"], aug.answer_kind(p["query"])].append(a["text"])

        def add(q: str, d: str, y: float, src: str, g: str, span: aug.Span = None) -> None:
            ans.append(roughen(item("ans", q, d, y, src, g, span), rng, g))

        for p in pairs:
            q, d, g = p["query"], p["passage"], p["group"]
            answers = p.get("answers") or []
            near = self.near(q, d)
            far = self.far(q, d, "train")
            spans = sentence_spans(d)
            if p["answerable"] and answers:
                a = answers[0]
                s, e = a["start"], a["start"] + len(a["text"])
                k = aug.sentence_of(d, s)
                k2 = aug.sentence_of(d, e - 1)
                add(q, d, 1, "own-yes", g, (s, e))
                for size in (rng.randrange(2, 5), rng.randrange(2, 6)):
                    text, off = aug.window(d, k, size, rng)
                    if k2 == k and off <= s and e <= off + len(text):
                        add(q, text, 1, "window-yes", g, (s - off, e - off))
                sa, sb = spans[k]
                if k2 == k:
                    add(q, d[sa:sb], 1, "sentence-yes", g, (s - sa, e - sa))
                others = [
                    d[x:y]
                    for i, (x, y) in enumerate(spans)
                    if i not in (k, k2) and not has_answer(d[x:y], answers)
                ]
                if others:
                    best = others[
                        aug.best_sentence(q, "\n".join(o.replace("\n", " ") for o in others))
                        % len(others)
                    ]
                    add(q, best, 0, "sentence-no", g)
                    if rng.random() < 0.4:
                        add(q, rng.choice(others), 0, "sentence-no", g)
                if len(others) >= 2:
                    add(q, " ".join(others), 0.03, "removed", g)
                    if rng.random() < 0.5:
                        n = min(len(others), rng.randrange(2, 5))
                        at = rng.randrange(len(others) - n + 1)
                        add(q, " ".join(others[at : at + n]), 0.03, "removed", g)
                new = aug.edit_question(q, d, a["text"], rng)
                if new and new != q:
                    text, _ = aug.window(d, k, rng.randrange(2, 7), rng)
                    add(new, text, 0.07, "edited", g)
                clean = [n for n in near if not has_answer(n, answers)]
                if clean:
                    add(q, clean[0], 0.02, "near", g)
                if far and rng.random() < 0.35:
                    add(q, far[0], 0, "far", g)
                if rng.random() < 0.55:  # two or three passages, with and without the right one
                    text, off = aug.window(d, k, rng.randrange(1, 4), rng)
                    if k2 == k and off <= s and e <= off + len(text):
                        pool = (clean + far)[:5]
                        rng.shuffle(pool)
                        short = [
                            aug.window(x, aug.best_sentence(q, x), rng.randrange(1, 4), rng)[0]
                            for x in pool[: rng.randrange(1, 3)]
                        ]
                        at = rng.randrange(len(short) + 1)
                        pre = "".join(x + "\n\n" for x in short[:at])
                        post = "".join("\n\n" + x for x in short[at:])
                        add(
                            q,
                            pre + text + post,
                            1,
                            "multi-yes",
                            g,
                            (len(pre) + s - off, len(pre) + e - off),
                        )
                        if len(short) >= 2 or rng.random() < 0.5:
                            add(q, "\n\n".join(short), 0.02, "multi-no", g)
            elif p["answerable"]:
                add(q, d, 1, "own-yes", g)
            else:
                add(q, d, 0, "own-no", g)
                k = aug.best_sentence(q, d)
                for size in (rng.randrange(2, 5), rng.randrange(2, 6)):
                    add(q, aug.window(d, k, size, rng)[0], 0, "window-no", g)
                if rng.random() < 0.6:
                    add(q, d[spans[k][0] : spans[k][1]], 0, "sentence-no", g)
                if near and rng.random() < 0.3:
                    add(q, near[0], 0, "near", g)
                if near and rng.random() < 0.25:
                    text, _ = aug.window(d, k, rng.randrange(1, 4), rng)
                    extra = aug.window(near[0], aug.best_sentence(q, near[0]), 2, rng)[0]
                    both = [text, extra]
                    rng.shuffle(both)
                    add(q, "\n\n".join(both), 0, "multi-no", g)

        # A sentence that answers the question, put into a text that does not (yes); or one that
        # answers an edited question (no). Without these, an unanswerable question is always "no"
        # and its words alone give the label away.
        for p in pairs:
            q, d, g = p["query"], p["passage"], p["group"]
            base = d
            if p["answerable"]:
                near = [n for n in self.near(q, d, 3) if not has_answer(n, p.get("answers") or [])]
                if not near or rng.random() < 0.4:
                    continue
                base = near[0]
            pool = answers_of.get((g, aug.answer_kind(q))) or answers_of.get((g, "thing"))
            if not pool:
                continue
            for _ in range(2):
                size = rng.randrange(1, 7)
                text, _ = aug.window(base, aug.best_sentence(q, base), size, rng)
                answer = rng.choice(pool)
                right = aug.declare(q, answer)
                if right:
                    full, at = aug.insert_sentence(text, right[0], rng)
                    s = at + right[1]
                    if full[s : s + len(answer)] == answer:
                        add(q, full, 0.97, "inserted-yes", g, (s, s + len(answer)))
                new = aug.edit_question(q, d + " " + base, answer, rng)
                wrong = aug.declare(new, rng.choice(pool)) if new and new != q else None
                if wrong:
                    full, _ = aug.insert_sentence(text, wrong[0], rng)
                    add(q, full, 0.04, "inserted-no", g)

        # Synthetic cloze questions: the exact sentence, an edited question, the sentence removed.
        for d in train_passages:
            g = self.sq.group_of[d]
            for _ in range(7):
                made = aug.cloze(d, rng)
                if made is None:
                    continue
                q, s, e = made
                k = aug.sentence_of(d, s)
                text, off = aug.window(d, k, rng.randrange(1, 6), rng)
                if not off <= s <= e <= off + len(text):
                    continue
                new = aug.edit_question(q, d, d[s:e], rng)
                r = rng.random()
                if new and new != q and r < 0.62:
                    add(new, text, 0.05, "cloze-edited", g)
                elif r < 0.75:
                    a, b = sentence_spans(d)[k]
                    rest = (d[:a] + d[b:]).strip()
                    if d[s:e].lower() in rest.lower() or len(rest) < 60:
                        continue
                    add(
                        q,
                        aug.window(rest, aug.best_sentence(q, rest), rng.randrange(2, 6), rng)[0],
                        0.02,
                        "cloze-removed",
                        g,
                    )
                else:
                    add(q, text, 1, "cloze-yes", g, (s - off, e - off))

        # Relevance: labelled and unlabelled questions against their own and other paragraphs.
        topical = [(p["query"], p["passage"]) for p in pairs]
        for u in self.sq.unlabelled:
            if self.sq.split[u["group"]] == "train":
                topical += [(q, u["passage"]) for q in u["questions"]]
        rng.shuffle(topical)
        warm: list[Item] = []
        for n, (q, d) in enumerate(topical):
            g = self.sq.group_of[d]
            if n >= 6500:
                break
            k = aug.best_sentence(q, d)
            text = d if rng.random() < 0.5 else aug.window(d, k, rng.randrange(1, 5), rng)[0]
            query = aug.keywords(q) if rng.random() < 0.12 else q
            rel.append(roughen(item("rel", query, text, 1, "own", g), rng, g))
            near, far = self.near(q, d, 3), self.far(q, d, "train", 3)
            other = rng.choice(train_passages)
            for pool, src, share in (
                (near, "near", 0.65),
                (far, "far", 0.4),
                ([other], "random", 0.1),
            ):
                if not pool or rng.random() > share:
                    continue
                x = rng.choice(pool[:2])
                if self.sq.group_of[x] == g and src == "random":
                    continue
                size = rng.randrange(1, 5)
                x = (
                    x
                    if rng.random() < 0.5
                    else aug.window(x, aug.best_sentence(q, x), size, rng)[0]
                )
                query = aug.keywords(q) if rng.random() < 0.12 else q
                rel.append(
                    roughen(item("rel", query, x, 0.03 if src == "near" else 0, src, g), rng)
                )
            # the same question asked of another paragraph is not answered there either
            if n < 2500 and near:
                x = near[0]
                x = aug.window(x, aug.best_sentence(q, x), rng.randrange(2, 6), rng)[0]
                if (q, d) and rng.random() < 0.5:
                    add(q, x, 0.04, "near", g)
        for q, d in topical[6500 - 2600 : 6500]:
            g = self.sq.group_of[d]
            k = aug.best_sentence(q, d)
            a, b = sentence_spans(d)[k]
            warm.append(item("rel", q, d[a:b][:260], 1, "warm", g))
            x = rng.choice(train_passages)
            xs = sentence_spans(x)
            a, b = rng.choice(xs)
            warm.append(item("rel", q, x[a:b][:260], 0, "warm", g))
        return ans, rel, warm

    def held_out(self, split: str, seed: int) -> list[Item]:
        """Plain items of a held-out split: no augmentation but BM25 and random negatives."""
        rng = seeded(seed, f"squad-{split}")
        out: list[Item] = []
        everywhere = sorted(self.by_split[split])
        for p in self.sq.of(split):
            q, d, g = p["query"], p["passage"], p["group"]
            answers = p.get("answers") or []
            own = "own-yes" if p["answerable"] else "own-no"
            near = self.near(q, d, 6)
            clean = [n for n in near if not has_answer(n, answers)] if answers else near
            far = self.far(q, d, split, 1)
            other = self.passages[rng.choice(everywhere)]
            while self.sq.group_of[other] == g:
                other = self.passages[rng.choice(everywhere)]
            out.append(item("ans", q, d, p["answerable"], f"squad/{own}", g))
            if p["answerable"]:
                if clean:
                    out.append(item("ans", q, clean[0], 0, "squad/near", g))
                if far:
                    out.append(item("ans", q, far[0], 0, "squad/far", g))
            out.append(item("rel", q, d, 1, "squad/own", g))
            if near:
                out.append(item("rel", q, near[0], 0, "squad/near", g))
            if far:
                out.append(item("rel", q, far[0], 0, "squad/far", g))
            out.append(item("rel", q, other, 0, "squad/random", g))
        return out


MEDQUAD_QUESTIONS = {
    "treatment": [
        "How is {} treated?",
        "What can be done against {}?",
        "{} treatment",
        "therapy for {}",
    ],
    "symptoms": [
        "What are the signs of {}?",
        "How do I notice {}?",
        "{} symptoms",
        "What does someone with {} experience?",
    ],
    "causes": [
        "Why does one get {}?",
        "What leads to {}?",
        "cause of {}",
        "Where does {} come from?",
    ],
    "inheritance": [
        "Can {} be passed on to children?",
        "Is {} hereditary?",
        "inheritance pattern of {}",
    ],
    "frequency": ["How common is {}?", "prevalence of {}", "How many people have {}?"],
    "genetic changes": [
        "Which genes are involved in {}?",
        "mutations behind {}",
        "What gene causes {}?",
    ],
    "exams and tests": ["How is {} found out?", "diagnosing {}", "Which tests detect {}?"],
    "prevention": ["How can I avoid {}?", "preventing {}", "Can {} be prevented?"],
    "outlook": [
        "What is the prognosis of {}?",
        "life expectancy with {}",
        "What to expect with {}?",
    ],
    "susceptibility": ["Who gets {}?", "risk groups for {}"],
    "complications": ["What problems can {} lead to?", "consequences of {}"],
    "research": ["Which studies are being done on {}?", "clinical trials for {}"],
    "stages": ["How far can {} progress?", "stages of {}"],
    "information": ["What does {} mean?", "Describe {}.", "definition of {}"],
}


def medquad(data: Path, seed: int) -> tuple[dict[str, list[Item]], dict[str, int]]:
    """Health questions by entity: the right passage, another aspect, another entity."""
    rng = seeded(seed, "medquad")
    rows = read_jsonl(data / "medquad_sample" / "qa.jsonl.gz")
    by_group: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for r in rows:
        by_group[r["group"]].append(r)
    names = sorted(by_group)
    split = {
        g: split_by_hash("medquad/" + g.lower().split("(")[0].strip(), 0.12, 0.03, 0.06)
        for g in names
    }
    # A passage text that occurs in two splits would leak: keep the held-out one.
    held = {r["answer"][:200] for r in rows if split[r["group"]] != "train"}
    bm25 = BM25(names)
    at = {g: i for i, g in enumerate(names)}
    out: dict[str, list[Item]] = defaultdict(list)
    for g in names:
        sp = split[g]
        for r in by_group[g]:
            q, d, kind = r["question"], r["answer"], r["qtype"]
            if sp == "train" and d[:200] in held:
                continue
            aspects = [o for o in by_group[g] if o["qtype"] != kind and o["answer"] != d]
            like = [names[i] for i in bm25.top(g, 8, {at[g]}) if split[names[i]] == sp]
            same_kind = [o for n in like for o in by_group[n] if o["qtype"] == kind]
            if sp != "train":
                out[sp].append(item("ans", q, d, 1, "medquad/own", g))
                if aspects:
                    out[sp].append(
                        item("ans", q, rng.choice(aspects)["answer"], 0, "medquad/aspect", g)
                    )
                if same_kind:
                    out[sp].append(item("ans", q, same_kind[0]["answer"], 0, "medquad/entity", g))
                out[sp].append(item("rel", q, d, 1, "medquad/own", g))
                if like:
                    o = rng.choice(by_group[like[0]])
                    out[sp].append(item("rel", q, o["answer"], 0, "medquad/entity", g))
                continue

            def cut(text: str) -> str:
                cap = 1600 if rng.random() < 0.12 else rng.choice([300, 500, 700, EVIDENCE_CHARS])
                if len(text) <= cap:
                    return text
                return text[: cap + text[cap:].find(" ")] if " " in text[cap:] else text[:cap]

            def ask(question: str, kind: str = kind, g: str = g) -> str:
                if kind in MEDQUAD_QUESTIONS and rng.random() < 0.3:
                    return rng.choice(MEDQUAD_QUESTIONS[kind]).format(g)
                return question

            if rng.random() < 0.62:
                out[sp].append(roughen(item("ans", ask(q), cut(d), 0.97, "medquad-yes", g), rng, g))
            if aspects and rng.random() < 0.66:
                o = rng.choice(aspects)
                y = 0.12 if "information" in (kind, o["qtype"]) else 0.04
                out[sp].append(
                    roughen(item("ans", ask(q), cut(o["answer"]), y, "medquad-aspect", g), rng, g)
                )
            if same_kind and rng.random() < 0.2:
                o = rng.choice(same_kind)
                out[sp].append(
                    roughen(
                        item("ans", ask(q), cut(o["answer"]), 0.05, "medquad-entity", g),
                        rng,
                        o["group"],
                    )
                )
            if aspects and rng.random() < 0.15:  # two passages of the entity
                o = rng.choice(aspects)
                both = [cut(d)[:500], cut(o["answer"])[:400]]
                rng.shuffle(both)
                out[sp].append(item("ans", ask(q), "\n\n".join(both), 0.97, "medquad-multi-yes", g))
            if rng.random() < 0.22:
                out[sp].append(roughen(item("rel", ask(q), cut(d), 1, "medquad-rel", g), rng, g))
            if like and rng.random() < 0.22:
                o = rng.choice(by_group[rng.choice(like[:3])])
                out[sp].append(
                    roughen(
                        item("rel", ask(q), cut(o["answer"]), 0.03, "medquad-rel", g),
                        rng,
                        o["group"],
                    )
                )
    return out, dict(Counter(split.values()))


def pubmedqa(data: Path, seed: int) -> tuple[dict[str, list[Item]], dict[str, int]]:
    """Research questions and their abstracts; the conclusions serve as claims."""
    rng = seeded(seed, "pubmedqa")
    rows = read_jsonl(data / "pubmedqa_labelled" / "qa.jsonl.gz")
    texts = ["\n".join(r["contexts"]) for r in rows]
    split = [split_by_hash("pubmedqa/" + r["group"], 0.12, 0.03, 0.06) for r in rows]
    bm25 = BM25(texts)
    out: dict[str, list[Item]] = defaultdict(list)
    for i, r in enumerate(rows):
        sp, q, g, d = split[i], r["question"], r["group"], texts[i]
        hard = [j for j in bm25.top(q + " " + r["long_answer"], 60, {i}) if split[j] == sp]
        hard_q = [j for j in bm25.top(q, 60, {i}) if split[j] == sp]
        if not hard or not hard_q:
            continue
        if sp != "train":
            sure = r["decision"] != "maybe"
            if sure:
                out[sp].append(item("ans", q, d, 1, "pubmedqa/own", g))
            out[sp].append(item("ans", q, texts[hard_q[0]], 0, "pubmedqa/bm25", g))
            claim = r["long_answer"]
            out[sp].append(item("rel", q, d, 1, "pubmedqa/own", g))
            out[sp].append(item("rel", q, texts[hard_q[0]], 0, "pubmedqa/bm25", g))
            out[sp].append(item("rel", claim, d, 1, "pubmedqa/claim", g))
            out[sp].append(item("rel", claim, texts[hard[0]], 0, "pubmedqa/claim-bm25", g))
            continue

        def cut(text: str) -> str:
            cap = rng.choice([500, 800, 1100, 1500])
            return text if len(text) <= cap else text[:cap]

        y = {"yes": 0.97, "no": 0.97, "maybe": 0.75}[r["decision"]]
        out[sp].append(roughen(item("ans", q, d[:1500], y, "pubmedqa-yes", g), rng))
        out[sp].append(roughen(item("ans", q, r["long_answer"], y, "pubmedqa-conclusion", g), rng))
        j = rng.choice(hard_q[:2])
        out[sp].append(roughen(item("ans", q, cut(texts[j]), 0, "pubmedqa-no", g), rng))
        out[sp].append(roughen(item("ans", q, rows[j]["long_answer"], 0, "pubmedqa-no", g), rng))
        # method sentences alone say what was done, not what came out
        early = r["contexts"][0]
        if len(r["contexts"]) >= 3 and r["labels"][0].upper() in (
            "BACKGROUND",
            "INTRODUCTION",
            "OBJECTIVE",
            "PURPOSE",
            "AIM",
        ):
            out[sp].append(item("ans", q, early, 0.08, "pubmedqa-aim", g))
        claims = [r["long_answer"][a:b] for a, b in sentence_spans(r["long_answer"])]
        for claim in claims[:2]:
            if len(claim) < 40:
                continue
            out[sp].append(roughen(item("rel", claim, cut(d), 1, "claim", g), rng))
            k = rng.choice(hard[:3])
            out[sp].append(roughen(item("rel", claim, cut(texts[k]), 0.02, "claim-no", g), rng))
        for query in (q, aug.keywords(q)):
            out[sp].append(roughen(item("rel", query, cut(d), 1, "pubmedqa-rel", g), rng))
            out[sp].append(
                roughen(item("rel", query, cut(texts[hard_q[0]]), 0.02, "pubmedqa-rel", g), rng)
            )
        # a statement from the abstract against the rest of it, and against another abstract
        spans = sentence_spans(d)
        if len(spans) >= 5:
            a, b = spans[rng.randrange(1, len(spans))]
            rest = (d[:a] + d[b:]).strip()
            out[sp].append(item("rel", d[a:b], cut(rest), 0.97, "claim", g))
            k = bm25.top(d[a:b], 20, {i})
            k = [j for j in k if split[j] == sp]
            if k:
                out[sp].append(item("rel", d[a:b], cut(texts[k[0]]), 0.03, "claim-no", g))
    return out, dict(Counter(split))


def technical(data: Path, seed: int) -> tuple[dict[str, list[Item]], dict[str, int]]:
    """The two MIT sets: documentation sections, and long documents cut into passages."""
    rng = seeded(seed, "technical")
    out: dict[str, list[Item]] = defaultdict(list)
    count: Counter[str] = Counter()
    for name in ("anthropic_docs", "chunking_eval"):
        docs = {d["_id"]: d for d in read_jsonl(data / name / "corpus.jsonl.gz")}
        queries = read_jsonl(data / name / "queries.jsonl.gz")
        qrels = read_qrels(data / name / "qrels.tsv")
        ids = sorted(docs)
        texts = [
            doc_text(docs[i]["title"] if name == "anthropic_docs" else "", docs[i]["text"])
            for i in ids
        ]
        pos = {i: k for k, i in enumerate(ids)}
        bm25 = BM25(texts)
        # chunking_eval by document; anthropic_docs by question, half of them held out
        if name == "chunking_eval":
            kinds = sorted({d["doc"] for d in docs.values()}, key=rank)
            doc_split = {k: ("test" if n == 0 else "train") for n, k in enumerate(kinds)}
            split = {q["_id"]: doc_split[q["type"]] for q in queries}
            allowed = {
                sp: {pos[i] for i in ids if doc_split[docs[i]["doc"]] == sp}
                for sp in ("test", "train")
            }
        else:
            split = {q["_id"]: split_by_hash(name + q["_id"], 0.5, 0.0, 0.0) for q in queries}
            gone = {pos[d] for q in queries if split[q["_id"]] == "test" for d in qrels[q["_id"]]}
            everything = set(range(len(ids)))
            allowed = {"test": everything, "train": everything - gone}
        for q in queries:
            sp, text = split[q["_id"]], q["text"]
            count[f"{name}/{sp}"] += 1
            gold = {pos[d] for d in qrels.get(q["_id"], {})}
            if sp == "train":
                gold &= allowed["train"]
            hard = [i for i in bm25.top(text, 60, gold) if i in allowed[sp]]
            hard = [i for i in hard if i not in {pos[d] for d in qrels.get(q["_id"], {})}]
            if sp == "test":
                for i in sorted(gold):
                    if name == "anthropic_docs" or docs[ids[i]].get("doc"):
                        out[sp].append(item("ans", text, texts[i], 1, f"{name}/own", ids[i]))
                        out[sp].append(item("rel", text, texts[i], 1, f"{name}/own", ids[i]))
                for i in hard[: max(2, len(gold))]:
                    out[sp].append(item("ans", text, texts[i], 0, f"{name}/bm25", ids[i]))
                    out[sp].append(item("rel", text, texts[i], 0, f"{name}/bm25", ids[i]))
                continue
            for i in sorted(gold):
                d = texts[i][: 1600 if rng.random() < 0.3 else EVIDENCE_CHARS]
                full = len(texts[i]) <= len(d)
                if full and (name == "anthropic_docs" or len(gold) == 1):
                    out[sp].append(roughen(item("ans", text, d, 0.9, f"{name}-yes", ids[i]), rng))
                out[sp].append(roughen(item("rel", text, d, 1, f"{name}-rel", ids[i]), rng))
                out[sp].append(
                    roughen(item("rel", aug.keywords(text), d, 1, f"{name}-rel", ids[i]), rng)
                )
            for i in hard[:4]:
                d = texts[i][:EVIDENCE_CHARS]
                out[sp].append(roughen(item("ans", text, d, 0.06, f"{name}-no", ids[i]), rng))
            for i in hard[:2] + hard[5:6]:
                d = texts[i][:EVIDENCE_CHARS]
                out[sp].append(roughen(item("rel", text, d, 0.06, f"{name}-rel", ids[i]), rng))
        if name == "chunking_eval":  # the gold characters alone answer; the rest of the passage not
            full = {d["_id"]: d["text"] for d in read_jsonl(data / name / "docs_full.jsonl.gz")}
            for q in queries:
                if split[q["_id"]] != "train":
                    continue
                body = full[q["type"]]
                gold_text = "\n".join(body[a:b] for a, b in q["spans"])
                if len(gold_text) < 1500:
                    out["train"].append(
                        roughen(
                            item("ans", q["text"], gold_text, 0.95, "chunking_eval-gold", q["_id"]),
                            rng,
                        )
                    )
                a, b = q["spans"][0]
                if len(q["spans"]) == 1:
                    lo, hi = max(0, a - rng.randrange(50, 500)), b + rng.randrange(50, 500)
                    text = body[lo:hi]
                    if len(text) < 1600:
                        out["train"].append(
                            item("ans", q["text"], text, 0.95, "chunking_eval-gold", q["_id"])
                        )
                        rest = body[lo:a] + body[b:hi]
                        out["train"].append(
                            item("ans", q["text"], rest, 0.06, "chunking_eval-removed", q["_id"])
                        )
    return out, dict(count)


def drop_leaks(train: list[Item], held: set[tuple[str, ...]]) -> tuple[list[Item], int]:
    """Take out training items whose text shares three 8-word stretches with held-out articles."""
    bad: dict[str, bool] = {}
    kept = []
    for it in train:
        d = it["d"]
        if d not in bad:
            bad[d] = len(shingles(d) & held) >= 3
        if not bad[d]:
            kept.append(it)
    return kept, len(train) - len(kept)


def main() -> None:
    """Build every file and print what is in them."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--data", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--seed", type=int, default=7)
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    squad = Squad(args.data)
    made = SquadItems(squad)
    ans, rel, warm = made.train(args.seed)
    train = ans + rel
    held = {s: made.held_out(s, args.seed) for s in ("test", "val", "cal")}
    report: dict[str, Any] = {
        "squad_articles": {
            s: sorted(g for g in squad.split if squad.split[g] == s) for s in ("test", "val", "cal")
        },
        "squad_near_duplicates_dropped": squad.dropped,
    }
    for name, fn in (("medquad", medquad), ("pubmedqa", pubmedqa), ("technical", technical)):
        items, groups = fn(args.data, args.seed)
        train += items["train"]
        for s in held:
            held[s] += items.get(s, [])
        report[name] = groups
    train, report["leaks_dropped"] = drop_leaks(train, squad.held)
    train = [t for t in train if len(content_words(t["q"])) > 0 and len(t["d"].strip()) > 15]
    seeded(args.seed, "order").shuffle(train)
    for name, rows in {"train": train, "warm": warm, **held}.items():
        with (args.out / f"{name}.jsonl").open("w", encoding="utf-8") as handle:
            for r in rows:
                handle.write(json.dumps(r, ensure_ascii=False) + "\n")
        report[f"n_{name}"] = len(rows)
        kinds: dict[str, list[float]] = defaultdict(list)
        for r in rows:
            kinds[f"{r['t']} {r['src']}"].append(r["y"])
        report[f"kinds_{name}"] = {
            k: [len(v), round(sum(v) / len(v), 3)] for k, v in sorted(kinds.items())
        }
    (args.out / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False))
    print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
