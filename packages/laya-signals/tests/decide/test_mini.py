"""`decision.mini`: the provider over the embedded model."""

import pickle
import subprocess
import sys

import laya_mini
import pytest
from laya_signals.decide import DecisionModel, model_fingerprint
from laya_signals.decide.mini import MiniDecision
from laya_signals.errors import ConfigError, ModelError
from laya_signals.registry import signals

QUESTION = {"id": "q", "type": "noul", "instructions": "the cat sat"}


@pytest.fixture
def installed(export, monkeypatch):
    """A laya-mini whose decision model is a small random one."""
    folder, hashes = export(thresholds={"relevance": 0.5})
    monkeypatch.setattr(laya_mini, "data_folder", lambda: folder.parent)
    monkeypatch.setattr(
        laya_mini, "hashes", lambda: {f"decision/{name}": digest for name, digest in hashes.items()}
    )
    return folder


def test_the_provider_implements_the_seam(installed):
    model = signals.resolve({"provider": "decision.mini", "config": {"threads": 1}}, DecisionModel)
    [decision] = model.predict_batch(["the cat"], [QUESTION])
    assert 0 < decision["answers"]["q"]["noul"] < 1
    assert model_fingerprint(model) == MiniDecision().fingerprint
    assert MiniDecision().thresholds == {"relevance": 0.5}


def test_without_the_data_it_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(laya_mini, "hashes", lambda: {"encoder/model.onnx": "0" * 64})
    model = MiniDecision()
    with pytest.raises(ModelError, match="laya-mini has no decision model"):
        model.predict_batch(["a"], [QUESTION])
    with pytest.raises(ModelError, match="laya-mini has no decision model"):
        _ = model.thresholds


def test_the_shipped_model_tells_what_a_text_is_about_or_says_that_there_is_none():
    question = {
        "id": "q",
        "type": "noul",
        "instructions": "The document is relevant to the query.",
    }
    texts = [
        "Paris is the capital and largest city of France.",
        "Sourdough bread rises slowly because of wild yeast.",
    ]
    states = [{"query": "What is the capital of France?", "document": text} for text in texts]
    model = MiniDecision()
    if not any(name.startswith("decision/") for name in laya_mini.hashes()):
        with pytest.raises(ModelError, match="laya-mini has no decision model"):
            model.predict_batch(states, [question])
        return
    about, other = model.predict_batch(states, [question])
    assert about["answers"]["q"]["noul"] > 0.5 > other["answers"]["q"]["noul"]
    assert MiniDecision(threads=1).predict_batch(states[1:], [question]) == [other]


def test_an_altered_file_is_named(installed):
    (installed / "config.json").write_text("{}")
    with pytest.raises(ModelError, match=r"config\.json is altered"):
        MiniDecision().predict_batch(["a"], [QUESTION])


def test_the_fingerprint_follows_what_changes_the_answers(installed, monkeypatch):
    fingerprint = MiniDecision().fingerprint
    assert MiniDecision(threads=1).fingerprint == fingerprint
    assert MiniDecision(calibrated=False).fingerprint != fingerprint
    monkeypatch.setattr(laya_mini, "hashes", lambda: {"decision/model.onnx": "0" * 64})
    assert MiniDecision().fingerprint != fingerprint


def test_a_pickled_model_keeps_its_settings_and_leaves_the_weights_behind(installed):
    model = MiniDecision(threads=2, calibrated=False)
    expected = model.predict_batch(["the cat"], [QUESTION])
    pickled = pickle.dumps(model)
    assert len(pickled) < 1000
    copy = pickle.loads(pickled)
    assert copy.config == model.config
    assert copy.predict_batch(["the cat"], [QUESTION]) == expected


def test_unknown_settings_are_refused():
    with pytest.raises(ConfigError, match="unknown key 'thread'"):
        MiniDecision(thread=1)


def test_importing_and_building_load_no_runtime():
    check = (
        "import sys; from laya_signals.decide.mini import MiniDecision; MiniDecision().fingerprint;"
        "assert not {'onnxruntime', 'tokenizers', 'torch', 'httpx2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
