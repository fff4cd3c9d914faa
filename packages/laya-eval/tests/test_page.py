"""Tables between two markers of a page."""

from __future__ import annotations

import pytest
from laya_eval.errors import PageError
from laya_eval.page import markers, replaced

BEGIN, END = markers("laya measure")


def test_a_page_is_the_same_however_often_it_is_written():
    page = f"# Head\n\n{BEGIN}\nold\n{END}\n\ntail\n"
    once = replaced(page, "new\n", "page.md", "laya measure")
    assert once == f"# Head\n\n{BEGIN}\n\nnew\n\n{END}\n\ntail\n"
    assert replaced(once, "new\n", "page.md", "laya measure") == once


@pytest.mark.parametrize(
    "page", ["", BEGIN, END, f"{END} {BEGIN}", " ".join(markers("laya other"))]
)
def test_a_page_without_the_markers_is_refused(page):
    with pytest.raises(
        PageError, match=r"page\.md has no place for a table: put in the lines <!-- l"
    ):
        replaced(page, "new\n", "page.md", "laya measure")
