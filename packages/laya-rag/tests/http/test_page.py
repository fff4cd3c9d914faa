"""The files of the page, and how they are served."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import get_args

import pytest
from fastapi import FastAPI
from laya_rag.compose.composer import CAVEAT as COMPOSE_CAVEAT
from laya_rag.compose.errors import PUBLIC
from laya_rag.compose.result import ComposeState
from laya_rag.engine.result import ADJUDICATION_CAVEAT
from laya_rag.engine.second import EvidenceFunnel
from laya_rag.http.page import Asset, page_assets, page_routes
from laya_rag.http.problems import KINDS
from laya_retrieval.extract import Abstention
from laya_retrieval.gate.adjudicate import Support
from laya_retrieval.retrieve.backend import Capability
from laya_retrieval.verify.injection import INJECTION_RULES
from laya_retrieval.verify.report import CAVEAT, State
from starlette.testclient import TestClient

ASSETS = page_assets()
TEXTS = {name: asset.body.decode() for name, asset in ASSETS.items()}
SCRIPTS = {name: text for name, text in TEXTS.items() if name.endswith(".js")}
HTML = TEXTS["index.html"]
LANGUAGES = ("en", "de")

_ENTRY = re.compile(r'^  (?:"([^"]+)"|(\w+)): "(.*)",$', re.M)


def messages(language: str) -> dict[str, str]:
    """The dictionary as the module has it; one entry a line."""
    text = TEXTS[f"{language}.js"]
    entries = [(quoted or plain, value) for quoted, plain, value in _ENTRY.findall(text)]
    assert len(dict(entries)) == len(entries), "a key is there twice"
    assert len(entries) == sum(line.startswith("  ") for line in text.splitlines())
    return dict(entries)


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    app.include_router(page_routes())
    return TestClient(app, base_url="http://127.0.0.1")


def test_the_page_is_served_with_a_policy_that_allows_its_own_files_only(client):
    answer = client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(
        part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == "'none'"
    for kind in ("script-src", "style-src", "connect-src", "img-src"):
        assert policy[kind] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("name", sorted(ASSETS.keys() - {"index.html"}))
def test_every_file_has_its_type_and_is_asked_for_again(client, name):
    answer = client.get(f"/assets/{name}")
    kinds = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
    assert answer.headers["content-type"].split(";")[0] == kinds[name.rpartition(".")[2]]
    assert answer.content == ASSETS[name].body
    assert answer.headers["cache-control"] == "no-cache"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    tag = answer.headers["etag"]
    for given in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again = client.get(f"/assets/{name}", headers={"If-None-Match": given})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    assert client.get(f"/assets/{name}", headers={"If-None-Match": '"other"'}).status_code == 200
    head = client.head(f"/assets/{name}")
    assert (head.status_code, head.content) == (200, b"")


def test_a_tag_changes_with_the_file():
    one, other = (Asset.of("a.js", body) for body in (b"1", b"2"))
    assert one.tag != other.tag
    assert one == Asset.of("a.js", b"1")


@pytest.mark.parametrize(
    "path",
    [
        "/assets/none.js",
        "/assets/index.html",
        "/assets/",
        "/assets/../page.py",
        "/assets/%2e%2e/page.py",
        "/assets/..%2fpage.py",
        "/assets/..%5cpage.py",
        "/assets/%2fetc%2fpasswd",
        "/assets/main.js%00.css",
        "/assets/MAIN.JS",
    ],
)
def test_no_other_name_leads_to_a_file(client, path):
    assert client.get(path).status_code == 404


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(HTML)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_the_page_asks_for_nothing_but_its_own_files():
    elements = Elements().found
    for tag, attributes in elements:
        assert not any(name == "style" or name.startswith("on") for name in attributes), tag
        assert tag != "style"
        assert tag != "script" or "src" in attributes
        for name in ("src", "href"):
            address = attributes.get(name) or "#"
            assert address[0] in "#/", address
            if address.startswith("/assets/"):
                assert address.removeprefix("/assets/") in ASSETS
    for name, text in TEXTS.items():
        outside = set(re.findall(r"https?://[^\s\"'<>)\\]+", text))
        outside -= {"http://www.w3.org/2000/svg", "http://127.0.0.1:8000/v1"}
        assert not outside, name
        assert "@import" not in text
        assert "url(" not in text


def test_every_module_is_there_and_used():
    used = {"main.js"}
    for name, text in SCRIPTS.items():
        wanted = re.findall(r'^(?:import|export) .*?from "([^"]+)";$', text, re.M | re.S)
        assert all(path.startswith("./") and path[2:] in SCRIPTS for path in wanted), name
        assert "import(" not in text
        used |= {path[2:] for path in wanted}
    assert used == SCRIPTS.keys()


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_no_script_makes_markup_or_code_of_a_text(name):
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|setHTML|document\.write|DOMParser|"
        r"createContextualFragment|srcdoc|\beval\b|new Function|setAttribute\(\"style|javascript:"
    )
    assert re.findall(forbidden, SCRIPTS[name]) == []


def test_both_languages_say_the_same_things():
    en, de = (messages(language) for language in LANGUAGES)
    assert list(en) == list(de)
    fields = re.compile(r"\{\w+\}")
    for key in en:
        assert sorted(fields.findall(en[key])) == sorted(fields.findall(de[key])), key
        assert en[key].strip()
        assert de[key].strip()
    same = {key for key in en if en[key] == de[key]}
    assert len(same) < len(en) / 10, "that is no translation"


def test_every_message_that_is_wanted_is_there_and_every_one_that_is_there_is_wanted():
    known = messages("en").keys()
    wanted = set()
    for _, attributes in Elements().found:
        for name, value in attributes.items():
            if name.startswith("data-i18n"):
                wanted.add(value)
    prefixes = set()
    for name, text in SCRIPTS.items():
        if name in ("en.js", "de.js"):
            continue
        # A key may stand in a condition, so every text that has the form of one counts.
        wanted |= set(re.findall(r'"([a-z]+(?:\.[\w]+)*)"', text)) & known
        for key in re.findall(r'counted\(\s*"([\w.]+)"', text):
            wanted |= {f"{key}.one", f"{key}.other"}
        for key in re.findall(r'\bsay\(\s*"([\w.]+)"', text):
            assert key in known, f"{name}: {key}"
        prefixes |= set(re.findall(r"say\(\s*`([a-z]+)\.\$\{", text))
        prefixes |= set(re.findall(r'sayOr\(\s*"([a-z]+)"', text))
    assert wanted <= known
    unused = {key for key in known - wanted if key.split(".")[0] not in prefixes}
    assert unused == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_that_the_server_names_has_a_name_in_each_language(language):
    known = messages(language)
    for prefix, names in {
        "rule": INJECTION_RULES,
        "abstention": (*get_args(Abstention), "not_answerable"),
        "state": get_args(State),
        "support": [support.value for support in Support],
        "leg": [kind.value for kind in Capability if kind is not Capability.FILTER],
        "compose": [state.value for state in ComposeState],
        "error": PUBLIC,
        "kind": KINDS,
        "tier": ("trusted", "untrusted", "quarantined"),
        "funnel": set(EvidenceFunnel.__dataclass_fields__)
        - {"duplicates", "dropped_before_scoring", "below_relevance"},
    }.items():
        for name in names:
            assert f"{prefix}.{name}" in known


def test_what_a_check_does_not_establish_is_said_in_the_same_words():
    known = messages("en")
    assert known["verify.caveat"] == CAVEAT
    assert known["adjudicate.caveat"] == ADJUDICATION_CAVEAT
    assert known["compose.caveat"] == COMPOSE_CAVEAT


def test_no_element_comes_out_of_order_for_the_keyboard():
    for tag, attributes in Elements().found:
        assert int(attributes.get("tabindex") or 0) <= 0, tag
    for text in SCRIPTS.values():
        assert not re.search(r'tabindex: "?[1-9]', text)


def test_every_field_has_a_label():
    elements = Elements().found
    labelled = {
        attributes["for"] for tag, attributes in elements if tag == "label" and "for" in attributes
    }
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert labelled <= set(ids)
    for tag, attributes in elements:
        if tag in ("input", "textarea") and attributes.get("type") not in ("checkbox", "radio"):
            assert attributes["id"] in labelled
