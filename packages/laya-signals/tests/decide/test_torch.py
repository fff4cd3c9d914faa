"""`decision.checkpoint`: the provider over torch.

What needs torch runs where it is installed, which is the parity environment (`tests/parity`).
"""

import json
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
from laya_signals.decide import DecisionModel, QuestionError
from laya_signals.decide.torch import CheckpointDecision
from laya_signals.errors import ConfigError, MissingExtraError, ModelError

QUESTIONS = [
    {"id": "holds", "type": "noul", "instructions": "the cat sat"},
    {"id": "pick", "type": "choice", "instructions": "which", "options": ["a", "b", "c"]},
    {"id": "rate", "type": "score", "instructions": "how", "options": ["no", "yes"]},
]
STATES = ["the cat", {"query": "river"}, ["a", "b"], "mat " * 200]


@pytest.fixture
def bare(tmp_path):
    """A checkpoint folder that has a configuration only."""
    (tmp_path / "rl_agent_config.json").write_text('{"encoder": "x", "head_layers": 0}')
    return tmp_path


def test_without_torch_the_error_names_the_extra(bare, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    model = CheckpointDecision(model=str(bare))
    assert isinstance(model, DecisionModel)
    with pytest.raises(MissingExtraError, match=r"torch.*laya-signals\[models\]"):
        model.predict_batch(STATES, QUESTIONS)


def test_building_reads_nothing_and_a_missing_folder_is_named():
    model = CheckpointDecision(model="./no-such-folder")
    with pytest.raises(ModelError, match=r"no checkpoint folder \./no-such-folder"):
        model.predict_batch(STATES, QUESTIONS)
    with pytest.raises(ModelError):
        _ = model.fingerprint


@pytest.mark.parametrize("settings", [{}, {"model": ""}, {"model": "x", "batch_size": 0}])
def test_wrong_settings_are_refused(settings):
    with pytest.raises(ConfigError, match=r"model|batch_size"):
        CheckpointDecision(**settings)


def test_expected_hashes_come_before_anything_else(bare):
    model = CheckpointDecision(model=str(bare), hashes={"rl_agent_config.json": "0" * 64})
    with pytest.raises(ModelError, match=r"rl_agent_config\.json is altered"):
        model.predict_batch(STATES, QUESTIONS)


def test_the_fingerprint_follows_the_files(bare):
    fingerprint = CheckpointDecision(model=str(bare)).fingerprint
    assert CheckpointDecision(model=str(bare)).fingerprint == fingerprint
    (bare / "model.safetensors").write_bytes(b"weights")
    assert CheckpointDecision(model=str(bare)).fingerprint != fingerprint


def test_importing_loads_no_torch():
    check = (
        "import sys, laya_signals.decide.torch, laya_signals.encode.laya;"
        "assert not {'torch', 'transformers', 'tokenizers', 'huggingface_hub'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


# With torch.


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory, tokenizer):
    """A tiny random checkpoint with one head layer."""
    reason = "needs the extra models; runs in the parity environment"
    torch = pytest.importorskip("torch", reason=reason)
    transformers = pytest.importorskip("transformers", reason=reason)
    from laya_signals.decide.checkpoint import CheckpointConfig, write_checkpoint

    torch.manual_seed(0)
    encoder = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        initializer_range=0.5,
    )
    nn = torch.nn
    parts = {
        "encoder": transformers.AutoModel.from_config(encoder),
        "head.layers.0": nn.TransformerEncoderLayer(64, 1, 256, batch_first=True, norm_first=True),
        "type_emb": nn.Embedding(3, 64),
        "scorer": nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1)),
        "act_head": nn.Sequential(nn.Linear(68, 256), nn.GELU(), nn.Linear(256, 1)),
    }
    weights = {
        f"{prefix}.{name}": value.numpy()
        for prefix, module in parts.items()
        for name, value in module.state_dict().items()
    }
    return write_checkpoint(
        tmp_path_factory.mktemp("checkpoint"),
        config=CheckpointConfig(encoder="random", head_layers=1, max_len=96, head_max_len=64),
        weights=weights | {"temperature": np.ones(3, np.float32)},
        encoder=encoder.to_dict(),
        tokenizer={"tokenizer.json": tokenizer.to_str().encode()},
    ).folder


@pytest.fixture
def copied(checkpoint, tmp_path):
    return shutil.copytree(checkpoint, tmp_path / "copy")


@pytest.mark.slow
def test_answers_hang_on_the_state_and_not_on_its_neighbours(checkpoint):
    model = CheckpointDecision(model=str(checkpoint))
    decisions = model.predict_batch(STATES, QUESTIONS)
    nouls = [decision["answers"]["holds"]["noul"] for decision in decisions]
    assert max(nouls) - min(nouls) > 1e-3
    for state, decision in zip(STATES, decisions, strict=True):
        assert model.predict_batch([state], QUESTIONS) == [decision]
    assert decisions[3]["answers"]["holds"]["truncated"]
    assert json.loads(json.dumps(decisions)) == decisions


@pytest.mark.slow
def test_batches_move_the_last_digits_at_most(checkpoint):
    single = CheckpointDecision(model=str(checkpoint)).predict_batch(STATES, QUESTIONS)
    batched = CheckpointDecision(model=str(checkpoint), batch_size=5)
    for one, other in zip(single, batched.predict_batch(STATES, QUESTIONS), strict=True):
        assert one["usage"] == other["usage"]
        for name in ("holds", "pick", "rate"):
            found, expected = other["answers"][name], one["answers"][name]
            assert found["answer_confidence"] == pytest.approx(
                expected["answer_confidence"], abs=1e-5
            )


@pytest.mark.slow
def test_a_pickled_model_answers_the_same(checkpoint):
    model = CheckpointDecision(model=str(checkpoint))
    expected = model.predict_batch(STATES, QUESTIONS)
    pickled = pickle.dumps(model)
    assert len(pickled) < 1000
    assert pickle.loads(pickled).predict_batch(STATES, QUESTIONS) == expected


@pytest.mark.slow
def test_bad_questions_are_refused(checkpoint):
    model = CheckpointDecision(model=str(checkpoint))
    with pytest.raises(QuestionError, match="state 1"):
        model.predict_batch(["a", 7], QUESTIONS)
    assert model.predict_batch([], QUESTIONS) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"head_layers": 2}, r"model\.safetensors: the tensor head\.layers\.1\..* is missing"),
        ({"head_layers": 0}, r"model\.safetensors: the tensor head\.layers\.0\..* is not part"),
        ({"max_len": 200}, r"rl_agent_config\.json: max_len is 200, .* 128 positions"),
    ],
)
def test_a_configuration_that_does_not_fit_the_weights_is_named(copied, changes, message):
    path = copied / "rl_agent_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ModelError, match=message):
        CheckpointDecision(model=str(copied)).predict_batch(STATES, QUESTIONS)


@pytest.mark.slow
def test_broken_files_are_named(copied):
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ModelError, match=r"model\.safetensors is no safetensors file"):
        CheckpointDecision(model=str(copied)).predict_batch(STATES, QUESTIONS)
    weights.unlink()
    with pytest.raises(ModelError, match=r"cannot read .*model\.safetensors"):
        CheckpointDecision(model=str(copied)).predict_batch(STATES, QUESTIONS)
    (copied / "encoder" / "config.json").write_text('{"model_type": "no-such-model"}')
    with pytest.raises(ModelError, match=r"encoder/config\.json makes no encoder"):
        CheckpointDecision(model=str(copied)).predict_batch(STATES, QUESTIONS)


@pytest.mark.slow
def test_a_device_that_is_not_there_is_named(checkpoint):
    model = CheckpointDecision(model=str(checkpoint), device="no-such-device")
    with pytest.raises(ModelError, match="no-such-device"):
        model.predict_batch(STATES, QUESTIONS)
