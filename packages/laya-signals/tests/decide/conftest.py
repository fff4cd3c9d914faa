"""A tokenizer of whole words, and a small ONNX model in the format of `decision.mini`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]"]
WORDS = (
    "noul choice score question level false true no yes the statement does not hold holds : , . "
    "{ } [ ] 0 1 2 3 4 5 6 7 8 9 a b c d e cat sat mat river query document Köln café 東京"
).split()


def word_tokenizer(special=SPECIAL) -> Tokenizer:
    vocabulary = {word: number for number, word in enumerate([*special, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=special[4]))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    return tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return word_tokenizer()


# The wire format of the few ONNX messages that a graph needs (onnx.proto3), so that the tests of
# the runtime need no exporter.


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def message(field: int, content: bytes | str) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def node(kind: str, inputs: list[str], output: str, **attributes: int) -> bytes:
    described = b"".join(message(1, name) for name in inputs) + message(2, output)
    described += message(4, kind)
    for name, value in attributes.items():
        described += message(5, message(1, name) + number(3, value) + number(20, 2))
    return message(1, described)


def tensor(name: str, values: np.ndarray) -> bytes:
    kind = {"float32": 1, "int64": 7}[values.dtype.name]
    dims = b"".join(number(1, size) for size in values.shape)
    return message(5, dims + number(2, kind) + message(8, name) + message(9, values.tobytes()))


def value_info(field: int, name: str, kind: int, dims: list[str | int]) -> bytes:
    shape = b"".join(
        message(1, number(1, dim) if isinstance(dim, int) else message(2, dim)) for dim in dims
    )
    tensor_type = number(1, kind) + message(2, shape)
    return message(field, message(1, name) + message(2, message(1, tensor_type)))


@dataclass(frozen=True)
class TinyModel:
    """Logits of the running sum of word vectors at each marker, their total, and the type."""

    words: np.ndarray
    types: np.ndarray
    readout: np.ndarray

    @classmethod
    def random(cls, size: int, width: int = 5) -> TinyModel:
        draw = np.random.default_rng(7).normal
        return cls(
            (0.2 * draw(size=(size, width))).astype(np.float32),
            draw(size=(3, width)).astype(np.float32),
            (2 * draw(size=(width, 1))).astype(np.float32),
        )

    def logits(self, ids, markers, kind) -> np.ndarray:
        vectors = self.words[list(ids)].astype(np.float64)
        rows = vectors.cumsum(axis=0)[list(markers)] + vectors.sum(axis=0) + self.types[kind]
        return (np.tanh(rows) @ self.readout)[:, 0]

    def onnx(self, *, mask_input: bool = False) -> bytes:
        nodes = [
            node("Gather", ["words", "input_ids"], "vectors"),
            node("CumSum", ["vectors", "one"], "running"),
            node("Squeeze", ["marker_pos", "zeros"], "places"),
            node("Gather", ["running", "places"], "rows", axis=1),
            node("ReduceSum", ["vectors", "ones"], "total"),
            node("Gather", ["types", "qtype"], "type"),
            node("Add", ["rows", "total"], "summed"),
            node("Add", ["summed", "type"], "typed"),
            node("Tanh", ["typed"], "bounded"),
            node("MatMul", ["bounded", "readout"], "read"),
            node("Squeeze", ["read", "twos"], "logits"),
        ]
        constants = [
            *(tensor(name, getattr(self, name)) for name in ("words", "types", "readout")),
            tensor("one", np.array(1, np.int64)),
            *(
                tensor(name, np.array([axis], np.int64))
                for axis, name in enumerate(("zeros", "ones", "twos"))
            ),
        ]
        inputs = [
            value_info(11, "input_ids", 7, [1, "tokens"]),
            value_info(11, "marker_pos", 7, [1, "options"]),
            value_info(11, "qtype", 7, [1]),
        ]
        if mask_input:
            inputs.append(value_info(11, "attention_mask", 7, [1, "tokens"]))
        outputs = [value_info(12, "logits", 1, [1, "options"])]
        graph = b"".join([*nodes, message(2, "tiny"), *constants, *inputs, *outputs])
        return number(1, 10) + message(7, graph) + message(8, message(1, "") + number(2, 18))


def write_export(folder: Path, config: dict, model: bytes) -> dict[str, str]:
    """Write the three files of an export, and return their hashes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model)
    (folder / "tokenizer.json").write_text(word_tokenizer().to_str(), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file()
    }


CONFIG = {"max_len": 96, "head_max_len": 64, "temperature": [1.5, 0.1, 2.0]}


@pytest.fixture(scope="session")
def tiny() -> TinyModel:
    return TinyModel.random(len(SPECIAL) + len(WORDS))


@pytest.fixture
def export(tmp_path, tiny):
    """Writes an export with the given changes to its configuration: its folder and hashes."""

    def make(*, mask_input=False, **changes):
        folder = tmp_path / "decision"
        model = tiny.onnx(mask_input=mask_input)
        return folder, write_export(folder, CONFIG | changes, model)

    return make


@pytest.fixture
def export_config():
    return CONFIG
