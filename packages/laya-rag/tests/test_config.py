from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from laya_rag.config import MASK, Flag, Settings, load_settings
from laya_rag.errors import SettingsError


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def effective(key: str, **given: Any) -> tuple[Any, str, str]:
    [item] = [item for item in load_settings(**given).origins if item.key == key]
    return item.value, item.layer, item.source


def test_every_setting_has_a_default_that_works() -> None:
    loaded = load_settings()
    assert loaded.settings == Settings()
    assert {item.layer for item in loaded.origins} == {"default"}


LAYERS = ("file", "environment", "flag")


@pytest.mark.parametrize(
    "given", [s for n in range(4) for s in itertools.combinations(LAYERS, n)], ids="+".join
)
def test_flags_win_over_the_environment_over_the_file_over_defaults(
    given: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "file" in given:
        (tmp_path / "laya.toml").write_text("[search]\nkeep = 6\n")
    if "environment" in given:
        monkeypatch.setenv("LAYA_RAG_SEARCH__KEEP", "7")
    flags = [Flag("search.keep", 8, "--keep")] if "flag" in given else []
    expected = {
        "flag": (8, "flag", "--keep"),
        "environment": (7, "environment", "LAYA_RAG_SEARCH__KEEP"),
        "file": (6, "file", "laya.toml:2"),
        "default": (5, "default", ""),
    }[given[-1] if given else "default"]
    assert effective("search.keep", flags=flags) == expected
    assert load_settings(flags=flags).settings.search.keep == expected[0]


def test_tables_of_several_layers_are_merged_key_by_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "laya.toml").write_text("[search]\nweights = {bm25 = 2.0, dense = 0.5}\n")
    monkeypatch.setenv("LAYA_RAG_SEARCH__WEIGHTS__DENSE", "0.3")
    monkeypatch.setenv("LAYA_RAG_SEARCH__DEPTH", "9")
    search = load_settings().settings.search
    assert search.weights == {"bm25": 2.0, "dense": 0.3}
    assert search.depth == 9


def test_a_block_of_another_provider_replaces_the_whole_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "laya.toml").write_text(
        '[gate.model]\nprovider = "decision.systemone"\nconfig = {url = "http://localhost:1"}\n'
    )
    monkeypatch.setenv("LAYA_RAG_GATE__MODEL__PROVIDER", "decision.mini")
    assert load_settings().settings.gate.model.config == {}


def test_another_file_can_be_named_and_must_then_be_there(tmp_path: Path) -> None:
    (tmp_path / "laya.toml").write_text("[search]\nkeep = 6\n")
    other = tmp_path / "other.toml"
    other.write_text("[search]\nkeep = 9\n")
    assert load_settings(file=other).settings.search.keep == 9
    with pytest.raises(SettingsError, match=r"gone\.toml"):
        load_settings(file=tmp_path / "gone.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[search]\n\nkep = 3\n", "laya.toml:3: unknown key 'search.kep'; did you mean 'search.k"),
        ("serch = 3\n", "laya.toml:1: unknown key 'serch'; did you mean 'search'?"),
        ("\nkeep = 3\n", "laya.toml:2: unknown key 'keep'; did you mean 'search.keep'?"),
        (
            "[second.dedup]\n# why\ntreshold = 1\n",
            "laya.toml:3: unknown key 'second.dedup.treshold'; did you mean 'second.dedup.thresh",
        ),
        ("search.keep = 0\n", "laya.toml:1: search.keep: Input should be greater"),
        ("[search]\nlegs = [\n 'bm25',\n]\ndepth = 'x'\n", "laya.toml:5: search.depth: "),
        ("[gate]\nmodel = {config = {}}\n", "laya.toml:2: gate.model.provider: Field required"),
        ("[access]\nmin_trust = 'high'\n", "laya.toml:2: access: unknown trust tier 'high'"),
        ("[search\n", "laya.toml'"),
    ],
)
def test_a_mistake_in_the_file_names_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "laya.toml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("LAYA_RAG_SEARCH__KEP", "3", "LAYA_RAG_SEARCH__KEP: unknown key 'search.kep'"),
        ("LAYA_RAG_KEEP", "3", "LAYA_RAG_KEEP: unknown key 'keep'; did you mean 'search.keep'?"),
        ("LAYA_RAG_GATE__RELEVANCE", "1.5", "LAYA_RAG_GATE__RELEVANCE: gate.relevance: "),
        ("LAYA_RAG_SEARCH__WEIGHTS", "{", "LAYA_RAG_SEARCH__WEIGHTS: a JSON value is needed"),
    ],
)
def test_a_mistake_in_the_environment_names_its_variable(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value).startswith(message)


def test_every_mistake_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "laya.toml").write_text("one = 1\n")
    monkeypatch.setenv("LAYA_RAG_TWO", "2")
    with pytest.raises(SettingsError) as caught:
        load_settings(flags=[Flag.parse("three=3")])
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == [
        "laya.toml",
        "LAYA_RAG_TWO",
        "--set three",
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("bm25", ("bm25",)), ("bm25, dense", ("bm25", "dense")), ('["a,b"]', ("a,b",))],
)
def test_names_in_a_variable_stand_between_commas_or_in_json(
    value: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYA_RAG_ACCESS__TENANTS", value)
    monkeypatch.setenv("LAYA_RAG_SEARCH__LEGS", value)
    settings = load_settings().settings
    assert settings.access.tenants == settings.search.legs == expected


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("search.keep=3", "search.keep", 3),
        ("search.iterate=true", "search.iterate", True),
        ('search.legs=["bm25"]', "search.legs", ["bm25"]),
        ("search.fuser.provider=fuser.log_odds", "search.fuser.provider", "fuser.log_odds"),
        ("second.pack={budget = 100}", "second.pack", {"budget": 100}),
        ("second.pack=null", "second.pack", None),
        ("bundle=a=b", "bundle", "a=b"),
    ],
)
def test_a_set_flag_is_toml_or_plain_text(text: str, key: str, value: Any) -> None:
    flag = Flag.parse(text)
    assert (flag.key, flag.value, flag.option) == (key, value, f"--set {key}")
    load_settings(flags=[flag])


def test_null_in_a_variable_is_none_whatever_the_setting_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SEARCH__LEGS", "SEARCH__APPROXIMATE", "SECOND__PACK", "COMPOSE__SEED"):
        monkeypatch.setenv(f"LAYA_RAG_{name}", "null")
    settings = load_settings().settings
    assert (settings.search.legs, settings.search.approximate) == (None, None)
    assert (settings.second.pack, settings.compose.seed) == (None, None)
    assert effective("compose.seed") == (None, "environment", "LAYA_RAG_COMPOSE__SEED")
    monkeypatch.setenv("LAYA_RAG_COMPOSE__EXTRA", '{"stop": "null"}')
    assert load_settings().settings.compose.extra == {"stop": "null"}


@pytest.mark.parametrize("text", ["search.keep", "=3", ".keep=3", "search.=3"])
def test_a_set_flag_without_key_or_value_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="KEY=VALUE"):
        Flag.parse(text)


def test_an_empty_table_in_the_file_is_not_where_defaults_come_from(tmp_path: Path) -> None:
    (tmp_path / "laya.toml").write_text("[search]\n[second.dedup]\n")
    assert effective("search.keep") == (5, "default", "")
    value, layer, source = effective("second.dedup")
    assert (value["threshold"], layer, source) == (0.95, "file", "laya.toml:2")


def test_what_is_shown_holds_no_secret(tmp_path: Path) -> None:
    (tmp_path / "laya.toml").write_text(
        '[gate.model]\nprovider = "decision.systemone"\nconfig = {api_key = "s3cr3t", url = "u"}\n'
    )
    value, _, _ = effective("gate.model")
    assert value["config"] == {"api_key": MASK, "url": "u"}
    assert load_settings().settings.gate.model.config["api_key"] == "s3cr3t"


def test_what_one_place_says_of_a_block_counts_in_any_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "laya.toml").write_text(
        '[gate.model]\nconfig = {url = "http://localhost:1"}\nprovider = "decision.systemone"\n'
    )
    assert load_settings().settings.gate.model.config == {"url": "http://localhost:1"}
    # Variables are read by name, CONFIG before PROVIDER.
    monkeypatch.setenv("LAYA_RAG_GATE__JUDGE__CONFIG", '{"batch": 3}')
    monkeypatch.setenv("LAYA_RAG_GATE__JUDGE__PROVIDER", "gate.nli")
    judge = load_settings().settings.gate.judge
    assert (judge.provider, judge.config) == ("gate.nli", {"batch": 3})
    flags = [Flag("gate.model.config", {}, "--set"), Flag("gate.model.provider", "x", "--set")]
    assert load_settings(flags=flags).settings.gate.model.config == {}


def test_a_table_with_a_provider_keeps_its_other_settings(tmp_path: Path) -> None:
    (tmp_path / "laya.toml").write_text('[compose]\nmodel = "m"\ntimeout = 9.0\n')
    flags = [Flag.parse("compose.provider=ollama")]
    table = load_settings(flags=flags).settings.compose
    assert (table.provider, table.model, table.timeout) == ("ollama", "m", 9.0)


COMPOSE = [
    ({"provider": "ollama"}, "needs compose.model"),
    ({"provider": "openai", "model": "m"}, "needs compose.url"),
    ({"provider": "other", "model": "m"}, "compose.provider"),
    ({"url": "localhost:11434"}, "http://"),
    ({"url": "http://user:pass@localhost/v1"}, "api_key"),
    ({"url": "http://localhost/v1?key=k"}, "no query"),
    ({"provider": "ollama", "model": "m", "url": "http://10.0.0.7:11434"}, "in the clear"),
    ({"provider": "ollama", "model": "m", "url": "http://localhost.evil.example"}, "in the clear"),
    ({"api_key": "k", "api_key_env": "K"}, "not both"),
    ({"extra": {"messages": [], "stream": False}}, "messages, stream"),
    ({"temperature": -1}, "compose.temperature"),
    ({"timeout": 0}, "compose.timeout"),
]


@pytest.mark.parametrize(("values", "message"), COMPOSE)
def test_composition_that_cannot_work_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings().updated({f"compose.{key}": value for key, value in values.items()})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {"provider": "ollama"},
        {"provider": "ollama", "url": "http://[::1]:11434/"},
        {"provider": "openai", "url": "http://localhost:8000/v1"},
        {"provider": "openai", "url": "https://models.example/v1"},
        {"provider": "openai", "url": "http://models.example/v1", "plain_http": True},
    ],
)
def test_composition_goes_to_this_machine_or_over_https(values: dict[str, Any]) -> None:
    given = {"model": "m", **values}
    table = Settings().updated({f"compose.{key}": value for key, value in given.items()}).compose
    assert not table.address.endswith("/")
    assert table.loopback == ("example" not in table.address)


def test_the_key_of_a_table_is_masked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert effective("compose.api_key") == (None, "default", "")
    monkeypatch.setenv("LAYA_RAG_COMPOSE__API_KEY", "s3cr3t")
    assert effective("compose.api_key")[0] == MASK
    settings = load_settings().settings
    assert "s3cr3t" not in repr(settings)
    assert "s3cr3t" not in settings.model_dump_json()
    given = settings.updated({"search.keep": 3}).compose.api_key
    assert given is not None
    assert given.get_secret_value() == "s3cr3t"


def test_a_copy_with_other_values_is_checked_too() -> None:
    settings = Settings().updated({"search.keep": 3, "second.cover": {}})
    assert settings.search.keep == 3
    assert settings.second.cover is not None
    assert "top_k" not in settings.updated({"search.depth": 9}).second.cover.model_fields_set
    with pytest.raises(SettingsError, match=r"search\.keep"):
        settings.updated({"search.keep": 0})


def test_the_environment_is_read_by_load_settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYA_RAG_SEARCH__KEEP", "7")
    assert Settings().search.keep == 5
