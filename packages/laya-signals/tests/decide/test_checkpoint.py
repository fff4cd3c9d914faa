"""The folder format, read and written without torch."""

import json
import subprocess
import sys

import numpy as np
import pytest
from laya_signals.decide import parse_questions
from laya_signals.decide.checkpoint import (
    CheckpointConfig,
    check_weights,
    read_checkpoint,
    write_checkpoint,
)
from laya_signals.errors import ModelError
from laya_signals.model_file import verify

CONFIG = {
    "encoder": "someone/some-encoder",
    "head_layers": 0,
    "max_len": 128,
    "head_max_len": 96,
    "temperature": [1.25, 0.1, 9.0],
    "temperature_by_options": {"choice:3-5": 2.5, "choice:11+": 0.1006},
    "act_costs": {"abstain": 0.25, "escalate": 1.0},
    "trained_on": {"rows": 24000},
}


@pytest.fixture
def folder(tmp_path, tokenizer):
    """A checkpoint folder without weights, which is enough for all that needs no torch."""
    (tmp_path / "rl_agent_config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text('{"model_type": "bert", "hidden_size": 32}')
    (tmp_path / "tokenizer").mkdir()
    (tmp_path / "tokenizer" / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
    return tmp_path


def rewrite(folder, **changes):
    path = folder / "rl_agent_config.json"
    content = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in content.items() if value != "drop"}))


def test_a_folder_is_read(folder):
    checkpoint = read_checkpoint(folder)
    assert (checkpoint.config.head_layers, checkpoint.config.max_len) == (0, 128)
    assert checkpoint.dimension == 32
    [question] = parse_questions([{"id": "q", "type": "noul", "instructions": "holds"}])
    builder = checkpoint.sequences()
    assert (builder.max_len, builder.head_max_len) == (128, 96)
    assert builder.build("a", question).ids[0] == builder.special.cls == 1


def test_what_a_configuration_leaves_out_has_the_format_s_defaults(folder):
    (folder / "rl_agent_config.json").write_text('{"encoder": "x"}')
    config = read_checkpoint(folder).config
    assert (config.head_layers, config.max_len, config.head_max_len) == (2, 512, 192)
    assert config.temperature_of("noul", 2) == 1


@pytest.mark.parametrize(
    ("kind", "options", "temperature"),
    [
        ("choice", 2, 1.25),
        ("choice", 4, 2.5),
        ("choice", 20, 0.5),
        ("score", 5, 0.5),
        ("noul", 2, 5.0),
    ],
)
def test_temperatures_are_clamped_where_they_are_applied(folder, kind, options, temperature):
    assert read_checkpoint(folder).config.temperature_of(kind, options) == temperature


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"encoder": "drop"}, "encoder"),
        ({"head_layers": -1}, "head_layers"),
        ({"max_len": "long"}, "max_len"),
        ({"temperature": [1, 1]}, r"temperature\.2"),
        ({"temperature": [1, True, 1]}, r"temperature\.1"),
        ({"temperature": [1, 1, float("nan")]}, r"temperature\.2"),
        ({"temperature_by_options": {"choice:2": "1"}}, r"temperature_by_options\.choice:2"),
        ({"act_costs": {"abstain": None}}, r"act_costs\.abstain"),
        ({"option_layout": "parallel"}, "option_layout"),
    ],
)
def test_a_wrong_key_is_named_with_its_file(folder, changes, key):
    rewrite(folder, **changes)
    with pytest.raises(ModelError, match=rf"rl_agent_config\.json: {key}"):
        read_checkpoint(folder)


@pytest.mark.parametrize("content", [b"[]", b"{", b"\xff"])
def test_a_configuration_that_is_no_object_is_named(folder, content):
    (folder / "rl_agent_config.json").write_bytes(content)
    with pytest.raises(ModelError, match=r"rl_agent_config\.json"):
        read_checkpoint(folder)


def test_missing_files_are_named_when_they_are_needed(folder):
    (folder / "tokenizer" / "tokenizer.json").unlink()
    (folder / "encoder" / "config.json").unlink()
    checkpoint = read_checkpoint(folder)
    with pytest.raises(ModelError, match=r"cannot read .*tokenizer\.json"):
        checkpoint.tokenizer()
    with pytest.raises(ModelError, match=r"cannot read .*encoder/config\.json"):
        checkpoint.encoder_config()
    (folder / "rl_agent_config.json").unlink()
    with pytest.raises(ModelError, match=r"cannot read .*rl_agent_config\.json"):
        read_checkpoint(folder)


def test_an_encoder_without_a_width_is_named(folder):
    (folder / "encoder" / "config.json").write_text('{"hidden_size": "wide"}')
    with pytest.raises(ModelError, match=r"encoder/config\.json: hidden_size"):
        _ = read_checkpoint(folder).dimension


def test_the_names_of_special_tokens_come_from_the_folder(folder, tokenizer):
    described = {"cls_token": "cat", "sep_token": {"content": "sat"}, "mask_token": "mat"}
    (folder / "tokenizer" / "tokenizer_config.json").write_text(json.dumps(described))
    special = read_checkpoint(folder).sequences().special
    assert special.mask_text == "mat"
    assert (special.cls, special.sep) == (
        tokenizer.token_to_id("cat"),
        tokenizer.token_to_id("sat"),
    )
    described["mask_token"] = "<absent>"
    (folder / "tokenizer" / "tokenizer_config.json").write_text(json.dumps(described))
    with pytest.raises(ModelError, match=r"tokenizer\.json: .*<absent>"):
        read_checkpoint(folder).sequences()


@pytest.mark.slow
def test_what_is_written_reads_back_and_nothing_is_lost(tmp_path, tokenizer):
    numpy_format = pytest.importorskip(
        "safetensors.numpy", reason="needs the extra models; runs in the parity environment"
    )
    weights = {"scorer.1.weight": np.eye(3, dtype=np.float32) / 3, "steps": np.array([7])}
    written = write_checkpoint(
        tmp_path / "new",
        config=CheckpointConfig.model_validate(CONFIG),
        weights=weights,
        encoder={"hidden_size": 3},
        tokenizer={"tokenizer.json": tokenizer.to_str().encode()},
    )
    assert json.loads((written.folder / "rl_agent_config.json").read_text()) == CONFIG
    stored = numpy_format.load_file(written.folder / "model.safetensors")
    assert stored["scorer.1.weight"].dtype == np.float16
    assert stored["steps"].tolist() == [7]
    assert written.dimension == 3
    for bad in (np.array([1e9]), np.array([np.nan])):
        with pytest.raises(ModelError, match=r"scorer\.1\.weight does not fit"):
            write_checkpoint(
                tmp_path / "bad",
                config=written.config,
                weights={"scorer.1.weight": bad},
                encoder={},
                tokenizer={"tokenizer.json": b"{}"},
            )
    assert not (tmp_path / "bad").exists()


def test_a_checkpoint_needs_its_tokenizer(tmp_path):
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        write_checkpoint(
            tmp_path / "new",
            config=CheckpointConfig(encoder="x"),
            weights={},
            encoder={},
            tokenizer={"vocab.txt": b""},
        )


def test_expected_hashes_are_compared(folder):
    digests = read_checkpoint(folder).digests()
    assert set(digests) == {
        "rl_agent_config.json", "encoder/config.json", "tokenizer/tokenizer.json"
    }  # fmt: skip
    verify(folder, {name: digest.upper() for name, digest in digests.items()})
    rewrite(folder, max_len=127)
    with pytest.raises(ModelError, match=r"rl_agent_config\.json is altered"):
        verify(folder, digests)
    with pytest.raises(ModelError, match=r"cannot read .*model\.safetensors"):
        verify(folder, {"model.safetensors": "0" * 64})


def test_weights_are_compared_by_name_and_shape(tmp_path):
    expected = {"type_emb.weight": (3, 4), "scorer.3.bias": (1,)}
    found = {"type_emb.weight": np.ones((3, 4)), "scorer.3.bias": np.ones(1)}
    spare = {"temperature": np.ones(3), "act_head.0.weight": np.ones(1)}
    check_weights(tmp_path, expected, found | spare)
    with pytest.raises(ModelError, match=r"scorer\.3\.bias is missing"):
        check_weights(tmp_path, expected, {"type_emb.weight": np.ones((3, 4))})
    with pytest.raises(ModelError, match=r"type_emb\.weight has shape \(2, 4\)"):
        check_weights(tmp_path, expected, found | {"type_emb.weight": np.ones((2, 4))})
    with pytest.raises(ModelError, match=r"head\.layers\.0\.x is not part of the model"):
        check_weights(tmp_path, expected, found | {"head.layers.0.x": np.ones(1)})


def test_reading_needs_no_torch(folder):
    check = (
        "import sys; from pathlib import Path;"
        "from laya_signals.decide.checkpoint import read_checkpoint;"
        "read_checkpoint(Path(sys.argv[1])).sequences();"
        "assert not {'torch', 'transformers', 'onnxruntime'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check, str(folder)], check=True)
