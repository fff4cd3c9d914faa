"""A small corpus with planted personal data, to try a stack on; see `laya stack validate`."""

from laya_index.sample.corpus import Question, questions, sample_files
from laya_index.sample.planted import planted_pieces, planted_values

__all__ = ["Question", "planted_pieces", "planted_values", "questions", "sample_files"]
