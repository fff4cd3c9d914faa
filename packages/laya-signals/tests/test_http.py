import json

import pytest
from laya_signals.errors import ConfigError
from laya_signals.http import read_key, retry_after, server_address, server_words
from pydantic import SecretStr

KEY = "sk-very-secret-0123456789"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:8000", "http://"),
        ("ftp://localhost", "http://"),
        ("http://", "http://"),
        ("http://user@localhost", "api_key"),
        ("http://localhost?key=1", "no query"),
        ("http://localhost#a", "no query"),
    ],
)
def test_an_address_that_is_none_is_refused(url, message):
    with pytest.raises(ValueError, match=message):
        server_address(url)


def test_an_address_ends_without_a_slash():
    assert server_address("https://models.example/v1/") == "https://models.example/v1"


def test_a_key_is_given_or_stands_in_a_variable(monkeypatch):
    assert read_key(None, None, "client") is None
    assert read_key(SecretStr(f" {KEY}\n"), None, "client") == KEY
    monkeypatch.setenv("TIDE_KEY", KEY)
    assert read_key(None, "TIDE_KEY", "client") == KEY
    for value in ("", " ", "two words", "schlüssel"):
        monkeypatch.setenv("TIDE_KEY", value)
        with pytest.raises(ConfigError, match="client: the environment variable TIDE_KEY"):
            read_key(None, "TIDE_KEY", "client")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"error": "full"}', "full"),
        ('{"error": {"message": "no\\nmodel", "code": 3}}', "no model"),
        ('{"error": {"code": 3}}', '{"code": 3}'),
        ('{"other": 1}', '{"other": 1}'),
        ("[1]", "[1]"),
        ("<html>\n  gone", "<html> gone"),
        ("", ""),
        (json.dumps({"error": f"wrong key {KEY}"}), "wrong key ***"),
    ],
)
def test_a_server_s_words_are_one_line_without_the_key(text, words):
    assert server_words(text, "error", KEY) == words


def test_words_are_cut_short_behind_the_key_and_not_in_it():
    said = server_words("x" * 190 + KEY + "y" * 200, "error", KEY)
    assert said == "x" * 190 + "***" + "y" * 7


@pytest.mark.parametrize(
    ("header", "seconds"), [(None, None), ("3", 3.0), ("-3", 0.0), ("nan", None), ("soon", None)]
)
def test_seconds_to_wait(header, seconds):
    assert retry_after(header) == seconds
