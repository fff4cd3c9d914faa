"""What a benchmark says: our number for one task, and a peer's beside it."""

from __future__ import annotations

from dataclasses import dataclass

#: Units of which more is better; of any other, less is.
HIGHER = frozenset({"MB/s", "passages/s", "documents/s", "recall"})


@dataclass(frozen=True, slots=True)
class Row:
    """One task. `ours` and `theirs` are in `unit`, and None where nothing was measured.

    `peer` is a name and a version; empty where the task has no peer.
    """

    task: str
    unit: str
    ours: float | None
    peer: str = ""
    theirs: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as good we are: above 1 for us, below 1 for the peer.

        None where one side has no number, and for percentages, whose ratio says nothing.
        """
        if self.unit == "%" or not self.ours or not self.theirs:
            return None
        return self.ours / self.theirs if self.unit in HIGHER else self.theirs / self.ours
