from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from laya_index.process import cache_folder
from laya_rag.config import Settings
from laya_rag.engine import CancelToken
from laya_rag.errors import StoppedError
from laya_rag.mcp import (
    BackendFailedError,
    EngineSource,
    InvalidArgumentsError,
    NotFoundError,
    RetrievalServer,
    ServerSetupError,
    Writing,
)
from laya_rag.serving.writing import writing_from

STACK = """
name: notes
source: {{provider: source.files, config: {{root: {root}, include: ["**/*.txt"]}}}}
signals: {{bm25: {{provider: tokenizer.word}}}}
export: {{path: {elsewhere}}}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, text in {"one": "The tide mill.", "two": "The ferry."}.items():
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / f"{name}.txt").write_text(text)
    (tmp_path / "notes" / "sub").mkdir()
    (tmp_path / "notes" / "sub" / "three.txt").write_text("The lighthouse.")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "keys.txt").write_text("hunter2")
    (tmp_path / "notes-too").mkdir()
    (tmp_path / "stack.yaml").write_text(
        STACK.format(root=tmp_path / "notes", elsewhere=tmp_path / "elsewhere")
    )
    return tmp_path


@pytest.fixture
def writer(place: Path) -> RetrievalServer:
    bundle = place / "bundle"
    writing = Writing(bundle, place / "stack.yaml", (place / "notes",))
    return RetrievalServer(EngineSource(Settings(bundle=str(bundle))), writing=writing)


def documents(server: RetrievalServer) -> list[str]:
    rows = server.call("list_documents", {}).model_dump()["documents"]
    return [row["document_id"] for row in rows]


def test_what_was_indexed_is_found_at_once(writer: RetrievalServer, place: Path) -> None:
    assert writer.call("index_status").model_dump()["state"] == "missing"
    with pytest.raises(BackendFailedError, match=r"^ManifestError$"):
        writer.call("search", {"query": "tide"})
    report = writer.call("index_documents").model_dump()
    assert (report["state"], report["documents"], report["added"]) == ("built", 3, 3)
    assert documents(writer) == ["one.txt", "sub/three.txt", "two.txt"]
    (place / "notes" / "four.txt").write_text("The dyke watch.")
    assert writer.call("index_documents").model_dump()["added"] == 1
    assert writer.call("search", {"query": "dyke"}).model_dump()["found"] == 1
    assert writer.call("index_status").model_dump()["current"] is True
    assert not (place / "elsewhere").exists()  # the bundle is the server's, not the stack's


def test_an_index_made_by_somebody_else_is_picked_up(writer: RetrievalServer, place: Path) -> None:
    writer.call("index_documents")
    other = RetrievalServer(EngineSource(Settings(bundle=str(place / "bundle"))))
    assert len(documents(other)) == 3
    (place / "notes" / "four.txt").write_text("The dyke watch.")
    writer.call("index_documents")
    assert len(documents(other)) == 4


def test_documents_leave_only_when_that_was_said(writer: RetrievalServer, place: Path) -> None:
    writer.call("index_documents")
    with pytest.raises(InvalidArgumentsError, match="remove_missing: 3"):
        writer.call("index_documents", {"folder": "sub"})
    assert len(documents(writer)) == 3
    shown = writer.call("index_documents", {"folder": "sub", "dry_run": True}).model_dump()
    assert (shown["state"], shown["removed"], shown["added"]) == ("dry run", 3, 1)
    assert len(documents(writer)) == 3
    writer.call("index_documents", {"folder": "sub", "remove_missing": True})
    assert documents(writer) == ["three.txt"]


@pytest.mark.parametrize(
    "folder",
    [
        *("../secret", "sub/../../secret", "/", "/etc", "..", "../notes-too", "nowhere"),
        *("link", "sub/link", "one.txt", "a\0b", "~", "x" * 4000),
    ],
)
def test_a_folder_outside_the_roots_is_refused_like_one_that_is_not_there(
    writer: RetrievalServer, place: Path, folder: str
) -> None:
    (place / "notes" / "link").symlink_to(place / "secret")
    (place / "notes" / "sub" / "link").symlink_to(place / "secret")
    for given in (folder, str(place / folder) if "\0" not in folder else folder):
        if given == str(place / "notes"):
            continue
        with pytest.raises(InvalidArgumentsError) as raised:
            writer.call("index_documents", {"folder": given[:4000], "dry_run": True})
        assert str(raised.value) == "folder: lies in none of the folders that may be indexed"
    assert not (place / "bundle").exists()


def test_a_folder_inside_is_found_by_either_path(writer: RetrievalServer, place: Path) -> None:
    for folder in ("sub", ".", str(place / "notes" / "sub"), "sub/../sub"):
        writer.call("index_documents", {"folder": folder, "dry_run": True})


def test_a_link_inside_a_root_brings_nothing_in_from_outside(
    writer: RetrievalServer, place: Path
) -> None:
    (place / "notes" / "keys.txt").symlink_to(place / "secret" / "keys.txt")
    (place / "notes" / "linked").symlink_to(place / "secret")
    writer.call("index_documents", {"folder": "."})
    assert documents(writer) == ["one.txt", "sub/three.txt", "two.txt"]


def test_without_roots_no_folder_may_be_named(place: Path) -> None:
    server = RetrievalServer(
        EngineSource(Settings(bundle=str(place / "bundle"))),
        writing=Writing(place / "bundle", place / "stack.yaml"),
    )
    with pytest.raises(InvalidArgumentsError):
        server.call("index_documents", {"folder": str(place / "notes")})
    assert server.call("index_documents").model_dump()["documents"] == 3


def test_reset_deletes_the_index_and_only_when_confirmed(
    writer: RetrievalServer, place: Path
) -> None:
    writer.call("index_documents")
    documents(writer)
    for arguments in ({}, {"confirm": "yes"}, {"confirm": True}, {"confirm": "reset "}):
        with pytest.raises(InvalidArgumentsError):
            writer.call("reset_index", arguments)
    assert len(documents(writer)) == 3
    assert writer.call("reset_index", {"confirm": "reset"}).model_dump() == {"state": "deleted"}
    assert not (place / "bundle").exists()
    assert not any(part.is_dir() for part in cache_folder(place / "bundle").iterdir())
    assert (place / "notes" / "one.txt").exists()
    assert writer.call("index_status").model_dump()["state"] == "missing"
    assert writer.call("index_documents").model_dump()["documents"] == 3


def test_reset_deletes_nothing_that_is_no_index(place: Path) -> None:
    server = RetrievalServer(
        EngineSource(Settings(bundle=str(place / "secret"))),
        writing=Writing(place / "secret", None),
    )
    with pytest.raises(BackendFailedError):
        server.call("reset_index", {"confirm": "reset"})
    assert (place / "secret" / "keys.txt").read_text() == "hunter2"


def test_without_a_stack_nothing_is_indexed(place: Path) -> None:
    server = RetrievalServer(
        EngineSource(Settings(bundle=str(place / "b"))),
        writing=Writing(place / "b", None, (place / "notes",)),
    )
    with pytest.raises(NotFoundError):
        server.call("index_documents", {"folder": "."})


def test_progress_only_grows_and_a_cancelled_run_leaves_the_index_as_it_was(
    writer: RetrievalServer, place: Path
) -> None:
    told: list[tuple[float, float | None, str]] = []
    writer.call("index_documents", progress=lambda *news: told.append(news))
    assert told
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    (place / "notes" / "four.txt").write_text("The dyke watch.")
    cancel = CancelToken()

    def stop(done: float, total: float | None, what: str) -> None:
        if done:
            cancel.cancel()

    with pytest.raises(StoppedError):
        writer.call("index_documents", cancel=cancel, progress=stop)
    assert len(documents(writer)) == 3


def test_tenants_that_a_corpus_keeps_apart_protect_it_from_writing_too(
    tenant_bundle: Path, place: Path
) -> None:
    source = EngineSource(Settings(bundle=str(tenant_bundle)))
    server = RetrievalServer(source, writing=Writing(tenant_bundle, place / "stack.yaml"))
    for tool, arguments in [("reset_index", {"confirm": "reset"}), ("index_documents", {})]:
        with pytest.raises(Exception, match="this caller may not do that"):
            server.call(tool, arguments)
    assert (tenant_bundle / "manifest.json").exists()


@pytest.mark.parametrize(
    ("bundle", "options", "said"),
    [
        ("b", {"roots": [Path()]}, "--allow-writes"),
        ("b", {"stack": Path("x")}, "--allow-writes"),
        ("qdrant://localhost:6333/x", {"allowed": True}, "store"),
        ("b", {"allowed": True, "roots": [Path("nowhere")]}, "--root"),
        ("b", {"allowed": True, "stack": Path("nowhere")}, "--stack"),
    ],
)
def test_what_cannot_be_written_is_refused_at_the_start(
    bundle: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ServerSetupError, match=said):
        writing_from(bundle, **{"stack": None, "roots": [], "allowed": False, **options})


def test_the_state_of_a_real_bundle(bundle: Path) -> None:
    server = RetrievalServer(EngineSource(Settings(bundle=str(bundle))))
    report = server.call("check_index_integrity")
    assert report.model_dump()["sound"]
    json.dumps(report.model_dump(mode="json"), allow_nan=False)
    assert "whole" in report.readable()
    assert server.call("index_status").model_dump()["legs"] == ["bm25", "dense"]
    assert server.call("corpus_stats").model_dump()["whole"]["documents"] == 5
    server.close()
    server.close()


def test_a_server_over_an_engine_never_replaces_it(server: RetrievalServer) -> None:
    assert server.call("index_status").model_dump()["current"] is None
