"""What measuring raises.

EvalError
├── BenchError    a benchmark cannot run, or its sides do not give the same result
│   └── MissingPeerError  the library to compare with is not installed
├── BusyError     another heavy job is running on this machine
├── DataError     a data set's file is missing or malformed
├── LabelsError   labels are missing or malformed
├── MissingHarnessError  a harness that is to score the engine is not installed
├── MeasureError  the numbers given have no such measure
├── PageError     a page of the documentation has no place for a command's tables
├── StaleError    a report is not what its data, bundle and configuration give
└── UnknownSystemError  a system under test is misspelt, or needs a signal that is not there
"""

from __future__ import annotations


class EvalError(Exception):
    """Base class of what goes wrong while something is measured."""


class BenchError(EvalError):
    """A benchmark cannot run, or a peer's result is not ours; the message says which."""


class MissingPeerError(BenchError):
    """A library to compare with is not installed; the message has the command that gets it."""


class BusyError(EvalError):
    """Another heavy job is running on this machine; the message names it."""


class DataError(EvalError):
    """A data set's file is missing or malformed; the message names file and line."""


class LabelsError(EvalError):
    """Labels are missing or malformed; the message names file and line."""


class MeasureError(EvalError):
    """The numbers given have no such measure; the message says which rule they break."""


class PageError(EvalError):
    """A page has no place for a command's tables; the message has the lines to put in."""


class MissingHarnessError(EvalError):
    """A harness that is to score the engine is not installed; the message names the extra."""


class StaleError(EvalError):
    """A report is not what its data, bundle and configuration give; the message says what moved."""


class UnknownSystemError(EvalError):
    """A system under test is misspelt, or needs a signal that the corpus does not have."""
