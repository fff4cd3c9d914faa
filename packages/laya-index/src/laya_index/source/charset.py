"""The encoding of an HTML file, as browsers find it."""

from __future__ import annotations

import codecs
import re

from laya_index.source.decode import CONTROL, MARKS, decode, normalise_newlines

# Browsers look at the first kilobyte; some generators write comments first.
_HEAD = 4096
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.S)
_DECLARED = re.compile(
    rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I
)
# Python calls more than these an encoding. UTF-8 was tried before, and what can be read as ASCII up
# to its declaration is not UTF-16.
_LEGACY = re.compile(r"cp\d|iso\d|koi8|mac[-_]|gb|big5|euc|shift|johab|tis|hz$")
#: Labels that mean another encoding on the web than in Python: https://encoding.spec.whatwg.org.
_ON_THE_WEB = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}


def decode_html(data: bytes) -> str:
    """The characters of an HTML file; newlines are LF.

    Tried in order: a byte order mark, UTF-8 where it has more than ASCII in it and all of it fits
    (which no other encoding does by chance), the encoding that the file declares, and what
    `decode` does for any text. Raises like `decode`.
    """
    declared = None if data.startswith(MARKS) or _is_utf8(data) else _declared(data)
    if declared is not None:
        try:
            text = data.decode(declared)
        except UnicodeDecodeError:
            return decode(data)
        if not CONTROL.search(text):
            return normalise_newlines(text)
    return decode(data)


def _is_utf8(data: bytes) -> bool:
    try:
        return not data.isascii() and bool(data.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _declared(data: bytes) -> str | None:
    match = _DECLARED.search(_COMMENT.sub(b"", data[:_HEAD]))
    if match is None:
        return None
    try:
        name = codecs.lookup(match[1].decode("ascii")).name
    except (LookupError, UnicodeError):
        return None
    return _ON_THE_WEB.get(name, name) if _LEGACY.match(name) or name == "ascii" else None
