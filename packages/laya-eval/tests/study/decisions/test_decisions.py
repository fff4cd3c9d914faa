"""`laya eval decisions` from data to a report and a page."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from xml.etree import ElementTree

import laya_eval.cli.decisions as commands
import pytest
from laya_eval.page import markers, replaced
from laya_rag.cli.app import app
from laya_retrieval.testing import FakeDecisionModel
from typer.testing import CliRunner

runner = CliRunner()


@pytest.fixture
def fake(monkeypatch):
    model = FakeDecisionModel()
    monkeypatch.setattr(commands, "decision_model", lambda provider: model)
    return model


@pytest.fixture
def study(study_data, lexical_stack):
    def run(*arguments, only=("squad2_dev", "wikiqa"), data=study_data):
        chosen = [word for name in only for word in ("--only", name)]
        fixed = [
            "--stack",
            lexical_stack,
            "--cap",
            10,
            "--resamples",
            20,
            "--permutations",
            50,
            "--quiet",
        ]
        return runner.invoke(
            app,
            ["eval", "decisions", "-d", str(data), *map(str, (*fixed, *chosen, *arguments))],
            env={"COLUMNS": "160"},
        )

    return run


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "corpora" not in path.relative_to(folder).parts
    }


@pytest.mark.slow
def test_a_report_has_every_set_with_its_gates(study, fake, tmp_path):
    done = study("-o", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert [one["name"] for one in data["pairs"]] == [
        "SQuAD, own paragraph",
        "SQuAD, nearest paragraph",
        "WikiQA",
    ]
    assert [one["name"] for one in data["corpora"]] == [
        "SQuAD, half of the articles",
        "SQuAD, half of the paragraphs",
        "WikiQA",
    ]
    squad = data["corpora"][0]
    assert squad["questions"] == 10
    assert squad["fitted"] == 24
    gates = {(card["gate"], card["split"]) for card in squad["cards"]}
    assert {("answer always", "none"), ("LayaGate", "none"), ("FeatureGate", "random")} <= gates
    assert all("dense" in key for key in squad["unmeasured"] if "score" in key)
    assert set(data["data"]["sha256"]) == {
        "squad2_dev/corpus.jsonl.gz",
        "squad2_dev/pairs.jsonl.gz",
        "squad2_dev/queries.jsonl.gz",
        "squad2_dev/qrels.tsv",
        "wikiqa/pairs.jsonl.gz",
    }
    stored = json.loads((tmp_path / "out" / "report.json").read_text())
    assert {**stored, "report": str(tmp_path / "out")} == data
    for name in tree(tmp_path / "out"):
        if name.endswith(".svg"):
            ElementTree.parse(tmp_path / "out" / name)


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(study, fake, tmp_path):
    for name in ("one", "two"):
        assert study("-o", tmp_path / name).exit_code == 0
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


@pytest.mark.slow
def test_a_stopped_run_goes_on_where_it_was(study, tmp_path, monkeypatch):
    class Stopped(FakeDecisionModel):
        def predict_batch(self, states, questions):
            if len(self.calls) == 70:
                raise KeyboardInterrupt
            return super().predict_batch(states, questions)

    whole, stopped, resumed = FakeDecisionModel(), Stopped(), FakeDecisionModel()
    monkeypatch.setattr(commands, "decision_model", lambda provider: whole)
    study("-o", tmp_path / "whole")
    monkeypatch.setattr(commands, "decision_model", lambda provider: stopped)
    assert study("-o", tmp_path / "out").exit_code != 0
    assert not (tmp_path / "out" / "report.json").exists()
    monkeypatch.setattr(commands, "decision_model", lambda provider: resumed)
    assert study("-o", tmp_path / "out").exit_code == 0
    assert len(whole.calls) - 72 <= len(resumed.calls) <= len(whole.calls) - 68
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_a_set_has_its_gates_on_what_is_judged(study, fake, tmp_path):
    done = study("-o", tmp_path / "out", "--json", only=["wikiqa"])
    assert done.exit_code == 0, done.output
    [corpus] = json.loads(done.stdout)["corpora"]
    assert (corpus["questions"], corpus["fitted"], corpus["documents"]) == (10, 12, 12)
    assert not corpus["trained_on_kin"]
    cards = {(card["gate"], card["split"]): card for card in corpus["cards"]}
    always = cards["answer always", "none"]["measures"]["wrong@1"]["value"]
    assert always == 1 - corpus["answerable"] / 10
    rows = cards["LayaGate", "none"]["predictions"]
    assert len(rows) == 10
    assert all(row["wrong"] or row["answerable"] for row in rows)


def test_another_model_is_asked_anew(study, tmp_path, monkeypatch):
    answers = []
    for number, sure in enumerate((0.9, 0.1)):
        model = FakeDecisionModel(lambda *_, sure=sure: sure, fingerprint=f"{number:016}")
        monkeypatch.setattr(commands, "decision_model", lambda provider, model=model: model)
        done = study("-o", tmp_path / "out", "--json", only=["wikiqa"])
        answers.append(json.loads(done.stdout))
    first, second = (one["pairs"][0]["cards"][0]["predictions"][0] for one in answers)
    assert (first["probability"], second["probability"]) == (0.9, 0.1)
    assert answers[0]["fingerprint"] != answers[1]["fingerprint"]


def test_a_page_gets_the_tables_and_the_plots_beside_it(study, fake, tmp_path):
    page = tmp_path / "study.md"
    begin, end = markers("laya eval decisions")
    page.write_text(f"# Study\n\n{begin}\n{end}\n\nThe end.\n")
    for _ in range(2):
        assert study("-o", tmp_path / "out", "--write", page, only=["wikiqa"]).exit_code == 0
    text = page.read_text()
    again = f"laya eval decisions --data DATA --only wikiqa --cap 10 --stack {tmp_path}/stack.yaml"
    assert text.startswith(f"# Study\n\n{begin}\n\nMeasured by `{again} --resamples 20 --perm")
    assert text.endswith(f"{end}\n\nThe end.\n")
    assert text.count("### WikiQA") == 1
    plots = sorted(path.name for path in (tmp_path / "study").iterdir())
    assert len(plots) == 3
    assert all(f"](study/{name})" in text for name in plots)


@pytest.mark.parametrize(
    ("only", "said"),
    [(["nothing"], "no data set 'nothing'; it has anthropic_docs,"), (["scifact"], "--only")],
)
def test_a_data_set_that_is_not_there_is_named(study, fake, tmp_path, only, said):
    done = study("-o", tmp_path / "out", only=only)
    assert done.exit_code == 1
    assert said in " ".join(done.output.split())
    assert not fake.calls


def test_a_page_without_markers_is_refused_before_anything_is_measured(study, fake, tmp_path):
    (tmp_path / "page.md").write_text("no markers")
    done = study("-o", tmp_path / "out", "--write", tmp_path / "page.md")
    assert done.exit_code == 1
    assert "no place for a table" in " ".join(done.output.split())
    assert not fake.calls


def test_a_data_set_of_another_shape_is_refused(study, fake, tmp_path):
    folder = tmp_path / "data" / "wikiqa"
    folder.mkdir(parents=True)
    with gzip.open(folder / "pairs.jsonl.gz", "wt") as file:
        file.write('{"split": "test"}\n')
    done = study("-o", tmp_path / "out", only=["wikiqa"], data=tmp_path / "data")
    assert done.exit_code == 1
    assert "WikiQA: a line does not have the shape" in " ".join(done.output.split())


def test_the_page_of_the_docs_has_a_place_for_the_tables():
    page = Path(__file__).parents[5] / "docs" / "decision-study.md"
    text = page.read_text(encoding="utf-8")
    assert "\n\ntables\n\n" in replaced(text, "tables\n", page.name, commands.COMMAND)
