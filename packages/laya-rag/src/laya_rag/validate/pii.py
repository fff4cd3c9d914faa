"""No planted value is in anything that was written."""

from __future__ import annotations

from collections import defaultdict

from laya_index.leaks import find_leaks
from laya_index.sample import planted_pieces, planted_values

from laya_rag.validate.base import Finding, counted, first_of
from laya_rag.validate.trial import Trial

_NO_REDACTOR = (
    "the stack has no `redact:`, so personal data goes into the bundle as it is; "
    "add `redact: {provider: redact.patterns}`"
)


def check_pii(trial: Trial) -> Finding:
    """Scan every file that the trial has written so far, bundles, caches and logs alike.

    A stack without a redactor fails: privacy is the default.
    """
    stack = trial.stack("first")
    _ = trial.first
    planted = {**planted_values(), **planted_pieces()}
    places: defaultdict[str, list[str]] = defaultdict(list)
    for leak in find_leaks(trial.made, planted):
        places[leak.name].append(f"{leak.path} ({leak.place})")
    problems = [] if stack.model.redact is not None else [_NO_REDACTOR]
    for name, found in ((name, places[name]) for name in planted if name in places):
        more = f" and {counted(len(found) - 1, 'other place')}" if len(found) > 1 else ""
        problems.append(f"{name} is in {found[0]}{more}")
    files = [path for path in trial.made.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    return Finding(
        f"{counted(len(planted_values()), 'planted value')} in none of "
        f"{counted(len(files), 'file')} ({size:.1f} MB)",
        first_of(problems),
    )
