"""PDF, Word and PowerPoint files, through markitdown (the extra `documents`)."""

from __future__ import annotations

import io
import re
import zipfile
from functools import cache
from typing import Any

from laya_index.source.decode import normalise_newlines
from laya_index.source.loaded import Loaded, LoadError
from laya_index.source.markdown import first_heading

#: Bytes that an archive may unpack to: a small file can hold gigabytes of zeros.
MOST_UNPACKED = 512 * 1024 * 1024
_EXTRA = "laya-index[documents]"
_CONVERTERS = {".pdf": "PdfConverter", ".docx": "DocxConverter", ".pptx": "PptxConverter"}
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_SLIDE = re.compile(r"^<!-- Slide number: \d+ -->\n?", re.M)


def load_office(data: bytes, suffix: str) -> Loaded:
    """Read a file of the format that `suffix` (`.pdf`, `.docx`, `.pptx`) names.

    Headings, lists and tables become Markdown as far as the format has them; images become their
    alternative text. The title is the first top-level heading. Nothing is fetched from anywhere.

    Raises `LoadError` when the extra `documents` is not installed, for an archive that unpacks to
    more than `MOST_UNPACKED` bytes, and for a file that cannot be read (damaged, encrypted).
    """
    if data.startswith(b"PK"):
        _check_size(data)
    try:
        result = _converter(suffix).convert_stream(io.BytesIO(data), file_extension=suffix)
    except ModuleNotFoundError as error:
        raise LoadError(f"needs {_EXTRA}", f"no module {error.name!r}") from error
    except Exception as error:  # whatever the parser of a hostile file may raise
        if type(error).__name__ == "MissingDependencyException":
            raise LoadError(f"needs {_EXTRA}", "markitdown lacks a dependency") from error
        raise LoadError(f"unreadable {suffix}", _first_line(error)) from error
    text = _SLIDE.sub("", _IMAGE.sub(r"\1", normalise_newlines(result.markdown)))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise LoadError(f"unreadable {suffix}", "half of a surrogate pair in its text") from error
    return Loaded(text, first_heading(text))


def _check_size(data: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # An entry is never unpacked beyond the size that is declared here.
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise LoadError("damaged archive", _first_line(error)) from error
    if size > MOST_UNPACKED:
        raise LoadError("too large", f"unpacks to {size} bytes; at most {MOST_UNPACKED} are read")


@cache
def _converter(suffix: str) -> Any:
    from markitdown import MarkItDown, converters

    # With more than one at hand, a damaged file would be shown as its bytes or its members.
    alone = MarkItDown(enable_builtins=False, enable_plugins=False)
    alone.register_converter(getattr(converters, _CONVERTERS[suffix])())
    return alone


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
