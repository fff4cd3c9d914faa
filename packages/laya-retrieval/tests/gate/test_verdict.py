"""What a gate says."""

import dataclasses

import pytest
from laya_retrieval import GateError, GateState, Verdict


def test_only_a_measured_verdict_has_a_probability():
    verdict = Verdict.not_measured([])
    with pytest.raises(GateError, match="exactly when it was measured"):
        dataclasses.replace(verdict, answerability=0.0)
    with pytest.raises(GateError, match="exactly when it was measured"):
        dataclasses.replace(verdict, state=GateState.MEASURED)


def test_a_verdict_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Verdict.not_measured([]).answerable = True


def test_the_states_are_named_as_specified():
    assert [s.value for s in GateState] == ["measured", "gate_not_reached", "not_measured"]
