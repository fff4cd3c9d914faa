"""How long it takes to check a 2,000-word answer against 10 passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from laya_retrieval.candidate import Candidate
from laya_retrieval.extract import extract_answer
from laya_retrieval.sentences import split_sentences
from laya_retrieval.verify.citations import verify_citations
from laya_retrieval.verify.injection import scan_injection

from laya_eval.bench.row import Row
from laya_eval.bench.setup import Setup
from laya_eval.bench.timing import median_ms

_WORDS = """revenue tax report quarter growth margin market region price cost capital labour trade
energy supply demand policy budget export import rate bond yield index asset share profit loss
forecast survey sample trial patient dose effect group study model result figure table""".split()


def measure(setup: Setup) -> Iterator[Row]:
    """Medians of each check; what it found is beside it."""
    pool = passages()
    text = answer(pool, setup.of(2000, 2000, 100))
    counts = verify_citations(text, pool).counts
    note = f"{counts.claims} claims, {counts.citations} citations, {counts.quotes} quotes, "
    note += f"{counts.numbers} numbers"
    checks: dict[str, Callable[[], object]] = {
        f"verify the citations of {len(text.split()):,} words": partial(
            verify_citations, text, pool
        ),
        "of which split sentences": partial(split_sentences, text),
        f"scan {len(pool)} passages for instructions": partial(scan_injection, pool),
        "extract an answer": partial(extract_answer, "revenue and tax growth", pool),
    }
    for number, (task, work) in enumerate(checks.items()):
        spent = median_ms(work, setup.of(15, 5, 1))
        yield Row(task, "ms", spent, note=note if number == 0 else "")


def passages(n: int = 10, words: int = 200) -> list[Candidate]:
    """`n` passages of about `words` words with numbers in them."""
    draws = np.random.default_rng(0)
    found = []
    for i in range(n):
        sentences = []
        for j in range(words // 12):
            chosen = " ".join(draws.choice(_WORDS, 10))
            sentences.append(
                f"{chosen.capitalize()} by ${1000 * i + j:,}.50 or {j + i / 10:.1f} %."
            )
        found.append(Candidate(f"doc{i}#chunk-0", 1.0 - i / 100, " ".join(sentences)))
    return found


def answer(pool: Sequence[Candidate], words: int = 2000) -> str:
    """An answer of about `words` words; sentences cite, every third quotes, every second counts."""
    draws = np.random.default_rng(1)
    sentences: list[str] = []
    length = 0
    while length < words:
        source = int(draws.integers(len(pool)))
        text = " ".join(draws.choice(_WORDS, 12)).capitalize()
        if len(sentences) % 3 == 0:
            quoted = pool[source].text.split()[3:9]
            text += f", “{' '.join(quoted).upper()}”"
        if len(sentences) % 2 == 0:
            text += f" of {1000 * source + len(sentences) % 20}.5"
        sentences.append(f"{text} [{source + 1}].")
        length += len(sentences[-1].split())
    return "\n\n".join(
        " ".join(sentences[start : start + 5]) for start in range(0, len(sentences), 5)
    )
