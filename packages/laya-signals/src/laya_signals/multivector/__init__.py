"""Multi-vectors: one vector per token of a text."""

from laya_signals.multivector.base import MultiVectorEncoder
from laya_signals.multivector.encoder import EncoderMultiVectorEncoder, TokenEncoder
from laya_signals.multivector.hashing import HashingMultiVectorEncoder

__all__ = [
    "EncoderMultiVectorEncoder",
    "HashingMultiVectorEncoder",
    "MultiVectorEncoder",
    "TokenEncoder",
]
