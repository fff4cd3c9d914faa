"""The packer: the most value with the least repetition within a token budget."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval.candidate import Candidate, ranked
from laya_retrieval.errors import PackError
from laya_retrieval.process.base import Processor
from laya_retrieval.process.pack import Packer
from laya_retrieval.process.redundancy import shingle_similarity
from laya_signals.errors import ConfigError

TEXT = "Revenue grew by a tenth. Tax fell by a half. Nothing else changed in the year."


def words(text):
    return len(text.split())


def ids(candidates):
    return [candidate.id for candidate in candidates]


def skipped(result):
    return {item.candidate.id: item.reason for item in result.skipped}


def chunk(name, start, end, score):
    return Candidate(name, score, TEXT[start:end], {"document_id": "d", "start": start, "end": end})


def test_the_best_pair_that_fits_is_packed(reports):
    assert ids(Packer({"budget": 12}).process("q", reports)) == ["b", "c"]


def test_signals_add_to_the_value():
    pool = [
        Candidate("b", 0.5, "beta", {"kg_node_centrality": [0.1]}),
        Candidate("a", 0.5, "alpha", {"kg_node_centrality": [0.9, 0.2]}),
    ]
    weights = {"kg_node_centrality": 1.0}
    assert ids(Packer({"budget": 50, "value_signals": weights}).process("q", pool)) == ["a", "b"]
    one = Packer(budget=1, value_signals=weights).pack("q", pool)
    assert ids(one.candidates) == ["a"]
    assert one.objective == pytest.approx(0.5 + (0.9 + 0.2) / 2)


def test_three_texts_on_one_subject_are_all_kept():
    pool = [
        Candidate(f"d{i}", score, f"doc {i} about revenue")
        for i, score in enumerate([0.0328, 0.0323, 0.0317])
    ]
    assert ids(Packer(budget=40).process("q", pool)) == ["d0", "d1", "d2"]


def test_a_packer_is_a_processor():
    assert isinstance(Packer(), Processor)


def test_an_empty_list_gives_an_empty_list():
    assert Packer().process("q", []) == []
    result = Packer().pack("q", [])
    assert (result.candidates, result.tokens, result.skipped, result.objective) == ((), 0, (), 0)


def test_output_is_by_incoming_score_and_then_by_id():
    pool = [Candidate("z", 0.1, "one"), Candidate("b", 0.5, "two"), Candidate("a", 0.5, "three")]
    weights = {"value_signals": {"boost": 1.0}, "budget": 10}
    pool[0] = pool[0].with_metadata(boost=9.0)
    assert ids(Packer(weights).process("q", pool)) == ["a", "b", "z"]


def test_an_item_larger_than_the_budget_is_skipped_and_said_to_be():
    pool = [Candidate("huge", 9.0, "a b c d e"), Candidate("ok", 0.1, "a b")]
    result = Packer(budget=4).pack("q", pool)
    assert ids(result.candidates) == ["ok"]
    assert skipped(result) == {"huge": "too_large"}
    assert result.skipped[0].tokens == 5


def test_separators_count_between_items_only():
    pool = [Candidate(name, 1.0, f"{name} {name}") for name in "abc"]
    assert len(Packer(budget=8, separator_tokens=1).process("q", pool)) == 3
    result = Packer(budget=7, separator_tokens=1).pack("q", pool)
    assert (len(result.candidates), result.tokens) == (2, 5)
    assert set(skipped(result).values()) == {"no_room"}


def test_a_copy_is_redundant_even_when_there_is_room():
    pool = [
        Candidate("a", 0.9, "revenue grew by a tenth"),
        Candidate("b", 0.8, "Revenue grew, by a tenth."),
        Candidate("c", 0.1, "tax fell"),
    ]
    result = Packer(budget=99).pack("q", pool)
    assert ids(result.candidates) == ["a", "c"]
    assert skipped(result) == {"b": "redundant"}


def test_redundancy_weight_zero_packs_copies():
    pool = [Candidate("a", 0.9, "one two three"), Candidate("b", 0.8, "one two three")]
    assert len(Packer(redundancy_weight=0.0).process("q", pool)) == 2


def test_an_id_that_occurs_twice_is_packed_once_at_its_best_score():
    result = Packer().pack("q", [Candidate("a", 0.1, "worse"), Candidate("a", 0.9, "better")])
    assert [candidate.text for candidate in result.candidates] == ["better"]
    assert skipped(result) == {"a": "duplicate_id"}


def test_overlapping_chunks_of_a_document_are_never_both_packed():
    pool = [chunk("a", 0, 24, 0.9), chunk("b", 20, 44, 0.8), chunk("c", 44, 78, 0.1)]
    result = Packer().pack("q", pool)
    assert ids(result.candidates) == ["a", "c"]
    assert skipped(result) == {"b": "overlaps"}


def test_merge_overlaps_joins_spans_and_counts_the_shared_text_once():
    pool = [chunk("a", 0, 24, 0.9), chunk("b", 18, 44, 0.8)]
    result = Packer(merge_overlaps=True, counter=len, budget=44).pack("q", pool)
    assert [candidate.text for candidate in result.candidates] == [TEXT[0:44]]
    assert result.candidates[0].metadata["merged_ids"] == ("a", "b")
    assert result.tokens == 44
    assert skipped(result) == {}


def test_the_tokens_that_joining_saves_are_spent():
    pool = [
        chunk("a", 0, 24, 0.9),
        chunk("b", 12, 36, 0.8),
        Candidate("c", 0.7, "some other text"),  # 15 characters; a and b joined take 36
    ]
    packer = Packer(merge_overlaps=True, counter=len, budget=36 + 15)
    assert ids(packer.process("q", pool)) == ["a", "c"]
    assert packer.pack("q", pool).tokens == 51


def test_where_spans_can_be_joined_the_result_is_not_called_exact():
    pool = [chunk("a", 0, 24, 0.9), chunk("b", 24, 44, 0.8)]
    assert Packer(merge_overlaps=True).pack("q", pool).method == "heuristic"
    assert Packer(merge_overlaps=True).pack("q", pool[:1]).method == "exact"


def test_overlapping_texts_that_disagree_are_not_joined_and_not_both_packed():
    other = Candidate("b", 0.8, "X" * 26, {"document_id": "d", "start": 18, "end": 44})
    result = Packer(merge_overlaps=True).pack("q", [chunk("a", 0, 24, 0.9), other])
    assert ids(result.candidates) == ["a"]
    assert skipped(result) == {"b": "overlaps"}


def test_negative_scores_are_counted_from_the_lowest():
    pool = [
        Candidate("a", -1.0, "one"),
        Candidate("b", -3.0, "two"),
        Candidate("c", -9.0, "three"),
    ]
    result = Packer(budget=2).pack("q", pool)
    assert ids(result.candidates) == ["a", "b"]
    assert (result.floor, result.objective) == (-9.0, 14.0)
    assert len(Packer().process("q", pool)) == 3


def test_what_is_worth_nothing_is_packed_while_it_fits_unless_it_repeats():
    pool = [
        Candidate("a", 1.0, "one two three"),
        Candidate("b", 0.0, "one two three"),
        Candidate("c", 0.0, "four"),
        Candidate("d", 0.0, "five six"),
    ]
    result = Packer(budget=5, counter=words).pack("q", pool)
    assert ids(result.candidates) == ["a", "c"]
    assert skipped(result) == {"b": "redundant", "d": "no_room"}


def test_a_dotted_signal_reaches_into_mappings():
    pool = [
        Candidate("a", 0.5, "one", {"context_header": {"centrality": 2.0}}),
        Candidate("b", 0.5, "two", {"context_header": None}),
    ]
    packer = Packer(budget=9, value_signals={"context_header.centrality": 0.5})
    assert packer.pack("q", pool).objective == pytest.approx(2.0)


def test_an_empty_or_absent_signal_adds_nothing():
    pool = [Candidate("a", 0.5, "one", {"boost": []}), Candidate("b", 0.5, "two")]
    assert Packer(value_signals={"boost": 3.0}).pack("q", pool).objective == pytest.approx(1.0)


@pytest.mark.parametrize("signal", ["high", True, [1.0, "x"], float("nan"), {"a": 1}])
def test_a_malformed_signal_names_the_candidate_and_the_key(signal):
    with pytest.raises(PackError, match=r"'bad'.*'boost'"):
        Packer(value_signals={"boost": 1.0}).pack(
            "q", [Candidate("bad", 1.0, "x", {"boost": signal})]
        )


def test_a_counter_that_misbehaves_names_the_candidate():
    with pytest.raises(PackError, match="'bad'"):
        Packer(counter=lambda text: -1).process("q", [Candidate("bad", 1.0, "x")])


def test_the_counter_goes_by_name_too():
    assert Packer(counter="heuristic").config == Packer({"counter": "heuristic"}).config
    with pytest.raises(PackError, match="unknown token counter"):
        Packer(counter="guess")


@pytest.mark.parametrize(
    "settings",
    [
        {"budget": 0},
        {"budget": -3},
        {"separator_tokens": -1},
        {"redundancy_weight": -0.1},
        {"redundancy_weight": float("inf")},
        {"value_signals": {"boost": float("nan")}},
        {"size": 3},
    ],
)
def test_wrong_settings_are_refused(settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        Packer(settings)


def test_a_literal_special_token_is_text():
    assert ids(Packer().process("q", [Candidate("a", 1.0, "<|endoftext|>")])) == ["a"]


def test_the_counter_is_part_of_the_fingerprint():
    assert Packer().fingerprint == Packer({"budget": 2048}).fingerprint
    assert Packer(counter=words).fingerprint != Packer().fingerprint


# --- invariants -----------------------------------------------------------------------------------

VOCABULARY = ["tax", "revenue", "grew", "fell", "bread"]


@st.composite
def candidates(draw, most=8):
    pool = []
    for i in range(draw(st.integers(0, most))):
        start = draw(st.integers(0, 60))
        end = min(start + draw(st.integers(1, 25)), len(TEXT))
        score = draw(st.sampled_from([0.0, 0.25, 0.5, 1.0, -0.5]) | st.floats(0.0, 2.0))
        if draw(st.booleans()):
            pool.append(chunk(f"c{i}", start, end, score))
        else:
            text = " ".join(draw(st.lists(st.sampled_from(VOCABULARY), max_size=6)))
            pool.append(Candidate(f"c{i}", score, text))
    return pool


packers = st.builds(
    Packer,
    budget=st.integers(1, 40),
    separator_tokens=st.integers(0, 2),
    redundancy_weight=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    merge_overlaps=st.booleans(),
    counter=st.sampled_from([words, len, "heuristic", lambda text: len(text) ** 2 // 7]),
)


@given(packers, candidates())
def test_the_budget_is_never_exceeded_and_the_count_is_right(packer, pool):
    result = packer.pack("q", pool)
    texts = [candidate.text for candidate in result.candidates]
    separators = packer.config.separator_tokens * max(0, len(texts) - 1)
    assert result.tokens == sum(packer._count(text) for text in texts) + separators
    assert result.tokens <= result.budget == packer.config.budget


@given(packers, candidates())
def test_every_candidate_is_packed_or_skipped_and_none_is_changed(packer, pool):
    before = list(pool)
    result = packer.pack("q", pool)
    assert pool == before
    packed = [
        name
        for candidate in result.candidates
        for name in candidate.metadata.get("merged_ids", (candidate.id,))
    ]
    assert sorted(packed + [item.candidate.id for item in result.skipped]) == sorted(ids(pool))
    assert list(result.candidates) == ranked(result.candidates)


@given(packers, candidates(), st.randoms())
def test_the_order_of_the_input_makes_no_difference(packer, pool, random):
    shuffled = list(pool)
    random.shuffle(shuffled)
    assert packer.pack("q", shuffled) == packer.pack("q", pool)


@given(packers, candidates())
def test_no_character_of_a_document_is_packed_twice(packer, pool):
    covered = set()
    for candidate in packer.process("q", pool):
        if "start" in candidate.metadata:
            span = range(candidate.metadata["start"], candidate.metadata["end"])
            assert covered.isdisjoint(span)
            covered.update(span)
            assert candidate.text == TEXT[span.start : span.stop]


@given(candidates(most=7), st.integers(1, 20), st.integers(0, 2))
def test_small_pools_are_packed_as_brute_force_packs_them(pool, budget, separator):
    pool = [candidate for candidate in pool if not candidate.metadata]
    packer = Packer(budget=budget, separator_tokens=separator, counter=words)
    result = packer.pack("q", pool)
    floor = min([0.0, *(candidate.score for candidate in pool)])
    values = [candidate.score - floor for candidate in pool]
    similar = shingle_similarity([candidate.text for candidate in pool])
    best = 0.0
    for size in range(1, len(pool) + 1):
        for chosen in itertools.combinations(range(len(pool)), size):
            if sum(words(pool[i].text) for i in chosen) + separator * (size - 1) <= budget:
                repeats = sum(
                    similar[i, j] * min(values[i], values[j])
                    for i, j in itertools.combinations(chosen, 2)
                )
                best = max(best, sum(values[i] for i in chosen) - repeats)
    assert result.method == "exact"
    assert result.objective == pytest.approx(best)


@given(packers, candidates())
def test_packing_what_was_packed_keeps_all_of_it(packer, pool):
    once = packer.process("q", [c for c in pool if c.score > 0 and not c.metadata])
    assert packer.process("q", once) == once


def test_a_hundred_long_candidates_take_milliseconds():
    pool = [
        Candidate(f"c{i}", 1.0 / (i + 1), " ".join(f"word{(i * 37 + j) % 997}" for j in range(150)))
        for i in range(100)
    ]
    packer = Packer(budget=4000)
    packer.pack("q", pool)
    started = time.perf_counter()
    packer.pack("q", pool)
    assert time.perf_counter() - started < 1.0  # about 0.1 s on a slow core; a guard, not a bench
