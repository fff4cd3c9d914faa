"""Writing a report's files so that a reader never sees half of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write each text to its name in `folder`, replacing what is there; names may have a folder.

    Every file is whole whenever one looks; the last one is written last. Raises `OSError`.
    """
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.new")
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(path)
