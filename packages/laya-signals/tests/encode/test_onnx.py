import hashlib
import shutil

import laya_mini
import pytest
from laya_signals.encode.onnx import OnnxTokenEncoder, available_cpus
from laya_signals.errors import ConfigError, ModelError

FILES = ("model.onnx", "tokenizer.json")


@pytest.fixture
def folder(tmp_path):
    for name in FILES:
        shutil.copy(laya_mini.data_folder() / "encoder" / name, tmp_path / name)
    return tmp_path


def states_of(folder, hashes=None):
    shipped = {name: laya_mini.hashes()[f"encoder/{name}"] for name in FILES}
    encoder = OnnxTokenEncoder(folder, hashes or shipped, max_tokens=256, threads=1)
    return encoder.states(["hello"])


def test_an_intact_folder_loads(folder):
    assert states_of(folder)[0].shape == (3, 384)


@pytest.mark.parametrize("name", FILES)
def test_an_altered_file_is_named(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=rf"{name} is altered"):
        states_of(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelError, match=rf"cannot read .*{name}"):
        states_of(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_model_is_named(folder, name):
    (folder / name).write_bytes(b"{}")
    hashes = {file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in FILES}
    with pytest.raises(ModelError, match=name):
        states_of(folder, hashes)


def test_a_file_without_a_recorded_hash_is_refused(folder):
    with pytest.raises(ModelError, match=r"model\.onnx is altered"):
        states_of(folder, {"tokenizer.json": "0" * 64})


def test_the_environment_limits_the_threads(folder, monkeypatch):
    monkeypatch.setenv("LAYA_THREADS", "1")
    assert OnnxTokenEncoder(folder, {}, max_tokens=256, threads=None).threads == 1


@pytest.mark.parametrize("value", ["0", "many", "-1", "1.5"])
def test_an_unusable_limit_is_refused(monkeypatch, value):
    monkeypatch.setenv("LAYA_THREADS", value)
    with pytest.raises(ConfigError, match="LAYA_THREADS"):
        available_cpus()
