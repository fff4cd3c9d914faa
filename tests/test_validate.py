"""Every stack that ships keeps every promise on the sample corpus."""

from __future__ import annotations

from pathlib import Path

import pytest
from laya_index.stack import load_stack
from laya_rag.validate.run import validate_stack

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(ROOT.glob("stacks/*.yaml")), ids=lambda file: file.stem)
def test_a_shipped_stack_passes_every_row(file: Path) -> None:
    # Another history of edits than the one that `laya stack validate` draws by default.
    verdict = validate_stack(load_stack(file), seed=1)
    assert {row.check: row.finding.problems for row in verdict.rows if not row.passed} == {}
