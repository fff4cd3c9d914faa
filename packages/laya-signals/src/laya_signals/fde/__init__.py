"""Fixed-dimensional encodings: one vector whose dot product approximates MaxSim."""

from laya_signals.fde.base import FdeConfig, FdeEncoder
from laya_signals.fde.muvera import MuveraFde
from laya_signals.fde.reference import ReferenceFde

__all__ = ["FdeConfig", "FdeEncoder", "MuveraFde", "ReferenceFde"]
