"""Everything that `laya_retrieval` raises.

RetrievalError
├── CandidateError        a candidate is malformed (empty id, non-finite score)
├── FusionError           lists, weights or scores cannot be fused
├── ProcessorError        a processor cannot do its work on these candidates
│   ├── Bm25Error         a statistics block is impossible, or its tokenizer is another
│   ├── RerankError       a model returned the wrong number of scores, or a NaN
│   ├── MaxSimError       a multi-vector is missing or of another shape
│   ├── ExpandError       graph metadata is malformed, or a graph source misbehaves
│   ├── PackError         a budget is impossible, or a token counter misbehaves
│   └── GateError         a decision model or feature schema does not fit
├── FilterError           a filter names an unknown operator or field, or is malformed
├── VerificationError     an answer or its passages cannot be read
└── OrchestrationError    a backend cannot serve what the query asks of it
"""


class RetrievalError(Exception):
    """Base class of every error raised by `laya_retrieval`."""


class CandidateError(RetrievalError):
    """A candidate is malformed; the message names its id."""


class FusionError(RetrievalError):
    """Lists, weights or scores cannot be fused."""


class ProcessorError(RetrievalError):
    """A processor cannot do its work on these candidates."""


class Bm25Error(ProcessorError):
    """A BM25 statistics block is impossible, or was built with another tokenizer."""


class RerankError(ProcessorError):
    """A reranking model returned the wrong number of scores, or one that is not finite."""


class MaxSimError(ProcessorError):
    """A candidate's multi-vector is missing or does not match the query's dimension."""


class ExpandError(ProcessorError):
    """Graph metadata is malformed, or a graph source returned something impossible."""


class PackError(ProcessorError):
    """A budget is impossible, or a token counter misbehaves."""


class GateError(ProcessorError):
    """A decision model or a feature schema does not fit what it is asked."""


class FilterError(RetrievalError):
    """A filter names an unknown operator or field, or is malformed."""


class VerificationError(RetrievalError):
    """An answer or its passages cannot be read."""


class OrchestrationError(RetrievalError):
    """A backend cannot serve what the query asks of it."""
