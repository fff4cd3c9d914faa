"""All checks of one stack, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from laya_index.process import Progress, Silent
from laya_index.stack import Stack

from laya_rag.validate.base import Finding, Row, Verdict
from laya_rag.validate.contracts import check_contracts
from laya_rag.validate.determinism import check_determinism
from laya_rag.validate.device import check_device
from laya_rag.validate.incremental import check_incremental
from laya_rag.validate.kg import check_kg
from laya_rag.validate.pii import check_pii
from laya_rag.validate.rag import check_rag
from laya_rag.validate.report import check_report, write_report
from laya_rag.validate.resume import check_resume
from laya_rag.validate.trial import Trial

Check = Callable[[Trial], Finding]

#: The rows in the order in which they are shown.
CHECKS = (
    *("contracts", "kg", "rag", "pii", "determinism", "resume", "incremental", "device", "report"),
)

# In the order in which they run: what looks for leaks sees what all others wrote.
_RUN: dict[str, Check] = {
    "contracts": check_contracts,
    "kg": check_kg,
    "rag": check_rag,
    "determinism": check_determinism,
    "resume": check_resume,
    "incremental": check_incremental,
    "device": check_device,
    "pii": check_pii,
}


def validate_stack(
    stack: Stack, *, out: Path | None = None, seed: int = 0, progress: Progress | None = None
) -> Verdict:
    """Run the components of `stack` on the sample corpus and check what comes of it.

    The stack's source is replaced by the corpus and its export by a temporary folder, which is
    gone afterwards however this ends; all else is the stack's own. The report goes to `out`, or is
    only tried out. `seed` draws the edits of the incremental check. Whatever a component raises is
    a row that failed. Raises `IndexingError` or `SignalError` when the stack's own settings of its
    source are wrong.
    """
    progress = progress or Silent()
    rows: dict[str, Row] = {}
    with TemporaryDirectory(prefix="laya-validate-") as name:
        folder = Path(name).resolve()
        trial = Trial(stack, folder, seed=seed)
        for check, function in _RUN.items():
            progress.stage(check, None)
            rows[check] = _row(check, function, trial)
        ordered = tuple(rows[check] for check in CHECKS if check in rows)
        progress.stage("report", None)
        place = folder / "report" if out is None else out
        begin = time.perf_counter()
        verdict = Verdict(stack.model.name, stack.hash, seed, ordered)
        finding = check_report(place, verdict)
        last = Row("report", finding, time.perf_counter() - begin)
        verdict = Verdict(stack.model.name, stack.hash, seed, (*ordered, last))
        if last.passed:
            write_report(place, verdict)
    return verdict


def _row(check: str, function: Check, trial: Trial) -> Row:
    begin = time.perf_counter()
    try:
        finding = function(trial)
    except Exception as error:  # a component may raise anything; the row says what
        finding = Finding("stopped", (f"{type(error).__name__}: {error}",))
    return Row(check, finding, time.perf_counter() - begin)
