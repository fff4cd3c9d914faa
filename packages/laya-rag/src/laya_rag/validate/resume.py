"""A run that is killed and started again gives the bytes of one that was not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from laya_rag.validate import interrupted
from laya_rag.validate.base import Finding, first_of
from laya_rag.validate.compare import byte_differences
from laya_rag.validate.trial import Trial

_BUNDLE = "resumed"
# No run over the sample takes as long.
_TIMEOUT = 600.0


def check_resume(trial: Trial) -> Finding:
    """Kill a run half-way through its documents, and its successor just before it commits.

    Both die by SIGKILL in processes of their own; neither may leave a manifest. The third run
    ends by itself, and its bundle is the first one.
    """
    first = trial.first
    problems: list[str] = []
    for moment in interrupted.MOMENTS:
        said = _killed(trial, moment)
        if said is not None:
            problems.append(said)
        if (trial.made / _BUNDLE / "manifest.json").exists():
            problems.append(f"the run killed {moment} left a manifest of a half-written bundle")
    resumed = trial.build(_BUNDLE)
    problems += [f"after being resumed: {text}" for text in byte_differences(first, resumed)]
    return Finding(
        f"killed {' and '.join(interrupted.MOMENTS)}, then resumed: byte-identical to a fresh run",
        first_of(problems),
    )


def _killed(trial: Trial, moment: str) -> str | None:
    """Run the stack in a process that dies at that moment; what was wrong if it did not."""
    model = trial.stack(_BUNDLE).model
    file = trial.made.parent / f"{_BUNDLE}.yaml"
    file.write_text(json.dumps(model.model_dump(mode="json")), encoding="utf-8")
    done = subprocess.run(  # noqa: S603 - this very interpreter
        [sys.executable, "-m", interrupted.__name__, str(file), moment],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_TIMEOUT,
        check=False,
    )
    log = trial.made / f"{_BUNDLE} {moment}.log"
    log.write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode == -signal.SIGKILL:
        return None
    last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return f"the run to be killed {moment} ended before, with exit code {done.returncode}: {last}"
