"""Runs that are killed, interrupted, or get in each other's way: with real processes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from laya_index.bundle.cache import cache_folder
from laya_index.bundle.lock import writer_lock
from laya_index.bundle.reader import BundleReader
from laya_index.errors import LockedError
from laya_index.process import process
from laya_index.stack import Stack

BytesOf = Callable[[Path], dict[str, bytes]]
StackOf = Callable[..., Stack]

# A signal and a graph with files of their own, so that runs are killed around these too.
WIRED = (
    "signals.multivector={provider: multivector.hashing, config: {dimension: 4}}",
    "graph.provider=graph.patterns",
)

RUN = """
import sys
from pathlib import Path
from laya_index.errors import LockedError
from laya_index.process import process
from laya_index.stack import load_stack
try:
    process(load_stack(Path(sys.argv[1])), workers=int(sys.argv[2]))
except LockedError as error:
    print(error)
    raise SystemExit(3)
"""


@pytest.fixture
def spawn(providers: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start Python with the fake providers, in a process group of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **options: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": str(providers)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(child)
        return child

    yield start
    for child in started:
        if child.poll() is None:
            child.kill()
        child.communicate()


def save(stack: Stack, path: Path) -> Path:
    data = stack.model.model_dump(mode="json", exclude_none=True)
    path.write_text(yaml.safe_dump(data))
    return path


def contents(bundle: Path) -> dict[str, list]:
    with BundleReader.open(bundle) as reader:
        kinds = {entry.kind for entry in reader.manifest.files if entry.shard is not None}
        return {kind: reader.read(kind).to_pylist() for kind in sorted(kinds)}


def edit(root: Path, rng: random.Random) -> None:
    for n in range(6):
        (root / f"{n}.txt").write_text(f"new {n} {rng.random()} by Charles Babbage")
    (root / "7.txt").unlink()
    (root / "more.md").write_text("# More\n\ntext")


@pytest.fixture
def crash(
    tmp_path: Path, stack_of: StackOf, spawn: Callable, bytes_of: BytesOf
) -> Callable[[int | None], bool]:
    """Kill a run at a step, check the old bundle and the resumed run; whether it was killed."""
    rng = random.Random(0)
    root, out, state = tmp_path / "in", tmp_path / "state" / "out", tmp_path / "state"
    root.mkdir()
    for n in range(10):
        (root / f"{n}.txt").write_text(f"text {n} of Ada Lovelace, Page {chr(65 + n)}x " * 8)
    old = stack_of(root, out, *WIRED)
    process(old, workers=1)
    before = contents(out)
    shutil.copytree(state, tmp_path / "saved")
    edit(root, rng)
    process(stack_of(root, tmp_path / "fresh", *WIRED), workers=1)
    fresh, after = bytes_of(tmp_path / "fresh"), contents(tmp_path / "fresh")
    file = save(old, tmp_path / "stack.yaml")
    helper = spawn(str(Path(__file__).parent / "providers" / "laya_index_crash.py"))

    def at(step: int) -> bool:
        shutil.rmtree(state)
        shutil.copytree(tmp_path / "saved", state)
        helper.stdin.write(f"{file} {step}\n")
        helper.stdin.flush()
        answer = helper.stdout.readline().strip()
        assert answer in {"killed", "done 0"}, answer
        found = contents(out)
        assert found in (before, after)
        assert answer == "killed" or found == after
        process(old, workers=1)
        assert bytes_of(out) == fresh
        return answer == "killed"

    return at


def test_a_run_killed_anywhere_leaves_the_old_bundle_and_is_completed_by_the_next(
    crash: Callable[[int], bool],
) -> None:
    steps = random.Random(1).sample(range(1, 70), 8)
    assert all(crash(step) for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, 5))
def test_a_run_killed_at_every_single_step_is_completed_by_the_next(
    first: int, crash: Callable[[int], bool]
) -> None:
    step = first
    while crash(step):
        step += 4  # the other steps are the other cases', so that they can run in parallel
    assert step > 70


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_a_run_with_workers_killed_at_any_time_is_completed_by_the_next(
    seed: int, tmp_path: Path, stack_of: StackOf, spawn: Callable, bytes_of: BytesOf
) -> None:
    rng = random.Random(seed)
    root, out = tmp_path / "in", tmp_path / "out"
    root.mkdir()
    for n in range(120):
        (root / f"{n}.txt").write_text(f"text {n} " * 5)
    stack = stack_of(root, out)
    process(stack, workers=1)
    before = contents(out)
    edit(root, rng)
    slow = stack_of(root, out, "signals.embedding.seconds=0.02", "signals.embedding.seed=2")
    process(
        stack_of(
            root, tmp_path / "fresh", "signals.embedding.seconds=0.02", "signals.embedding.seed=2"
        ),
        workers=1,
    )
    child = spawn("-c", RUN, str(save(slow, tmp_path / "stack.yaml")), "2")
    time.sleep(rng.uniform(0.3, 4))
    child.kill()
    child.wait(10)
    assert contents(out) in (before, contents(tmp_path / "fresh"))
    assert_group_ends(child.pid)
    process(slow, workers=1)
    assert bytes_of(out) == bytes_of(tmp_path / "fresh")


def assert_group_ends(group: int) -> None:
    """Fails unless every process of the group is gone within some seconds."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    pytest.fail("processes were left behind")


@pytest.fixture
def long_run(tmp_path: Path, stack_of: StackOf) -> Path:
    """The stack file of a run that takes half a minute."""
    root = tmp_path / "in"
    root.mkdir()
    for n in range(100):
        (root / f"{n}.txt").write_text(f"text {n}")
    stack = stack_of(root, tmp_path / "out", "signals.embedding.seconds=0.3")
    return save(stack, tmp_path / "stack.yaml")


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("waited in vain")


def test_ctrl_c_ends_the_run_and_its_workers(
    long_run: Path, tmp_path: Path, spawn: Callable
) -> None:
    child = spawn("-c", RUN, str(long_run), "2")
    wait_for((tmp_path / "out.cache" / "lock").exists)
    wait_for(lambda: len(_children(child.pid)) >= 2)
    time.sleep(0.5)
    begin = time.monotonic()
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does: to the whole group
    _, errors = child.communicate(timeout=20)
    assert time.monotonic() - begin < 10
    assert child.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert_group_ends(child.pid)
    assert not (tmp_path / "out" / "manifest.json").exists()
    with writer_lock(tmp_path / "out.cache", tmp_path / "out"):
        pass  # the lock is free again


def _children(pid: int) -> list[str]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return path.read_text().split() if path.exists() else ["no /proc"] * 2


def test_of_two_writers_one_wins_and_the_other_is_told_who(
    long_run: Path, tmp_path: Path, spawn: Callable, stack_of: StackOf
) -> None:
    first = spawn("-c", RUN, str(long_run), "1")
    wait_for((tmp_path / "out.cache" / "holder.json").exists)
    with pytest.raises(LockedError, match=f"process {first.pid} on .*--out"):
        process(stack_of(tmp_path / "in", tmp_path / "out"), workers=1)
    first.kill()
    first.wait(10)
    assert process(stack_of(tmp_path / "in", tmp_path / "out"), workers=1).state == "built"


def test_a_reader_keeps_its_snapshot_while_a_writer_replaces_everything(
    tmp_path: Path, stack_of: StackOf
) -> None:
    root, out = tmp_path / "in", tmp_path / "out"
    root.mkdir()
    (root / "old.txt").write_text("old text")
    process(stack_of(root, out), workers=1)
    with BundleReader.open(out) as reader:
        (root / "old.txt").unlink()
        (root / "new.txt").write_text("new text")
        process(stack_of(root, out), workers=1)
        assert reader.read("chunks")["content"].to_pylist() == ["old text"]
    with BundleReader.open(out) as reader:
        assert reader.read("chunks")["content"].to_pylist() == ["new text"]
    assert cache_folder(out).exists()
