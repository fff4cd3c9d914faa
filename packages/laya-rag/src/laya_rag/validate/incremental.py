"""After any history of edits a bundle is the one that a fresh run builds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from laya_index.sample import planted_values

from laya_rag.validate.base import Finding, counted, first_of
from laya_rag.validate.compare import byte_differences
from laya_rag.validate.trial import Trial

_KINDS = ("add", "change", "delete", "rename")
_UNDONE = "everything undone"
_CORPUS, _BUNDLE, _FRESH = "edited", "incremental", "fresh"
# Values whose form alone gives them away, wherever they stand.
_TELLERS = ("email_guest", "phone_intl", "iban_plain", "card_spaced", "ipv4")


def check_incremental(trial: Trial) -> Finding:
    """Edit the corpus, update the bundle, compare it with a fresh one; in the end undo it all.

    The history is drawn from the trial's seed: each kind of edit comes first in one of its steps,
    and every step has two.
    """
    trial.copy(trial.first, _BUNDLE)
    steps = 0
    for what, files in (*edits(trial.files, trial.seed), (_UNDONE, trial.files)):
        steps += 1
        trial.feed(files, _CORPUS)
        bundle = trial.build(_BUNDLE, _CORPUS)
        fresh = trial.first if what == _UNDONE else trial.build(_FRESH, _CORPUS, anew=True)
        problems = first_of(byte_differences(fresh, bundle))
        if problems:
            # Everything after it would differ too.
            return Finding("stopped", tuple(f"step {steps} ({what}): {text}" for text in problems))
    return Finding(
        f"{counted(steps, 'step')} of random edits, seed {trial.seed}: each byte-identical to a "
        "fresh run"
    )


def edits(files: Mapping[str, bytes], seed: int) -> Iterator[tuple[str, dict[str, bytes]]]:
    """A history of the corpus: what was edited, and all files after it."""
    rng = random.Random(seed)  # noqa: S311 - reproducible, not secret
    now = dict(files)
    for step, kind in enumerate(rng.sample(_KINDS, len(_KINDS)), start=1):
        said = [_edit(now, rng, each, step) for each in (kind, rng.choice(_KINDS))]
        yield ", ".join(said), dict(sorted(now.items()))


def _edit(files: dict[str, bytes], rng: random.Random, kind: str, step: int) -> str:
    """Change `files` in one way, and say which."""
    texts = sorted(name for name, content in files.items() if content and name.endswith(".md"))
    name = rng.choice(texts)
    if kind == "add":
        new = f"added/{step}-{rng.randrange(1000)}.md"
        files[new] = _paragraph(rng)
        return f"added {new}"
    if kind == "change":
        lines = files[name].splitlines(keepends=True)
        lines.insert(len(lines), b"\n" + _paragraph(rng))
        files[name] = b"".join(lines)
        return f"changed {name}"
    content = files.pop(name)
    if kind == "delete":
        return f"deleted {name}"
    new = f"moved/{step}-{PurePosixPath(name).name}"
    files[new] = content
    return f"renamed {name} to {new}"


def _paragraph(rng: random.Random) -> bytes:
    words = "herring tide quay lamp barley fog oar anchor pilot gull rope sluice".split()
    told = " ".join(rng.choice(words) for _ in range(rng.randint(8, 60)))
    planted = rng.choice([planted_values()[name] for name in _TELLERS])
    return f"{told.capitalize()}. Told by {planted} in {rng.randint(1800, 1999)}.\n".encode()
