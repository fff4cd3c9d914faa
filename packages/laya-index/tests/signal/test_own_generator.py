"""A generator in a file beside the stack, found as the installed command finds it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from laya_index.bundle.reader import BundleReader

GENERATOR = """
import pyarrow as pa
from laya_signals import Component, ComponentConfig

class LettersConfig(ComponentConfig):
    letter: str

class Letters(Component[LettersConfig]):
    Config = LettersConfig

    def fields(self):
        return [pa.field("letters", pa.int32(), nullable=False)]

    def compute(self, chunks):
        return [pa.array([c.content.count(self.config.letter) for c in chunks], pa.int32())]
"""
STACK = """
name: own
source: {provider: source.files, config: {root: in}}
signals: {columns: {letters: {provider: "my_letters:Letters", config: {letter: e}}}}
export: {path: out}
"""
RUN = """
import sys
from pathlib import Path
from laya_index.process import process
from laya_index.stack import load_stack
if __name__ == "__main__":
    process(load_stack(Path("s.yaml")), workers=int(sys.argv[1]))
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_one_file_and_a_stack_line_are_enough(
    workers: int, tmp_path: Path, write: Callable[[Path, dict[str, str | bytes]], Path]
) -> None:
    write(tmp_path / "in", {f"{n}.txt": "e" * n + " and more" for n in range(5)})
    write(tmp_path, {"my_letters.py": GENERATOR, "s.yaml": STACK})
    script = tmp_path / "elsewhere" / "run.py"
    script.parent.mkdir()
    script.write_text(RUN)
    # -P leaves the current folder off the path, as it is for an installed command.
    subprocess.run(
        [sys.executable, "-P", script, str(workers)],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        check=True,
    )
    with BundleReader.open(tmp_path / "out") as reader:
        rows = reader.read("chunks").to_pylist()
    assert {row["document_id"]: row["letters"] for row in rows} == {
        f"{n}.txt": n + 1 for n in range(5)
    }
