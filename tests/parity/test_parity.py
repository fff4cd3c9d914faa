"""Our runtimes against the reference implementation, PyPI `laya`, real cross-encoders, and MTEB.

The reference is installed into an environment of its own, never into the workspace's: its console
script has the same name as ours. `LAYA_PARITY_ENV` names the folder of that environment, for when
it should outlive the run; it is filled once.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
REQUIREMENTS = HERE / "requirements.txt"
RECIPE = ROOT / "packages" / "laya-mini" / "recipe" / "decision"
#: The version that the recipe trains with; pip may find it on the local disk.
TORCH = "torch==2.13.0"

PACKAGES = ("laya-signals", "laya-mini", "laya-retrieval", "laya-index")

pytestmark = pytest.mark.slow


def attempt(*command: str) -> str | None:
    """Run a command; None when it went well, else its last words."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else done.stderr.strip()[-400:] or f"exit {done.returncode}"


def build(folder: Path) -> str | None:
    """Create the environment; None when it went well, else why not."""
    if failed := attempt("uv", "venv", "--quiet", "--allow-existing", "--seed", str(folder)):
        return f"no environment: {failed}"
    python = str(folder / "bin" / "python")
    pip = (python, "-m", "pip", "install", "--quiet")
    for torch in (TORCH, "torch"):
        failed = attempt(*pip, torch)
        if failed is None:
            break
    else:
        return f"no torch: {failed}"
    if failed := attempt(*pip, "--requirement", str(REQUIREMENTS)):
        return f"no reference: {failed}"
    return None


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of the isolated environment."""
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + TORCH.encode()).hexdigest()[:12]
    user = os.getuid()
    default = Path(tempfile.gettempdir()) / f"laya-parity-{user}-{wanted}"
    folder = Path(os.environ.get("LAYA_PARITY_ENV", default))
    folder.parent.mkdir(parents=True, exist_ok=True)
    ready = folder / "ready"
    # Workers of a parallel run want the same environment.
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists() or ready.read_text() != wanted:
            if failed := build(folder):
                pytest.skip(f"the reference's environment cannot be created: {failed}")
            ready.write_text(wanted)
    return str(folder / "bin" / "python")


def isolated(python: str, *arguments: str, path: Sequence[Path] = ()) -> str:
    """What a command prints in the isolated environment, with our packages on its path.

    `path` is searched instead of the packages' sources.
    """
    sources = path or [ROOT / "packages" / name / "src" for name in PACKAGES]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "VIRTUAL"))}
    environment = inherited | {
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "HF_HUB_OFFLINE": "1",
        "OMP_WAIT_POLICY": "PASSIVE",  # other workers want the processors too
    }
    done = subprocess.run(
        [python, *arguments],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def reported(output: str) -> Any:
    return json.loads(output.strip().splitlines()[-1])


def test_answers_agree_with_the_reference(python: str, tmp_path: Path) -> None:
    output = isolated(python, str(HERE / "compare.py"), str(tmp_path), str(RECIPE))
    report = reported(output)
    assert set(report) == {"bert-0", "bert-2", "modernbert-0", "modernbert-2"}
    for name, found in report.items():
        # Another state's answers would be off by more than any tolerance below.
        assert found["spread"] > 0.01, name
        assert found["equal_ids"] == found["sequences"] >= 72, name
        assert found["same_words"], name
        assert found["torch"] < 1e-4, name
        assert found["torch_padded"] < 1e-4, name
        assert found["one_state_alone"], name
        assert found["by_id"], name
        assert found["encoder"] < 1e-5, name
    assert report["bert-0"]["onnx"] < 5e-3
    assert report["bert-0"]["onnx_same_words"]


def test_the_client_speaks_with_the_reference_s_own_server(python: str, tmp_path: Path) -> None:
    report = reported(isolated(python, str(HERE / "serve.py"), str(tmp_path)))
    assert report["states"] == 7
    assert report["worst"] < 1e-4
    assert report["alone"]
    assert report["truncated"] == report["truncated_here"]
    assert True in report["truncated"]
    assert "the key was refused" in report["refusal"]
    status, message = report["limit"]
    assert status in (413, 422)
    assert "100" in message  # the server's own words


def test_reranker_and_nli_gate_read_what_the_cross_encoder_says(
    python: str, tmp_path: Path
) -> None:
    report = reported(isolated(python, str(HERE / "cross_encoder.py"), str(tmp_path)))
    assert report["spread"] > 1e-3
    assert report["order"]
    assert report["score"] < 1e-5
    assert report["entailment"] < 1e-5
    assert "one logit per label" in report["refused"]


def test_mteb_scores_the_engine(python: str, tmp_path: Path) -> None:
    # A stack names its parts, and names are looked up in what is installed; beside the environment,
    # whose console script is the reference's.
    ours = tmp_path / "ours"
    packages = [str(ROOT / "packages" / name) for name in (*PACKAGES, "laya-rag", "laya-eval")]
    install = ("uv", "pip", "install", "--quiet", "--no-deps", "--python", python)
    assert attempt(*install, "--target", str(ours), *packages) is None
    work = tmp_path / "work"
    work.mkdir()
    report = reported(isolated(python, str(HERE / "mteb_task.py"), str(work), path=[ours]))
    assert report["plain"] == report["again"]
    for measure, value in report["ours"].items():
        assert report["plain"][measure] == pytest.approx(value, abs=1e-5), measure
    for measure, value in report["ours_given"].items():
        assert report["given"][measure] == pytest.approx(value, abs=1e-5), measure
    assert report["only"] == ["mill", "tides"]
    assert 0.4 < report["plain"]["ndcg_at_10"] < 1
    assert report["name"] == "laya/engine"
    assert report["revision"]


def test_what_needs_torch_holds(python: str) -> None:
    files = {
        "laya-signals": (
            "decide/test_torch.py",
            "decide/test_checkpoint.py",
            "encode/test_laya.py",
            "encode/test_sentence_transformers.py",
            "sparse/test_splade.py",
        ),
        "laya-index": ("signal/test_splade.py",),
    }
    paths = [
        str(ROOT / "packages" / name / "tests" / file) for name in files for file in files[name]
    ]
    run_tests(python, *paths)


def test_what_needs_presidio_holds(python: str) -> None:
    tests = ROOT / "packages" / "laya-index" / "tests"
    run_tests(python, str(tests / "redact" / "test_presidio.py"))


def run_tests(python: str, *paths: str) -> None:
    """Run slow tests of the packages in the isolated environment; all of them must run and pass."""
    # The workspace's own options ask for plugins that the isolated environment lacks.
    options = ("-o", "addopts=--import-mode=importlib", "-q", "-m", "slow", "-rs")
    output = isolated(python, "-m", "pytest", *options, *paths)
    assert " passed" in output
    assert "skipped" not in output, output


def test_the_workspace_s_own_environment_stays_free_of_it(python: str) -> None:
    check = "from importlib.util import find_spec; print(find_spec('laya') is not None)"
    assert isolated(python, "-c", check).strip() == "True"
    here = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert here.stdout.strip() == "False"
