"""`laya eval` from data to a report that is checked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

import laya_eval.cli.eval as commands
import pytest
from laya_eval.metrics import per_query
from laya_eval.trec import read_run
from laya_rag.cli.app import app
from laya_retrieval.testing import FakeDecisionModel
from typer.testing import CliRunner

runner = CliRunner()
FAST = ("--resamples", 50, "--permutations", 50, "--quiet")


@pytest.fixture(autouse=True)
def own_lock(tmp_path_factory, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("lock")))


def evaluate(*arguments):
    return runner.invoke(app, ["eval", *map(str, arguments)], env={"COLUMNS": "160"})


def ok(*arguments):
    done = evaluate(*arguments)
    assert done.exit_code == 0, done.output
    return done


def tree(folder):
    """All files but the bundle and what was timed."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and "bundle" not in path.relative_to(folder).parts[0]
        and not path.name.startswith("cost-quality.")
    }


@pytest.fixture
def report(bundle, judged_data, tmp_path):
    out = tmp_path / "report"
    ok("run", bundle, "-d", judged_data, "-o", out, "-s", "bm25", "-s", "bm25+cover", *FAST)
    return out


def test_a_report_says_what_it_rests_on(report, judged_data):
    data = json.loads((report / "report.json").read_text())
    assert len(data["membership"]["queries"]) == 16
    assert data["membership"]["without_relevant"] == ["none"]
    assert set(data["data"]["sha256"]) == {"corpus.jsonl", "qrels.tsv", "queries.jsonl"}
    assert len(data["fingerprint"]) == 16
    assert len(data["corpus"]["identity"]) == 64
    assert all(len(v) == 16 for v in data["systems"]["bm25"]["values"].values())
    assert [one["name"] for one in data["comparisons"]] == ["bm25+cover"]
    page = (report / "report.md").read_text()
    assert "16 queries; 1 judged queries without a relevant document are left out." in page
    ElementTree.fromstring((report / "win-loss-bm25-cover.svg").read_text())


def test_cost_stands_beside_the_report_and_not_in_it(report, bundle, judged_data):
    data = json.loads((report / "cost-quality.json").read_text())
    assert list(data["systems"]) == ["bm25", "bm25+cover"]
    ElementTree.fromstring((report / "cost-quality.svg").read_text())
    before = tree(report)
    assert b"median_ms" not in b"".join(before.values())
    arguments = ("run", bundle, "-d", judged_data, "-o", report, "-s", "bm25", "-s", "bm25+cover")
    found = json.loads(ok(*arguments, *FAST, "--timed", 2, "--json").stdout)
    assert len(found["cost"]["queries"]) == 2
    assert found["cost"] == json.loads((report / "cost-quality.json").read_text())
    assert json.loads(ok(*arguments, *FAST, "--timed", 0, "--json").stdout)["cost"] is None
    assert list(report.glob("cost-quality.*")) == []
    assert tree(report) == before


def test_nuggets_and_a_second_search_are_part_of_the_report(report, bundle, judged_data, tmp_path):
    data = shutil.copytree(judged_data, tmp_path / "data")
    rows = [{"query": "harbour0", "nuggets": [["in 1820", "1820"], "volcano"]}]
    (data / "nuggets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "out"
    arguments = ("run", bundle, "-d", data, "-o", out, "-s", "bm25", "-s", "bm25+cover", *FAST)
    found = json.loads(ok(*arguments, "--nuggets", "--probes", 2, "--json").stdout)
    assert found["answers"]["bm25"]["evidence"]["recall"] == 0.5
    assert found["configuration"]["settings"]["probes"] == 2
    assert "nuggets.jsonl" in found["data"]["sha256"]
    assert "## Extracted answers" in (out / "report.md").read_text()
    ok("check", out, "--quiet")
    ok("compare", report, out, *FAST[:-1])  # the same queries and judgements
    (data / "nuggets.jsonl").write_text(json.dumps({"query": "harbour0", "nuggets": ["red"]}))
    done = evaluate("check", out, "--quiet")
    assert done.exit_code == 1
    assert "data file nuggets.jsonl is changed" in done.stderr


def test_its_runs_give_its_figures(report, judged_data):
    from laya_eval.beir import load_judged

    values = per_query(read_run(report / "runs" / "bm25.trec"), load_judged(judged_data).qrels)
    data = json.loads((report / "report.json").read_text())
    for measure, column in values.items():
        assert list(column.values()) == data["systems"]["bm25"]["values"][measure]


def test_the_same_run_writes_the_same_bytes(report, bundle, judged_data):
    before = tree(report)
    ok("run", bundle, "-d", judged_data, "-o", report, "-s", "bm25", "-s", "bm25+cover", *FAST)
    assert tree(report) == before


def test_a_run_with_other_systems_leaves_nothing_of_the_old_one(report, bundle, judged_data):
    ok("run", bundle, "-d", judged_data, "-o", report, "-s", "bm25", *FAST)
    assert set(tree(report)) == {"report.json", "report.md", "runs/bm25.trec"}


def test_a_stack_gets_the_corpus_of_the_data(bundle, judged_data, tmp_path):
    stack = tmp_path / "stack.yaml"
    stack.write_text(
        "name: coast\nsource: {provider: source.jsonl, config: {path: nowhere.jsonl}}\n"
        "signals: {bm25: {provider: tokenizer.word}}\nexport: {path: elsewhere}\n"
    )
    out = tmp_path / "report"
    ok("run", stack, "-d", judged_data, "-o", out, "--set", "signals.bm25.k1=0.9", *FAST)
    data = json.loads((out / "report.json").read_text())
    assert data["corpus"]["documents"] == 32
    assert data["sets"] == ["signals.bm25.k1=0.9"]
    assert not (tmp_path / "elsewhere").exists()
    ok("check", out, "--quiet")
    stack.write_text(stack.read_text().replace("tokenizer.word", "tokenizer.whitespace"))
    done = evaluate("check", out, "--quiet")
    assert done.exit_code == 1
    assert "the corpus's identity was" in done.stderr


def test_a_fresh_report_passes(report):
    assert "every byte the same" in ok("check", report, "-q").stdout
    assert json.loads(ok("check", report, "-q", "--json").stdout)["fresh"] is True


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("report.md", b"bm25", b"bm26", "report.md differs"),
        ("runs/bm25.trec", b" 1 ", b" 2 ", "runs/bm25.trec differs"),
        ("report.json", b'"depth": 300', b'"depth": 299', "the configuration was"),
        ("report.json", b'"schema_version": 1', b'"schema_version": 0', "schema version 0"),
        ("report.json", b'"depth"', b'"deep"', "settings are not those"),
        ("report.json", b'"p": ', b'"p": 1', "report.json differs"),
    ],
)
def test_a_stale_byte_is_refused(report, name, old, new, words):
    path = report / name
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    done = evaluate("check", report, "-q")
    assert done.exit_code == 1
    assert words in done.stderr


def test_a_file_too_few_or_too_many_is_refused(report):
    (report / "runs" / "bm25.trec").rename(report / "runs" / "other.trec")
    done = evaluate("check", report, "-q")
    assert done.exit_code == 1
    assert "runs/bm25.trec is missing; other.trec is not part of it" in done.stderr


def test_other_data_and_another_bundle_are_refused_by_name(
    report, judged_data, other_bundle, tmp_path
):
    copy = shutil.copytree(judged_data, tmp_path / "copy")
    assert ok("check", report, "--data", copy, "-q")
    with (copy / "qrels.tsv").open("a") as file:
        file.write("harbour0\tmill-1\t1\n")
    done = evaluate("check", report, "--data", copy, "-q")
    assert done.exit_code == 1
    assert "data file qrels.tsv is changed" in done.stderr
    done = evaluate("check", report, "--target", other_bundle, "-q")
    assert done.exit_code == 1
    assert "the corpus's identity was" in done.stderr


def test_a_folder_without_a_report_is_an_error(tmp_path):
    done = evaluate("check", tmp_path)
    assert done.exit_code == 1
    assert "no report.json" in done.stderr


def test_two_systems_of_a_report_are_compared(report, tmp_path):
    sides = (f"{report}#bm25", f"{report}#bm25+cover")
    out = tmp_path / "out"
    arguments = ("compare", *sides, "-m", "nDCG@10", "-m", "R@100", *FAST[:-1], "-o", out)
    found = json.loads(ok(*arguments, "--json").stdout)["comparisons"]
    assert [one["measure"] for one in found] == ["nDCG@10", "R@100"]
    saved = json.loads((out / "compare.json").read_text())["comparisons"]
    assert [len(one.pop("queries")) for one in saved] == [16, 16]
    assert found == saved
    assert "win-loss-" in (out / "compare.md").read_text()
    assert "nDCG@10 against" in ok(*arguments).stdout


def test_two_reports_are_compared_in_what_both_have(report, bundle, judged_data, tmp_path):
    other = tmp_path / "other"
    ok("run", bundle, "-d", judged_data, "-o", other, "-s", "bm25", "-s", "bm25+head", *FAST)
    found = json.loads(ok("compare", report, other, *FAST[:-1], "--json").stdout)["comparisons"]
    assert [(one["ties"], one["p"]) for one in found] == [(16, 1.0)]


def test_run_files_are_compared_with_the_data(report, judged_data):
    one, two = (report / "runs" / f"{name}.trec" for name in ("bm25", "bm25-cover"))
    done = ok("compare", one, two, "--data", judged_data, *FAST[:-1], "--json")
    [found] = json.loads(done.stdout)["comparisons"]
    data = json.loads((report / "report.json").read_text())["comparisons"][0]
    assert {**found, "name": "", "baseline": ""} == {**data, "name": "", "baseline": ""}
    done = evaluate("compare", one, two)
    assert done.exit_code == 1
    assert "give the judgements with --data" in done.stderr


def test_what_cannot_be_compared_is_refused(report, bundle, judged_data, tmp_path):
    done = evaluate("compare", f"{report}#bm26", report)
    assert "has no system 'bm26'; it has bm25, bm25+cover" in done.stderr
    done = evaluate("compare", report, report, "-m", "P@3")
    assert "has no measure 'P@3'" in done.stderr
    sampled, copy = tmp_path / "sampled", shutil.copytree(judged_data, tmp_path / "copy")
    ok("run", bundle, "-d", judged_data, "-o", sampled, "-s", "bm25", "--sample", 5, *FAST)
    done = evaluate("compare", f"{report}#bm25", sampled)
    assert done.exit_code == 1
    assert "other queries" in done.stderr
    with (copy / "qrels.tsv").open("a") as file:
        file.write("harbour0\tmill-1\t1\n")
    ok("run", bundle, "-d", copy, "-o", sampled, "-s", "bm25", *FAST)
    done = evaluate("compare", f"{report}#bm25", sampled)
    assert "other queries or judgements" in done.stderr


def test_gates_are_run_with_the_decision_model(bundle, judged_data, tmp_path, monkeypatch):
    model = FakeDecisionModel()
    monkeypatch.setattr(commands, "decision_model", lambda provider: model)
    systems = [word for name in ("head", "filter", "order") for word in ("-s", f"bm25+{name}")]
    arguments = ("run", bundle, "-d", judged_data, "-o", tmp_path, *systems, *FAST, "--json")
    data = json.loads(ok(*arguments).stdout)
    assert set(data["systems"]) == {"bm25+head", "bm25+filter", "bm25+order"}
    assert data["configuration"]["baseline"] == "bm25+head"
    assert model.calls


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-s", "dense"), "needs the leg 'dense'"),
        (("-s", "bn25"), "'bn25' is no leg"),
        (("--leg", "dense"), "has no leg 'dense'; it has bm25"),
        (("-s", "bm25", "--baseline", "rrf"), "baseline 'rrf' is not among"),
        (("-m", "nDGC@10"), "no measure 'nDGC@10'"),
        (("-m", "R@1000"), "keep more with --results"),
        (("--split", "dev"), "no qrels_dev.tsv"),
        (("--nuggets",), "no gold nuggets"),
    ],
)
def test_what_cannot_be_run_is_refused_before_the_work(
    bundle, judged_data, tmp_path, options, words
):
    done = evaluate("run", bundle, "-d", judged_data, "-o", tmp_path / "out", *options)
    assert done.exit_code == 1
    assert words in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [("--set", "a.b=1"), ("--define", "x"), ("--define", "x={")])
def test_wrong_usage(bundle, judged_data, tmp_path, options):
    done = evaluate("run", bundle, "-d", judged_data, "-o", tmp_path / "out", *options)
    assert done.exit_code == 2


def test_ids_of_one_kind_are_a_choice(bundle, judged_data, tmp_path):
    data = shutil.copytree(judged_data, tmp_path / "data")
    for name in ("queries.jsonl", "qrels.tsv"):
        text = (data / name).read_text()
        (data / name).write_text(text.replace("harbour0", "harbour-0"))
    done = evaluate("run", bundle, "-d", data, "-o", tmp_path / "out", "-s", "bm25", *FAST)
    assert done.exit_code == 1
    assert "pass --keep-identical-ids" in done.stderr
    arguments = ("run", bundle, "-d", data, "-o", tmp_path / "out", "-s", "bm25", *FAST)
    ok(*arguments, "--keep-identical-ids")
    first = read_run(tmp_path / "out" / "runs" / "bm25.trec")["harbour-0"]
    assert "harbour-0" in first


def test_a_second_heavy_job_is_refused(bundle, judged_data, tmp_path):
    from laya_eval.heavy import heavy_job

    with heavy_job("the first"):
        done = evaluate("run", bundle, "-d", judged_data, "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert "one heavy job at a time: the first" in done.stderr


def test_an_interrupted_run_goes_on_where_it_was(bundle, judged_data, tmp_path, monkeypatch):
    from laya_eval.retrieval.evaluation import Measurement

    fresh, out = tmp_path / "fresh", tmp_path / "out"
    arguments = ("run", bundle, "-d", judged_data, "-s", "bm25", *FAST, "-o")
    ok(*arguments, fresh)
    retrieve, asked = Measurement.retrieve, []

    def stopping(self, query):
        if len(asked) == 5:
            raise KeyboardInterrupt
        asked.append(query)
        return retrieve(self, query)

    monkeypatch.setattr(Measurement, "retrieve", stopping)
    assert evaluate(*arguments, out).exit_code == 130
    assert [path.suffix for path in out.iterdir()] == [".jsonl"]

    def going_on(self, query):
        asked.append(query)
        return retrieve(self, query)

    monkeypatch.setattr(Measurement, "retrieve", going_on)
    ok(*arguments, out)
    assert len(asked) == len(set(asked)) == 16
    assert tree(out) == tree(fresh)


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_bytes(bundle, judged_data, tmp_path):
    """`kill -9` in the middle, by a subprocess that is slowed down to be caught there."""
    slowed = (
        "import time\n"
        "from laya_eval.retrieval.evaluation import Measurement\n"
        "retrieve = Measurement.retrieve\n"
        "Measurement.retrieve = lambda self, q: time.sleep(0.2) or retrieve(self, q)\n"
        "from laya_rag.cli.app import app\n"
        "app()\n"
    )
    fresh, out = tmp_path / "fresh", tmp_path / "out"
    arguments = ("run", bundle, "-d", judged_data, "-s", "bm25", *FAST, "-o")
    ok(*arguments, fresh)
    command = [sys.executable, "-c", slowed, "eval", *map(str, arguments), str(out)]
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path)})
    deadline = time.monotonic() + 60
    while not any(p.stat().st_size for p in out.glob("checkpoint-*")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (out / "report.json").exists()
    ok(*arguments, out)
    assert tree(out) == tree(fresh)


def test_calibration_is_the_measurement_of_a_gate(bundle, labels, tmp_path):
    gate = tmp_path / "gate.json"
    words = ["gate", "fit", "-b", bundle, "-l", labels, "-o", gate, "--resamples", 5]
    assert runner.invoke(app, [*map(str, words)]).exit_code == 0
    options = ("-b", bundle, "-l", labels, "--gate", gate, "--resamples", 5, "--json")
    here = ok("calibration", *options).stdout
    there = runner.invoke(app, ["gate", "eval", *map(str, options)]).stdout
    assert here == there
    assert "roc_auc" in here


def test_paths_are_as_they_were_given(bundle, judged_data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(judged_data, "data")
    shutil.copytree(bundle, "bundle")
    ok("run", "bundle", "-d", "data", "-o", "out", "-s", "bm25", *FAST)
    text = Path("out/report.json").read_text()
    assert str(tmp_path) not in text
    ok("check", "out", "-q")
