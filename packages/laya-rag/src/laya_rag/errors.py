"""Everything that `laya_rag` raises of its own.

RagError
└── ModelMismatchError   a bundle was built with another model or tokenizer than the query would use
"""


class RagError(Exception):
    """Base class of every error raised by `laya_rag`."""


class ModelMismatchError(RagError):
    """A bundle's tokenizer or encoder is not the one that this installation would query with."""
