"""Token vectors from an encoder."""

import pickle

import numpy as np
import pytest
from laya_signals import EncodeError, RegistryError, signals
from laya_signals.encode.mini import MiniEncoder
from laya_signals.fde import MuveraFde
from laya_signals.multivector import EncoderMultiVectorEncoder, MultiVectorEncoder

TEXTS = [
    "The lighthouse keeper trims the wick every evening.",
    "Herring are salted in barrels before the first frost.",
    "A storm broke two of the harbour's three piers.",
    "Ferry timetables change in October and in April.",
    "The lamp of the lighthouse burns whale oil no longer.",
    "Rope is made in a long, low shed by the water.",
]
QUERIES = [
    "who looks after the lighthouse lamp",
    "how is fish preserved",
    "storm damage at the port",
]


@pytest.fixture(scope="module")
def encoder() -> EncoderMultiVectorEncoder:
    return EncoderMultiVectorEncoder(encoder={"provider": "encoder.mini", "config": {"threads": 1}})


def test_it_is_a_provider_of_the_seam() -> None:
    built = signals.resolve({"provider": "multivector.encoder"}, MultiVectorEncoder)
    assert isinstance(built, EncoderMultiVectorEncoder)
    assert built.dimension == 384


def test_vectors_are_the_encoders_token_states(encoder: EncoderMultiVectorEncoder) -> None:
    [expected] = MiniEncoder(threads=1).encode_tokens(TEXTS[:1])
    [found] = encoder.encode_documents(TEXTS[:1])
    assert np.array_equal(found, expected)
    assert np.array_equal(encoder.encode_query(TEXTS[0]), expected)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, rel=1e-5)


def test_a_text_without_tokens_has_no_vector(encoder: EncoderMultiVectorEncoder) -> None:
    blank, text, empty = encoder.encode_documents([" \n", "text", ""])
    assert blank.shape == empty.shape == (0, 384)
    assert text.shape[0] == 1
    assert encoder.encode_documents([]) == []


def test_what_is_no_list_of_texts_is_refused(encoder: EncoderMultiVectorEncoder) -> None:
    with pytest.raises(EncodeError, match="sequence of texts"):
        encoder.encode_documents("text")
    with pytest.raises(EncodeError, match="text 1 is int"):
        encoder.encode_documents(["a", 3])  # type: ignore[list-item]


def test_an_encoder_without_token_vectors_is_refused_when_it_is_wired() -> None:
    with pytest.raises(RegistryError, match="is no TokenEncoder"):
        EncoderMultiVectorEncoder(encoder={"provider": "tokenizer.word"})


def test_the_fingerprint_follows_the_encoder(encoder: EncoderMultiVectorEncoder) -> None:
    shorter = {"provider": "encoder.mini", "config": {"max_tokens": 8}}
    other = EncoderMultiVectorEncoder(encoder=shorter)
    assert encoder.fingerprint != other.fingerprint
    assert pickle.loads(pickle.dumps(other)).fingerprint == other.fingerprint


def test_fde_follows_maxsim_on_real_token_vectors(encoder: EncoderMultiVectorEncoder) -> None:
    documents = encoder.encode_documents(TEXTS)
    fde = MuveraFde(repetitions=40, k_sim=4, projection=32)
    encoded = np.stack([fde.encode_document(document) for document in documents])
    for text in QUERIES:
        query = encoder.encode_query(text)
        exact = [float((query @ document.T).max(axis=1).sum()) for document in documents]
        approximate = encoded @ fde.encode_query(query)
        assert np.corrcoef(exact, approximate)[0, 1] > 0.7, text
        assert int(np.argmax(exact)) in np.argsort(-approximate)[:2], text
