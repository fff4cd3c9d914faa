"""A corpus of any size with the statistics of a real one, and an encoder that costs nothing.

Words follow a Zipf–Mandelbrot law; each document has a topic whose words it uses far more often
than others do, so that lexical and dense neighbourhoods exist and agree. The words are those of the
embedded encoder's vocabulary, the most frequent first, and compounds of them for the rare ones, so
that a passage costs a language model about as many tokens as English of its length.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import count, islice
from pathlib import Path

import laya_mini
import numpy as np
from laya_signals.component import Component, ComponentConfig
from numpy.typing import NDArray

WORDS = 150_000
DOCUMENTS_PER_TOPIC = 100
#: The provider of `WordVectors` in a stack.
ENCODER = f"{__name__}:WordVectors"

_TOPIC_WORDS = 60
_TOPIC_SHARE = 0.3
_LENGTH = 110
# Words of lower rank weigh less in a vector; all others weigh as one of this rank does.
_COMMON = 2000


class WordVectorConfig(ComponentConfig):
    """Settings of `WordVectors`."""

    dimension: int = 384


class WordVectors(Component[WordVectorConfig]):
    """The sum of a text's random word vectors, rare words counting more; an `Encoder`."""

    Config = WordVectorConfig
    max_tokens = 1 << 30

    @property
    def dimension(self) -> int:
        """Components per vector."""
        return self.config.dimension

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """`(len(texts), dimension)` float32, unit rows."""
        found = np.empty((len(texts), self.dimension))
        for row, text in enumerate(texts):
            words = sorted(set(text.split()))
            found[row] = np.sum([_word_vector(word, self.dimension) for word in words], axis=0)
            # No two texts are quite the same, however few words they have.
            found[row] += 0.1 * _word_vector(text, self.dimension)
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found.astype(np.float32)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same."""
        return self.encode_documents(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words."""
        return [len(text.split()) for text in texts]


@lru_cache(maxsize=1 << 16)
def _word_vector(word: str, dimension: int) -> NDArray[np.float32]:
    rank = _common_words().get(word, _COMMON)
    generator = np.random.default_rng(list(word.encode("utf-8")[:64]))
    vector = generator.standard_normal(dimension, np.float32)
    return vector * np.float32(np.log(2 + rank) ** 2 / 100)


@cache
def _common_words() -> dict[str, int]:
    return {word: rank for rank, word in enumerate(_pieces()[0][:_COMMON])}


def _pieces() -> tuple[list[str], list[str]]:
    """Whole words and endings of the embedded encoder's vocabulary, the most frequent first."""
    path = laya_mini.data_folder() / "encoder" / "tokenizer.json"
    ids: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]
    pieces = sorted(ids, key=lambda piece: ids[piece])
    words = [piece for piece in pieces if piece.isascii() and piece.isalpha() and len(piece) > 1]
    endings = [piece[2:] for piece in pieces if piece.startswith("##")]
    return words, [ending for ending in endings if ending.isascii() and ending.isalpha()]


def vocabulary() -> list[str]:
    """`WORDS` different words by rank: whole words, then compounds of a word and an ending."""
    words, endings = _pieces()
    compounds = (
        words[n * 7919 % len(words)] + endings[n * 104_729 % len(endings)] for n in count()
    )
    found = dict.fromkeys(words)
    while len(found) < WORDS:
        found[next(compounds)] = None
    return list(found)[:WORDS]


def write_corpus(path: Path, documents: int, *, seed: int = 7, batch: int = 4096) -> None:
    """Write `documents` short documents without titles, one passage each, as JSON lines."""
    generator = np.random.default_rng(seed)
    spelling = vocabulary()
    common = _law(WORDS)
    topical = _law(_TOPIC_WORDS)
    topics = max(1, documents // DOCUMENTS_PER_TOPIC)
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, documents, batch):
            size = min(batch, documents - start)
            lengths = np.clip(generator.poisson(_LENGTH, size), 20, None)
            words = np.searchsorted(common, generator.random(int(lengths.sum())))
            topic = np.repeat(generator.integers(0, topics, size), lengths)
            own = np.searchsorted(topical, generator.random(len(words)))
            own = 500 + (topic * 7919 + own * 104_729) % (WORDS - 500)
            words = np.where(generator.random(len(words)) < _TOPIC_SHARE, own, words)
            spelt = [spelling[word] for word in words.tolist()]
            bounds = np.concatenate([[0], np.cumsum(lengths)]).tolist()
            for place in range(size):
                text = " ".join(spelt[bounds[place] : bounds[place + 1]])
                file.write(json.dumps({"_id": f"d{start + place:07}", "text": text}) + "\n")


def _law(words: int) -> NDArray[np.float64]:
    """The cumulative Zipf–Mandelbrot law over ranks from 0."""
    weights = 1 / (np.arange(words) + 2.7)
    cumulative: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    return cumulative


def queries(corpus: Path, number: int, *, words: int = 6, seed: int = 11) -> list[str]:
    """Questions of a few words each, taken from documents of the corpus."""
    generator = np.random.default_rng(seed)
    with corpus.open(encoding="utf-8") as file:
        texts = [json.loads(line)["text"].split() for line in islice(file, 20_000)]
    found = []
    for chosen in generator.integers(0, len(texts), number).tolist():
        text = texts[chosen]
        found.append(" ".join(text[i] for i in generator.integers(0, len(text), words).tolist()))
    return found


def prose(texts: Sequence[str], *, sentence: int = 14, paragraph: int = 6) -> str:
    """A long text of sentences and paragraphs made of the words of `texts`."""
    words = " ".join(texts).split()
    sentences = [
        " ".join(words[start : start + sentence]).capitalize() + "."
        for start in range(0, len(words), sentence)
    ]
    return "\n\n".join(
        " ".join(sentences[start : start + paragraph])
        for start in range(0, len(sentences), paragraph)
    )
