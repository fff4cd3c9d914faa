from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_rag.config import Settings
from laya_rag.engine.cancel import CancelToken
from laya_rag.engine.clock import Clock
from laya_rag.engine.parts import Parts
from laya_rag.engine.second import Evidence
from laya_rag.testing import chunk
from laya_retrieval.candidate import Candidate
from laya_retrieval.gate.verdict import GateState
from laya_retrieval.guard import TrustFilter
from laya_retrieval.process.rerank import Reranker
from laya_retrieval.testing import FakeCrossEncoder, FakeDecisionModel

QUERY = "tide mill"


def rows(*texts: str, documents: int | None = None) -> list[Candidate]:
    return [
        chunk(
            f"d{n if documents is None else n % documents}#chunk-{n}", text, start=n * 1000
        ).with_score(1 - n / 100)
        for n, text in enumerate(texts)
    ]


def run(
    pool: Sequence[Candidate], changes: dict[str, object], model: FakeDecisionModel | None = None
) -> Evidence:
    settings = Settings().updated(changes)
    second = Parts(model or FakeDecisionModel()).second(settings, CancelToken())
    return second.run(QUERY, pool, [TrustFilter()], Clock())


POOL = rows("tide mill", "bread", "the tide", "a mill and a tide", "tide mill", "mill")


def test_the_gate_keeps_what_is_relevant_and_asks_about_that() -> None:
    found = run(POOL, {})
    assert [c.id for c in found.candidates] == [POOL[n].id for n in (0, 2, 3, 4, 5)]
    assert found.verdict.state is GateState.MEASURED
    assert found.verdict.answerable is True
    assert found.funnel.below_relevance == 1


def test_the_cascade_leaves_the_rest_unread() -> None:
    model = FakeDecisionModel()
    found = run(POOL, {"gate.candidates": 2}, model)
    assert sum(len(states) for states, _ in model.calls) == 3  # two passages, one evidence
    assert found.funnel.considered == 6
    assert found.funnel.dropped_before_scoring == 4
    assert [c.id for c in found.verdict.dropped] == [POOL[n].id for n in (1, 2, 3, 4, 5)]


def test_without_relevant_passages_nothing_is_measured() -> None:
    found = run(rows("bread", "salt"), {})
    assert found.verdict.state is GateState.GATE_NOT_REACHED
    assert found.verdict.answerability is None
    assert found.candidates == ()


@pytest.mark.parametrize("switch", ["gate.enabled", "second.enabled"])
def test_switched_off_nothing_is_measured_and_everything_kept(switch: str) -> None:
    model = FakeDecisionModel()
    found = run(POOL, {switch: False, "search.keep": 2}, model)
    assert found.verdict.state is GateState.NOT_MEASURED
    assert [c.id for c in found.candidates] == [POOL[0].id, POOL[1].id]
    assert model.calls == []
    assert found.funnel.scored == 0


def test_repeats_are_dropped_before_the_gate_reads_them() -> None:
    model = FakeDecisionModel()
    found = run(POOL, {"second.dedup": {}}, model)
    assert found.funnel.retrieved == 6
    assert found.funnel.duplicates == 1
    assert sum(len(states) for states, _ in model.calls) == 6
    assert found.candidates[0].metadata["duplicates"] == (POOL[4].id,)


def test_the_answer_is_asked_of_what_comes_out_at_the_end() -> None:
    model = FakeDecisionModel(lambda state, question: 0.9)
    pool = rows("alpha", "beta", "gamma", "delta", documents=2)
    found = run(pool, {"second.quota": {}, "search.keep": 2, "second.pack": {"budget": 4}}, model)
    assert [c.text for c in found.candidates] == ["alpha", "beta"]
    [[state], _] = model.calls[-1]
    assert state["evidence"] == "\n\n".join(
        f"{c.metadata['title']}\n{c.text}" for c in found.candidates
    )


def test_a_budget_that_nothing_fits_measures_nothing() -> None:
    found = run(rows("tide mill " * 50), {"second.pack": {"budget": 3}})
    assert found.candidates == ()
    assert found.verdict.state is GateState.GATE_NOT_REACHED
    assert found.packed is not None
    assert [item.reason for item in found.packed.skipped] == ["too_large"]


def test_cover_and_quota_follow_keep_unless_told_otherwise() -> None:
    parts = Parts(FakeDecisionModel())
    changes: dict[str, object] = {"search.keep": 2, "second.cover": {}, "second.quota": {}}
    order = dict(parts.second(Settings().updated(changes), CancelToken()).order)
    assert (order["cover"].config.top_k, order["quota"].config.documents) == (2, 2)
    changes |= {"second.cover": {"top_k": 7}, "second.quota": {"documents": 3}}
    order = dict(parts.second(Settings().updated(changes), CancelToken()).order)
    assert (order["cover"].config.top_k, order["quota"].config.documents) == (7, 3)


def test_the_steps_run_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reranker, "model", FakeCrossEncoder())
    settings = Settings().updated(
        {"second.rerank": {"model": "fake"}, "second.cover": {}, "second.quota": {}}
    )
    second = Parts(FakeDecisionModel()).second(settings, CancelToken())
    assert [name for name, _ in second.order] == ["rerank", "cover", "quota"]
    clock = Clock()
    found = second.run(QUERY, POOL, [TrustFilter()], clock)
    assert list(clock.seconds()) == ["rerank", "cover", "quota", "gate", "total"]
    assert [c.score for c in found.candidates] == [2.0, 2.0, 2.0, 1.0, 1.0]


def test_nothing_that_a_guard_forbids_comes_out() -> None:
    hidden = chunk("x#chunk-0", "tide mill", tier="quarantined").with_score(2.0)
    for gate in (True, False):
        found = run([hidden, *POOL], {"gate.enabled": gate, "search.keep": 99})
        assert len(found.candidates) >= 5
        assert hidden.id not in {c.id for c in found.candidates}


def test_other_gates_judge_what_is_read() -> None:
    settings = Settings().updated(
        {
            "gate.judge": {"provider": "gate.nli", "config": {"model": "fake"}},
            "gate.candidates": 3,
            "gate.relevance": 0.25,
        }
    )
    parts = Parts()
    gate = parts.gate(settings, CancelToken())
    assert gate.config.relevance_threshold == 0.25
    assert parts.gate(settings, CancelToken()) is gate  # its model is loaded once


@given(
    st.lists(st.sampled_from(["tide", "mill", "tide mill", "bread", "tide and mill"]), max_size=12),
    st.integers(1, 6),
    st.integers(1, 6),
    st.booleans(),
)
def test_the_funnel_adds_up_and_nothing_gets_lost(
    texts: list[str], keep: int, candidates: int, dedup: bool
) -> None:
    pool = rows(*texts)
    changes = {"search.keep": keep, "gate.candidates": candidates}
    found = run(pool, {**changes, "second.dedup": {} if dedup else None})
    funnel = found.funnel
    assert funnel.retrieved == len(pool) == funnel.duplicates + funnel.considered
    assert funnel.considered == funnel.dropped_before_scoring + funnel.scored
    assert funnel.scored == funnel.below_relevance + funnel.kept
    assert funnel.evidence == len(found.candidates) == min(keep, funnel.kept)
    judged = [c.id for c in (*found.verdict.kept, *found.verdict.dropped)]
    assert len(judged) == len(set(judged)) == funnel.considered
