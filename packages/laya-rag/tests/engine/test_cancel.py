from __future__ import annotations

import pytest
from laya_rag.engine.cancel import BatchedModel, CancelToken
from laya_rag.engine.clock import Clock
from laya_rag.errors import StoppedError
from laya_retrieval.testing import FakeDecisionModel

QUESTION = {"id": "q", "type": "noul", "instructions": "It holds."}
STATES = [{"query": "tide", "document": f"tide {n}" if n % 2 else "mill"} for n in range(7)]


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_slices_change_no_answer(size: int) -> None:
    inner = FakeDecisionModel()
    model = BatchedModel(inner, size, lambda: None)
    assert model.predict_batch(STATES, [QUESTION]) == FakeDecisionModel().predict_batch(
        STATES, [QUESTION]
    )
    assert max(len(states) for states, _ in inner.calls) <= size
    assert model.fingerprint == inner.fingerprint


def test_a_cancelled_question_stops_between_two_slices() -> None:
    token = CancelToken()

    def noul(state: object, question: object) -> float:
        token.cancel()
        return 0.5

    inner = FakeDecisionModel(noul)
    with pytest.raises(StoppedError):
        BatchedModel(inner, 2, token.check).predict_batch(STATES, [QUESTION])
    assert [len(states) for states, _ in inner.calls] == [2]


def test_a_cancelled_question_enters_no_further_stage() -> None:
    clock = Clock()
    with clock.stage("one"):
        clock.cancel.cancel()
        clock.cancel.cancel()
    with pytest.raises(StoppedError), clock.stage("two"):
        pytest.fail("entered")
    assert clock.cancel.cancelled


def test_a_stage_inside_another_counts_for_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 1.0, 3.0, 6.0, 10.0, 11.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(now))
    clock = Clock()  # 0
    with clock.stage("gate"), clock.stage("rerank"):  # 1, 3; ends at 6, 10
        pass
    assert clock.seconds() == {"rerank": 3.0, "gate": 6.0, "total": 11.0}


def test_a_stage_that_comes_again_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 1.0, 3.0, 6.0, 10.0, 11.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(now))
    clock = Clock()
    for _ in range(2):
        with clock.stage("search"):
            pass
    assert clock.seconds() == {"search": 6.0, "total": 11.0}
