"""`decision.mini`: the decision model embedded in `laya_mini`, on ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import laya_mini
from pydantic import Field

from laya_signals.component import Component, ComponentConfig
from laya_signals.decide.base import Decision, Questions, State
from laya_signals.decide.onnx import OnnxDecisionModel
from laya_signals.errors import ModelError
from laya_signals.model_file import shipped_hashes

FOLDER = "decision"


class MiniDecisionConfig(ComponentConfig):
    """Settings of `MiniDecision`."""

    #: Apply the corrections that were fitted for the questions that the model was trained for.
    #: Without them a probability is what the reference implementation gives for the checkpoint.
    calibrated: bool = True
    #: Questions answered at the same time; by default one for each processor of this process.
    #: Never changes an answer, so it is neither dumped nor part of the fingerprint.
    threads: int | None = Field(default=None, ge=1, exclude=True)


class MiniDecision(Component[MiniDecisionConfig]):
    """A small decision model that needs no download and no torch.

    An answer is the same bits in any batch, any order, with any number of threads and in any
    process on one processor type with one version of ONNX Runtime; across processor types the last
    digits may differ. Each answer says as `truncated` whether the model saw the whole state, and
    each decision counts the tokens under `usage`.

    The model is loaded, and its hashes checked, at the first state; `ModelError` names a file that
    is missing or altered. Pickles by its settings, so a worker process opens its own session.
    """

    Config = MiniDecisionConfig

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        self._model = OnnxDecisionModel(
            laya_mini.data_folder() / FOLDER,
            shipped_hashes(FOLDER),
            threads=self.config.threads,
            calibrated=self.config.calibrated,
        )

    def __reduce__(self) -> tuple[type[MiniDecision], tuple[MiniDecisionConfig]]:
        return type(self), (self.config,)

    def fingerprint_extra(self) -> Any:
        """The hashes of the weights, the tokenizer and the calibration."""
        return self._model.hashes

    @property
    def thresholds(self) -> Mapping[str, float]:
        """Probabilities at which a question the model was trained for is best cut, by use."""
        return self._usable().config.thresholds

    def predict_batch(self, states: Sequence[State], questions: Questions) -> list[Decision]:
        """One decision per state, in order, with an answer to each question.

        Raises `QuestionError` (also a `ValueError`) for a question or a state that cannot be asked.
        """
        return self._usable().predict_batch(states, questions)

    def _usable(self) -> OnnxDecisionModel:
        if not self._model.hashes:
            raise ModelError("the installed laya-mini has no decision model: install a newer one")
        return self._model
