"""The examples of the adapters' page run against the real frameworks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "adapters.md"
# The fence says `py`, not `python`: these blocks need the dependency group `adapters`.
SECTION = re.compile(r"^## (?P<title>.+?)\n.*?^```py\n(?P<body>.*?)^```", re.M | re.S)
EXAMPLES = {match["title"]: match["body"] for match in SECTION.finditer(PAGE.read_text("utf-8"))}
FRAMEWORKS = {
    "LangChain": "langchain_core",
    "LlamaIndex": "llama_index.core",
    "Haystack": "haystack",
}


def test_every_framework_has_an_example() -> None:
    assert set(EXAMPLES) == set(FRAMEWORKS)


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_example_runs(framework: str) -> None:
    pytest.importorskip(FRAMEWORKS[framework], reason="needs the dependency group `adapters`")
    exec(compile(EXAMPLES[framework], f"adapters.md, {framework}", "exec"), {"__name__": "docs"})
