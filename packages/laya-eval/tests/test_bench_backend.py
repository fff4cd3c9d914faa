"""The backend bench: its corpora are reproducible, and every measurement runs."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from laya_eval.bench import synthetic
from laya_eval.bench.backend import main


def test_a_corpus_is_reproducible_and_has_rare_and_common_words(tmp_path: Path) -> None:
    for name in ("a", "b"):
        synthetic.write_corpus(tmp_path / name, 300)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    rows = [json.loads(line) for line in (tmp_path / "a").read_text().splitlines()]
    assert len({row["_id"] for row in rows}) == 300
    containing = Counter(word for row in rows for word in set(row["text"].split()))
    assert containing.most_common(1)[0][1] > 250
    assert sum(times == 1 for times in containing.values()) > 2000


@pytest.mark.slow
def test_every_measurement_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--folder", str(tmp_path), "--count", "12"]
    assert main(["speed", "--chunks", "300", *common]) == 0
    assert "search and fuse" in capsys.readouterr().out
    assert main(["recall", "--chunks", "300", *common]) == 0
    assert re.search(r"recall@10 +1\.0000", capsys.readouterr().out)
    assert main(["memory", "--chunks", "300", "400", *common]) == 0
    assert re.search(r"RssAnon grows by [+-]", capsys.readouterr().out)
