"""What most tests of the index clock need: a corpus folder, a stack over it, a fake encoder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import settings
from laya_index.process import RunReport, process
from laya_index.stack import Stack, parse_stack
from laya_signals import registry

# How long an example takes depends on what else the machine does.
settings.register_profile("laya-index", deadline=None)
settings.load_profile("laya-index")

PROVIDERS = Path(__file__).parent / "providers"


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for `sys.path` that offers `encoder.fake`."""
    monkeypatch.syspath_prepend(PROVIDERS)
    registry._entries.cache_clear()
    yield PROVIDERS
    registry._entries.cache_clear()


@pytest.fixture
def encoded(providers: Path) -> list[str]:
    """The texts that the fake encoder encoded in this process during the test."""
    from laya_index_fake import FakeEncoder

    FakeEncoder.encoded.clear()
    return FakeEncoder.encoded


def _stack_data(root: Path, out: Path) -> dict[str, Any]:
    return {
        "name": "test",
        "source": {"provider": "source.files", "config": {"root": str(root)}},
        "chunk": {
            "provider": "chunker.paragraph",
            "config": {"chars": 80, "overlap": 20, "min_chars": 10},
        },
        "redact": {"provider": "redact.patterns"},
        "signals": {
            "bm25": {"provider": "tokenizer.word"},
            "embedding": {"provider": "encoder.fake"},
        },
        "export": {"path": str(out)},
    }


@pytest.fixture
def stack_of(providers: Path) -> Callable[..., Stack]:
    """`stack_of(root, out, "stage.key=value", …)`: a small stack with every signal."""

    def build(root: Path, out: Path, *sets: str) -> Stack:
        return parse_stack(yaml.safe_dump(_stack_data(root, out), sort_keys=False), sets=sets)

    return build


@pytest.fixture
def run(stack_of: Callable[..., Stack]) -> Callable[..., RunReport]:
    """`run(root, out, "stage.key=value", …, **options of process)`, in this process."""

    def build(root: Path, out: Path, *sets: str, **options: Any) -> RunReport:
        return process(stack_of(root, out, *sets), **{"workers": 1, **options})

    return build


def write_files(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write files, making their folders."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


@pytest.fixture
def write() -> Callable[[Path, dict[str, str | bytes]], Path]:
    return write_files


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`, by relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def bytes_of() -> Callable[[Path], dict[str, bytes]]:
    """The contents of a folder, by relative path: equal when the folders are."""
    return snapshot


@pytest.fixture
def as_nobody(tmp_path: Path) -> Iterator[Callable[[Callable[[], object]], str]]:
    """Run something in a process without privileges; what it returned or raised, as text."""
    own = [path for path in (tmp_path, *tmp_path.parents) if path.stat().st_mode & 0o777 == 0o700]
    for path in own:
        path.chmod(0o755)

    def call(function: Callable[[], object]) -> str:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                if os.getuid() == 0:
                    os.setgid(65534)
                    os.setuid(65534)
                try:
                    result = f"returned: {function()}"
                except BaseException as error:
                    result = f"{type(error).__name__}: {error}"
                os.write(writing, result.encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read().decode()
        os.waitpid(child, 0)
        return said

    yield call
    for path in own:
        path.chmod(0o700)
