"""The ONNX runtime on a small random model, with numpy as the oracle."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from laya_signals.decide import DecisionModel, QuestionError, by_id, parse_questions
from laya_signals.decide.onnx import OnnxDecisionModel
from laya_signals.decide.sequence import SequenceBuilder
from laya_signals.errors import ModelError

QUESTIONS = [
    {"id": "holds", "type": "noul", "instructions": "the cat sat on the mat"},
    {
        "id": "pick",
        "type": "choice",
        "instructions": "cat",
        "options": {"a": "cat", "b": "mat", "c": ""},
    },
    {"id": "rate", "type": "score", "instructions": "river", "options": ["no", "yes", "a", "b"]},
]
STATES = [
    "the cat sat",
    {"query": "Köln", "document": "東京 river"},
    ["a", "b", "the cat"],
    "river " * 200,
    "",
    "the mat , the cat . " * 3,
]


@pytest.fixture
def model(export):
    return OnnxDecisionModel(*export())


def test_answers_agree_with_numpy(model, tiny, tokenizer, export_config):
    builder = SequenceBuilder(tokenizer, max_len=96, head_max_len=64)
    decisions = model.predict_batch(STATES, QUESTIONS)
    assert isinstance(model, DecisionModel)
    for state, decision in zip(STATES, decisions, strict=True):
        for question in parse_questions(QUESTIONS):
            sequence = builder.build(state, question)
            temperature = {"choice": 1.5, "score": 0.5, "noul": 2.0}[question.type]
            scaled = tiny.logits(sequence.ids, sequence.markers, question.index) / temperature
            expected = np.exp(scaled) / np.exp(scaled).sum()
            found = decision["answers"][question.id]
            if question.type == "noul":
                assert found["noul"] == pytest.approx(expected[1], abs=1e-5)
            else:
                values = list(found["probabilities"].values())
                np.testing.assert_allclose(values, expected, atol=1e-5)
    nouls = [decision["answers"]["holds"]["noul"] for decision in decisions]
    assert max(nouls) - min(nouls) > 0.01  # the state matters


def test_truncation_is_reported(model):
    long, short = model.predict_batch([STATES[3], STATES[0]], QUESTIONS)
    assert [answer["truncated"] for answer in long["answers"].values()] == [True] * 3
    assert not any(answer["truncated"] for answer in short["answers"].values())
    usage = long["usage"]
    assert usage["truncated"]
    assert usage["truncated_questions"] == ["holds", "pick", "rate"]
    assert usage["state_tokens"] == 200
    assert usage["input_tokens"] == 3 * 96
    assert 100 < usage["state_tokens_dropped"] < 200
    assert short["usage"]["state_tokens_dropped"] == 0


def test_neither_neighbours_nor_order_nor_threads_change_a_bit(export):
    folder, hashes = export()
    expected = OnnxDecisionModel(folder, hashes, threads=1).predict_batch(STATES, QUESTIONS)
    quick = OnnxDecisionModel(folder, hashes, threads=3)
    assert quick.predict_batch(STATES, QUESTIONS) == expected
    assert quick.predict_batch(STATES[::-1], QUESTIONS)[::-1] == expected
    for position, state in enumerate(STATES):
        assert quick.predict_batch([state], QUESTIONS) == [expected[position]]
    [alone] = quick.predict_batch(STATES[1:2], QUESTIONS[1:2])
    assert alone["answers"]["pick"] == expected[1]["answers"]["pick"]


def test_one_model_may_be_asked_from_several_threads(model):
    barrier = threading.Barrier(4)

    def ask(_):
        barrier.wait()
        return model.predict_batch(STATES, QUESTIONS)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(ask, range(4)))
    assert all(result == results[0] for result in results)


def test_equal_sequences_run_once(model, monkeypatch):
    runs = []
    monkeypatch.setattr(
        "laya_signals.decide.onnx._run",
        lambda session, row: runs.append(row) or np.zeros(len(row.markers), np.float32),
    )
    decisions = model.predict_batch(["a", "b", "a"], QUESTIONS[:1])
    assert len(decisions) == 3
    assert len(runs) == 2


def test_both_forms_of_questions_get_the_same(model):
    assert model.predict_batch(STATES, by_id(QUESTIONS)) == model.predict_batch(STATES, QUESTIONS)


def test_no_states_get_no_decisions_but_questions_are_checked(model):
    assert model.predict_batch([], QUESTIONS) == []
    with pytest.raises(QuestionError):
        model.predict_batch([], [])


def test_a_state_that_cannot_be_asked_is_named_by_position(model):
    with pytest.raises(QuestionError, match="state 1: a state is a text"):
        model.predict_batch(["a", 7], QUESTIONS)
    with pytest.raises(QuestionError, match="state 0: the state has a lone surrogate"):
        model.predict_batch(["\ud800"], QUESTIONS)
    with pytest.raises(QuestionError, match="not one text"):
        model.predict_batch("a", QUESTIONS)


def test_a_known_question_is_corrected_and_no_other(export):
    question = QUESTIONS[0]
    folder, hashes = export(
        questions={"k": {"type": "noul", "instructions": question["instructions"]}},
        calibration={"k": {"slope": 2.0, "offset": -1.0}},
    )
    raw = OnnxDecisionModel(folder, hashes, calibrated=False)
    fitted = OnnxDecisionModel(folder, hashes)

    def log_odds(model, **changes):
        [decision] = model.predict_batch(STATES[:1], [{**question, **changes}])
        chance = decision["answers"]["holds"]["noul"]
        return np.log(chance / (1 - chance))

    assert log_odds(fitted) == pytest.approx(2 * log_odds(raw) - 1)
    for changes in ({"instructions": "the cat"}, {"options": ["no", "yes"]}):
        assert log_odds(fitted, **changes) == log_odds(raw, **changes)
    described = {"criteria": {"true": "the cat"}}
    assert log_odds(fitted, **described) == log_odds(raw, **described)
    choice = [QUESTIONS[1]]
    assert fitted.predict_batch(STATES, choice) == raw.predict_batch(STATES, choice)


def test_a_temperature_may_hang_on_the_number_of_options(export):
    plain = OnnxDecisionModel(*export()).predict_batch(STATES[:1], QUESTIONS[1:2])
    flat = OnnxDecisionModel(*export(temperature_by_options={"choice:3-5": 99.0}))
    [decision] = flat.predict_batch(STATES[:1], QUESTIONS[1:2])
    flatter = decision["answers"]["pick"]["answer_confidence"]
    assert flatter < plain[0]["answers"]["pick"]["answer_confidence"]
    odds = list(decision["answers"]["pick"]["probabilities"].values())
    before = list(plain[0]["answers"]["pick"]["probabilities"].values())
    assert np.log(odds[0] / odds[1]) == pytest.approx(np.log(before[0] / before[1]) * 1.5 / 5)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_an_altered_or_missing_file_is_named(export, name):
    folder, hashes = export()
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content + b" ")
    with pytest.raises(ModelError, match=f"{name} is altered"):
        OnnxDecisionModel(folder, hashes).predict_batch(STATES, QUESTIONS)
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"cannot read .*{name}"):
        OnnxDecisionModel(folder, hashes).predict_batch(STATES, QUESTIONS)


def test_a_wrong_description_is_named(export):
    folder, hashes = export(temperature=[1, 1, None])
    with pytest.raises(ModelError, match=r"config\.json: temperature\.2"):
        OnnxDecisionModel(folder, hashes).predict_batch(STATES, QUESTIONS)


def test_a_model_with_other_inputs_is_no_decision_model(export):
    folder, hashes = export(mask_input=True)
    with pytest.raises(ModelError, match=r"model\.onnx takes attention_mask, .*no decision model"):
        OnnxDecisionModel(folder, hashes).predict_batch(STATES, QUESTIONS)


def test_answers_are_plain_json(model):
    decisions = model.predict_batch(STATES, QUESTIONS)
    assert json.loads(json.dumps(decisions)) == decisions
