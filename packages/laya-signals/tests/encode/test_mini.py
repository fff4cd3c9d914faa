import json
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import laya_mini
import numpy as np
import pytest
from laya_signals.encode.base import Encoder
from laya_signals.encode.mini import MiniEncoder
from laya_signals.errors import ConfigError, EncodeError
from laya_signals.registry import signals

CAT = "A cat sat on the mat."
BOND = "The central bank raised its interest rate by half a point on Thursday."
WORDS = "river bank cat protein rate theorem café 12 ship orbit 東京 error 404 naïve".split()


def some_texts():
    pick = random.Random(0)
    return [" ".join(pick.choices(WORDS, k=pick.randint(1, 60))) + "." for _ in range(24)]


@pytest.fixture(scope="module")
def encoder():
    return MiniEncoder()


@pytest.fixture(scope="module")
def expected(encoder):
    return encoder.encode_documents(some_texts())


def test_the_provider_implements_the_seam():
    block = {"provider": "encoder.mini", "config": {"max_tokens": 128}}
    built = signals.resolve(block, Encoder)
    assert (built.dimension, built.max_tokens) == (384, 128)


def test_vectors_are_unit_float32_rows(expected):
    assert expected.shape == (24, 384)
    assert expected.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(expected, axis=1), 1, atol=1e-6)


def test_the_settings_agree_with_the_shipped_description(encoder):
    config = json.loads((laya_mini.data_folder() / "encoder" / "config.json").read_text())
    assert encoder.dimension == config["dimension"]
    assert encoder.max_tokens == config["max_tokens"]
    with pytest.raises(ConfigError, match="max_tokens"):
        MiniEncoder(max_tokens=config["max_tokens_limit"] + 1)


# What a text gets depends on that text alone, to the bit.


def test_a_text_alone_gets_what_it_gets_in_a_batch(encoder, expected):
    for position in (0, 7, 23):
        assert (encoder.encode_documents([some_texts()[position]])[0] == expected[position]).all()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_neither_order_nor_threads_change_a_bit(threads, expected):
    order = np.random.default_rng(threads).permutation(24)
    shuffled = MiniEncoder(threads=threads).encode_documents([some_texts()[i] for i in order])
    assert (shuffled == expected[order]).all()


def test_a_spawned_process_gives_the_same_bits(encoder, expected):
    with get_context("spawn").Pool(1) as pool:
        elsewhere = pool.apply(encoder.encode_documents, (some_texts(),))
    assert (elsewhere == expected).all()


def test_one_encoder_may_be_called_from_several_threads(expected):
    encoder = MiniEncoder(threads=2)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(encoder.encode_documents, [some_texts()] * 4))
    assert all((result == expected).all() for result in results)


def test_repeated_texts_get_equal_rows(encoder, expected):
    first, second = some_texts()[:2]
    assert (encoder.encode_documents([first, second, first]) == expected[[0, 1, 0]]).all()


# What the numbers mean.


def test_known_texts_agree_with_the_original_in_float32(encoder):
    # Components move by up to .02 with the processor type, cosines to the original stay above .99.
    original = json.loads((Path(__file__).parent / "original.json").read_text())
    ours = encoder.encode_documents(list(original))
    for text, vector, known in zip(original, ours, original.values(), strict=True):
        np.testing.assert_allclose(vector, known, atol=0.03, err_msg=text)
        assert vector @ np.array(known) > 0.99, text


def test_paraphrases_are_nearer_than_strangers(encoder):
    query = encoder.encode_queries(["Where did the cat sit?"])[0]
    cat, bond = encoder.encode_documents([CAT, BOND]) @ query
    assert cat > 0.5 > 0.2 > bond


def test_queries_and_documents_share_one_space(encoder):
    assert (encoder.encode_queries([CAT]) == encoder.encode_documents([CAT])).all()


def test_token_vectors_are_unit_rows_without_special_tokens(encoder):
    cat, bond = encoder.encode_tokens([CAT, BOND])
    assert [len(cat), len(bond)] == [n - 2 for n in encoder.count_tokens([CAT, BOND])]
    assert cat.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(bond, axis=1), 1, atol=1e-6)


def test_the_same_word_means_something_else_in_another_sentence(encoder):
    river, money = encoder.encode_tokens(["river bank", "savings bank"])
    assert 0.2 < float(river[1] @ money[1]) < 0.95


# Limits and bad input.


def test_special_tokens_in_a_text_are_plain_text(encoder):
    spelt, spaced = encoder.encode_documents(["a [SEP] b [MASK]", "a [ SEP ] b [ MASK ]"])
    assert (spelt == spaced).all()
    assert encoder.count_tokens(["[MASK]"]) == [5]


def test_a_text_is_cut_on_the_right(encoder):
    short = MiniEncoder(max_tokens=16)
    cut = short.encode_documents([" ".join(["cat"] * 14) + " river"])
    assert (cut == encoder.encode_documents([" ".join(["cat"] * 14)])).all()
    assert short.encode_tokens(["cat " * 40])[0].shape == (14, 384)
    assert short.count_tokens(["cat " * 40]) == [42]


def test_the_longest_allowed_text_can_be_encoded():
    vectors = MiniEncoder(max_tokens=512).encode_tokens(["cat " * 600])
    assert vectors[0].shape == (510, 384)


def test_no_texts_give_no_rows(encoder):
    assert encoder.encode_documents([]).shape == (0, 384)
    assert encoder.encode_queries([]).dtype == np.float32
    assert encoder.encode_tokens([]) == []
    assert encoder.count_tokens([]) == []


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\u3000", "\u200b", "\x00"])
def test_a_blank_text_is_refused_by_position(encoder, blank):
    with pytest.raises(EncodeError, match="text 1 is blank"):
        encoder.encode_documents([CAT, blank])
    with pytest.raises(EncodeError, match="text 0 is blank"):
        encoder.encode_tokens([blank])
    assert encoder.count_tokens([blank]) == [2]


def test_what_is_no_text_is_refused(encoder):
    with pytest.raises(EncodeError, match="text 1 is int"):
        encoder.encode_documents([CAT, 7])
    with pytest.raises(EncodeError, match="text 0 has a lone surrogate"):
        encoder.encode_documents(["\ud800"])
    with pytest.raises(EncodeError, match="not one string"):
        encoder.encode_documents(CAT)


# Identity and loading.


def test_the_fingerprint_follows_what_changes_the_output(monkeypatch):
    fingerprint = MiniEncoder().fingerprint
    assert MiniEncoder(threads=1).fingerprint == fingerprint
    assert MiniEncoder(max_tokens=255).fingerprint != fingerprint
    monkeypatch.setattr(laya_mini, "hashes", lambda: {"encoder/model.onnx": "0" * 64})
    assert MiniEncoder().fingerprint != fingerprint


def test_a_pickled_encoder_keeps_its_settings_and_leaves_the_model_behind(encoder):
    encoder.encode_queries([CAT])
    pickled = pickle.dumps(MiniEncoder(max_tokens=64, threads=3))
    assert len(pickled) < 1000
    assert pickle.loads(pickled).config == MiniEncoder(max_tokens=64, threads=3).config
    assert pickle.loads(pickle.dumps(encoder)).fingerprint == encoder.fingerprint


def test_importing_and_building_load_no_runtime():
    check = (
        "import sys; from laya_signals.encode.mini import MiniEncoder; MiniEncoder().fingerprint;"
        "assert not {'onnxruntime', 'tokenizers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


def test_encoding_prints_nothing():
    code = "from laya_signals.encode.mini import MiniEncoder; MiniEncoder().encode_queries(['a'])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert (done.stdout, done.stderr) == (b"", b"")
