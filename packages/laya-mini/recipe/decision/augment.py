"""Augmentations: windows, messy text, edited questions, and synthetic cloze questions."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from sources import STOP, sentence_spans, words

Span = tuple[int, int] | None
NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b")
YEAR = re.compile(r"\b(?:1[0-9]{3}|20[0-9]{2})\b")
NAME = re.compile(r"\b[A-Z][\w'’-]+(?:\s+(?:of|the|de|van|von)?\s?[A-Z][\w'’-]+)*")
ANTONYMS = [
    ("first", "last"),
    ("largest", "smallest"),
    ("most", "least"),
    ("more", "less"),
    ("before", "after"),
    ("north", "south"),
    ("east", "west"),
    ("northern", "southern"),
    ("eastern", "western"),
    ("increase", "decrease"),
    ("increased", "decreased"),
    ("high", "low"),
    ("higher", "lower"),
    ("highest", "lowest"),
    ("early", "late"),
    ("earlier", "later"),
    ("best", "worst"),
    ("old", "new"),
    ("oldest", "newest"),
    ("began", "ended"),
    ("begin", "end"),
    ("begins", "ends"),
    ("started", "stopped"),
    ("above", "below"),
    ("inside", "outside"),
    ("male", "female"),
    ("men", "women"),
    ("win", "lose"),
    ("won", "lost"),
    ("allow", "forbid"),
    ("allowed", "forbidden"),
    ("support", "oppose"),
    ("supported", "opposed"),
    ("accept", "reject"),
    ("accepted", "rejected"),
    ("cause", "prevent"),
    ("causes", "prevents"),
    ("good", "bad"),
    ("major", "minor"),
    ("majority", "minority"),
    ("public", "private"),
    ("internal", "external"),
    ("rich", "poor"),
    ("strong", "weak"),
    ("strongest", "weakest"),
    ("long", "short"),
    ("longest", "shortest"),
    ("upper", "lower"),
    ("always", "never"),
    ("all", "none"),
    ("possible", "impossible"),
    ("common", "rare"),
    ("hot", "cold"),
    ("fast", "slow"),
    ("maximum", "minimum"),
    ("top", "bottom"),
    ("left", "right"),
    ("enter", "leave"),
    ("entered", "left"),
    ("gain", "lose"),
    ("gained", "lost"),
    ("rise", "fall"),
    ("rose", "fell"),
    ("include", "exclude"),
    ("included", "excluded"),
    ("positive", "negative"),
    ("agreed", "disagreed"),
    ("agree", "disagree"),
    ("built", "destroyed"),
    ("legal", "illegal"),
    ("young", "old"),
    ("simple", "complex"),
    ("easy", "hard"),
    ("active", "inactive"),
]
FLIP = dict(ANTONYMS) | {b: a for a, b in ANTONYMS}
FLIP["left"] = "entered"
NEGATE = re.compile(r"\b(is|are|was|were|did|does|do|has|have|had|can|could|would|will)\b")


def window(text: str, keep: int, size: int, rng: random.Random) -> tuple[str, int]:
    """About size sentences around sentence number keep; the text and where it starts."""
    spans = sentence_spans(text)
    size = min(size, len(spans))
    lo = max(0, min(keep - rng.randrange(size), len(spans) - size))
    return text[spans[lo][0] : spans[lo + size - 1][1]], spans[lo][0]


def best_sentence(query: str, text: str) -> int:
    """The sentence that shares the most content words with the query."""
    q = {w for w in words(query) if w not in STOP}
    spans = sentence_spans(text)
    score = [len(q & set(words(text[a:b]))) for a, b in spans]
    return max(range(len(score)), key=lambda i: (score[i], -i))


def sentence_of(text: str, at: int) -> int:
    """The number of the sentence that holds character at."""
    spans = sentence_spans(text)
    for i, (_, b) in enumerate(spans):
        if at < b:
            return i
    return len(spans) - 1


def _typos(text: str, rng: random.Random) -> str:
    out = []
    for w in text.split(" "):
        if len(w) > 4 and rng.random() < 0.06:
            i = rng.randrange(1, len(w) - 2)
            kind = rng.randrange(3)
            if kind == 0:
                w = w[:i] + w[i + 1] + w[i] + w[i + 2 :]
            elif kind == 1:
                w = w[:i] + w[i + 1 :]
            else:
                w = w[:i] + w[i] + w[i:]
        out.append(w)
    return " ".join(out)


def _spaced(text: str, _: random.Random) -> str:
    return re.sub(r"([,;:?!()\"])", r" \1 ", re.sub(r"\.(?=\s|$)", " .", text)).replace("  ", " ")


def _bullets(text: str, _: random.Random) -> str:
    return re.sub(r"(?<=[.!?])\s+(?=[A-Z])", "\n- ", text)


def _no_punct(text: str, _: random.Random) -> str:
    return re.sub(r"[^\w\s]", "", text)


def _lines(text: str, rng: random.Random) -> str:
    return "".join("\n" if c == " " and rng.random() < 0.08 else c for c in text)


def _lower(text: str, _: random.Random) -> str:
    return text.lower()


MESS: list[Callable[[str, random.Random], str]] = [
    _lower,
    _lower,
    _spaced,
    _spaced,
    _bullets,
    _no_punct,
    _typos,
    _lines,
]


def messy(text: str, span: Span, rng: random.Random) -> tuple[str, Span]:
    """One kind of untidiness over the text, the answer's span kept in place."""
    fn = rng.choice(MESS)
    if span is None:
        return fn(text, rng), None
    a, b = span
    pre, mid, post = (fn(text[:a], rng), fn(text[a:b], rng), fn(text[b:], rng))
    return pre + mid + post, (len(pre), len(pre) + len(mid))


def wrap(text: str, span: Span, rng: random.Random, title: str) -> tuple[str, Span]:
    """Put a heading, a list or code mark-up around the text."""
    pre, post = rng.choice(
        [
            (f"{title}\n", ""),
            (f"# {title}\n\n", ""),
            (f"{title}: ", ""),
            (f"## {title}\n", "\n"),
            ("| section | text |\n|---|---|\n| " + title + " | ", " |"),
            ("> ", ""),
            ("* ", ""),
            ("```\n", "\n```"),
            (f"{title} - ", " [1]"),
            ("<p>", "</p>"),
        ]
    )
    return pre + text + post, None if span is None else (span[0] + len(pre), span[1] + len(pre))


def messy_question(query: str, rng: random.Random) -> str:
    """Questions as people type them."""
    r = rng.random()
    if r < 0.35:
        return query.lower().rstrip("?. ").strip()
    if r < 0.6:
        return query.lower().replace("?", " ?")
    if r < 0.75:
        return _typos(query, rng)
    if r < 0.85:
        return query.rstrip("?")
    return re.sub(r"^(what|which)\b", lambda m: m.group(0).lower(), query, flags=re.I)


def keywords(query: str) -> str:
    """A question as a keyword query."""
    keep = [w for w in re.findall(r"[\w'-]+", query) if w.lower() not in STOP]
    return " ".join(keep)


def edit_question(query: str, passage: str, answer: str, rng: random.Random) -> str | None:
    """The question with an entity, a number, a word or the polarity changed, or None."""
    kinds = ["name", "number", "word", "not"]
    rng.shuffle(kinds)
    for kind in kinds:
        if kind == "number":
            found = list(NUMBER.finditer(query))
            if not found:
                continue
            m = rng.choice(found)
            year = bool(YEAR.fullmatch(m.group()))
            pool = sorted({n.group() for n in NUMBER.finditer(passage)} - {m.group(), answer})
            pool = [n for n in pool if bool(YEAR.fullmatch(n)) == year and n not in query]
            if year and (not pool or rng.random() < 0.5):
                new = str(int(m.group()) + rng.choice([-40, -12, -7, -3, -1, 1, 2, 5, 9, 20]))
            elif pool:
                new = rng.choice(pool)
            else:
                continue
        elif kind == "name":
            found = [m for m in NAME.finditer(query) if m.start() > 0]
            if not found:
                continue
            m = rng.choice(found)
            old = set(words(m.group()))
            pool = sorted(
                {
                    n.group()
                    for n in NAME.finditer(passage)
                    if not set(words(n.group())) & old
                    and n.group().split()[0].lower() not in STOP
                    and passage[max(0, n.start() - 2) : n.start()] not in ("", ". ")
                }
            )
            pool = [n for n in pool if n not in query and n not in answer and answer not in n]
            if not pool:
                continue
            new = rng.choice(pool)
        elif kind == "word":
            found = [m for m in re.finditer(r"\b[a-z]+\b", query) if m.group() in FLIP]
            if not found:
                continue
            m = rng.choice(found)
            new = FLIP[m.group()]
        else:
            found = list(NEGATE.finditer(query))
            if not found or rng.random() < 0.7:
                continue
            m = found[0]
            rest = query[m.end() :]
            # "did the X do" -> the negation goes in front of the verb when we can see it
            if m.group() in ("did", "does", "do", "can", "could", "would", "will"):
                toks = rest.rstrip("?").split(" ")
                if len(toks) < 4:
                    continue
                cut = rng.randrange(2, min(5, len(toks)))
                return f"{query[: m.end()]}{' '.join(toks[:cut])} not {' '.join(toks[cut:])}?"
            new = f"{m.group()} {rng.choice(['not', 'never'])}"
        return query[: m.start()] + new + query[m.end() :]
    return None


def cloze(passage: str, rng: random.Random) -> tuple[str, int, int] | None:
    """A question made of a sentence with its year, number or name asked for; and the span."""
    spans = sentence_spans(passage)
    rng.shuffle(spans)
    for a, b in spans[:4]:
        sent = passage[a:b]
        if not 30 < len(sent) < 330:
            continue
        cands: list[tuple[int, int, str]] = []
        for m in YEAR.finditer(sent):
            lead = sent[: m.start()].rstrip().lower()
            cands.append((m.start(), m.end(), "what year" if lead.endswith("in") else "which year"))
        for m in NUMBER.finditer(sent):
            if YEAR.fullmatch(m.group()):
                continue
            nxt = sent[m.end() :].strip().split(" ")[0] if sent[m.end() :].strip() else ""
            how = "what percentage" if nxt.startswith(("%", "percent")) else "how many"
            cands.append((m.start(), m.end(), how))
        for m in NAME.finditer(sent):
            if m.start() == 0 and " " not in m.group():
                continue
            if m.group().split()[0].lower() in STOP:
                continue
            lead = sent[: m.start()].rstrip().lower()
            wh = (
                "who"
                if lead.endswith(" by")
                else "which place"
                if lead.endswith((" in", " at"))
                else "what"
            )
            cands.append((m.start(), m.end(), wh))
        if not cands:
            continue
        s, e, wh = rng.choice(cands)
        left, right = sent[:s].split(" "), sent[e:].split(" ")
        # keep a stretch of 7 to 14 words around the gap, cut at clause ends where possible
        lo, hi = rng.randrange(4, 10), rng.randrange(3, 8)
        left_text = " ".join(left[-lo:]) if len(left) > lo else " ".join(left)
        right_text = " ".join(right[:hi]) if len(right) > hi else " ".join(right)
        left_text = re.split(r"[;:]\s", left_text)[-1].lstrip(" ,()\"'")
        right_text = re.split(r"[;:,(]\s?", right_text)[0].rstrip(" .,()\"'")
        if len(words(left_text + right_text)) < 5:
            continue
        if rng.random() < 0.5 or not left_text:
            q = f"{left_text.strip()} {wh} {right_text.strip()}?"
        else:
            prep = ""
            lt = left_text.strip()
            m = re.search(r"\b(in|at|by|from|of|to|on|for|with)$", lt)
            if m:
                prep, lt = m.group(1) + " ", lt[: m.start()].strip()
            q = f"{prep}{wh} {lt} {right_text.strip()}?"
        q = re.sub(r"\s+", " ", q).strip()
        return q[0].upper() + q[1:], a + s, a + e
    return None


AUX = r"(?:is|are|was|were|did|does|do|has|have|had|can|could|would|will)"
WH_LEAD = re.compile(
    r"^(?P<prep>in|on|at|by|for|from|to|with|of|during|under)?\s*"
    r"(?P<wh>who|whom|what|which|when|where|why|how many|how much|how long|how old|how far|how)\b"
    r"\s*(?P<rest>.*)$",
    re.I | re.S,
)
PARTICIPLE = re.compile(
    r"\b(?:\w+ed|\w+en|built|made|held|found|known|led|born|won|lost|put|set)\b"
)


def answer_kind(query: str) -> str:
    """What a question asks for, roughly: time, number, person, place, or thing."""
    q = query.lower()
    if re.search(r"\bwhen\b|what (year|date|century|month|day)", q):
        return "time"
    if re.search(r"how (many|much|long|old|far)|what percent", q):
        return "number"
    if re.search(r"\bwhom?\b", q):
        return "person"
    if re.search(r"\bwhere\b|(what|which) (city|country|state|place|continent|river)", q):
        return "place"
    return "thing"


def declare(query: str, answer: str) -> tuple[str, int] | None:
    """A sentence that answers the question with answer, and where the answer starts in it."""
    q = query.strip().rstrip("?. ").strip()
    m = WH_LEAD.match(q)
    if not m or len(q.split()) < 4:
        return None
    wh, rest = m["wh"].lower(), m["rest"].strip()
    mark = "\0"
    prep = (m["prep"] or "").lower()
    aux = re.match(rf"^(?P<noun>(?:[\w'-]+ ){{0,4}}?)(?P<aux>{AUX})\s+(?P<tail>.+)$", rest, re.I)
    if aux and (
        aux["aux"].lower() in ("did", "does", "do")
        or prep
        or wh in ("when", "where", "why", "how")
        or wh.startswith("how ")
    ):
        noun, verb, tail = aux["noun"].strip(), aux["aux"].lower(), aux["tail"]
        if verb not in ("did", "does", "do"):
            part = [p for p in PARTICIPLE.finditer(tail) if p.start() > 0]
            cut = part[0].start() if part else len(tail)
            tail = f"{tail[:cut].strip()} {verb} {tail[cut:].strip()}".strip()
        if wh.startswith("how ") and wh != "how":
            text = f"{tail} {mark} {noun}"
        else:
            word = prep or {"when": "in", "where": "in", "why": "because of", "how": "through"}.get(
                wh, ""
            )
            text = f"{tail} {word} {mark}"
    elif aux and not aux["noun"] and aux["aux"].lower() in ("is", "are", "was", "were"):
        tail = aux["tail"]
        text = (
            f"{tail} {aux['aux'].lower()} {mark}"
            if tail.lower().startswith(("the ", "a ", "an ", "one "))
            else f"{mark} {aux['aux'].lower()} {tail}"
        )
    elif wh.startswith("how ") or wh in ("who", "what", "which"):
        text = f"{mark} {rest}"
    else:
        return None
    text = re.sub(r"\s+", " ", text).strip()
    at = text.index(mark)
    text = text.replace(mark, answer)
    if at:
        text = text[0].upper() + text[1:]
    return text + ".", at


def insert_sentence(text: str, sentence: str, rng: random.Random) -> tuple[str, int]:
    """The text with the sentence put between two of its sentences; and where it went."""
    ends = [0, *[b for _, b in sentence_spans(text)]]
    at = rng.choice(ends)
    pre = text[:at].rstrip()
    post = text[at:].lstrip()
    lead = pre + " " if pre else ""
    return lead + sentence + (" " + post if post else ""), len(lead)
