from __future__ import annotations

from laya_index.sample import sample_files
from laya_rag.validate.incremental import edits


def test_a_history_is_drawn_from_its_seed() -> None:
    files = sample_files()
    assert list(edits(files, 3)) == list(edits(files, 3))
    assert list(edits(files, 3)) != list(edits(files, 4))


def test_every_history_adds_changes_deletes_and_renames() -> None:
    files = sample_files()
    for seed in range(20):
        said = " ".join(what for what, _ in edits(files, seed))
        assert all(kind in said for kind in ("added", "changed", "deleted", "renamed")), said
        before = dict(files)
        for what, after in edits(files, seed):
            assert after != before, what
            before = after
