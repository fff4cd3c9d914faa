"""Running a folder with an exported decision model on ONNX Runtime, one state at a time."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from laya_signals.component import describe
from laya_signals.decide.answer import Platt, probabilities
from laya_signals.decide.base import Decision, Questions, State
from laya_signals.decide.batch import Row, decide
from laya_signals.decide.checkpoint import Number, open_tokenizer
from laya_signals.decide.question import TypedQuestion
from laya_signals.decide.sequence import SequenceBuilder
from laya_signals.decide.temperature import bucket, clamped
from laya_signals.encode.onnx import MODEL, TOKENIZER, available_cpus, open_session
from laya_signals.errors import ModelError
from laya_signals.model_file import read_verified

if TYPE_CHECKING:
    import onnxruntime

CONFIG = "config.json"


class KnownQuestion(BaseModel):
    """A question that the model was trained for."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str
    instructions: str


class Correction(BaseModel):
    """A fitted correction of a known question's log-odds."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    slope: Number
    offset: Number


class ExportConfig(BaseModel):
    """`config.json` of an export; keys that are not listed here do not matter to answers."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    max_len: int = Field(default=512, ge=16)
    head_max_len: int = Field(default=192, ge=8)
    temperature: tuple[Number, Number, Number] = (1.0, 1.0, 1.0)
    temperature_by_options: dict[str, Number] = Field(default_factory=dict)
    #: The questions that the model was trained for, by a name of theirs.
    questions: dict[str, KnownQuestion] = Field(default_factory=dict)
    #: For some of them, a correction that was fitted for that question alone.
    calibration: dict[str, Correction] = Field(default_factory=dict)
    #: Probabilities at which a known question is best cut, by the name of the use.
    thresholds: dict[str, Number] = Field(default_factory=dict)

    def temperature_of(self, question: TypedQuestion) -> float:
        """What a question's logits are divided by, clamped."""
        fitted = self.temperature_by_options.get(bucket(question.type, len(question.labels)))
        return clamped(self.temperature[question.index] if fitted is None else fitted)

    def correction_of(self, question: TypedQuestion) -> Platt | None:
        """The correction that was fitted for exactly this noul, in the model's own wording."""
        if question.type != "noul" or question.labels != ("false", "true"):
            return None
        if any(question.descriptions):
            return None
        for name, known in self.questions.items():
            if (known.type, known.instructions) == (question.type, question.instructions):
                fitted = self.calibration.get(name)
                return None if fitted is None else Platt(fitted.slope, fitted.offset)
        return None


@dataclass(frozen=True)
class _Loaded:
    session: onnxruntime.InferenceSession
    sequences: SequenceBuilder
    config: ExportConfig


class OnnxDecisionModel:
    """Answers typed questions with an exported model.

    `folder` holds `model.onnx` (inputs `input_ids` `(1, t)`, `marker_pos` `(1, k)`, `qtype` `(1,)`,
    all int64; output `logits` `(1, k)` float32), `tokenizer.json` and `config.json`
    (`ExportConfig`); `hashes` gives the SHA-256 in hex of all three by file name. Nothing is read
    before the first state. Safe to share between threads.

    Every question about every state is a run of its own, on one thread, so a probability is the
    same bits whatever else is asked. `threads` of them run at the same time, through one session.
    `calibrated` applies the corrections that were fitted for known questions.
    """

    def __init__(
        self,
        folder: Path,
        hashes: Mapping[str, str],
        *,
        threads: int | None = None,
        calibrated: bool = True,
    ) -> None:
        self.folder = folder
        self.hashes = hashes
        self.threads = threads or available_cpus()
        self.calibrated = calibrated
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def config(self) -> ExportConfig:
        """The export's own description; loads the model."""
        return self._model().config

    def predict_batch(self, states: Sequence[State], questions: Questions) -> list[Decision]:
        """One decision per state, in order, with an answer to each question.

        Raises `QuestionError` for a question or a state that cannot be asked, before anything runs.
        """
        model = self._model()

        def logits_of(rows: Sequence[Row]) -> list[NDArray[np.float32]]:
            run = partial(_run, model.session)
            if len(rows) < 2 or self.threads == 1:
                return list(map(run, rows))
            with ThreadPoolExecutor(min(self.threads, len(rows))) as pool:
                return list(pool.map(run, rows))

        def chances_of(question: TypedQuestion, logits: NDArray[np.float32]) -> NDArray[np.float64]:
            platt = model.config.correction_of(question) if self.calibrated else None
            return probabilities(logits, model.config.temperature_of(question), platt)

        return decide(states, questions, model.sequences, logits_of, chances_of)

    def _model(self) -> _Loaded:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._load()
        return self._loaded

    def _load(self) -> _Loaded:
        model, vocabulary, described = (
            read_verified(self.folder, name, self.hashes) for name in (MODEL, TOKENIZER, CONFIG)
        )
        try:
            config = ExportConfig.model_validate(json.loads(described))
        except ValidationError as error:
            raise ModelError(f"{self.folder / CONFIG}: {describe(error)}") from error
        except ValueError as error:
            raise ModelError(f"{self.folder / CONFIG} is no JSON: {error}") from error
        tokenizer = open_tokenizer(vocabulary, self.folder / TOKENIZER)
        try:
            session = open_session(model)
        except Exception as error:
            raise ModelError(f"{self.folder / MODEL} cannot be opened: {error}") from error
        names = {node.name for node in session.get_inputs()}
        if names != {"input_ids", "marker_pos", "qtype"}:
            raise ModelError(
                f"{self.folder / MODEL} takes {', '.join(sorted(names))}, "
                "not input_ids, marker_pos and qtype: it is no decision model"
            )
        sequences = SequenceBuilder(
            tokenizer, max_len=config.max_len, head_max_len=config.head_max_len
        )
        return _Loaded(session, sequences, config)


def _run(session: onnxruntime.InferenceSession, row: Row) -> NDArray[np.float32]:
    (logits,) = session.run(
        ["logits"],
        {
            "input_ids": np.array([row.ids], np.int64),
            "marker_pos": np.array([row.markers], np.int64),
            "qtype": np.array([row.kind], np.int64),
        },
    )
    result: NDArray[np.float32] = logits[0]
    return result
