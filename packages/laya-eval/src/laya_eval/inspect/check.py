"""Whether the demo's report and page still are what its sources, vectors and this release give."""

from __future__ import annotations

import json
from pathlib import Path

from laya_eval.errors import StaleError
from laya_eval.inspect.collection import load_collection
from laya_eval.inspect.report import KIND
from laya_eval.inspect.site import REPORT, site_files
from laya_eval.inspect.vectors import check_encoding, encode, load_vectors

#: Where the demo that ships is, from the repository's top folder.
STACK = Path("stacks/inspectable.yaml")


def is_inspectable(folder: Path) -> bool:
    """Whether the report in `folder` is one of the inspectable demo."""
    try:
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False  # whoever reads it next says what is wrong with it
    return isinstance(report, dict) and report.get("kind") == KIND


def check_site(folder: Path, stack: Path = STACK) -> list[str]:
    """The names of the files in `folder`, each of which is what is computed afresh, to the byte.

    Texts are encoded again too, and compared with the saved vectors. Raises `StaleError`, naming
    every source that has changed since, and every file that differs, is missing or is superfluous;
    `DataError` and `StackError` for sources that are malformed.
    """
    collection = load_collection(stack)
    vectors = load_vectors(collection)
    check_encoding(vectors, encode(collection))
    files = site_files(collection, vectors)
    wrong = _changed_sources(folder, files[REPORT])
    for name, text in files.items():
        path = folder / name
        if not path.is_file():
            wrong.append(f"{name} is missing")
        elif path.read_bytes() != text.encode("utf-8"):
            wrong.append(f"{name} differs")
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    wrong += [f"{name} is not part of it" for name in sorted(present - files.keys())]
    if wrong:
        raise StaleError(
            f"{folder}: stale: computed afresh, {'; '.join(wrong)}; run `laya inspect build` again"
        )
    return list(files)


def _changed_sources(folder: Path, fresh: str) -> list[str]:
    """The sources whose hashes are not those that the report in `folder` names."""
    try:
        said = json.loads((folder / REPORT).read_text(encoding="utf-8"))["sources"]
        here = json.loads(fresh)["sources"]
        return [f"{name} has changed" for name in here if said.get(name) != here[name]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []  # that the report differs is said anyway
