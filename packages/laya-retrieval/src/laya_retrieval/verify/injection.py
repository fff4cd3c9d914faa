"""Flags passages that address the model that reads them; changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from laya_retrieval.sentences import Span
from laya_retrieval.verify.base import Passage, read_passages
from laya_retrieval.verify.fold import fold

__all__ = ["INJECTION_RULES", "InjectionFlag", "scan_injection"]


@dataclass(frozen=True, slots=True)
class InjectionFlag:
    """What a rule matched: passage number from 1, record id if any, offsets, and the text there."""

    rule: str
    passage: int
    record_id: str | None
    span: Span
    text: str


# Rules over folded text: lower case, one blank for white space, invisible characters gone, so that
# neither "I g\u200bnore" nor full-width letters hide anything. Quantifiers are bounded throughout.
_ABOUT = r"(?:(?:all|any|every|the|your|my|of|these|those|and|or)\s){0,4}"
_FOLDED: dict[str, re.Pattern[str]] = {
    "ignore_instructions": re.compile(
        rf"\b(?:ignore|disregard|forget|override|bypass|do not follow|don't follow)\s{_ABOUT}"
        r"(?:(?:previous|prior|above|earlier|preceding|other|foregoing|existing|original|system)\s)"
        rf"{{1,2}}{_ABOUT}(?:instruction|prompt|rule|direction|command|message|guideline|context)"
        r"|\b(?:ignore|disregard|forget)\s(?:everything|all|what)\s(?:that\s)?(?:is\s|was\s|comes?\s"
        r"|you\swere\stold\s|you\shave\sbeen\stold\s|said\s)?(?:above|before|previously|so far)\b"
        r"|\b(?:ignorier(?:e|en sie)|vergiss|missachte)\s(?:alle\s|die\s|deine\s){0,3}(?:vorherigen"
        r"|bisherigen|obigen|vorigen)\s(?:anweisungen|befehle|regeln|instruktionen)"
        r"|\bignore[zr]?\s(?:toutes\s)?les\s(?:instructions|consignes)\s(?:précédentes|ci-dessus)"
        r"|\bignor(?:a|e|ar)\s(?:todas\s)?las\sinstrucciones\s(?:anteriores|previas)"
        r"|(?:忽略|无视|忘记|無視)(?:之前|以上|上述|先前|前面|所有|的|一切){1,5}(?:指令|指示|提示|命令|说明)"
        r"|(?:以前|上記|これまで)の(?:すべての)?(?:指示|命令)を(?:無視|忘れ)"
    ),
    "new_role": re.compile(
        r"\byou are (?:now|no longer)\s(?:an?\s|the\s|in\s|my\s|free|bound|chatgpt|dan\b)"
        r"|\b(?:from now on|henceforth),? you (?:are|will|must|should)\b"
        r"|\b(?:pretend|act|behave|respond)\s(?:to be|as if you (?:are|were)|as though you)\s"
        r"|\b(?:enter|enable|activate|switch to)\s(?:developer|debug|dan|jailbreak|god|admin)\smode"
    ),
    "new_instructions": re.compile(
        r"\b(?:new|updated|revised|real|actual|important|additional|hidden) (?:system )?"
        r"instructions?(?: for (?:the )?(?:ai|assistant|model|llm|agent|chatbot))?\s?:"
        r"|\b(?:attention|note|instructions?|message) (?:to|for) (?:the |any |all )?"
        r"(?:ai|a\.i\.|assistants?|(?:language )?models?|llms?|chatbots?|agents?)\b"
    ),
    "reveal_prompt": re.compile(
        r"\b(?:reveal|print|show|repeat|output|display|leak|tell me|give me|share)\s"
        r"(?:me\s)?(?:your|the)\s(?:full\s|entire\s|exact\s|hidden\s|initial\s|original\s){0,2}"
        r"(?:system (?:prompt|message)|(?:hidden|initial|secret) (?:prompt|instructions))"
    ),
    "keep_from_user": re.compile(
        r"\b(?:do not|don't|never)\s(?:tell|inform|alert|notify"
        r"|(?:mention|reveal|show) (?:this|it|that) to)\s(?:the\s)?(?:user|human|reader|customer)\b"
        r"|\bwithout (?:telling|informing|notifying) the (?:user|human|customer)\b"
    ),
    "exfiltrate": re.compile(
        r"\b(?:send|post|forward|upload|transmit|exfiltrate|e-?mail)\s(?:[^.!?]{0,60}\s)?"
        r"(?:api keys?|passwords?|credentials|secrets?|tokens?|conversation|chat history|user data"
        r"|system prompt)\b[^.!?]{0,80}(?:\bto\b|https?:|@)"
    ),
    "chat_markup": re.compile(
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id"
        r"|end_header_id|begin_of_text)\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant)>"
        r"|<(?:start|end)_of_turn>|#{2,3} ?(?:system|instruction|response|assistant) ?:"
    ),
    "tool_markup": re.compile(
        r"</?(?:tool_call|tool_use|function_call|function_calls|invoke|tool_result)\b[^<>]{0,200}>"
    ),
}
# Rules over the text as it is.
_VERBATIM: dict[str, re.Pattern[str]] = {
    "role_line": re.compile(
        r"^[ \t>*#]{0,8}(?:system|assistant)[ \t*]{0,4}:[ \t*]{0,4}\S", re.IGNORECASE | re.MULTILINE
    ),
    "image_with_query": re.compile(
        r"!\[[^\]\n]{0,300}\]\(\s?https?://[^\s()]{1,300}\?[^\s()]{1,500}"
    ),
    "hidden_comment": re.compile(
        r"<!--(?:(?!-->).){0,500}?\b(?:ignore|instructions?|assistant|system prompt|you must)\b"
        r"(?:(?!-->).){0,500}",
        re.IGNORECASE | re.DOTALL,
    ),
    "invisible_text": re.compile(
        "[\U000e0001-\U000e007f]+|[\u200b\u2060\ufeff]{3,}|[\u202a-\u202e\u2066-\u2069]"
    ),
}

#: The names of all rules, in the order in which they are tried.
INJECTION_RULES: tuple[str, ...] = (*_FOLDED, *_VERBATIM)


def scan_injection(passages: Sequence[Passage]) -> tuple[InjectionFlag, ...]:
    """Every match of every rule, by passage, then by place; an empty tuple when there is none.

    Phrases are looked for after folding (case, width, white space, invisible characters), and the
    offsets are those of the unfolded text. A flag is a reason to look, not a proof, and no flag
    does not make a text harmless: rephrasing escapes rules. The passages are not changed. Raises
    `VerificationError` for a passage that is neither a candidate nor a text.
    """
    flags = []
    for passage in read_passages(passages):
        flags += [
            InjectionFlag(rule, passage.number, passage.record_id, span, span.of(passage.text))
            for span, rule in sorted(set(_matches(passage.text)))
        ]
    return tuple(flags)


def _matches(text: str) -> Iterator[tuple[Span, str]]:
    folded = fold(text)
    for rule, pattern in _FOLDED.items():
        for match in pattern.finditer(folded.text):
            yield Span(folded.starts[match.start()], folded.ends[match.end() - 1]), rule
    for rule, pattern in _VERBATIM.items():
        for match in pattern.finditer(text):
            yield Span(*match.span()), rule
