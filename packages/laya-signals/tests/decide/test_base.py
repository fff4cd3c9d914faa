"""The decision model's seam."""

from laya_signals.decide import DecisionModel, model_fingerprint


class Agent:
    """Answers as agents of the public package do."""

    def predict_batch(self, states, questions):
        return [{"answers": {}} for _ in states]


class Named(Agent):
    """Has a fingerprint of its own."""

    fingerprint = "abc123"


def test_anything_that_predicts_in_batches_is_a_decision_model():
    assert isinstance(Agent(), DecisionModel)
    assert not isinstance(object(), DecisionModel)


def test_a_model_is_known_by_its_own_fingerprint_or_its_class():
    assert model_fingerprint(Named()) == "abc123"
    assert model_fingerprint(Agent()).startswith("class-")
    assert model_fingerprint(Agent()) == model_fingerprint(Agent())
