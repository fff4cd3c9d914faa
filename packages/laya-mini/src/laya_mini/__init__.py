"""The embedded default models of Laya's retrieval toolkit: data only.

`encoder/` holds the sentence encoder; `MODEL_CARD.md` says how it was made and what it is bad at.
"""

import json
from pathlib import Path

__all__ = ["data_folder", "hashes"]


def data_folder() -> Path:
    """The folder that holds the model files, one subfolder for each model."""
    return Path(__file__).parent


def hashes() -> dict[str, str]:
    """SHA-256 in hex of every model file, by its path relative to `data_folder()`."""
    content: dict[str, str] = json.loads((data_folder() / "hashes.json").read_text("utf-8"))
    return content
