from __future__ import annotations

import json
from pathlib import Path

import pytest
from laya_rag.cli.app import app
from laya_rag.cli.output import printable
from typer.testing import CliRunner

runner = CliRunner()


def documents(*arguments: str) -> set[str]:
    done = runner.invoke(app, ["search", *arguments, "--json", "--top", "50"])
    assert done.exit_code == 0, done.stderr
    return {result["document_id"] for result in json.loads(done.stdout)["results"]}


def test_quarantined_passages_are_not_there(bundle: Path) -> None:
    done = runner.invoke(app, ["search", "tide mill", "-b", str(bundle), "--json"])
    result = json.loads(done.stdout)
    assert "spam/x" not in {item["document_id"] for item in result["results"]}
    assert result["found"] == 4


def test_the_json_says_which_corpus_and_which_models_it_rests_on(bundle: Path) -> None:
    done = runner.invoke(app, ["search", "tide", "-b", str(bundle), "--json"])
    result = json.loads(done.stdout)
    assert result["version"] == 1
    assert result["bundle"]["path"] == str(bundle)
    assert len(result["bundle"]["identity"]) == 64
    assert set(result["models"]) == {"bm25", "dense"}
    assert {"open", "query", "search", "total"} <= set(result["seconds"])


def test_a_filter_narrows_the_search(bundle: Path) -> None:
    wanted = '{"document_id": {"in": ["acme/one", "acme/two"]}}'
    assert documents("tide mill", "-b", str(bundle), "--filter", wanted) == {"acme/one", "acme/two"}


@pytest.mark.parametrize("wrong", ["{", "[]", "3"])
def test_a_filter_that_is_no_json_object_is_wrong_usage(bundle: Path, wrong: str) -> None:
    done = runner.invoke(app, ["search", "tide", "-b", str(bundle), "--filter", wrong])
    assert done.exit_code == 2
    assert "--filter" in done.stderr


def test_a_filter_by_an_unknown_field_fails(bundle: Path) -> None:
    done = runner.invoke(
        app, ["search", "tide", "-b", str(bundle), "--filter", '{"colour": "red"}']
    )
    assert done.exit_code == 1
    assert "colour" in done.stderr


def test_settings_come_from_file_environment_and_flags(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("laya.toml").write_text(f'bundle = "{bundle}"\n[search]\nkeep = 2\n')

    def count(*arguments: str) -> int:
        done = runner.invoke(app, ["search", "tide mill", "--json", *arguments])
        assert done.exit_code == 0, done.stderr
        return len(json.loads(done.stdout)["results"])

    assert count() == 2
    monkeypatch.setenv("LAYA_RAG_SEARCH__KEEP", "3")
    assert count() == 3
    assert count("--top", "1") == 1
    assert count("--set", "search.keep=4") == 4


def test_a_wrong_setting_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("laya.toml").write_text("[search]\nkep = 2\n")
    done = runner.invoke(app, ["search", "tide"])
    assert done.exit_code == 1
    assert "laya.toml:2: unknown key 'search.kep'" in done.stderr


def test_a_tenant_on_the_command_line_replaces_those_of_the_settings(
    tenant_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYA_RAG_ACCESS__ALL_TENANTS", "true")
    assert documents("tide", "-b", str(tenant_bundle), "--tenant", "globex") == {"globex/one"}


def test_a_blank_query_is_wrong_usage(bundle: Path) -> None:
    assert runner.invoke(app, ["search", " ", "-b", str(bundle)]).exit_code == 2


@pytest.mark.parametrize(
    ("tier", "visible"),
    [
        ("trusted", {"acme/one", "acme/two", "globex/one"}),
        ("untrusted", {"acme/one", "acme/two", "globex/one", "inbox/mail"}),
        ("quarantined", {"acme/one", "acme/two", "globex/one", "inbox/mail", "spam/x"}),
    ],
)
def test_the_least_trust_tier_decides(bundle: Path, tier: str, visible: set[str]) -> None:
    assert documents("tide mill", "-b", str(bundle), "--min-trust", tier) == visible


def test_a_bundle_with_tenants_asks_for_one(tenant_bundle: Path) -> None:
    done = runner.invoke(app, ["search", "tide", "-b", str(tenant_bundle)])
    assert done.exit_code == 1
    assert "--tenant" in done.stderr
    assert "acme" not in done.stderr


@pytest.mark.parametrize(
    ("tenant", "visible"),
    [("acme", {"acme/one", "acme/two"}), ("globex", {"globex/one"}), ("nobody", set())],
)
def test_a_tenant_sees_its_own_only(tenant_bundle: Path, tenant: str, visible: set[str]) -> None:
    assert documents("tide", "-b", str(tenant_bundle), "--tenant", tenant) == visible


def test_a_bundle_without_tenants_shows_a_tenant_nothing(bundle: Path) -> None:
    assert documents("tide", "-b", str(bundle), "--tenant", "acme") == set()


def test_one_leg_alone(bundle: Path) -> None:
    done = runner.invoke(app, ["search", "tide", "-b", str(bundle), "--leg", "bm25", "--json"])
    assert json.loads(done.stdout)["legs"] == ["bm25"]


def test_a_leg_that_the_bundle_lacks_is_an_error(lexical_bundle: Path) -> None:
    done = runner.invoke(app, ["search", "tide", "-b", str(lexical_bundle), "--leg", "dense"])
    assert done.exit_code == 1
    assert "no leg can run" in done.stderr


def test_the_screen_shows_every_leg(bundle: Path) -> None:
    done = runner.invoke(app, ["search", "ferry", "-b", str(bundle)], env={"COLUMNS": "200"})
    assert "bm25   rank 1" in done.stdout
    assert "dense  rank 1" in done.stdout
    assert "acme/two › Ferry" in done.stdout
    assert "4 passages of 4 chunks" in " ".join(done.stdout.split())


def test_passages_cannot_move_the_cursor() -> None:
    assert printable("a\x1b[2Jb\u202ec\x07") == "a\ufffd[2Jb\ufffdc\ufffd"
