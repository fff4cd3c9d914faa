import os
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from laya_index.document import Skipped, SourceDocument
from laya_index.errors import SourceError
from laya_index.source import files as module
from laya_index.source.base import Source
from laya_index.source.files import FilesSource
from laya_signals import ConfigError

Write = Callable[[Path, dict[str, str | bytes]], Path]


def read(root: Path, **settings: object) -> dict[str, SourceDocument | Skipped]:
    return {item.id: item for item in FilesSource(root=root, **settings).read()}


def documents(root: Path, **settings: object) -> list[str]:
    found = read(root, **settings)
    return sorted(name for name, item in found.items() if isinstance(item, SourceDocument))


def reasons(root: Path, **settings: object) -> dict[str, str]:
    found = read(root, **settings)
    return {name: item.reason for name, item in found.items() if isinstance(item, Skipped)}


# What a document is


def test_a_document_is_named_by_its_path_below_the_root(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {"a/b c.txt": "text"})
    assert read(tmp_path) == {
        "a/b c.txt": SourceDocument("a/b c.txt", "text", "b c.txt", "text/plain", "a/b c.txt")
    }


@pytest.mark.parametrize(
    ("name", "content", "title", "media_type", "metadata"),
    [
        ("a.md", "# Head\n\ntext", "Head", "text/markdown", {}),
        (
            "a.md",
            "---\r\ntitle: T\r\nx: 1\r\n---\r\n# Head",
            "T",
            "text/markdown",
            {"title": "T", "x": "1"},
        ),
        ("a.md", "no heading", "a.md", "text/markdown", {}),
        ("a.md", "---\nonly: matter\n---\n", "a.md", "text/markdown", {}),
        ("a.TXT", "# Head", "a.TXT", "text/plain", {}),
        ("a.py", "# code", "a.py", "text/x-python", {}),
        ("a.odd", "text", "a.odd", "text/plain", {}),
        ("LICENSE", "text", "LICENSE", "text/plain", {}),
    ],
)
def test_type_title_and_metadata_come_from_name_and_text(
    tmp_path: Path,
    write: Write,
    name: str,
    content: str,
    title: str,
    media_type: str,
    metadata: dict,
) -> None:
    write(tmp_path, {name: content})
    (item,) = read(tmp_path).values()
    assert isinstance(item, SourceDocument)
    assert (item.title, item.media_type, dict(item.metadata)) == (title, media_type, metadata)
    decoded = content.replace("\r\n", "\n")
    assert decoded[item.offset :] == item.text


def test_the_text_of_a_page_is_what_its_loader_makes_of_it(tmp_path: Path, write: Write) -> None:
    html = "<html lang=en><title>T</title><h1>A</h1><p>b &amp; c</html>"
    write(tmp_path, {"x/a.html": html, "b.htm": "<p>b"})
    assert read(tmp_path) == {
        "x/a.html": SourceDocument(
            "x/a.html", "# A\n\nb & c", "T", "text/html", "x/a.html", {"language": "en"}
        ),
        "b.htm": SourceDocument("b.htm", "b", "b.htm", "text/html", "b.htm"),
    }


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_any_encoding_gives_the_same_document(tmp_path: Path, write: Write, encoding: str) -> None:
    text = "Straßen führen über Brücken. Die Größe überrascht.\n" * 5
    write(tmp_path / "a", {"x.txt": text})
    write(tmp_path / "b", {"x.txt": text.replace("\n", "\r\n").encode(encoding)})
    assert read(tmp_path / "a") == read(tmp_path / "b")


def test_the_same_content_at_two_paths_is_two_documents(tmp_path: Path, write: Write) -> None:
    assert documents(write(tmp_path, {"a.txt": "x", "b/a.txt": "x"})) == ["a.txt", "b/a.txt"]


# Which files


TREE: dict[str, str | bytes] = {
    "README.md": "x",
    "docs/a.md": "x",
    "docs/deep/b.md": "x",
    "docs/c.txt": "x",
    "src/m.py": "x",
}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, sorted(TREE)),
        ({"include": ["**/*.md"]}, ["README.md", "docs/a.md", "docs/deep/b.md"]),
        ({"include": ["docs/**/*.md"]}, ["docs/a.md", "docs/deep/b.md"]),
        ({"include": ["docs/*.md"]}, ["docs/a.md"]),
        ({"include": ["*.md", "!README.md"]}, ["docs/a.md", "docs/deep/b.md"]),
        ({"include": ["/*.md", "src"]}, ["README.md", "src/m.py"]),
        ({"exclude": ["docs/"]}, ["README.md", "src/m.py"]),
        ({"include": ["docs"], "exclude": ["**/deep/**"]}, ["docs/a.md", "docs/c.txt"]),
        ({"include": []}, []),
    ],
)
def test_patterns_choose_files(
    tmp_path: Path, write: Write, settings: dict, expected: list[str]
) -> None:
    assert documents(write(tmp_path, TREE), **settings) == expected


@pytest.mark.parametrize("key", ["include", "exclude"])
@pytest.mark.parametrize("pattern", ["!", "a\\", "[z-a]"])
def test_a_pattern_that_is_none_is_refused(key: str, pattern: str) -> None:
    with pytest.raises(ConfigError, match=rf"FilesSource: {key}: .*is no pattern"):
        FilesSource({key: [pattern]})


@pytest.mark.parametrize(
    ("ignore", "ignored"),
    [
        (
            {".gitignore": "*.log\nbuild/\n"},
            ["a.log", "build/x.txt", "sub/a.log", "sub/build/y.txt"],
        ),
        ({".gitignore": "/a.log"}, ["a.log"]),
        ({".gitignore": "*.log\n!sub/a.log"}, ["a.log"]),
        ({".gitignore": "*.log", "sub/.gitignore": "!a.log\nbuild"}, ["a.log", "sub/build/y.txt"]),
        ({".gitignore": "sub/\n!sub/keep.txt"}, ["sub/a.log", "sub/build/y.txt", "sub/keep.txt"]),
        ({".gitignore": "sub/*\n!sub/keep.txt"}, ["sub/a.log", "sub/build/y.txt"]),
        ({".gitignore": "# *.log\n\n!\n[z-a]\na.log\r\n"}, ["a.log", "sub/a.log"]),
        ({"sub/.gitignore": "a.log"}, ["sub/a.log"]),
        ({}, []),
    ],
)
def test_gitignore_files_are_honoured(
    tmp_path: Path, write: Write, ignore: dict[str, str], ignored: list[str]
) -> None:
    names = ["a.log", "a.txt", "build/x.txt", "sub/a.log", "sub/build/y.txt", "sub/keep.txt"]
    write(tmp_path, {**dict.fromkeys(names, "x"), **ignore})
    assert documents(tmp_path) == [name for name in names if name not in ignored]
    assert documents(tmp_path, gitignore=False) == names


def test_gitignore_files_above_the_root_count_within_their_repository(
    tmp_path: Path, write: Write
) -> None:
    write(tmp_path, {".gitignore": "*.txt", "repo/.gitignore": "/docs/a.md\n*.log\n!b.md"})
    write(tmp_path / "repo", {"docs/.gitignore": "!x.log", "docs/sub/.gitignore": "c.md"})
    names = dict.fromkeys(
        ["docs/a.md", "docs/x.log", "docs/sub/c.md", "docs/sub/d.log", "docs/t.txt"], "x"
    )
    write(tmp_path / "repo", names)
    assert documents(tmp_path / "repo/docs") == ["a.md", "sub/d.log", "t.txt", "x.log"]
    (tmp_path / "repo/.git").mkdir()
    assert documents(tmp_path / "repo/docs") == ["t.txt", "x.log"]


def test_hidden_files_and_folders_are_left_out_unless_wanted(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {".env": "x", ".github/w.yml": "x", ".git/config": "x", "a.txt": "x"})
    assert documents(tmp_path) == ["a.txt"]
    assert reasons(tmp_path) == {".env": "hidden"}
    assert documents(tmp_path, hidden=True) == [".env", ".github/w.yml", "a.txt"]


def test_folders_can_be_left_out_by_path(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {"a.txt": "x", "out/b.txt": "x", "sub/out/c.txt": "x"})
    source = FilesSource(root=tmp_path)
    source.leave_out(tmp_path / "sub" / ".." / "out")
    assert [item.id for item in source.read()] == ["a.txt", "sub/out/c.txt"]


# What is skipped, and why


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b" \n\t\r\n", "empty"),
        ("a.txt", b"\xef\xbb\xbf", "empty"),
        ("a.txt", b"\0\1\2\3", "binary"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary"),
        ("a.txt", b"\xef\xbb\xbfcaf\xe9", "undecodable"),
        ("a.html", b"<script>x</script>", "empty"),
        ("a.HTM", b"<p>\x00\x01\xff", "binary"),
        ("deep.html", b"<div>" * 5000, "malformed HTML"),
        ("a.EPUB", b"PK", "no loader for .epub"),
    ],
)
def test_what_is_no_text_is_skipped_and_the_version_recorded(
    tmp_path: Path, write: Write, name: str, content: bytes, reason: str
) -> None:
    write(tmp_path, {name: content, "good.md": "x"})
    found = read(tmp_path)
    assert isinstance(found["good.md"], SourceDocument)
    skipped = found[name]
    assert isinstance(skipped, Skipped)
    assert (skipped.reason, skipped.bytes, skipped.recorded) == (reason, len(content), True)
    assert len(skipped.digest) == 64


def test_a_file_over_the_limit_is_not_even_read(tmp_path: Path) -> None:
    with (tmp_path / "big.txt").open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    begin = time.perf_counter()
    skipped = read(tmp_path)["big.txt"]
    assert time.perf_counter() - begin < 0.1
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "too large"
    assert skipped.detail == "52428800 bytes; max_bytes is 20971520"


def test_the_limit_can_be_raised(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {"big.txt": b"some text\n" * (5 * 1024 * 1024)})
    assert reasons(tmp_path) == {"big.txt": "too large"}
    assert documents(tmp_path, max_bytes=60 * 1024 * 1024) == ["big.txt"]
    assert documents(write(tmp_path / "x", {"a": "12345"}), max_bytes=5) == ["a"]
    assert documents(tmp_path / "x", max_bytes=4) == []


def test_pipes_and_sockets_do_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    os.mkfifo(tmp_path / ".gitignore")
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.txt")
        assert reasons(tmp_path) == {
            ".gitignore": "hidden",
            "pipe.txt": "no regular file",
            "socket.txt": "unreadable",
        }


def test_links_do_not_lead_in_circles_or_out(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {"root/a.txt": "x", "root/sub/b.txt": "x", "secret/s.txt": "s"})
    root = tmp_path / "root"
    (root / "loop").symlink_to(".")
    (root / "sub" / "up").symlink_to("..")
    (root / "self").symlink_to("self")
    (root / "broken").symlink_to("nowhere")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "out.txt").symlink_to(tmp_path / "secret" / "s.txt")
    (root / "in.txt").symlink_to("sub/b.txt")
    assert documents(root) == ["a.txt", "in.txt", "sub/b.txt"]
    assert reasons(root) == {
        "loop": "link to a folder",
        "sub/up": "link to a folder",
        "out": "link to a folder",
        "self": "unreadable",
        "broken": "unreadable",
        "out.txt": "link out of the root folder",
    }


def test_the_root_itself_may_be_a_link(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "real", {"a.txt": "x"})
    (tmp_path / "real" / "b.txt").symlink_to("a.txt")
    (tmp_path / "link").symlink_to("real")
    assert documents(tmp_path / "link") == ["a.txt", "b.txt"]


def test_a_file_name_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("x")
    ((name, reason),) = reasons(tmp_path).items()
    assert reason == "file name is not UTF-8"
    assert name.encode().startswith(b"caf\\")


def test_what_may_not_be_read_is_reported(
    tmp_path: Path, write: Write, as_nobody: Callable[[Callable[[], object]], str]
) -> None:
    write(tmp_path, {"a.md": "x", "locked.md": "x", "shut/b.md": "x"})
    (tmp_path / "locked.md").chmod(0)
    (tmp_path / "shut").chmod(0)
    said = as_nobody(lambda: (documents(tmp_path), reasons(tmp_path, include=["**/*.md"])))
    (tmp_path / "shut").chmod(0o755)
    expected = (["a.md"], {"locked.md": "unreadable", "shut": "unreadable folder"})
    assert said == f"returned: {expected}"


def test_a_file_that_vanishes_is_reported(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.txt": "x", "b.txt": "x"})
    opened = module._open_nonblocking

    def vanish(path: str, flags: int) -> int:
        (tmp_path / "a.txt").unlink(missing_ok=True)
        return opened(path, flags)

    monkeypatch.setattr(module, "_open_nonblocking", vanish)
    assert reasons(tmp_path) == {"a.txt": "unreadable"}
    assert documents(tmp_path) == ["b.txt"]


@pytest.mark.parametrize(("changes", "expected"), [(1, None), (9, "changed while being read")])
def test_a_file_that_changes_while_it_is_read_is_read_again_once(
    tmp_path: Path,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    changes: int,
    expected: str | None,
) -> None:
    write(tmp_path, {"a.txt": "x" * 10})
    real, left = os.fstat, [changes]

    def changing(handle: int) -> os.stat_result:
        result = real(handle)
        if stat.S_ISREG(result.st_mode) and left[0]:
            left[0] -= 1
            with (tmp_path / "a.txt").open("a") as file:
                file.write("y")
        return result

    monkeypatch.setattr(module.os, "fstat", changing)
    (item,) = read(tmp_path).values()
    if expected:
        assert isinstance(item, Skipped)
        assert (item.reason, item.recorded) == (expected, False)
    else:
        assert isinstance(item, SourceDocument)
        assert item.text == "x" * 10 + "y"


@pytest.mark.parametrize("name", ["missing", "file.txt"])
def test_a_root_that_is_no_folder_is_refused(tmp_path: Path, write: Write, name: str) -> None:
    write(tmp_path, {"file.txt": "x"})
    with pytest.raises(SourceError, match=rf"root .*{name}.* is no folder"):
        read(tmp_path / name)


def test_an_empty_folder_has_no_documents(tmp_path: Path) -> None:
    assert read(tmp_path) == {}


def test_it_is_a_source() -> None:
    assert isinstance(FilesSource(), Source)
