"""`laya doctor`: whether everything here works, and how to fix what does not."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from laya_rag.cli.finding import BundleSetting, ConfigOption, JsonOption, SetOption, load
from laya_rag.cli.output import console, print_json, printable, reporting_errors, size

if TYPE_CHECKING:
    from laya_index.bundle.manifest import Manifest

State = Literal["ok", "note", "broken"]

_PACKAGES = (
    *("laya-rag", "laya-index", "laya-retrieval", "laya-signals", "laya-mini"),
    *("numpy", "pyarrow", "onnxruntime", "tokenizers"),
)
# What each extra of laya-rag is asked for by.
_EXTRAS = {
    "approximate": ("faiss", "approximate search"),
    "lancedb": ("lancedb", "laya push to LanceDB"),
    "mcp": ("mcp", "laya mcp"),
    "qdrant": ("qdrant_client", "laya push to Qdrant"),
}
_LEAST_PYTHON = (3, 11)
_LEAST_FREE = 200_000_000
# Instructions that int8 models are much faster with, as /proc/cpuinfo names them.
_FAST = ("avx2", "avx512_vnni", "avx_vnni", "asimddp")
_MARKS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "broken": ("broken", "bold red")}


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was found, and what to do about it."""

    name: str
    state: State
    detail: str
    fix: str = ""


@reporting_errors
def doctor(
    bundle: BundleSetting = None,
    config: ConfigOption = None,
    sets: SetOption = None,
    hashes: Annotated[
        bool, typer.Option("--hashes", help="Read every file of the bundle and check its hash.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check versions, models, the bundle, disk and processor, and say how to fix what is wrong.

    Both embedded models are loaded, their hashes checked, and each is run once. Nothing is changed
    and nothing is sent anywhere. The exit code is 1 when something is broken; a note is no fault.

    Examples:

        laya doctor
        laya doctor --bundle .laya/notes --hashes --json

    """  # noqa: D412
    place = load(config, sets, {"--bundle": ("bundle", bundle)}).settings.bundle
    stored = "://" in place
    folder = Path() if stored else Path(place)
    checks = [
        *_python(),
        *_extras(),
        *_processor(),
        _model("encoder.mini", _run_encoder),
        _model("decision.mini", _run_decision),
        *([_store(place)] if stored else _bundle(folder, bundle is not None, hashes=hashes)),
        _disk(folder),
    ]
    healthy = all(check.state != "broken" for check in checks)
    if as_json:
        print_json({"healthy": healthy, "checks": [asdict(check) for check in checks]})
    else:
        _print(checks, healthy)
    if not healthy:
        raise typer.Exit(1)


def _python() -> Iterator[Check]:
    here = platform.python_version()
    if sys.version_info[:2] < _LEAST_PYTHON:
        yield Check("python", "broken", here, "install Python 3.11 or newer")
    else:
        yield Check("python", "ok", f"{here} on {platform.system()} {platform.machine()}")
    found = {name: _version(name) for name in _PACKAGES}
    lacking = [name for name, version in found.items() if version is None]
    named = ", ".join(f"{name} {version}" for name, version in found.items() if version)
    if lacking:
        fix = f"install {' '.join(lacking)}"
        yield Check("packages", "broken", f"not installed: {', '.join(lacking)}", fix)
    else:
        yield Check("packages", "ok", named)


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _extras() -> Iterator[Check]:
    for extra, (module, purpose) in _EXTRAS.items():
        if find_spec(module) is None:
            fix = f"for {purpose}, install laya-rag[{extra}]"
            yield Check(f"extra {extra}", "note", "not installed", fix)
        else:
            yield Check(f"extra {extra}", "ok", "installed")


def _processor() -> Iterator[Check]:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = os.environ.get("OMP_NUM_THREADS")
    detail = f"{usable} of {os.cpu_count()} processors usable"
    yield Check("threads", "ok", detail + (f", OMP_NUM_THREADS={threads}" if threads else ""))
    try:
        flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split())
    except OSError:
        yield Check("processor", "note", f"{platform.machine()}; its features are not known here")
        return
    fast = [name for name in _FAST if name in flags]
    if fast:
        yield Check("processor", "ok", f"{platform.machine()} with {', '.join(fast)}")
    else:
        yield Check(
            "processor",
            "note",
            f"{platform.machine()} without any of {', '.join(_FAST)}: the models run slowly",
            "use a newer processor for large corpora",
        )


def _model(name: str, run: Callable[[], str]) -> Check:
    from laya_signals.errors import SignalError

    try:
        return Check(f"model {name}", "ok", run())
    except (SignalError, ImportError, OSError, RuntimeError, ValueError) as error:
        detail = f"{type(error).__name__}: {error}"
        return Check(f"model {name}", "broken", detail, "install laya-mini again")


def _run_encoder() -> str:
    from laya_signals.encode.mini import MiniEncoder

    encoder = MiniEncoder()
    near, same, far = encoder.encode_documents(["A cat sat.", "A cat was sitting.", "Tax law."])
    if not near @ same > near @ far:
        raise ValueError("texts that mean the same are further apart than others")
    return f"hashes verified, runs, {encoder.fingerprint}"


def _run_decision() -> str:
    from laya_retrieval.candidate import Candidate
    from laya_retrieval.gate.laya import LayaGate
    from laya_signals.decide.mini import MiniDecision

    model = MiniDecision()
    gate = LayaGate(model=model)
    verdict = gate.judge("What sat on the mat?", [Candidate("a", 1.0, "The cat sat on the mat.")])
    if verdict.funnel.scored != 1:
        raise ValueError("it did not read the passage that it was shown")
    return f"hashes verified, runs, {model.fingerprint}"


def _store(place: str) -> Check:
    """A corpus that was pushed to a store."""
    from laya_rag.engine.opening import open_corpus
    from laya_rag.errors import RagError

    try:
        corpus = open_corpus(place)
    except RagError as error:
        return Check("store", "broken", str(error), "push it there with `laya push BUNDLE --to`")
    counts = corpus.manifest.counts
    corpus.close()
    held = f"{counts.documents} documents, {counts.chunks} passages"
    return Check("store", "ok", f"{place}: {held}, models as here")


def _bundle(folder: Path, asked_for: bool, *, hashes: bool) -> Iterator[Check]:
    from laya_index.bundle.manifest import FILE_NAME
    from laya_index.bundle.reader import BundleReader
    from laya_index.errors import BundleError

    if not (folder / FILE_NAME).exists():
        state: State = "broken" if asked_for else "note"
        yield Check("bundle", state, f"{folder} holds none", "make one with `laya process STACK`")
        return
    try:
        with BundleReader.open(folder) as reader:
            manifest = reader.manifest
        if hashes:
            _verify(folder, manifest)
    except BundleError as error:
        yield Check("bundle", "broken", str(error), "build it again with `laya process --full`")
        return
    counts = manifest.counts
    total = size(sum(entry.bytes for entry in manifest.files))
    held = f"{counts.documents} documents, {counts.chunks} passages, {total}"
    checked = "every hash verified" if hashes else "sizes verified, hashes with --hashes"
    yield Check("bundle", "ok", f"{folder}: {held}, {checked}")
    yield _models_match(folder, manifest)
    yield from _cache(folder, manifest)


def _verify(folder: Path, manifest: Manifest) -> None:
    from laya_index.errors import BundleError
    from laya_signals.errors import ModelError
    from laya_signals.model_file import digest_of

    for entry in manifest.files:
        try:
            found = digest_of(folder / entry.path)
        except ModelError as error:
            raise BundleError(str(error)) from error
        if found != entry.sha256:
            raise BundleError(f"{folder / entry.path} is damaged: its SHA-256 is another one")


def _models_match(folder: Path, manifest: Manifest) -> Check:
    from laya_signals.errors import SignalError

    from laya_rag.backend.models import QueryModels
    from laya_rag.errors import ModelMismatchError

    try:
        QueryModels.of(manifest, folder)
    except ModelMismatchError as error:
        return Check("bundle models", "broken", str(error), "run `laya process` again")
    except SignalError as error:
        return Check("bundle models", "broken", str(error), "install what it names")
    return Check("bundle models", "ok", "those of this installation")


def _cache(folder: Path, manifest: Manifest) -> Iterator[Check]:
    """The cache beside the bundle, and the lock in it."""
    from filelock import FileLock, Timeout
    from laya_index.bundle.cache import cache_folder

    from laya_rag.backend.bundle import identity_of

    cache = cache_folder(folder)
    made = any((cache / "search").glob(f"*{identity_of(manifest)[:16]}*"))
    if made or os.access(cache if cache.exists() else folder.parent, os.W_OK):
        detail = "ready" if made else "made at the first search"
        yield Check("cache", "ok", f"{cache}: {detail}; safe to delete")
    else:
        fix = "let the user who searches write there, or every process makes its own arrays"
        yield Check("cache", "note", f"{cache} cannot be written", fix)
    holder = cache / "holder.json"
    if not holder.exists():
        return
    try:
        with FileLock(cache / "lock", timeout=0):
            yield Check(
                "lock",
                "note",
                f"{holder} is left from a run that was killed",
                "nothing waits for it; the next `laya process` removes it",
            )
    except Timeout:
        yield Check("lock", "note", f"{_holder(holder)} is writing the bundle", "wait for it")
    except OSError as error:
        yield Check("lock", "broken", f"{cache / 'lock'}: {error}", "let this user write there")


def _holder(path: Path) -> str:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return f"process {data['pid']} on {data['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _disk(folder: Path) -> Check:
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < _LEAST_FREE:
        return Check("disk", "broken", f"{size(free)} free at {place}", "make room")
    return Check("disk", "ok", f"{size(free)} free at {place}")


def _print(checks: list[Check], healthy: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        detail = Text(printable(check.detail))
        if check.fix:
            detail.append(f"\n{printable(check.fix)}", "dim")
        label, style = _MARKS[check.state]
        table.add_row(Text(label, style), check.name, detail)
    screen = console()
    screen.print(table)
    broken = sum(check.state == "broken" for check in checks)
    screen.print("everything works" if healthy else f"{broken} broken", style="bold")
