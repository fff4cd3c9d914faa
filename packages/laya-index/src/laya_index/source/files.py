"""Documents from a folder of files."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from laya_signals import Component, ComponentConfig
from pathspec import GitIgnoreSpec
from pydantic import AfterValidator, Field

from laya_index.document import Skipped, SourceDocument
from laya_index.errors import SourceError
from laya_index.patterns import checked, lenient_spec, spec_of
from laya_index.source.decode import BinaryContentError, UndecodableError, decode
from laya_index.source.html import load_html
from laya_index.source.loaded import Loaded, LoadError
from laya_index.source.markdown import first_heading, front_matter
from laya_index.source.office import load_office

#: Media types by file name suffix; anything else that decodes as text is `text/plain`.
MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".rst": "text/x-rst",
    ".txt": "text/plain",
    ".csv": "text/csv",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".toml": "application/toml",
    ".py": "text/x-python",
    ".js": "text/javascript",
    ".ts": "text/x-typescript",
    ".rs": "text/x-rust",
    ".go": "text/x-go",
    ".java": "text/x-java",
    ".c": "text/x-c",
    ".h": "text/x-c",
    ".cpp": "text/x-c++",
    ".sh": "text/x-shellscript",
    ".sql": "application/sql",
}

_OFFICE = "application/vnd.openxmlformats-officedocument"
#: Formats whose bytes are not the text a reader sees, and their loaders. What these make is
#: Markdown; the media type remains that of the file.
LOADERS: Mapping[str, tuple[str, Callable[[bytes], Loaded]]] = {
    ".htm": ("text/html", load_html),
    ".html": ("text/html", load_html),
    ".pdf": ("application/pdf", partial(load_office, suffix=".pdf")),
    ".docx": (f"{_OFFICE}.wordprocessingml.document", partial(load_office, suffix=".docx")),
    ".pptx": (f"{_OFFICE}.presentationml.presentation", partial(load_office, suffix=".pptx")),
}
#: Formats that no loader reads yet.
NEEDS_LOADER = frozenset({".xhtml", ".xlsx", ".odt", ".epub"})

_UNREADABLE_FOLDER = "unreadable folder"


class FilesSourceConfig(ComponentConfig):
    """Settings of `source.files`.

    `include` and `exclude` are patterns as in a `.gitignore` file, relative to `root`; `root` is
    relative to the current folder. A file over `max_bytes` is skipped.
    """

    root: Path = Path()
    include: Annotated[tuple[str, ...], AfterValidator(checked)] = ("**/*",)
    exclude: Annotated[tuple[str, ...], AfterValidator(checked)] = ()
    gitignore: bool = True
    hidden: bool = False
    max_bytes: int = Field(default=20 * 1024 * 1024, gt=0)


class FilesSource(Component[FilesSourceConfig]):
    """The files below `root` that hold text; a document's id is its path relative to `root`.

    Links to folders are not followed (so a loop cannot trap the walk), links to files only when
    they stay below `root`. Hidden, ignored, binary, oversized, empty and undecodable files are
    yielded as `Skipped` with their reason.
    """

    Config = FilesSourceConfig

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        self._left_out: frozenset[str] = frozenset()

    def leave_out(self, *folders: Path) -> None:
        """Do not look into these folders: what a run writes is not what it reads."""
        self._left_out = frozenset(os.path.realpath(folder) for folder in folders)

    @property
    def root(self) -> Path:
        """The folder that is read."""
        return self.config.root

    def read(self) -> Iterator[SourceDocument | Skipped]:
        """Walk the folder in name order. Raises `SourceError` when `root` is no readable folder."""
        root = self.config.root
        if not root.is_dir():
            raise SourceError(f"source.files: root {str(root)!r} is no folder")
        include = spec_of(self.config.include)
        exclude = spec_of(self.config.exclude)
        ignores = _ignores_above(root) if self.config.gitignore else ()
        for path, reason in self._walk(root, "", ignores):
            name = path.relative_to(root).as_posix()
            wanted = include.match_file(name) or reason == _UNREADABLE_FOLDER
            if not wanted or exclude.match_file(name):
                continue
            if reason:
                yield Skipped(_printable(name), reason, recorded=False)
            else:
                yield self._load(path, name)

    def _walk(
        self, folder: Path, prefix: str, ignores: Sequence[tuple[str, GitIgnoreSpec]]
    ) -> Iterator[tuple[Path, str]]:
        """Every file below `folder` with the reason not to open it, if there is one."""
        if self.config.gitignore and (lines := _read_lines(folder / ".gitignore")):
            ignores = (*ignores, (prefix, lenient_spec(lines)))
        try:
            with os.scandir(folder) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            if not prefix:
                raise SourceError(f"source.files: cannot list {str(folder)!r}: {error}") from error
            yield folder, _UNREADABLE_FOLDER
            return
        for entry in entries:
            path = folder / entry.name
            inside = prefix + entry.name
            is_folder = _is_folder(entry)
            if entry.name.startswith(".") and not self.config.hidden:
                if not is_folder:
                    yield path, "hidden"
            elif entry.name == ".git":
                continue
            elif is_folder and entry.is_symlink():
                yield path, "link to a folder"
            elif is_folder:
                left_out = self._left_out and os.path.realpath(path) in self._left_out
                if not left_out and not _ignored(inside + "/", ignores):
                    yield from self._walk(path, inside + "/", ignores)
            elif _ignored(inside, ignores):
                yield path, "ignored by .gitignore"
            else:
                yield path, ""

    def _load(self, path: Path, name: str) -> SourceDocument | Skipped:
        try:
            name.encode()
        except UnicodeEncodeError:
            return Skipped(_printable(name), "file name is not UTF-8", recorded=False)
        if not _is_below(path, self.config.root):
            return Skipped(name, "link out of the root folder", recorded=False)
        try:
            data = self._read_unchanged(path)
        except OSError as error:
            return Skipped(name, "unreadable", error.strerror or str(error), recorded=False)
        if isinstance(data, Skipped):
            return data
        digest = hashlib.sha256(data).hexdigest()
        suffix = path.suffix.lower()
        if suffix in NEEDS_LOADER:
            return Skipped(name, f"no loader for {suffix}", "", len(data), digest)
        try:
            document = _loaded(name, suffix, data) or _document(name, suffix, decode(data))
        except BinaryContentError:
            return Skipped(name, "binary", "", len(data), digest)
        except UndecodableError as error:
            return Skipped(name, "undecodable", str(error), len(data), digest)
        except LoadError as error:
            return Skipped(name, error.reason, error.detail, len(data), digest)
        if not document.text.strip():
            return Skipped(name, "empty", "", len(data), digest)
        return document

    def _read_unchanged(self, path: Path) -> bytes | Skipped:
        """The file's bytes, all from one version of it."""
        name = path.relative_to(self.config.root).as_posix()
        for _ in range(2):
            with open(path, "rb", opener=_open_nonblocking) as file:
                before = os.fstat(file.fileno())
                if not stat.S_ISREG(before.st_mode):
                    return Skipped(name, "no regular file", recorded=False)
                if before.st_size > self.config.max_bytes:
                    detail = f"{before.st_size} bytes; max_bytes is {self.config.max_bytes}"
                    return Skipped(name, "too large", detail, before.st_size)
                data: bytes = file.read(self.config.max_bytes + 1)
                after = os.fstat(file.fileno())
            same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
            if same and len(data) == after.st_size:
                return data
        return Skipped(name, "changed while being read", recorded=False)


def _loaded(name: str, suffix: str, data: bytes) -> SourceDocument | None:
    """The document that a loader makes of `data`; None when the format has none."""
    if suffix not in LOADERS:
        return None
    media_type, load = LOADERS[suffix]
    loaded = load(data)
    return SourceDocument(
        id=name,
        text=loaded.text,
        title=loaded.title or name.rsplit("/", 1)[-1],
        media_type=media_type,
        uri=name,
        metadata=loaded.metadata,
    )


def _document(name: str, suffix: str, text: str) -> SourceDocument:
    media_type = MEDIA_TYPES.get(suffix, "text/plain")
    metadata: dict[str, str] = {}
    offset = 0
    title = ""
    if media_type == "text/markdown":
        matter = front_matter(text)
        if text[matter.end :].strip():
            metadata, offset = matter.metadata, matter.end
        title = metadata.get("title", "") or first_heading(text[offset:])
    return SourceDocument(
        id=name,
        text=text[offset:],
        title=title or name.rsplit("/", 1)[-1],
        media_type=media_type,
        uri=name,
        metadata=metadata,
        offset=offset,
    )


def _open_nonblocking(path: str, flags: int) -> int:
    # Opening a named pipe would wait for its writer for ever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _ignores_above(root: Path) -> tuple[tuple[str, GitIgnoreSpec], ...]:
    """The `.gitignore` files between the repository's top and `root`, as seen from `root`."""
    found: list[tuple[str, GitIgnoreSpec]] = []
    folder = root.resolve()
    if (folder / ".git").exists():
        return ()
    below = ""
    for parent in folder.parents:
        below = f"{folder.relative_to(parent).as_posix()}/"
        if lines := _read_lines(parent / ".gitignore"):
            found.append(("^" + below, lenient_spec(lines)))
        if (parent / ".git").exists():
            return tuple(reversed(found))
    return ()


def _ignored(name: str, ignores: Sequence[tuple[str, GitIgnoreSpec]]) -> bool:
    """Whether the nearest `.gitignore` with a say on `name` ignores it."""
    for prefix, spec in reversed(ignores):
        local = prefix[1:] + name if prefix.startswith("^") else name.removeprefix(prefix)
        verdict = spec.check_file(local).include
        if verdict is not None:
            return verdict
    return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link to itself, say: opening it will tell


def _read_lines(path: Path) -> list[str]:
    try:
        regular = path.is_file()
        return path.read_text(encoding="utf-8", errors="replace").splitlines() if regular else []
    except OSError:
        return []


def _is_below(path: Path, root: Path) -> bool:
    if not path.is_symlink():
        return True
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _printable(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()
