"""The static page: the report, the vectors, and the files that show them."""

from __future__ import annotations

import json
from importlib.resources import files

from laya_signals.tokenize import stopwords

from laya_eval.errors import DataError
from laya_eval.inspect.collection import Collection
from laya_eval.inspect.report import report_data, report_json, report_markdown
from laya_eval.inspect.vectors import Vectors, vectors_text

#: What ships with the package and is copied as it is.
STATIC = (
    "index.html",
    "style.css",
    "icon.svg",
    "stem.js",
    "tokenize.js",
    "rank.js",
    "messages.js",
    "page.js",
)
REPORT, READABLE = "report.json", "report.md"


def site_files(collection: Collection, vectors: Vectors) -> dict[str, str]:
    """Every file of the page's folder, by name.

    Scripts instead of JSON, because a page opened from a folder may not read files. Raises
    `DataError` when the stack's tokenizer is not the one that the page has too.
    """
    stop = _stop_words(collection)
    data = report_data(collection, vectors)
    report = report_json(data)
    folder = files("laya_eval.inspect") / "static"
    return {
        **{name: (folder / name).read_text(encoding="utf-8") for name in STATIC},
        "data.js": (
            f'"use strict";\nglobalThis.STOP_WORDS = {stop};\n'
            f"globalThis.VECTORS = {vectors_text(vectors).rstrip()};\n"
            f"globalThis.REPORT = {report.rstrip()};\n"
        ),
        READABLE: report_markdown(data),
        REPORT: report,
    }


def _stop_words(collection: Collection) -> str:
    """The words that the tokenizer drops, as a script's literal."""
    config = collection.bm25.config
    words = config.get("stop_words")
    known = words is None or (isinstance(words, str) and stopwords.is_own(words))
    if collection.bm25.provider != "tokenizer.word" or config.get("stem") != "english" or not known:
        raise DataError(
            f"{collection.stack.file}: the page searches as `tokenizer.word` with `stem: english` "
            "and `stop_words: english` or none does, and has no other tokenizer"
        )
    return json.dumps([] if words is None else stopwords.stop_list(words))
