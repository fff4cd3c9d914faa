from __future__ import annotations

import hashlib
from hmac import compare_digest
from pathlib import Path
from typing import Any

import pytest
from laya_rag.access import Access
from laya_rag.mcp import BearerAuth, Caller, ServerSetupError, UnauthorizedError
from laya_rag.serving import auth as auth_module

TOKEN = "t0ken-with-enough-characters"
OTHER = "another-with-enough-characters"


def caller(name: str = "ann", **options: Any) -> Caller:
    return Caller(name, Access(all_tenants=True), **options)


def written(folder: Path, text: str) -> Path:
    path = folder / "tokens.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_token_leads_to_its_caller() -> None:
    auth = BearerAuth.of({TOKEN: caller("ann"), OTHER: caller("bob")})
    assert auth.caller(TOKEN).name == "ann"
    assert auth.caller(OTHER).name == "bob"


@pytest.mark.parametrize(
    "token",
    [None, "", "wrong", TOKEN[:-1], TOKEN + " ", TOKEN.upper(), "tökén-with-enough-characters"],
)
def test_anything_else_is_unauthorized_and_always_in_the_same_words(token: str | None) -> None:
    auth = BearerAuth.of({TOKEN: caller()})
    with pytest.raises(UnauthorizedError) as raised:
        auth.caller(token)
    assert raised.value.to_json() == {
        "code": "unauthorized",
        "message": "this caller may not do that",
    }


def test_no_token_is_kept_and_none_is_shown() -> None:
    auth = BearerAuth.of({TOKEN: caller()})
    kept = repr(vars(auth)) + repr(auth)
    assert TOKEN not in kept
    assert hashlib.sha256(TOKEN.encode()).digest() in [digest for digest, _ in auth._callers]


def test_every_hash_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(left: bytes, right: bytes) -> bool:
        compared.append((left, right))
        return compare_digest(left, right)

    monkeypatch.setattr(auth_module.hmac, "compare_digest", compare)
    auth = BearerAuth.of({TOKEN: caller("ann"), OTHER: caller("bob")})
    compared.clear()
    auth.caller(TOKEN)  # the first one; the second is compared all the same
    assert len(compared) == 2


@pytest.mark.parametrize(
    "token", ["short", "", "with a blank in the middle", "ünïcödé-is-long", "x" * 16 + "\n"]
)
def test_a_poor_token_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(ServerSetupError) as raised:
        BearerAuth.of({token: caller()})
    assert not token or token not in str(raised.value)


def test_a_file_gives_tokens_hashes_tenants_and_scopes(tmp_path: Path) -> None:
    digest = hashlib.sha256(OTHER.encode()).hexdigest()
    path = written(
        tmp_path,
        f"""
        [[token]]
        name = "ann"
        token = "{TOKEN}"
        tenants = ["acme"]
        min_trust = "trusted"

        [[token]]
        name = "bob"
        sha256 = "{digest}"
        tenants = "*"
        scopes = ["read", "write"]
        """,
    )
    auth = BearerAuth.from_file(path)
    assert auth.caller(TOKEN) == Caller("ann", Access(["acme"], min_trust="trusted"))
    assert auth.caller(OTHER).scopes == {"read", "write"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "[[token]]"),
        ("[[token]", "no TOML"),
        ("other = 1", "[[token]]"),
        (f'[[token]]\ntoken = "{TOKEN}"\ntenants = "*"', "name"),
        (f'[[token]]\nname = "a"\ntoken = "{TOKEN}"', "tenants"),
        (f'[[token]]\nname = "a"\ntoken = "{TOKEN}"\ntenants = []', "tenants"),
        ('[[token]]\nname = "a"\ntenants = "*"', "token or sha256"),
        ('[[token]]\nname = "a"\ntenants = "*"\nsha256 = "abc"', "hash"),
        (f'[[token]]\nname = "a"\ntenants = "*"\ntoken = "{TOKEN}"\nscope = "x"', "scope"),
        (f'[[token]]\nname = "a"\ntenants = "*"\ntoken = "{TOKEN}"\nscopes = ["all"]', "scopes"),
        (
            f'[[token]]\nname = "a"\ntenants = ["x"]\ntoken = "{TOKEN}"\nscopes = ["write"]',
            "cannot have the scope write",
        ),
        (f'[[token]]\nname = "a"\ntenants = "*"\ntoken = "{TOKEN}"\n' * 2, "same"),
        (
            f'[[token]]\nname = "a"\ntenants = "*"\ntoken = "{TOKEN}"\n'
            f'[[token]]\nname = "a"\ntenants = "*"\ntoken = "{OTHER}"\n',
            "one name",
        ),
    ],
)
def test_a_bad_file_is_refused_and_no_token_of_it_shown(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ServerSetupError) as raised:
        BearerAuth.from_file(written(tmp_path, text))
    assert said in str(raised.value)
    assert TOKEN not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServerSetupError, match=r"nowhere\.toml"):
        BearerAuth.from_file(tmp_path / "nowhere.toml")


def test_one_token_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAYA_MCP_TOKEN", raising=False)
    assert BearerAuth.from_environment("LAYA_MCP_TOKEN") is None
    monkeypatch.setenv("LAYA_MCP_TOKEN", TOKEN)
    auth = BearerAuth.from_environment("LAYA_MCP_TOKEN")
    assert auth is not None
    assert auth.caller(TOKEN).name == "environment"
    monkeypatch.setenv("LAYA_MCP_TOKEN", "")  # set by mistake: no reason to let everybody in
    with pytest.raises(ServerSetupError):
        BearerAuth.from_environment("LAYA_MCP_TOKEN")


def test_without_callers_there_is_no_auth() -> None:
    with pytest.raises(ServerSetupError):
        BearerAuth({})
