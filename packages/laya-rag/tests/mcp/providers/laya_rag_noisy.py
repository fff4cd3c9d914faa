"""A decision model that prints wherever it can, as libraries do."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from laya_retrieval.testing import FakeDecisionModel
from laya_signals.component import Component, ComponentConfig

print("BANNER of a library")
sys.__stdout__.write("BANNER past the redirection\n")


class NoisyDecision(Component[ComponentConfig]):
    """Answers like `FakeDecisionModel`."""

    def predict_batch(self, states: Any, questions: Any) -> Any:
        print("BANNER without a line's end", end="")
        os.write(1, b"BANNER of C code\n")
        subprocess.run(["echo", "BANNER of a child"], check=True)
        return FakeDecisionModel().predict_batch(states, questions)
