import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.source.decode import (
    BinaryContentError,
    UndecodableError,
    decode,
    normalise_newlines,
)

GERMAN = "Die Größe der Prüfung überrascht. Straßen führen über Brücken.\n" * 4
FRENCH = "La qualité des élèves était évidente à l'école où il étudiait.\n" * 4
JAPANESE = "これは日本語の文章です。検索エンジンは文書を索引にします。\n" * 4
CHINESE = "这是一个中文文档，用于测试编码检测。搜索引擎需要正确处理。\n" * 4
KOREAN = "한국어 문서의 인코딩을 올바르게 감지해야 합니다.\n" * 4
RUSSIAN = "Это обычный русский текст, который нужно правильно распознать.\n" * 4
GREEK = "Αυτό είναι ένα ελληνικό κείμενο για δοκιμή.\n" * 4

MARKED = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@pytest.mark.parametrize("encoding", MARKED)
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_a_byte_order_mark_decides(encoding: str, text: str) -> None:
    assert decode(MARKED[encoding] + text.encode(encoding)) == normalise_newlines(text)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff")))
def test_without_a_mark_it_is_utf8_if_it_can_be(text: str) -> None:
    assert decode(text.encode()) == normalise_newlines(text)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", [GERMAN, JAPANESE, CHINESE, KOREAN, RUSSIAN, GREEK, "short", "a\n"]
)
def test_utf16_is_found_without_a_mark(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", GERMAN),
        ("cp1252", FRENCH),
        ("iso-8859-15", GERMAN),
        ("shift_jis", JAPANESE),
        ("euc_jp", JAPANESE),
        ("cp1251", RUSSIAN),
        ("koi8-r", RUSSIAN),
        ("gb18030", CHINESE),
        ("euc_kr", KOREAN),
        ("cp1253", GREEK),
    ],
)
def test_legacy_encodings_are_found(encoding: str, text: str) -> None:
    with pytest.raises(UnicodeDecodeError):
        text.encode(encoding).decode()
    assert decode(text.encode(encoding)) == text
    assert decode(text.replace("\n", "\r\n").encode(encoding)) == text


def test_a_marked_gb18030_text_loses_its_mark() -> None:
    assert decode(("\ufeff" + CHINESE).encode("gb18030")) == CHINESE


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\nb"),
        ("a\r\r\nb\n\r", "a\n\nb\n\n"),
        ("a\u2028b", "a\u2028b"),
    ],
)
def test_newlines_become_lf(raw: str, text: str) -> None:
    assert decode(raw.encode()) == text
    assert decode(raw.encode("utf-16")) == text


@pytest.mark.parametrize(
    "data",
    [
        b"\0",
        b"\0\1",
        b"\x7fELF\2\1\1\0\0\0\0\0",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        bytes(range(256)) * 8,
        b"\0" * 4096,
        b"\1\0\2\0\3\0\4\0",
        random.Random(0).randbytes(5000),
        "text ".encode("utf-16-le") + b"\0\xd8",
    ],
)
def test_binary_content_is_told_from_text(data: bytes) -> None:
    with pytest.raises(BinaryContentError):
        decode(data)


@given(st.binary(min_size=64, max_size=300))
def test_bytes_either_decode_as_a_whole_or_are_refused(data: bytes) -> None:
    try:
        text = decode(data)
    except (BinaryContentError, UndecodableError):
        return
    assert text or not data.strip(b"\r\n")
    assert "\r" not in text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (codecs.BOM_UTF8 + b"caf\xe9", "marked as utf-8"),
        (codecs.BOM_UTF16_LE + b"abc", "marked as utf-16-le"),
        (b"\xff" + bytes(random.Random(0).choices(range(128, 256), k=200)), "not UTF-8"),
    ],
)
def test_what_no_encoding_fits_is_refused_with_a_reason(data: bytes, message: str) -> None:
    with pytest.raises(UndecodableError, match=message):
        decode(data)


def test_a_large_file_that_only_begins_like_text_is_refused() -> None:
    text = GERMAN.encode("cp1252") * 4000
    with pytest.raises((UndecodableError, BinaryContentError)):
        decode(text + bytes(range(1, 32)) + text)
