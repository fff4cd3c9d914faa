import pytest
from laya_index.document import SourceDocument
from laya_index.redact.base import Finding, redact


class Planned:
    fingerprint = "0"

    def __init__(self, *findings: Finding) -> None:
        self.findings = findings

    def find(self, text: str) -> list[Finding]:
        return list(self.findings) if text else []


@pytest.mark.parametrize(
    ("findings", "expected", "counts"),
    [
        ([], "0123456789", {}),
        ([Finding(2, 4, "A")], "01[A]456789", {"A": 1}),
        ([Finding(8, 10, "B"), Finding(0, 1, "A")], "[A]1234567[B]", {"A": 1, "B": 1}),
        ([Finding(2, 4, "A"), Finding(4, 6, "A")], "01[A][A]6789", {"A": 2}),
        ([Finding(2, 6, "A"), Finding(4, 8, "B")], "01[A]89", {"A": 1}),
        ([Finding(4, 8, "B"), Finding(2, 6, "A")], "01[A]89", {"A": 1}),
        ([Finding(2, 4, "A"), Finding(2, 6, "B")], "01[B]6789", {"B": 1}),
        ([Finding(2, 8, "A"), Finding(3, 4, "B"), Finding(7, 9, "C")], "01[A]9", {"A": 1}),
        ([Finding(2, 4, "A"), Finding(2, 4, "A")], "01[A]456789", {"A": 1}),
    ],
)
def test_findings_are_merged_and_replaced(
    findings: list[Finding], expected: str, counts: dict[str, int]
) -> None:
    document = redact(SourceDocument("d", "0123456789"), Planned(*findings))
    assert document.text == expected
    assert document.redactions == counts
