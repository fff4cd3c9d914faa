"""The answer in what a model writes: without its thinking, and without blanks around it."""

from __future__ import annotations

import re

from laya_rag.compose.errors import ModelServerError

_TAG = re.compile(r"</?think(?:ing)?>")
_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>")


class AnswerText:
    """Takes the pieces of a text as they come, and gives out those of the answer.

    What stands between `<think>` and `</think>` is none of it. The pieces that come out joined are
    the same however the text was split on its way.
    """

    def __init__(self) -> None:
        #: Whether the text is inside the model's thinking.
        self.thinking = False
        self._pending = ""  # may be the beginning of a tag
        self._half = ""  # the first half of a character that JSON wrote as two
        self._blanks = ""  # belong to the answer if it goes on
        self._begun = False

    def feed(self, text: str) -> str:
        """What is surely answer by now.

        Raises `ModelServerError` where thinking ends that never began: then what was given out was
        thinking.
        """
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        self._pending += _whole(text[: len(text) - len(self._half)])
        answer = []
        while (found := _TAG.search(self._pending)) is not None:
            opens = not found[0].startswith("</")
            if not self.thinking:
                if not opens:
                    raise ModelServerError(
                        "thinking_mixed_in",
                        "the model's thinking came as part of its answer: switch it off with "
                        "compose.extra, or let the server keep the two apart",
                    )
                answer.append(self._pending[: found.start()])
            self.thinking = opens
            self._pending = self._pending[found.end() :]
        held = next(
            size
            for size in range(min(len(self._pending), 10), -1, -1)
            if size == 0 or any(tag.startswith(self._pending[-size:]) for tag in _TAGS)
        )
        sure = len(self._pending) - held
        if not self.thinking:
            answer.append(self._pending[:sure])
        self._pending = self._pending[sure:]
        return self._trimmed("".join(answer))

    def close(self) -> str:
        """The rest of the answer, once nothing more comes."""
        rest = self._pending + ("\N{REPLACEMENT CHARACTER}" if self._half else "")
        self._pending = self._half = ""
        return "" if self.thinking else self._trimmed(rest)

    def _trimmed(self, text: str) -> str:
        text = self._blanks + text
        if not self._begun:
            text = text.lstrip()
        kept = text.rstrip()
        self._blanks = text[len(kept) :]
        self._begun = self._begun or bool(kept)
        return kept


def _whole(text: str) -> str:
    """The text with halves of characters joined, and without those that stay alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
