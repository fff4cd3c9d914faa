import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_eval.study.fde import Row, exact_scores, main, plot, recalled, spearman
from laya_retrieval.process.maxsim import maxsim
from scipy import stats


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([1, 2, 3], [10, 20, 30], 1.0),
        ([1, 2, 3], [3, 2, 1], -1.0),
        ([1, 2, 3, 4], [1, 3, 2, 4], 0.8),
        ([1, 1, 2], [1, 1, 5], 1.0),
        ([1, 2, 2, 3], [1, 2, 3, 4], 0.9486832980505138),
    ],
)
def test_the_rank_correlation(left, right, expected):
    assert spearman(np.array(left), np.array(right)) == pytest.approx(expected)


def test_a_constant_list_has_no_rank_correlation():
    assert np.isnan(spearman(np.array([1, 1]), np.array([1, 2])))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=20))
def test_the_rank_correlation_is_scipys(pairs):
    left, right = (np.array(values) for values in zip(*pairs, strict=True))
    if len(set(left)) > 1 and len(set(right)) > 1:
        assert spearman(left, right) == pytest.approx(stats.spearmanr(left, right).statistic)


def test_the_ten_best_are_looked_for_among_the_first():
    exact = np.arange(20.0)
    assert recalled(exact, exact, 10) == 1.0
    assert recalled(exact, -exact, 10) == 0.0
    assert recalled(exact, -exact, 15) == 0.5


def test_exact_scores_are_maxsim():
    generator = np.random.default_rng(3)
    queries = [generator.normal(size=(n, 4)).astype(np.float32) for n in (1, 3)]
    passages = [generator.normal(size=(n, 4)).astype(np.float32) for n in (2, 1, 5)]
    scores = exact_scores(queries, passages)
    assert scores.shape == (2, 3)
    for row, query in enumerate(queries):
        for column, passage in enumerate(passages):
            assert scores[row, column] == pytest.approx(maxsim(query, passage), abs=1e-5)


def test_the_plot_says_its_figures():
    rows = [
        Row(r, 2, 16, r * 64, np.array([0.5]), np.array([recall]))
        for r, recall in ((5, 0.25), (10, 0.5))
    ]
    svg = plot(rows, 100)
    assert "k_sim 2, projection 16, width 320: 0.250" in svg
    assert "width 640: 0.500" in svg
    assert len(re.findall("<circle", svg)) == 2


@pytest.mark.slow
def test_the_study_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    topics = ["a red fox", "the blue whale", "green apples", "an old harbour", "snow on a roof"]
    corpus = [{"_id": str(n), "title": "", "text": f"{t} in a story"} for n, t in enumerate(topics)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "blue whale"}))
    (tmp_path / "qrels.tsv").write_text("q\t1\t1\n")
    main([str(tmp_path), "--depth", "5", "--svg", str(tmp_path / "plot.svg")])
    out = capsys.readouterr().out
    assert out.startswith("1 queries, 5 passages")
    assert out.count("\n| ") == 17
    assert "1.000 [1.000, 1.000]" in out
    assert (tmp_path / "plot.svg").read_text().startswith("<svg")
