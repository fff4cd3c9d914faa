"""The `laya` command."""

from __future__ import annotations

from laya_rag.cli.app import app


def main() -> None:
    """Run the command line."""
    app()
