"""What measuring raises.

EvalError
├── DataError     a data set's file is missing or malformed (in `laya_eval.beir`)
├── LabelsError   labels are missing or malformed
└── MeasureError  the numbers given have no such measure
"""

from __future__ import annotations


class EvalError(Exception):
    """Base class of what goes wrong while something is measured."""


class LabelsError(EvalError):
    """Labels are missing or malformed; the message names file and line."""


class MeasureError(EvalError):
    """The numbers given have no such measure; the message says which rule they break."""
