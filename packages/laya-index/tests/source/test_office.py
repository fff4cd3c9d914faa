import io
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from laya_index.chunk.blocks import blocks_of
from laya_index.document import Skipped, SourceDocument
from laya_index.source import office
from laya_index.source.files import FilesSource
from laya_index.source.loaded import LoadError
from laya_index.source.office import load_office

Write = Callable[[Path, dict[str, str | bytes]], Path]


def pdf(*lines: str) -> bytes:
    """A page of text in the smallest PDF that readers accept."""
    shown = " ".join(f"({line}) Tj 0 -20 Td" for line in lines)
    content = f"BT /F1 12 Tf 50 700 Td {shown} ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    data, places = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj%s\nendobj\n" % (number, item)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + (
        b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
        % (table, len(data))
    )


def archive(files: dict[str, str]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return sink.getvalue()


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def docx() -> bytes:
    def paragraph(text: str, style: str = "") -> str:
        properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"

    def cells(*texts: str) -> str:
        inner = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in texts)
        return f"<w:tr>{inner}</w:tr>"

    body = (
        paragraph("The title", "Heading1")
        + paragraph("Größe &amp; more.")
        + f"<w:tbl>{cells('a', 'b')}{cells('1', '2')}</w:tbl>"
    )
    return archive(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/'
            'vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{TYPE}.document.main+xml"/>'
            f'<Override PartName="/word/styles.xml" ContentType="{TYPE}.styles+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="a" '
            f'Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
            f'<Relationship Id="b" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
            "word/styles.xml": f'<w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" '
            'w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>',
            "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}'
            "</w:body></w:document>",
        }
    )


@pytest.fixture
def without_markitdown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "markitdown", None)
    office._converter.cache_clear()
    yield
    office._converter.cache_clear()


@pytest.fixture
def markitdown() -> Any:
    return pytest.importorskip("markitdown", reason="needs the extra `documents`")


def test_without_the_extra_a_file_is_skipped_and_the_extra_named(
    without_markitdown: None, tmp_path: Path, write: Write
) -> None:
    write(tmp_path, {"a.pdf": pdf("x"), "b.DOCX": docx(), "c.txt": "x"})
    found = list(FilesSource(root=tmp_path).read())
    skips = [(item.id, item.reason) for item in found if isinstance(item, Skipped)]
    assert skips == [
        ("a.pdf", "needs laya-index[documents]"),
        ("b.DOCX", "needs laya-index[documents]"),
    ]
    assert [item.id for item in found if isinstance(item, SourceDocument)] == ["c.txt"]


def test_an_archive_that_would_unpack_to_gigabytes_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(office, "MOST_UNPACKED", 999_999)
    with pytest.raises(LoadError, match="too large: unpacks to 1000000 bytes; at most 999999"):
        load_office(archive({"word/document.xml": "0" * 1_000_000}), ".docx")


def test_a_damaged_archive_is_refused() -> None:
    with pytest.raises(LoadError, match="damaged archive: BadZipFile"):
        load_office(docx()[:-30], ".docx")


@pytest.mark.slow
def test_a_pdf(markitdown: Any) -> None:
    loaded = load_office(pdf("First line", "second line"), ".pdf")
    assert loaded.text.split() == ["First", "line", "second", "line"]


@pytest.mark.slow
def test_a_word_file_keeps_its_structure(markitdown: Any, tmp_path: Path, write: Write) -> None:
    (item,) = FilesSource(root=write(tmp_path, {"a.docx": docx()})).read()
    assert isinstance(item, SourceDocument)
    assert item.title == "The title"
    assert [block.kind for block in blocks_of(item.text, item.media_type)] == [
        "heading",
        "paragraph",
        "table",
    ]
    assert "Größe & more." in item.text


@pytest.mark.slow
def test_a_presentation(markitdown: Any) -> None:
    from pptx import Presentation

    made = Presentation()
    for title, text in (("One", "first point"), ("Two", "second point")):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, text
    sink = io.BytesIO()
    made.save(sink)
    loaded = load_office(sink.getvalue(), ".pptx")
    assert loaded.title == "One"
    blocks = blocks_of(loaded.text, "text/markdown")
    assert [block.title for block in blocks if block.kind == "heading"] == ["One", "Two"]
    assert "second point" in loaded.text
    assert "<!--" not in loaded.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".pdf", b"%PDF-1.4\nno more"),
        (".pdf", b"plain text"),
        (".docx", b"plain text"),
        (".docx", archive({"x": "y"})),
        (".pptx", archive({"x": "y"})),
    ],
)
def test_a_file_that_cannot_be_read_is_reported(
    markitdown: Any, tmp_path: Path, write: Write, suffix: str, data: bytes
) -> None:
    (item,) = FilesSource(root=write(tmp_path, {f"a{suffix}": data})).read()
    assert isinstance(item, Skipped)
    assert item.reason == f"unreadable {suffix}"
