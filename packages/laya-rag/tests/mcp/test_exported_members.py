from __future__ import annotations

import subprocess
import sys

import laya_rag.mcp as package


def test_what_is_exported_is_what_all_says() -> None:
    ours = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "").startswith(("laya_rag.mcp.", "laya_rag.serving."))
    }
    assert sorted(ours) == package.__all__


def test_the_core_needs_no_sdk() -> None:
    code = """
import sys
for name in ("mcp", "mcp_types", "starlette", "uvicorn", "httpx2", "anyio"):
    sys.modules[name] = None
from laya_rag.mcp import RetrievalServer
from laya_retrieval.testing import FakeBackend
assert RetrievalServer(FakeBackend()).call("search", {"query": "revenue"}).hits
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_itself_does_not_load_it() -> None:
    code = "import sys, laya_rag; assert not {'mcp', 'laya_rag.mcp'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
