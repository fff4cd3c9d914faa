"""Everything that `laya_rag` raises of its own.

RagError
├── AccessError          who asks may not see this corpus, or did not say who they are
├── CacheError           derived arrays are damaged or cannot be written
├── MissingExtraError    what was asked for needs an optional dependency that is not installed
├── NotFoundError        no such document or chunk among those that the caller may see
├── QueryError           a question or an answer is blank, or says not enough to work with
├── StoppedError         the caller took its question back; the work ended between two stages
├── OverloadedError      too many questions are waiting already
├── ModelMismatchError   a bundle was built with another model or tokenizer than the query would use
├── SettingsError        a setting is unknown or has a value that it cannot have
└── StoreError           a store cannot be reached, or holds something else than was asked for
"""


class RagError(Exception):
    """Base class of every error raised by `laya_rag`."""


class AccessError(RagError):
    """Who asks may not see this corpus, or did not say who they are."""


class CacheError(RagError):
    """The arrays derived from a bundle are damaged or cannot be written; the message says where."""


class MissingExtraError(RagError):
    """What was asked for needs an optional dependency; the message names the extra."""


class NotFoundError(RagError):
    """No such document or chunk among those that the caller may see."""


class QueryError(RagError):
    """A question or an answer is blank, or says not enough to work with."""


class StoppedError(RagError):
    """The caller took its question back; the work ended between two stages."""


class OverloadedError(RagError):
    """Too many questions are waiting already; ask again later."""


class ModelMismatchError(RagError):
    """A bundle's tokenizer or encoder is not the one that this installation would query with."""


class SettingsError(RagError):
    """A setting is unknown, or has a value that it cannot have."""


class StoreError(RagError):
    """A store cannot be reached, or holds something else than was asked for."""
