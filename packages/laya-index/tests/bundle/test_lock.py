import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from laya_index.bundle.lock import writer_lock
from laya_index.errors import BundleError, LockedError

HOLD = """
import sys
from pathlib import Path
from laya_index.bundle.lock import writer_lock
with writer_lock(Path(sys.argv[1]), Path("bundle")):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_told_who_holds_the_lock_until_that_one_ends(tmp_path: Path) -> None:
    cache = tmp_path / "b.cache"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(cache)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(LockedError, match=f"'b' is being written by process {holder.pid} on "),
            writer_lock(cache, Path("b")),
        ):
            pass
        holder.kill()  # the operating system frees the lock
    with writer_lock(cache, Path("b")):
        assert f'"pid": {os.getpid()}' in (cache / "holder.json").read_text()
    assert not (cache / "holder.json").exists()


def test_the_lock_is_freed_when_its_holder_fails(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match="mine"), writer_lock(tmp_path / "c", tmp_path):
            raise RuntimeError("mine")


@pytest.mark.parametrize("content", [None, "", "{}", "[1]", "garbage"])
def test_a_holder_that_did_not_say_its_name_is_another_process(
    tmp_path: Path, content: str | None
) -> None:
    with writer_lock(tmp_path, tmp_path):
        if content is None:
            (tmp_path / "holder.json").unlink()
        else:
            (tmp_path / "holder.json").write_text(content)
        with (
            pytest.raises(LockedError, match="written by another process"),
            writer_lock(tmp_path, tmp_path),
        ):
            pass


def test_a_folder_that_may_not_be_written_is_named(
    tmp_path: Path, as_nobody: Callable[[Callable[[], object]], str]
) -> None:
    shut = tmp_path / "shut"
    shut.mkdir(mode=0o555)

    def lock() -> None:
        with writer_lock(shut / "b.cache", shut / "b"):
            pass

    assert as_nobody(lock) == f"BundleError: cannot write to '{shut}': Permission denied"


def test_a_file_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("x")
    with pytest.raises(BundleError, match="cannot write"), writer_lock(tmp_path / "c", tmp_path):
        pass
