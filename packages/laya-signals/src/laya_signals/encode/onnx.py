"""Running a folder with an ONNX encoder and its tokenizer, one text at a time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from laya_signals.encode.plain import plain_token_ids, refuse_one_string
from laya_signals.errors import ConfigError, EncodeError, ModelError
from laya_signals.model_file import read_verified
from laya_signals.once import Once

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

#: Environment variable that limits the threads of the embedded models in a process.
THREADS = "LAYA_THREADS"
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"


@dataclass(frozen=True)
class _Loaded:
    session: onnxruntime.InferenceSession
    tokenizer: tokenizers.Tokenizer
    first: int
    last: int


class OnnxTokenEncoder:
    """Texts to the states of their tokens, `[CLS]` and `[SEP]` included.

    `folder` holds `model.onnx` (input `input_ids` `(1, t)` int64, output `token_states`
    `(1, t, d)` float32) and `tokenizer.json` (BERT's special tokens); `hashes` gives the SHA-256 in
    hex of both by file name. Nothing is read before the first text. Safe to share between threads.

    Every text is a run of its own, on one thread, so its states are the same bits whatever else is
    encoded along with it. `threads` texts run at the same time, through one session.
    """

    def __init__(
        self, folder: Path, hashes: Mapping[str, str], *, max_tokens: int, threads: int | None
    ) -> None:
        self.folder = folder
        self.hashes = hashes
        self.max_tokens = max_tokens
        self.threads = threads or available_cpus()
        self._model = Once(self._load)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text without special tokens, uncut; `"[SEP]"` in a text is plain text.

        Raises `EncodeError`, naming the position, for what is no text (a number, a string with a
        lone surrogate).
        """
        refuse_one_string(texts)  # before the model is loaded for nothing
        return plain_token_ids(self._model().tokenizer, texts)

    def states(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One `(t, d)` float32 array for each text, t at most `max_tokens`, cut on the right.

        Texts with equal tokens run once and share one array. Raises `EncodeError`, naming the
        position, for a text without a single token (empty, blank, only control characters) and for
        states that are not finite.
        """
        model = self._model()
        keys = []
        for position, ids in enumerate(self.token_ids(texts)):
            if not ids:
                raise EncodeError(f"text {position} is blank: it has no token to encode")
            keys.append((model.first, *ids[: self.max_tokens - 2], model.last))
        unique = list(dict.fromkeys(keys))
        if len(unique) < 2 or self.threads == 1:
            found = [self._run(key) for key in unique]
        else:
            with ThreadPoolExecutor(min(self.threads, len(unique))) as pool:
                found = list(pool.map(self._run, unique))
        by_key = dict(zip(unique, found, strict=True))
        for position, key in enumerate(keys):
            if not np.isfinite(by_key[key]).all():
                raise EncodeError(f"text {position} gives states that are not finite")
        return [by_key[key] for key in keys]

    def _run(self, ids: tuple[int, ...]) -> NDArray[np.float32]:
        (states,) = self._model().session.run(
            ["token_states"], {"input_ids": np.array([ids], np.int64)}
        )
        result: NDArray[np.float32] = states[0]
        return result

    def _load(self) -> _Loaded:
        import tokenizers

        model, vocabulary = (
            read_verified(self.folder, name, self.hashes) for name in (MODEL, TOKENIZER)
        )
        try:
            tokenizer = tokenizers.Tokenizer.from_buffer(vocabulary)
        except Exception as error:
            raise ModelError(f"{self.folder / TOKENIZER} is no tokenizer: {error}") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # Otherwise "[MASK]" or "[SEP]" inside a text would turn into the special token.
        tokenizer.encode_special_tokens = True
        first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        if first is None or last is None:
            raise ModelError(f"{self.folder / TOKENIZER} has no [CLS] or no [SEP]")
        try:
            session = open_session(model)
        except Exception as error:
            raise ModelError(f"{self.folder / MODEL} cannot be opened: {error}") from error
        return _Loaded(session, tokenizer, first, last)


def open_session(model: bytes) -> onnxruntime.InferenceSession:
    """A session that gives the same bits on every run: one thread, sequential, CPU only."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3  # errors only
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def available_cpus() -> int:
    """How many texts to run at the same time: `LAYA_THREADS`, or the processors at hand.

    The variable exists for programs that start several processes, each of which should then use
    only its share. Raises `ConfigError` when it is no whole number of at least 1.
    """
    if limit := os.environ.get(THREADS):
        if not limit.isdecimal() or int(limit) < 1:
            raise ConfigError(f"{THREADS} must be a whole number of at least 1, not {limit!r}")
        return int(limit)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
