from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from laya_rag.http.problems import KINDS

PAGE = (Path(__file__).parents[4] / "docs" / "http.md").read_text(encoding="utf-8")


def test_every_code_is_documented_with_its_status() -> None:
    found = dict(re.findall(r"^\| `(\w+)` \| (\d+|as it is) \|", PAGE, re.M))
    own = {code: str(kind.status) for code, kind in KINDS.items()} | {"http_error": "as it is"}
    assert found == own


def test_every_route_is_documented(site: Any) -> None:
    documented = set(re.findall(r"^\| `(\w+ /[^`?]*)", PAGE, re.M))
    described = {
        f"{method.upper()} {path}"
        for path, methods in site.app.openapi()["paths"].items()
        for method in methods
    }
    assert documented == described | {"GET /", "GET /openapi.json"}


def test_every_metric_is_documented(site: Any) -> None:
    with site.client() as client:
        text = client.get("/metrics").text
    names = set(re.findall(r"^# TYPE (laya_\w+) (?!gauge\b.*_created)", text, re.M))
    documented = set(re.findall(r"^\| `(laya_\w+)` \|", PAGE, re.M))
    assert {name for name in names if not name.endswith("_created")} == documented
