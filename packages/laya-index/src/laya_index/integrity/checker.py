"""The check of a bundle. It reads and reports; nothing is ever changed."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from laya_index.bundle.manifest import Manifest, read_manifest
from laya_index.bundle.reader import BundleReader
from laya_index.errors import BundleError
from laya_index.integrity.duplicates import find_duplicates
from laya_index.integrity.files import check_files
from laya_index.integrity.report import FileProblem, Identity, IntegrityReport
from laya_index.integrity.source import Indexed, find_drift
from laya_index.process import Progress, Silent
from laya_index.redact.base import Redactor
from laya_index.redact.patterns import PatternRedactor
from laya_index.stack import Stack

#: From which Jaccard similarity of their shingles two documents are near duplicates.
THRESHOLD = 0.8
#: Pairs of documents that are compared at most.
LIMIT = 50_000
_ATTEMPTS = 3
_NO_STACK = "needs the stack file, which says where the source is"
_DAMAGED = "a file that it needs is damaged"
_NO_REDACTOR = "the stack has no redactor"


def check(
    bundle: Path,
    stack: Stack | None = None,
    *,
    threshold: float = THRESHOLD,
    limit: int = LIMIT,
    progress: Progress | None = None,
) -> IntegrityReport:
    """Check the bundle in folder `bundle`, against its source too where `stack` is given.

    Files are compared with the manifest to the byte; the source is read once and compared with
    what was indexed; documents are compared with each other, by their redacted text as it is in
    the bundle. `threshold` (0..1] is the Jaccard similarity of near duplicates, `limit` the pairs
    that are compared at most, 0 for no such scan. A file that is damaged is reported, and what
    needs it is left out.

    Raises `ManifestError` when there is no readable manifest, `ValueError` for a threshold or a
    limit out of range, and what a run raises for a stack whose source cannot be read.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold is a similarity above 0 and up to 1, not {threshold}")
    if limit < 0:
        raise ValueError(f"limit is a number of pairs, not {limit}")
    said = progress or Silent()
    unchecked: dict[str, str] = {}
    drift = duplicates = near = identities = None
    with ExitStack() as opened:
        manifest, files, reader = _pinned(bundle, said, opened)
        if reader is None:
            unchecked = dict.fromkeys(("source", "duplicates", "near duplicates", "ids"), _DAMAGED)
        else:
            if stack is None:
                unchecked["source"] = _NO_STACK
            else:
                said.stage("source", None)
                indexed = _indexed(reader)
                drift = find_drift(stack, manifest, indexed, lambda n: said.advance(n, 0))
            said.stage("duplicates", manifest.counts.documents)
            duplicates, near = find_duplicates(
                reader, threshold, limit, lambda n: said.advance(n, 0)
            )
            if near is None:
                unchecked["near duplicates"] = "the limit is 0"
            if "redact" in manifest.components:
                identities = _identities(reader, _redactor(stack))
            else:
                unchecked["ids"] = _NO_REDACTOR
    return IntegrityReport(
        bundle=bundle,
        stack=manifest.stack.name,
        documents=manifest.counts.documents,
        chunks=manifest.counts.chunks,
        bytes=sum(entry.bytes for entry in manifest.files),
        files=tuple(files),
        drift=drift,
        duplicates=duplicates,
        near=near,
        identities=identities,
        unchecked=unchecked,
    )


def _pinned(
    bundle: Path, progress: Progress, opened: ExitStack
) -> tuple[Manifest, list[FileProblem], BundleReader | None]:
    """A manifest, what is wrong with its files, and the files open unless they are damaged.

    A writer may replace the bundle meanwhile; its old files are then gone by right.
    """
    for _ in range(_ATTEMPTS):
        manifest = read_manifest(bundle)
        progress.stage("files", None)
        problems = check_files(bundle, manifest)
        if any(problem.problem != "stray" for problem in problems):
            if read_manifest(bundle) == manifest:
                return manifest, problems, None
            continue
        reader = opened.enter_context(BundleReader.open(bundle))
        if reader.manifest == manifest:
            return manifest, problems, reader
    raise BundleError(f"{str(bundle)!r} is being written again and again; check it afterwards")


def _indexed(reader: BundleReader) -> Indexed:
    documents = reader.read("documents", ["document_id", "digest"])
    skips: dict[str, tuple[str, int, str]] = {}
    if reader.manifest.of_kind("skipped"):
        rows = reader.read("skipped", ["document_id", "reason", "bytes", "digest"]).to_pylist()
        skips = {row["document_id"]: (row["reason"], row["bytes"], row["digest"]) for row in rows}
    ids, digests = (documents[name].to_pylist() for name in ("document_id", "digest"))
    return Indexed(dict(zip(ids, digests, strict=True)), skips)


def _redactor(stack: Stack | None) -> Redactor:
    """The stack's, else the one that looks for what has a form of its own."""
    if stack is None or stack.model.redact is None:
        return PatternRedactor()
    return stack.build(("redact",), Redactor)


def _identities(reader: BundleReader, redactor: Redactor) -> tuple[Identity, ...]:
    found = []
    for batch in reader.batches("documents", ["document_id", "uri"]):
        rows: Iterable[tuple[str, str]] = zip(
            batch.column("document_id").to_pylist(), batch.column("uri").to_pylist(), strict=True
        )
        for name, uri in rows:
            kinds = {item.kind for text in {name, uri} for item in redactor.find(text)}
            if kinds:
                found.append(Identity(name, tuple(sorted(kinds))))
    return tuple(sorted(found, key=lambda item: item.document))
