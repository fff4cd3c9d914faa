"""Path patterns as in a `.gitignore` file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec


def spec_of(patterns: Iterable[str]) -> GitIgnoreSpec:
    """What matches these patterns; raises `ValueError` naming one that is none."""
    kept = list(patterns)
    try:
        return GitIgnoreSpec.from_lines(kept)
    except (ValueError, re.error):
        wrong = next(pattern for pattern in kept if not _is_pattern(pattern))
        raise ValueError(f"{wrong!r} is no pattern as in a .gitignore file") from None


def lenient_spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """The same for a file somebody else wrote: lines that are no patterns count for nothing."""
    return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def checked(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """`patterns` as they are; raises `ValueError` naming one that is none."""
    spec_of(patterns)
    return patterns


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
