"""`encoder.sentence_transformers`: models of that library as embedders.

What needs torch runs where it is installed, which is the parity environment (`tests/parity`).
"""

import json
import pickle
import shutil
import sys

import numpy as np
import pytest
from laya_signals.encode.base import Encoder
from laya_signals.encode.sentence_transformers import SentenceTransformersEncoder
from laya_signals.errors import ConfigError, EncodeError, MissingExtraError, ModelError

WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] [ ] sep cat mat river query passage : the a on sat find me"
).split()
TEXTS = ["the cat sat on the mat", "river", "a cat " * 9, "find me the river :"]


def folder_with(path, prompts):
    path.mkdir(parents=True)
    (path / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    return str(path)


@pytest.mark.parametrize(
    ("name", "prompts", "settings", "expected"),
    [
        ("plain", {}, {}, ("", "")),
        ("e5-small", {}, {}, ("query: ", "passage: ")),
        # The library writes empty prompts when it was told none.
        ("e5-small", {"query": "", "document": ""}, {}, ("query: ", "passage: ")),
        ("e5-small", {"query": "ask: ", "passage": "say: "}, {}, ("ask: ", "say: ")),
        ("other", {"query": "ask: "}, {}, ("ask: ", "")),
        ("other", {"corpus": "say: "}, {}, ("", "say: ")),
        ("e5-small", {}, {"query_prefix": ""}, ("", "passage: ")),
        ("plain", {}, {"query_prefix": "q ", "document_prefix": "d "}, ("q ", "d ")),
    ],
)
def test_prefixes_are_given_or_the_folder_s_or_the_family_s(
    tmp_path, name, prompts, settings, expected
):
    model = folder_with(tmp_path / name, prompts)
    assert SentenceTransformersEncoder(model=model, **settings).prefixes == expected


def test_the_fingerprint_covers_files_prefixes_and_dimension(tmp_path):
    model = folder_with(tmp_path / "plain", {})
    pooling = tmp_path / "plain" / "1_Pooling"
    pooling.mkdir()

    def fingerprint(model=model, **settings):
        return SentenceTransformersEncoder(model=model, **settings).fingerprint

    seen = {fingerprint(), fingerprint(query_prefix="q"), fingerprint(truncate_dim=8)}
    seen |= {fingerprint(pooling="cls"), fingerprint(max_tokens=8)}
    (pooling / "config.json").write_text("{}")
    seen.add(fingerprint())
    (tmp_path / "plain" / "model.safetensors").write_bytes(b"weights")
    seen.add(fingerprint())
    assert len(seen) == 7
    copy = shutil.copytree(model, tmp_path / "elsewhere" / "plain")
    assert fingerprint(model=str(copy)) == fingerprint()
    # Another name may be another family, which wants other prefixes.
    copy = shutil.copytree(model, tmp_path / "elsewhere" / "e5-plain")
    assert fingerprint(model=str(copy)) != fingerprint()


def test_without_the_library_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    encoder = SentenceTransformersEncoder(model=folder_with(tmp_path / "plain", {}))
    with pytest.raises(MissingExtraError, match=r"laya-signals\[sentence-transformers\]"):
        encoder.encode_documents(["cat"])


def test_a_missing_folder_and_wrong_settings_are_named():
    with pytest.raises(ModelError, match=r"no checkpoint folder \./no-such-folder"):
        _ = SentenceTransformersEncoder(model="./no-such-folder").fingerprint
    for settings in ({}, {"model": "x", "truncate_dim": 0}, {"model": "x", "pooling": "max"}):
        with pytest.raises(ConfigError, match=r"model|truncate_dim|pooling"):
            SentenceTransformersEncoder(**settings)


# With torch.


def checkpoint(folder, *, transformers):
    """A random BERT of 64 positions, saved as transformers saves it."""
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(
        folder
    )
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A checkpoint that says nothing about pooling."""
    reason = "needs the extra sentence-transformers; runs in the parity environment"
    torch = pytest.importorskip("torch", reason=reason)
    transformers = pytest.importorskip("transformers", reason=reason)
    torch.manual_seed(0)
    return checkpoint(tmp_path_factory.mktemp("models") / "plain", transformers=transformers)


def saved(plain, folder, mode):
    """The checkpoint as the library saves it, pooled by `mode`."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    transformer = Transformer(plain)
    pooling = Pooling(transformer.auto_model.config.hidden_size, pooling_mode=mode)
    SentenceTransformer(modules=[transformer, pooling], device="cpu").save(str(folder))
    return str(folder)


@pytest.fixture(scope="module", params=["mean", "cls"])
def model(request, plain, tmp_path_factory):
    return saved(plain, tmp_path_factory.mktemp("saved") / f"model-{request.param}", request.param)


def of_the_library(model, texts, prefix=""):
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(model, device="cpu")
    return library.encode([prefix + text for text in texts], normalize_embeddings=True)


@pytest.mark.slow
def test_vectors_are_the_library_s_own(model):
    encoder = SentenceTransformersEncoder(model=model)
    assert isinstance(encoder, Encoder)
    assert (encoder.dimension, encoder.max_tokens) == (32, 64)
    vectors = encoder.encode_documents(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((4, 32), np.float32)
    np.testing.assert_allclose(vectors, of_the_library(model, TEXTS), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert not np.allclose(vectors[0], vectors[1], atol=0.01)
    assert encoder.encode_documents([]).shape == (0, 32)


@pytest.mark.slow
def test_queries_and_passages_get_their_prefixes(model):
    encoder = SentenceTransformersEncoder(
        model=model, query_prefix="query: ", document_prefix="passage: "
    )
    for encode, prefix in (
        (encoder.encode_queries, "query: "),
        (encoder.encode_documents, "passage: "),
    ):
        expected = of_the_library(model, TEXTS, prefix)
        np.testing.assert_allclose(encode(TEXTS), expected, atol=1e-6)
    bare = SentenceTransformersEncoder(model=model)
    assert encoder.count_tokens(["cat", ""]) == [n + 2 for n in bare.count_tokens(["cat", ""])]


@pytest.mark.slow
def test_a_vector_is_the_same_bits_in_any_batch_and_with_any_number_of_threads(model, monkeypatch):
    import torch

    found = {}
    for threads in (1, 2, 3):
        monkeypatch.setenv("LAYA_THREADS", str(threads))
        torch.set_num_threads(threads)
        found[threads] = SentenceTransformersEncoder(model=model).encode_documents(TEXTS)
    assert (found[1] == found[2]).all()
    assert (found[1] == found[3]).all()
    encoder = SentenceTransformersEncoder(model=model)
    for text, vector in zip(TEXTS, found[1], strict=True):
        assert (encoder.encode_documents([text])[0] == vector).all()
    batched = SentenceTransformersEncoder(model=model, batch_size=3).encode_documents(TEXTS)
    np.testing.assert_allclose(batched, found[1], atol=1e-5)


@pytest.mark.slow
def test_cut_vectors_have_unit_length_again(model):
    encoder = SentenceTransformersEncoder(model=model, truncate_dim=8)
    whole = SentenceTransformersEncoder(model=model).encode_documents(TEXTS)
    vectors = encoder.encode_documents(TEXTS)
    assert vectors.shape == (4, encoder.dimension) == (4, 8)
    first = whole[:, :8]
    expected = first / np.linalg.norm(first, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    with pytest.raises(ModelError, match=r"truncate_dim is 33, but vectors of .* 32 components"):
        _ = SentenceTransformersEncoder(model=model, truncate_dim=33).dimension


@pytest.mark.slow
def test_texts_are_cut_counted_and_blank_ones_refused(model):
    encoder = SentenceTransformersEncoder(model=model, max_tokens=8)
    long, cut = encoder.encode_documents(["cat " * 30, "cat " * 6])
    assert (long == cut).all()
    assert encoder.count_tokens(["cat " * 30, "", "[SEP]"]) == [32, 2, 5]
    with pytest.raises(EncodeError, match="text 1 is blank"):
        encoder.encode_documents(["cat", " "])
    with pytest.raises(EncodeError, match="text 1 is int"):
        encoder.encode_documents(["cat", 7])
    with pytest.raises(EncodeError, match="text 0 has a lone surrogate"):
        encoder.count_tokens(["\ud800"])
    with pytest.raises(EncodeError, match="not one string"):
        encoder.encode_queries("cat")
    with pytest.raises(ModelError, match=r"max_tokens is 65, but the model in .* takes 64"):
        _ = SentenceTransformersEncoder(model=model, max_tokens=65).max_tokens


@pytest.mark.slow
def test_the_name_of_a_special_token_is_plain_text(model):
    encoder = SentenceTransformersEncoder(model=model)
    special, spelled = encoder.encode_documents(["cat [SEP] mat", "cat [ sep ] mat"])
    assert (special == spelled).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings", "mode"),
    [
        ("plain", {}, "mean"),
        ("bge-tiny-en", {"query_prefix": ""}, "cls"),
        ("plain", {"pooling": "cls"}, "cls"),
        ("bge-tiny-en", {"pooling": "mean"}, "mean"),
    ],
)
def test_a_plain_checkpoint_is_pooled_as_its_family_was_trained(
    plain, tmp_path, name, settings, mode
):
    copy = shutil.copytree(plain, tmp_path / name)
    vectors = SentenceTransformersEncoder(model=str(copy), **settings).encode_documents(TEXTS)
    expected = of_the_library(saved(plain, tmp_path / "reference", mode), TEXTS)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


@pytest.mark.slow
def test_a_vector_of_zeros_is_refused_by_position(model, tmp_path):
    import safetensors.torch

    copy = shutil.copytree(model, tmp_path / "zeros")
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    zeros = {name: value * 0 for name, value in weights.items()}
    safetensors.torch.save_file(zeros, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncodeError, match="vector of text 0 is zero"):
        SentenceTransformersEncoder(model=str(copy)).encode_documents(TEXTS)


@pytest.mark.slow
def test_a_folder_that_is_no_model_is_named(tmp_path, model):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="empty makes no model"):
        SentenceTransformersEncoder(model=str(tmp_path / "empty")).encode_documents(["cat"])
    with pytest.raises(ModelError, match="no-such-device"):
        SentenceTransformersEncoder(model=model, device="no-such-device").encode_documents(["cat"])


@pytest.mark.slow
def test_a_pickled_encoder_gives_the_same(model, capfd):
    encoder = SentenceTransformersEncoder(model=model)
    expected = encoder.encode_documents(TEXTS)
    copy = pickle.loads(pickle.dumps(encoder))
    assert (copy.encode_documents(TEXTS) == expected).all()
    assert copy.fingerprint == encoder.fingerprint
    assert "%" not in capfd.readouterr().err  # no progress bar over a program's own
