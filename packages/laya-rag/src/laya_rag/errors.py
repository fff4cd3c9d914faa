"""Everything that `laya_rag` raises of its own.

RagError
├── AccessError          who asks may not see this corpus, or did not say who they are
├── NotFoundError        no such document or chunk among those that the caller may see
├── ModelMismatchError   a bundle was built with another model or tokenizer than the query would use
├── SettingsError        a setting is unknown or has a value that it cannot have
└── StoreError           a store cannot be reached, or holds something else than was asked for
"""


class RagError(Exception):
    """Base class of every error raised by `laya_rag`."""


class AccessError(RagError):
    """Who asks may not see this corpus, or did not say who they are."""


class NotFoundError(RagError):
    """No such document or chunk among those that the caller may see."""


class ModelMismatchError(RagError):
    """A bundle's tokenizer or encoder is not the one that this installation would query with."""


class SettingsError(RagError):
    """A setting is unknown, or has a value that it cannot have."""


class StoreError(RagError):
    """A store cannot be reached, or holds something else than was asked for."""
