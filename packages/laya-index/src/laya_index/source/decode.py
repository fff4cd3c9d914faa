"""From a file's bytes to text, losing nothing silently."""

from __future__ import annotations

import codecs

import charset_normalizer

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 8192


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
    return data.decode(match.encoding)


def _decode_utf16(data: bytes) -> str:
    # Text in a European script has its zero bytes on one side only; binary data has them anywhere.
    sample = data[:_SAMPLE]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros > 0.4 * len(sample) / 2 and others == 0:
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                break
    raise BinaryContentError("binary content")
