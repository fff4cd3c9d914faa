"""`laya gate` from labels to a report."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import laya_eval.cli.gate as commands
import pytest
from laya_rag.cli.app import app
from laya_retrieval.testing import FakeDecisionModel
from laya_signals.errors import ModelError
from typer.testing import CliRunner

runner = CliRunner()


def gate(*arguments):
    return runner.invoke(app, ["gate", *map(str, arguments)], env={"COLUMNS": "160"})


def ok(*arguments):
    done = gate(*arguments)
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def fake(monkeypatch):
    model = FakeDecisionModel()
    monkeypatch.setattr(commands, "decision_model", lambda provider: model)
    return model


@pytest.fixture(scope="module")
def fitted(bundle, labels, tmp_path_factory):
    path = tmp_path_factory.mktemp("gate") / "gate.json"
    ok("fit", "-b", bundle, "-l", labels, "-o", path, "--resamples", 20)
    return path


def test_fit_reports_both_regimes_and_saves(bundle, labels, tmp_path):
    path = tmp_path / "gate.json"
    arguments = ("fit", "-b", bundle, "-l", labels, "-o", path, "--resamples", 20)
    done = ok(*arguments)
    for words in ("Random folds", "Whole groups held out", "ROC-AUC", "ECE", "57 queries"):
        assert words in done.stdout
    first = path.read_bytes()
    data = json.loads(ok(*arguments, "--json").stdout)
    assert path.read_bytes() == first
    assert set(data["scorecards"]) == {"Random folds", "Whole groups held out"}
    assert data["labels"]["groups"] == 8
    saved = json.loads(first)
    assert saved["pipeline_fingerprint"] == data["pipeline"]["fingerprint"]
    assert saved["schema_version"] >= 1


def test_a_fitted_gate_is_measured_on_other_labels(bundle, labels, fitted):
    done = ok(*("eval", "-b", bundle, "-l", labels, "--gate", fitted, "--resamples", 20, "--json"))
    data = json.loads(done.stdout)
    measures = data["scorecards"]["Gate"]["measures"]
    assert measures["roc_auc"]["value"] > 0.95
    assert set(measures) == {"roc_auc", "accuracy", "ece", "brier", "aurc", "coverage_at_risk"}
    assert data["gate"]["kind"] == "features"


@pytest.mark.parametrize("change", [("--depth", 10), ("--candidates", 3)])
def test_another_pipeline_is_refused(bundle, labels, fitted, change):
    done = gate("eval", "-b", bundle, "-l", labels, "--gate", fitted, *change)
    assert done.exit_code == 1
    assert "was fitted on pipeline" in done.stderr
    assert change[0] in done.stderr


def test_another_bundle_is_refused(other_bundle, labels, fitted):
    done = gate("eval", "-b", other_bundle, "-l", labels, "--gate", fitted)
    assert done.exit_code == 1
    assert "was fitted on pipeline" in done.stderr


def test_without_a_fitted_gate_the_decision_model_judges(bundle, labels, fake):
    done = ok("eval", "-b", bundle, "-l", labels, "--resamples", 20, "--json")
    data = json.loads(done.stdout)
    assert data["gate"]["kind"] == "decision model"
    assert data["scorecards"]["Gate"]["unreached"] >= 1
    asked = {question["id"] for _, questions in fake.calls for question in questions}
    assert asked == {"relevance", "answerability"}


def test_a_gate_fitted_with_relevances_asks_the_model_again(bundle, labels, fake, tmp_path):
    path = tmp_path / "gate.json"
    low = ("--relevance", 0.2, "--resamples", 5)
    ok("fit", "-b", bundle, "-l", labels, "-o", path, "--with-model", *low)
    assert "top_relevance" in json.loads(path.read_text())["features"]
    fake.calls.clear()
    ok("eval", "-b", bundle, "-l", labels, "--gate", path, *low)
    assert fake.calls
    done = gate("eval", "-b", bundle, "-l", labels, "--gate", path, "--relevance", 0.9)
    assert done.exit_code == 1
    assert "was fitted on pipeline" in done.stderr


def test_a_report_is_a_folder_of_the_same_bytes(bundle, labels, fitted, tmp_path):
    out = tmp_path / "report"
    arguments = ("report", "-b", bundle, "-l", labels, "--gate", fitted, "--resamples", 20)
    ok(*arguments, "-o", out)
    names = {"report.md", "report.json", "gate-reliability.svg", "gate-risk-coverage.svg"}
    assert {path.name for path in out.iterdir()} == names
    ok(*arguments, "-o", tmp_path / "again")
    for name in names:
        assert (out / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    for name in names:
        if name.endswith(".svg"):
            ElementTree.fromstring((out / name).read_text())
            assert f"({name})" in (out / "report.md").read_text()
    rows = json.loads((out / "report.json").read_text())["scorecards"]["Gate"]["predictions"]
    assert len(rows) == 57
    assert {"id", "query", "group", "answerable", "probability", "found"} == set(rows[0])


def test_fit_writes_a_report_of_both_regimes(bundle, labels, tmp_path):
    out = tmp_path / "report"
    ok(
        *("fit", "-b", bundle, "-l", labels, "-o", tmp_path / "gate.json"),
        *("--report", out, "--resamples", 5),
    )
    page = (out / "report.md").read_text()
    assert "## Random folds" in page
    assert "(whole-groups-held-out-reliability.svg)" in page


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"query": "a?", "answerable": "yes"}', "labels.jsonl:1: `answerable`"),
        ('{"query": "a?", "answerable": true}', "both classes"),
    ],
)
def test_labels_that_cannot_be_used_are_an_error(bundle, tmp_path, content, words):
    path = tmp_path / "labels.jsonl"
    path.write_text(content)
    done = gate("fit", "-b", bundle, "-l", path, "-o", tmp_path / "gate.json")
    assert done.exit_code == 1
    assert words in done.stderr
    assert not (tmp_path / "gate.json").exists()


def test_a_model_that_cannot_be_loaded_is_an_error(bundle, labels, monkeypatch):
    class Broken:
        fingerprint = "broken"

        def predict_batch(self, states, questions):
            raise ModelError("decision/model.onnx is missing")

    monkeypatch.setattr(commands, "decision_model", lambda provider: Broken())
    done = gate("eval", "-b", bundle, "-l", labels)
    assert done.exit_code == 1
    assert "laya: decision/model.onnx is missing" in done.stderr


def test_an_unknown_model_is_an_error(bundle, labels):
    done = gate("eval", "-b", bundle, "-l", labels, "--model", "decision.nothing")
    assert done.exit_code == 1
    assert "decision.nothing" in done.stderr
    done = gate("eval", "-b", bundle, "-l", labels, "--model", "{nonsense")
    assert done.exit_code == 2


def test_an_interruption_leaves_no_gate_behind(bundle, labels, tmp_path, monkeypatch):
    def interrupt(self, query):
        raise KeyboardInterrupt

    monkeypatch.setattr("laya_eval.gate.evidence.EvidencePipeline.candidates", interrupt)
    done = gate("fit", "-b", bundle, "-l", labels, "-o", tmp_path / "gate.json")
    assert done.exit_code == 130
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_said_before_the_work(bundle, labels, tmp_path):
    done = gate("fit", "-b", bundle, "-l", labels, "-o", tmp_path / "none" / "gate.json")
    assert done.exit_code == 2
    assert "there is no folder" in done.stderr
