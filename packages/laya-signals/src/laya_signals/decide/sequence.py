"""The sequence of tokens that a Laya model reads: a question, its options, and a state.

`[CLS] <type> question: <instructions> [SEP] [MASK] <option 0> [MASK] <option 1> … [SEP] <state>
[SEP]`

The head half, up to the second `[SEP]`, is bounded by `head_max_len`; the state gets what is left
of `max_len`. A state that does not fit is cut on the right, and on the left when it is a list, so
that the newest turn survives.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from laya_signals.decide.base import State
from laya_signals.decide.errors import QuestionError
from laya_signals.decide.question import TypedQuestion
from laya_signals.errors import ModelError

if TYPE_CHECKING:
    import tokenizers

#: Tokens of one option's text, its marker not counted.
OPTION_TOKENS = 48
#: The instructions keep this many tokens whatever the options take.
MIN_INSTRUCTION_TOKENS = 8
#: Below this much room for the instructions, the options are shortened.
_WANTED_INSTRUCTION_TOKENS = 16
#: A shortened option keeps this many tokens, its marker counted.
_MIN_OPTION_TOKENS = 4

#: What the families of tokenizers call the tokens (begin, separator, mask), where no file says it.
_FAMILIES = (
    ("[CLS]", "[SEP]", "[MASK]"),
    ("<s>", "</s>", "<mask>"),
    ("<bos>", "<eos>", "<mask>"),
)


@dataclass(frozen=True)
class SpecialTokens:
    """The ids of the tokens that structure a sequence, and the text of the mask token."""

    cls: int
    sep: int
    mask: int
    mask_text: str

    @classmethod
    def of(
        cls, tokenizer: tokenizers.Tokenizer, names: tuple[str, str, str] | None = None
    ) -> SpecialTokens:
        """Look up `names` (begin, separator, mask), or those of a known family of tokenizers.

        Raises `ModelError` when the vocabulary lacks them.
        """
        for begin, separator, mask in (names,) if names else _FAMILIES:
            ids = [tokenizer.token_to_id(name) for name in (begin, separator, mask)]
            known = [number for number in ids if number is not None]
            if len(known) == 3:
                return cls(known[0], known[1], known[2], mask)
        wanted = names or "begin, separator and mask under any known name"
        raise ModelError(f"the tokenizer lacks special tokens: {wanted}")


@dataclass(frozen=True)
class Head:
    """The head half: its ids, where the options' markers stand, and which question it asks."""

    question: TypedQuestion
    ids: tuple[int, ...]
    markers: tuple[int, ...]
    #: Options that still differ after the cut; fewer than the markers means that some cannot be
    #: told apart.
    distinct_options: int


@dataclass(frozen=True)
class BuiltSequence:
    """What a model reads for one question about one state."""

    question: TypedQuestion
    ids: tuple[int, ...]
    #: The position of each option's marker, in the question's order.
    markers: tuple[int, ...]
    state_tokens: int
    state_tokens_used: int

    @property
    def state_tokens_dropped(self) -> int:
        """Tokens of the state that were cut off."""
        return self.state_tokens - self.state_tokens_used

    @property
    def truncated(self) -> bool:
        """Whether the model does not see the whole state."""
        return self.state_tokens_dropped > 0


class SequenceBuilder:
    """Builds sequences over a `tokenizers.Tokenizer` without truncation or padding; pure.

    >>> import tokenizers
    >>> words = ["[CLS]", "[SEP]", "[MASK]", "[UNK]", "noul", "question", "holds", "no", "yes", "s"]
    >>> model = tokenizers.models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]")
    >>> tokenizer = tokenizers.Tokenizer(model)
    >>> tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    >>> from laya_signals.decide.question import parse_questions
    >>> [question] = parse_questions([{"id": "q", "type": "choice", "instructions": "holds",
    ...                               "options": ["no", "yes"]}])
    >>> SequenceBuilder(tokenizer).build("s", question).ids
    (0, 3, 5, 3, 6, 1, 2, 7, 2, 8, 1, 9, 1)
    """

    def __init__(
        self,
        tokenizer: tokenizers.Tokenizer,
        special: SpecialTokens | None = None,
        *,
        max_len: int = 512,
        head_max_len: int = 192,
    ) -> None:
        self.special = special or SpecialTokens.of(tokenizer)
        self.max_len = max_len
        self.head_max_len = head_max_len
        self._tokenizer = tokenizer

    def build(self, state: State, question: TypedQuestion) -> BuiltSequence:
        """The sequence of one question about one state.

        Raises `QuestionError` when the options do not fit into `max_len` tokens, or the state is
        neither text, mapping nor list.
        """
        return self.join(self.head(question), self.state_ids(state), from_left=is_turns(state))

    def head(self, question: TypedQuestion) -> Head:
        """The head half; raises `QuestionError` when not all its options fit into `max_len`."""
        text = f"{question.type} question: {self._clean(question.instructions)}"
        instructions = self._ids(text, question.id)
        options = [
            (
                self.special.mask,
                *self._ids(" " + self._clean(option), question.id)[:OPTION_TOKENS],
            )
            for option in question.options
        ]
        room = self.head_max_len - sum(map(len, options))
        if room < _WANTED_INSTRUCTION_TOKENS:
            share = (self.head_max_len - _WANTED_INSTRUCTION_TOKENS) // len(options)
            options = [option[: max(_MIN_OPTION_TOKENS, share)] for option in options]
            room = self.head_max_len - sum(map(len, options))
        ids = [
            self.special.cls,
            *instructions[: max(MIN_INSTRUCTION_TOKENS, room)],
            self.special.sep,
        ]
        markers = []
        for option in options:
            markers.append(len(ids))
            ids += option
        ids.append(self.special.sep)
        fitting = sum(marker < self.max_len for marker in markers)
        if fitting < len(markers):
            raise QuestionError(
                f"question {question.id!r}: only {fitting} of {len(markers)} options fit into "
                f"{self.max_len} tokens; ask with fewer options"
            )
        return Head(question, tuple(ids), tuple(markers), len(set(options)))

    def state_ids(self, state: State) -> list[int]:
        """The tokens of a whole state."""
        return self._ids(self._clean(state_text(state)), None)

    def join(self, head: Head, state: Sequence[int], *, from_left: bool) -> BuiltSequence:
        """Put a state behind a head, cut to the room that is left, on the left or on the right."""
        room = max(0, self.max_len - len(head.ids) - 1)
        kept = state[max(0, len(state) - room) :] if from_left else state[:room]
        # A head that is longer than `max_len` leaves no room, not even for its own end.
        ids = (*head.ids, *kept, self.special.sep)[: self.max_len]
        return BuiltSequence(head.question, ids, head.markers, len(state), len(kept))

    def _clean(self, text: str) -> str:
        # A mask token in a text would look like the marker of an option.
        return text.replace(self.special.mask_text, " ")

    def _ids(self, text: str, question: str | None) -> list[int]:
        try:
            return self._tokenizer.encode(text, add_special_tokens=False).ids
        except TypeError as error:
            where = "the state" if question is None else f"question {question!r}"
            raise QuestionError(f"{where} has a lone surrogate, which is no text") from error


def is_turns(state: State) -> bool:
    """Whether a state is a list, whose newest entry comes last."""
    return not isinstance(state, str | Mapping)


def state_text(state: State) -> str:
    """A state as text: as it is, or as JSON with every character spelt out.

    Raises `QuestionError` for what is neither text, mapping nor list, and for what JSON lacks.
    """
    if isinstance(state, str):
        return state
    content = plain(state)
    try:
        return json.dumps(content, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise QuestionError(f"the state cannot be written as JSON: {error}") from error


def plain(state: State) -> Any:
    """A state as the text, dict or list that it is equal to; `QuestionError` for anything else."""
    if isinstance(state, str):
        return state
    if isinstance(state, Mapping):
        return dict(state)
    if isinstance(state, Sequence) and not isinstance(state, bytes | bytearray):
        return list(state)
    raise QuestionError(f"a state is a text, a mapping or a list, not {type(state).__name__}")
