"""BM25 over the pool."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import Bm25Error, Bm25Rescorer, Bm25Stats, Candidate
from laya_signals import ConfigError
from laya_signals.tokenize.regex import RegexTokenizer
from laya_signals.tokenize.whitespace import WhitespaceTokenizer

STATS = {"doc_count": 4, "avg_doc_len": 30.5, "doc_freq": {"acme": 4, "ibm": 2}}
texts = st.lists(st.sampled_from("tax revenue acme lunch".split()), max_size=6).map(" ".join)


def test_pool_local_statistics(reports):
    scored = Bm25Rescorer().process("revenue tax", reports)
    assert [(c.id, round(c.score, 4)) for c in scored] == [("c", 0.94), ("a", 0.8744), ("b", 0.0)]


def test_given_statistics():
    pool = [
        Candidate("x", 0.1, "acme partnered with ibm"),
        Candidate("y", 0.9, "a note about lunch"),
    ]
    scored = Bm25Rescorer({"stats": STATS}).process("acme ibm", pool)
    assert [(c.id, round(c.score, 4)) for c in scored] == [("x", 1.3111), ("y", 0.0)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"doc_freq": {"acme": 5}}, "'acme' is 5"),
        ({"doc_freq": {"acme": -1}}, "'acme' is -1"),
        ({"doc_freq": {"acme": 1.5}}, "'acme' is 1.5"),
        ({"doc_freq": [1]}, "maps terms"),
        ({"doc_count": 0}, "doc_count"),
        ({"doc_count": -3}, "doc_count"),
        ({"doc_count": True}, "doc_count"),
        ({"avg_doc_len": 0}, "avg_doc_len"),
        ({"avg_doc_len": float("nan")}, "avg_doc_len"),
        ({"avg_doc_len": float("inf")}, "avg_doc_len"),
        ({"avg_doc_len": "3"}, "avg_doc_len"),
        ({"df": {}}, "unknown key 'df'"),
    ],
)
def test_impossible_statistics_are_refused_at_construction(change, says):
    with pytest.raises(Bm25Error, match=says):
        Bm25Rescorer({"stats": {**STATS, **change}})


def test_missing_statistics_are_named():
    with pytest.raises(Bm25Error, match="avg_doc_len"):
        Bm25Rescorer({"stats": {"doc_count": 1}})


@pytest.mark.parametrize("settings", [{"k1": -1}, {"b": 2}, {"k1": float("inf")}])
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ConfigError):
        Bm25Rescorer(settings)


def test_a_term_in_every_document_still_counts():
    pool = [Candidate("a", 0.0, "tax tax"), Candidate("b", 0.0, "tax lunch")]
    scored = Bm25Rescorer().process("tax", pool)
    assert scored[0].id == "a"
    assert all(c.score > 0 for c in scored)


@pytest.mark.parametrize("query", ["", "   ", "zebra", "{0} -x https://"])
def test_a_query_without_a_known_term_scores_nothing(query, reports):
    assert [(c.id, c.score) for c in Bm25Rescorer().process(query, reports)] == [
        ("a", 0.0),
        ("b", 0.0),
        ("c", 0.0),
    ]


def test_a_pool_without_any_text_scores_nothing():
    assert Bm25Rescorer().process("tax", [Candidate("a", 1.0)])[0].score == 0.0


def test_a_repeated_query_term_counts_twice(reports):
    once, twice = (Bm25Rescorer().process(q, reports)[0].score for q in ("tax", "tax tax"))
    assert twice == pytest.approx(2 * once)


@pytest.mark.parametrize("text", ["東京都の税金", "naïve café", "C++ 3.14"])
def test_every_script_can_be_found(text):
    pool = [Candidate("x", 0.0, text), Candidate("y", 0.0, "nothing of the kind")]
    assert Bm25Rescorer().process(text, pool)[0].score > 0


def test_another_tokenizer_than_the_statistics_is_an_error():
    stats = Bm25Stats(1, 1.0, {"a": 1}, tokenizer_fingerprint=WhitespaceTokenizer().fingerprint)
    Bm25Rescorer(stats=stats, tokenizer=WhitespaceTokenizer())
    with pytest.raises(Bm25Error, match=WhitespaceTokenizer().fingerprint):
        Bm25Rescorer(stats=stats, tokenizer=RegexTokenizer())


def test_the_fingerprint_follows_statistics_and_tokenizer():
    prints = {
        Bm25Rescorer().fingerprint,
        Bm25Rescorer(stats=STATS).fingerprint,
        Bm25Rescorer(tokenizer=WhitespaceTokenizer()).fingerprint,
        Bm25Rescorer(k1=1.0).fingerprint,
    }
    assert len(prints) == 4


@given(st.lists(texts, max_size=6), texts)
def test_scores_are_never_negative_and_the_order_total(pool, query):
    candidates = [Candidate(f"d{i}", 1.0, text) for i, text in enumerate(pool)]
    scored = Bm25Rescorer(tokenizer=RegexTokenizer()).process(query, candidates)
    assert all(c.score >= 0 and math.isfinite(c.score) for c in scored)
    assert scored == sorted(scored, key=lambda c: (-c.score, c.id))
    assert scored == Bm25Rescorer(tokenizer=RegexTokenizer()).process(query, candidates[::-1])


class TestBundle:
    """Statistics read from a bundle."""

    pyarrow = pytest.importorskip("pyarrow", reason="reading a bundle needs pyarrow")

    def write(self, folder, **changes):
        from pyarrow import parquet

        table = self.pyarrow.table(
            {"term": ["acme", "ibm"], "df": [4, 2], "cf": [9, 2], "idf": [0.1, 0.7]}
        )
        parquet.write_table(table, folder / "bm25-terms.parquet")
        manifest = {
            "bm25": {
                "doc_count": 4,
                "avg_doc_len": 30.5,
                "k1": 1.5,
                "b": 0.75,
                "tokenizer": {"provider": "tokenizer.regex", "config": {}},
                "tokenizer_fingerprint": RegexTokenizer().fingerprint,
            },
            "files": [{"path": "bm25-terms.parquet", "kind": "bm25-terms"}],
        }
        manifest.update(changes)
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder

    def test_a_bundle_gives_statistics_and_tokenizer(self, tmp_path):
        stats = Bm25Stats.from_bundle(self.write(tmp_path))
        assert (stats.doc_count, stats.avg_doc_len) == (4, 30.5)
        assert stats.doc_freq == {"acme": 4, "ibm": 2}
        rescorer = Bm25Rescorer(stats=stats)
        assert rescorer.tokenizer.fingerprint == RegexTokenizer().fingerprint
        [x] = rescorer.process("acme ibm", [Candidate("x", 0.0, "acme partnered with ibm")])
        assert round(x.score, 4) == 1.3111

    def test_another_tokenizer_than_the_bundles_is_an_error(self, tmp_path):
        stats = Bm25Stats.from_bundle(self.write(tmp_path))
        with pytest.raises(Bm25Error, match="would not match"):
            Bm25Rescorer(stats=stats, tokenizer=WhitespaceTokenizer())

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"bm25": None}, "without BM25"),
            ({"files": []}, "without BM25"),
            ({"bm25": {"doc_count": 4}}, "avg_doc_len"),
            ({"files": [{"path": "gone.parquet", "kind": "bm25-terms"}]}, "gone.parquet"),
        ],
    )
    def test_an_incomplete_bundle_is_named(self, tmp_path, changes, says):
        with pytest.raises(Bm25Error, match=says):
            Bm25Stats.from_bundle(self.write(tmp_path, **changes))

    def test_a_folder_that_is_no_bundle_is_named(self, tmp_path):
        with pytest.raises(Bm25Error, match=r"manifest\.json"):
            Bm25Stats.from_bundle(tmp_path)
