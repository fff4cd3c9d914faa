"""Front matter and titles of Markdown text."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<body>.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.M | re.S)
_HEADING = re.compile(r"^ {0,3}#[ \t]+(?P<title>.+?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


# A longer block is a document between two rules, not settings; YAML is slow to find that out.
_LONGEST = 64 * 1024


class _Plain(yaml.BaseLoader):
    """YAML whose values stay the text that was written: `1.10`, `2024-05-01` and `yes` as well.

    Without aliases: a document is data, and a few aliases can grow to gigabytes.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read in front matter")
        return super().compose_node(parent, index)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands between the two `---` lines, and where the text begins after them."""

    metadata: dict[str, str]
    end: int


def front_matter(text: str) -> FrontMatter:
    """The front matter of `text` (newlines already LF); without one, nothing and offset 0.

    A block that is no YAML mapping counts as text: a document may open with a rule (`---`).
    """
    match = _FRONT_MATTER.match(text)
    if match is None or len(match["body"]) > _LONGEST:
        return FrontMatter({}, 0)
    try:
        loaded = yaml.load(match["body"], Loader=_Plain)  # noqa: S506 - builds only text and lists
    except (yaml.YAMLError, ValueError, RecursionError):
        return FrontMatter({}, 0)
    if loaded is None and not match["body"].strip():
        return FrontMatter({}, match.end())
    if not isinstance(loaded, dict):
        return FrontMatter({}, 0)
    return FrontMatter({_plain(key): _plain(value) for key, value in loaded.items()}, match.end())


def first_heading(text: str) -> str:
    """The first top-level `# Heading` outside a code fence, or an empty string."""
    fence = ""
    for line in text.split("\n"):
        if (mark := _FENCE.match(line)) is not None:
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence and (heading := _HEADING.match(line)) is not None:
            return heading["title"]
    return ""


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value)
    # An escape in YAML can write half of a surrogate pair, which no file can hold.
    return str(value).encode("utf-8", "backslashreplace").decode()
