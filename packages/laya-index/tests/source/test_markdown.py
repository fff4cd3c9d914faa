import time

import pytest
from laya_index.source.markdown import first_heading, front_matter


@pytest.mark.parametrize(
    ("text", "metadata", "rest"),
    [
        ("---\ntitle: A b\n---\n# C\n", {"title": "A b"}, "# C\n"),
        ("---\ntitle: A\n...\nC", {"title": "A"}, "C"),
        ("---  \na: 1\n--- \nC", {"a": "1"}, "C"),
        ("---\na: 1\n---", {"a": "1"}, ""),
        ("---\n---\nC", {}, "C"),
        ("---\n\n---\nC", {}, "C"),
        (
            "---\ntags: [x, y]\nempty:\nnested: {k: v}\n---\n",
            {"tags": "x, y", "empty": "", "nested": "{'k': 'v'}"},
            "",
        ),
        # Values stay as they were written.
        (
            "---\nd: 2024-05-01\nv: 1.10\nb: yes\nn: 007\n---\n",
            {"d": "2024-05-01", "v": "1.10", "b": "yes", "n": "007"},
            "",
        ),
        ("---\nd: 2024-99-99\nx: !!int no\n---\n", {"d": "2024-99-99", "x": "no"}, ""),
        ('---\na: "\\ud800"\n---\n', {"a": "\\ud800"}, ""),
    ],
)
def test_front_matter_is_metadata(text: str, metadata: dict[str, str], rest: str) -> None:
    matter = front_matter(text)
    assert matter.metadata == metadata
    assert text[matter.end :] == rest
    assert all(value.encode() is not None for value in matter.metadata.values())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# A",
        "---\n",
        "---\nnever closed: 1\n",
        "---\nA paragraph between two rules.\n---\nmore",
        "---\n- a list\n---\n",
        "---\na: [1\n---\n",
        "---\na: &x [1]\nb: *x\n---\n",
        "---\n? [a, b]\n: c\n---\n",
        "---\n" + "a: " + "[" * 5000 + "\n---\n",
        " ---\na: 1\n---\n",
        "text\n---\na: 1\n---\n",
        "----\na: 1\n----\n",
    ],
)
def test_what_is_no_mapping_between_rules_is_text(text: str) -> None:
    matter = front_matter(text)
    assert (matter.metadata, matter.end) == ({}, 0)


def test_a_long_document_between_two_rules_is_text_at_once() -> None:
    begin = time.perf_counter()
    assert front_matter("---\n" + "- item: some text\n" * 200_000 + "---\n").end == 0
    assert time.perf_counter() - begin < 2


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("", ""),
        ("text\n# A b #\n# C", "A b"),
        ("## Sub\n\n# Top", "Top"),
        ("```\n# comment\n```\n# Real", "Real"),
        ("~~~~\n~~~\n# comment\n~~~~\n# Real", "Real"),
        ("    # code", ""),
        ("#hashtag", ""),
        ("   # Three blanks", "Three blanks"),
    ],
)
def test_the_first_heading_of_the_top_level(text: str, title: str) -> None:
    assert first_heading(text) == title
