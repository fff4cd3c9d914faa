"""Coverage selection."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_retrieval import Candidate, CoverageSelector
from laya_retrieval.process.cover import Atoms
from laya_signals.tokenize.regex import RegexTokenizer


def ids(candidates):
    return [c.id for c in candidates]


POOL = [
    Candidate("a", 0.9, "The tax rate rose."),
    Candidate("b", 0.8, "The tax rate rose."),
    Candidate("c", 0.1, "Revenue fell by half."),
]


def test_a_new_fact_beats_the_same_fact_again():
    assert ids(CoverageSelector(top_k=2, lam=0.9).process("tax revenue", POOL)) == ["a", "c"]


def test_lambda_zero_takes_the_best_scores():
    assert ids(CoverageSelector(top_k=2, lam=0.0).process("tax", POOL)) == ["a", "b"]


def test_redundancy_counts_against_likeness():
    chosen = CoverageSelector(top_k=2, lam=0.0, redundancy=2.0).process("tax", POOL)
    assert ids(chosen) == ["a", "c"]


def test_seeds_come_from_distinct_documents():
    pool = [
        Candidate("d1#1", 0.9, "One thing. Two things."),
        Candidate("d1#2", 0.8, "Three things. Four things."),
        Candidate("d2#1", 0.1, "One thing."),
    ]
    assert ids(CoverageSelector(top_k=2, lam=1.0).process("q", pool)) == ["d1#1", "d1#2"]
    assert ids(CoverageSelector(top_k=2, lam=1.0, seed_documents=2).process("q", pool)) == [
        "d1#1",
        "d2#1",
    ]


def test_a_small_pool_is_left_alone():
    assert CoverageSelector(top_k=3).process("q", POOL) == POOL
    assert CoverageSelector().process("q", []) == []


def test_candidates_without_text_can_be_chosen_too():
    pool = [Candidate("a", 1.0), Candidate("b", 0.5), Candidate("c", 0.2, "A fact.")]
    assert len(CoverageSelector(top_k=2).process("q", pool)) == 2


words = st.sampled_from("alpha beta gamma delta epsilon".split())
sentences = st.lists(words, min_size=1, max_size=4).map(lambda w: " ".join(w).capitalize() + ".")
texts = st.lists(sentences, min_size=1, max_size=3).map(" ".join)


def coverage_of(atoms, chosen):
    return float(atoms.coverage[list(chosen)].max(axis=0) @ atoms.weights)


@settings(max_examples=40, deadline=None)
@given(st.lists(texts, min_size=4, max_size=7))
def test_greedy_coverage_is_within_its_bound_of_the_best(pool):
    candidates = [Candidate(f"c{i}", 1.0, text) for i, text in enumerate(pool)]
    tokenizer = RegexTokenizer()
    chosen = CoverageSelector(top_k=3, lam=1.0, tokenizer=tokenizer).process("alpha", candidates)
    atoms = Atoms.of("alpha", pool, tokenizer)
    picked = coverage_of(atoms, [int(c.id[1:]) for c in chosen])
    best = max(coverage_of(atoms, s) for s in itertools.combinations(range(len(pool)), 3))
    assert picked >= (1 - 1 / 2.718281828) * best - 1e-9


def test_everything_together_covers_everything():
    atoms = Atoms.of("q", [c.text for c in POOL], RegexTokenizer())
    assert coverage_of(atoms, range(3)) == pytest.approx(1.0)
