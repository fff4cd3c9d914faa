"""From a file's bytes to text, losing nothing silently."""

from __future__ import annotations

import codecs
import re
import unicodedata

import charset_normalizer

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
#: The byte order marks that say what a file's encoding is.
MARKS = tuple(mark for mark, _ in _MARKS)
_SAMPLE = 8192
#: No text holds these, but any bytes decode in some single-byte encoding.
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_BLANKS = frozenset(" \t\n\r\f\u3000")


class BinaryContentError(ValueError):
    """The bytes are no text."""


class UndecodableError(ValueError):
    """The bytes look like text, but no encoding decodes all of them."""


def decode(data: bytes) -> str:
    """The text of `data`: byte order mark dropped, newlines normalised to LF.

    Tried in order: a byte order mark, UTF-8, UTF-16 without a mark, and the legacy encoding that
    charset-normalizer finds plausible. Every byte is decoded or none: raises `BinaryContentError`
    or `UndecodableError` instead of dropping what does not fit.
    """
    return normalise_newlines(_decode(data))


def normalise_newlines(text: str) -> str:
    """CRLF and lone CR become LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _decode(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError as error:
                raise UndecodableError(f"marked as {encoding}, but {error.reason}") from error
    if b"\0" in data[:_SAMPLE]:
        return _decode_utf16(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        utf8_error = error
    match = charset_normalizer.from_bytes(data).best()
    if match is None:
        raise UndecodableError(
            f"not UTF-8 ({utf8_error.reason} at byte {utf8_error.start}) "
            "and in no legacy encoding that fits"
        )
    try:
        text = data.decode(match.encoding)  # only samples of a long file were tried so far
    except (UnicodeDecodeError, LookupError) as error:
        raise UndecodableError(f"neither UTF-8 nor {match.encoding}: {error}") from error
    if CONTROL.search(text):
        raise BinaryContentError("binary content")
    return text


def _decode_utf16(data: bytes) -> str:
    readings = [_read_utf16(data, encoding) for encoding in ("utf-16-le", "utf-16-be")]
    texts = [text for text in readings if text is not None]
    if not texts:
        raise BinaryContentError("binary content")
    # Latin text read the wrong way round is ideographs, never the other way.
    return max(texts, key=lambda text: sum(char.isascii() for char in text[:_SAMPLE]))


def _read_utf16(data: bytes, encoding: str) -> str | None:
    """`data` in this encoding, or None when that would be no text."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    sample = text[:_SAMPLE]
    if not all(_is_textual(char) for char in set(sample)):
        return None
    # Numbers can look like letters of some script; texts have blanks, or are mostly ASCII.
    blanks = sum(char in _BLANKS for char in sample)
    plain = sum(char.isascii() for char in sample)
    return text if blanks > len(sample) // 500 or plain > len(sample) // 3 else None


def _is_textual(char: str) -> bool:
    return char in _BLANKS or unicodedata.category(char) not in {"Cc", "Cn", "Co", "Cs"}
