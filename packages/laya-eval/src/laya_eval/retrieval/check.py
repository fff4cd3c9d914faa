"""Whether a report still is what its data, its bundle and its configuration give."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from laya_eval.errors import DataError, StaleError
from laya_eval.retrieval.evaluation import Measurement
from laya_eval.retrieval.report import REPORT, SCHEMA_VERSION, superseded
from laya_eval.retrieval.settings import Settings


def read_report(folder: Path) -> dict[str, Any]:
    """The JSON of the report in `folder`.

    Raises `DataError` when there is none, it is no JSON, or another version's.
    """
    path = folder / REPORT
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{folder}: no {REPORT}; `laya eval run` writes one") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: it cannot be read: {error}") from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise DataError(
            f"{path}: schema version {version!r}, this release reads {SCHEMA_VERSION}; "
            "run `laya eval run` again"
        )
    loaded: dict[str, Any] = data
    return loaded


def settings_of(report: Mapping[str, Any]) -> Settings:
    """The settings that a report was made with; raises `StaleError` when they are none today."""
    try:
        return Settings.model_validate(report["configuration"]["settings"])
    except (KeyError, TypeError, ValidationError) as error:
        raise StaleError(f"the report's settings are not those of this release: {error}") from error


def check_inputs(
    report: Mapping[str, Any], measurement: Measurement, hashes: Mapping[str, str]
) -> None:
    """Raise `StaleError`, naming what changed, unless data, corpus and configuration agree."""
    said = report.get("data", {}).get("sha256", {})
    wrong = [
        f"data file {name} is {_change(said.get(name), hashes.get(name))}"
        for name in sorted(said.keys() | hashes.keys())
        if said.get(name) != hashes.get(name)
    ]
    here = measurement.corpus.description
    for key, value in report.get("corpus", {}).items():
        if here.get(key) != value:
            wrong.append(f"the corpus's {key} was {value}, now it is {here.get(key)}")
    if report.get("fingerprint") != measurement.fingerprint:
        wrong.append(
            f"the configuration was {report.get('fingerprint')}, "
            f"this installation's is {measurement.fingerprint}"
        )
    if wrong:
        raise StaleError("stale report: " + "; ".join(wrong) + "; run `laya eval run` again")


def check_files(folder: Path, files: Mapping[str, str]) -> None:
    """Raise `StaleError` unless every file is in `folder`, byte for byte."""
    wrong: list[str] = []
    for name, text in files.items():
        path = folder / name
        if not path.is_file():
            wrong.append(f"{name} is missing")
        elif path.read_bytes() != text.encode("utf-8"):
            wrong.append(f"{name} differs")
    wrong += [f"{path.name} is not part of it" for path in superseded(folder, files)]
    if wrong:
        raise StaleError(
            f"stale report: computed afresh, {'; '.join(wrong)}; run `laya eval run` again"
        )


def _change(said: str | None, here: str | None) -> str:
    if said is None:
        return "new"
    return "gone" if here is None else "changed"
