"""`encoder.laya`: a checkpoint's encoder as an embedder.

What needs torch runs where it is installed, which is the parity environment (`tests/parity`).
"""

import json
import pickle
import sys

import numpy as np
import pytest
from laya_signals.encode.base import Encoder
from laya_signals.encode.laya import LayaEncoder
from laya_signals.errors import EncodeError, MissingExtraError, ModelError
from laya_signals.registry import signals
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "[", "]", "SEP", "cat", "mat", "river"]


def word_tokenizer():
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(WORDS[:5])
    return tokenizer


@pytest.fixture
def bare(tmp_path):
    """A checkpoint folder without weights."""
    config = {"encoder": "x", "head_layers": 0, "max_len": 64}
    (tmp_path / "rl_agent_config.json").write_text(json.dumps(config))
    for name in ("encoder", "tokenizer"):
        (tmp_path / name).mkdir()
    (tmp_path / "encoder" / "config.json").write_text('{"hidden_size": 32}')
    (tmp_path / "tokenizer" / "tokenizer.json").write_text(word_tokenizer().to_str())
    return str(tmp_path)


def test_the_provider_implements_the_seam_before_anything_is_loaded(bare):
    block = {"provider": "encoder.laya", "config": {"model": bare, "max_tokens": 16}}
    encoder = signals.resolve(block, Encoder)
    assert (encoder.dimension, encoder.max_tokens) == (32, 16)
    assert LayaEncoder(model=bare).max_tokens == 64
    assert encoder.fingerprint != LayaEncoder(model=bare).fingerprint


def test_more_tokens_than_the_checkpoint_takes_are_refused(bare):
    with pytest.raises(ModelError, match=r"max_tokens is 65, but .* has max_len 64"):
        _ = LayaEncoder(model=bare, max_tokens=65).max_tokens


def test_counting_needs_no_torch(bare):
    encoder = LayaEncoder(model=bare)
    assert encoder.count_tokens(["cat mat", "", "[SEP]"]) == [4, 2, 5]
    with pytest.raises(EncodeError, match="text 1 is int"):
        encoder.count_tokens(["cat", 7])
    with pytest.raises(EncodeError, match="not one string"):
        encoder.count_tokens("cat")
    with pytest.raises(EncodeError, match="text 0 has a lone surrogate"):
        encoder.count_tokens(["\ud800"])


def test_without_torch_the_error_names_the_extra(bare, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"laya-signals\[models\]"):
        LayaEncoder(model=bare).encode_documents(["cat"])


# With torch.


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    reason = "needs the extra models; runs in the parity environment"
    torch = pytest.importorskip("torch", reason=reason)
    transformers = pytest.importorskip("transformers", reason=reason)
    from laya_signals.decide.checkpoint import CheckpointConfig, write_checkpoint

    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    nn = torch.nn
    parts = {
        "encoder": transformers.AutoModel.from_config(config),
        "type_emb": nn.Embedding(3, 32),
        "scorer": nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 1)),
    }
    weights = {
        f"{prefix}.{name}": value.numpy()
        for prefix, module in parts.items()
        for name, value in module.state_dict().items()
    }
    return write_checkpoint(
        tmp_path_factory.mktemp("checkpoint"),
        config=CheckpointConfig(encoder="random", head_layers=0, max_len=32),
        weights=weights,
        encoder=config.to_dict(),
        tokenizer={"tokenizer.json": word_tokenizer().to_str().encode()},
    )


@pytest.mark.slow
def test_vectors_are_unit_rows_and_know_no_neighbours(checkpoint):
    encoder = LayaEncoder(model=str(checkpoint.folder))
    texts = ["cat mat", "river", "cat " * 9]
    vectors = encoder.encode_documents(texts)
    assert (vectors.shape, vectors.dtype) == ((3, 32), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for text, vector in zip(texts, vectors, strict=True):
        assert (encoder.encode_queries([text])[0] == vector).all()
    assert not np.allclose(vectors[0], vectors[1])
    assert encoder.encode_documents([]).shape == (0, 32)


@pytest.mark.slow
def test_vectors_are_the_mean_of_the_hidden_states(checkpoint):
    import torch
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.from_pretrained(checkpoint.folder / "encoder")
    model = AutoModel.from_config(config).eval()
    weights = load_file(checkpoint.folder / "model.safetensors")
    own = {k.removeprefix("encoder."): v.float() for k, v in weights.items() if "encoder." in k[:8]}
    model.load_state_dict(own)
    ids = [1, WORDS.index("cat"), WORDS.index("river"), 2]
    with torch.no_grad():
        mean = model(torch.tensor([ids])).last_hidden_state[0].mean(0).numpy()
    [vector] = LayaEncoder(model=str(checkpoint.folder)).encode_documents(["cat river"])
    np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.slow
def test_texts_are_cut_and_blank_ones_refused(checkpoint):
    encoder = LayaEncoder(model=str(checkpoint.folder), max_tokens=8)
    long, cut = encoder.encode_documents(["cat " * 30, "cat " * 6])
    assert (long == cut).all()
    with pytest.raises(EncodeError, match="text 1 is blank"):
        encoder.encode_documents(["cat", " "])


@pytest.mark.slow
def test_a_pickled_encoder_gives_the_same(checkpoint):
    encoder = LayaEncoder(model=str(checkpoint.folder))
    expected = encoder.encode_documents(["cat"])
    copy = pickle.loads(pickle.dumps(encoder))
    assert (copy.encode_documents(["cat"]) == expected).all()
    assert copy.fingerprint == encoder.fingerprint
