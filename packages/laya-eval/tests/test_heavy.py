"""One heavy job at a time."""

from __future__ import annotations

import tempfile

import pytest
from laya_eval.errors import BusyError
from laya_eval.heavy import heavy_job, lock_file


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_second_job_is_refused_and_told_who_runs():
    running = r"the first \(process \d+\) is running"
    with heavy_job("the first"), pytest.raises(BusyError, match=running), heavy_job("second"):
        pass
    with heavy_job("after"):
        pass


def test_the_lock_is_free_after_an_error_and_leaves_no_note():
    with pytest.raises(ValueError, match="stop"), heavy_job("failing"):
        raise ValueError("stop")
    assert not lock_file().with_suffix(".json").exists()
    with heavy_job("after"):
        assert lock_file().with_suffix(".json").exists()


def test_a_holder_without_a_note_is_another_one():
    with heavy_job("first"):
        lock_file().with_suffix(".json").write_text("{")
        with pytest.raises(BusyError, match="another one is running"), heavy_job("second"):
            pass
