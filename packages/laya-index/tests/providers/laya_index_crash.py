"""Runs a stack in forked children that are killed at a given step.

`python laya_index_crash.py`, then lines of `<stack file> <step>` on standard input; each is
answered with `killed` or, when the run ended before that step, `done` and its exit code.
"""

import os
import signal
import sys
from pathlib import Path

import laya_index_fake  # noqa: F401 - so that children find everything imported
from laya_index.process import process
from laya_index.stack import load_stack

# What changes a file system, and what opens a file in it.
STEPS = {"open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "sqlite3.connect"}


def run_and_die(stack: Path, step: int) -> None:
    seen = 0

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if event in STEPS:
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    process(load_stack(stack), workers=1)


def main() -> None:
    for line in sys.stdin:
        stack, step = line.rsplit(maxsplit=1)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                run_and_die(Path(stack), int(step))
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        print("killed" if killed else f"done {os.waitstatus_to_exitcode(status)}", flush=True)


if __name__ == "__main__":
    main()
