"""Whether a bundle is whole, whether it is current, and what it holds twice."""

from laya_index.integrity.checker import check
from laya_index.integrity.report import (
    Drift,
    FileProblem,
    Identity,
    IntegrityReport,
    NearDuplicate,
    NearScan,
)

__all__ = [
    "Drift",
    "FileProblem",
    "Identity",
    "IntegrityReport",
    "NearDuplicate",
    "NearScan",
    "check",
]
