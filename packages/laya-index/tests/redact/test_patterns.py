import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.document import SourceDocument
from laya_index.redact.base import Redactor, redact
from laya_index.redact.patterns import PatternRedactor
from laya_signals import ConfigError

REDACTOR = PatternRedactor()
FRAMES = ["{}", "see {} here", "({})", "“{}”, she said.", "a\n{}\nb", "値は{}です", "x: {}; y"]


def redacted(text: str, **settings: object) -> str:
    redactor = PatternRedactor(**settings) if settings else REDACTOR
    return redact(SourceDocument("d", text), redactor).text


FOUND = {
    "EMAIL": [
        "john@example.com",
        "John.Doe+tag@sub.example.co.uk",
        "o'brien@example.com",
        "user_name%x@example.org",
        "юзер@почта.рф",
        "user@xn--e1afmkfd.xn--p1ai",
    ],
    "PHONE": [
        "+49 30 901820",
        "+1 (415) 555-2671",
        "+442071838750",
        "(415) 555-2671",
        "415-555-2671",
    ],
    "IBAN": [
        "DE89 3704 0044 0532 0130 00",
        "DE89370400440532013000",
        "de89370400440532013000",
        "GB82-WEST-1234-5698-7654-32",
        "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
    ],
    "CARD": ["4532 0151 1283 0366", "4532-0151-1283-0366", "4532015112830366", "378282246310005"],
    "IP": [
        "192.168.1.17",
        "203.0.113.77",
        "2001:db8::8a2e:370:7334",
        "fe80::1",
        "::ffff:192.0.2.128",
    ],
    "SECRET": [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a1B2" * 8,
        "glpat-" + "aB3d" * 5,
        "xoxb-123456789012-abcdefGHIJ",
        "sk-proj-" + "aB3d" * 8,
        "sk-ant-" + "aB3d" * 8,
        "sk_live_" + "aB3d" * 6,
        "AIza" + "a1B2c" * 7,
        "hf_" + "aB3d" * 9,
        "pypi-" + "aB3d" * 15,
        "npm_" + "aB3d" * 9,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nxyz\n-----END PGP PRIVATE KEY BLOCK-----",
        "AGE-SECRET-KEY-1" + "QPZRY9X8" * 7,
        "xapp-1-A0123456789-aB3d",
        "hooks.slack.com/services/T0AB12CD3/B0AB12CD3/aB3daB3daB3daB3d",
        "discord.com/api/webhooks/123456789012345678/" + "aB3d" * 16,
        "sk-svcacct-" + "aB3d" * 8,
        "whsec_" + "aB3d" * 8,
        "ya29." + "aB3d" * 8,
        "GOCSPX-" + "aB3d" * 7,
        "gsk_" + "aB3d" * 13,
        "xai-" + "aB3d" * 20,
        "r8_" + "aB3d" * 9,
        "dckr_pat_" + "aB3d" * 7,
        "dop_v1_" + "a1b2" * 16,
        "SG." + "aB3d" * 5 + "ab." + "aB3d" * 10 + "abc",
        "key-" + "a1b2" * 8,
        "SK" + "a1b2" * 8,
        "1234567890:AA" + "aB3d" * 8 + "x",
        "shpat_" + "a1b2" * 8,
        "sq0csp-" + "aB3d" * 10,
        "dapi" + "a1b2" * 8,
        "ntn_" + "aB3d" * 10,
        "lin_api_" + "aB3d" * 10,
        "figd_" + "aB3d" * 10,
        "pscale_tkn_" + "aB3d" * 10,
        "glsa_" + "aB3d" * 8 + "_1a2b3c4d",
        "ATATT3" + "aB3d" * 20,
        "hvs." + "aB3d" * 8,
        "NRAK-" + "A1B" * 9,
        "eyJhbGciOiJkaXIifQ..aB3daB3daB3d.aB3daB3daB3d.aB3daB3daB3d",
    ],
}


# Without spaces between words, letters before a mailbox's name belong to it.
CASES = [
    (frame, kind, value)
    for frame in FRAMES
    for kind, values in FOUND.items()
    for value in values
    if "値" not in frame or kind != "EMAIL"
]


@pytest.mark.parametrize(("frame", "kind", "value"), CASES)
def test_what_must_go_is_replaced_as_a_whole(frame: str, kind: str, value: str) -> None:
    assert redacted(frame.format(value)) == frame.format(f"[{kind}]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://bob:s3cr3t@db/x", "postgres://bob:[SECRET]@db/x"),
        ("postgres://bob:p@ss:w@db/x", "postgres://bob:[SECRET]@db/x"),
        ("redis://:s3cr3t@db:6379", "redis://:[SECRET]@db:6379"),
        ("api_key = 'Zx81kq0Lm2Pq99'", "api_key = '[SECRET]'"),
        ('"client_secret": "Zx81kq0Lm2Pq99"', '"client_secret": "[SECRET]"'),
        ("PASSWORD=Zx81kq0Lm2Pq99", "PASSWORD=[SECRET]"),
        ("Authorization: Bearer a8f5f167f44f4964e6c998dee827", "Authorization: Bearer [SECRET]"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [SECRET]"),
        (
            "https://x.example/y?se=1&sig=aB3d%2FaB3daB3daB3d",
            "https://x.example/y?se=1&sig=[SECRET]",
        ),
        ("AccountKey=Zx81kq0Lm2Pq99w==", "AccountKey=[SECRET]"),
        ("password = 'hunter2'", "password = '[SECRET]'"),
        ('{"password": "correct-horse"}', '{"password": "[SECRET]"}'),
        ("Passwort: `geh3im!`", "Passwort: `[SECRET]`"),
        ("export DB_PASSWORD=hunter2", "export DB_PASSWORD=[SECRET]"),
        ("Server=db;Uid=bob;Pwd=hunter2;", "Server=db;Uid=bob;Pwd=[SECRET];"),
        ("-----BEGIN EC PRIVATE KEY-----\nnever closed", "[SECRET]"),
        ("[mail](mailto:bob%40example.com)", "[mail](mailto:[EMAIL])"),
        ("bob&#64;example.com or bob&commat;example.com", "[EMAIL] or [EMAIL]"),
        ("IBAN DE89 3704 0044 0532 0130 00 or so", "IBAN [IBAN] or so"),
    ],
)
def test_only_the_value_is_replaced_where_a_name_tells_it(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "version 1.2.3 and v2024.10.31",
        "10.1038/s41586-020-2649-2",
        "10.1016/j.cell.2020.02.052",
        "10.1145/3292500.3330701",
        "doi:10.1093/nar/gkaa1100",
        "2024-01-02T10:20:30.123456Z",
        "2024-01-02 10:20:30",
        "02/01/2024",
        "pages 10-20 and 1021-1030",
        "978-3-16-148410-0",
        "0-306-40615-2",
        "9783161484100",
        "5f4dcc3b5aa765d61d8327deb882cf99",
        "a4532015112830366b",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "123e4567-e89b-12d3-a456-426614174000",
        "6.02214076e23 and 1.380649e-23",
        "3.14159265358979 and 0.1234567890123",
        "1,234,567.89 or 1.234.567.890",
        "1234567890",
        "1024 × 768",
        "00:1A:2B:3C:4D:5E at 12:30:45",
        "127.0.0.1 and ::1 and ::",
        "a[::2], x[1::2], std::vector, abc::def",
        "DE89 3704 0044 0532 0130 01",
        "4532015112830367",
        "999.1.1.1",
        "user@localhost and @handle and a@b",
        "token = tokenizer_word_default",
        "key: abcdefghijklmnop",
        "token = self.ec2_backend.next_token",
        "private_key = base64.standard_b64decode(text)",
        "api_key = key1_of_the_index.lookup",
        'password = "password1"',
        'password: "<your-p4ssword>"',
        'password = "${DB_PW_1}"',
        'password: "***"',
        'password = "string"',
        "the password: it has 8 letters",
        "PASSWORD=$(cat pw1)",
        "Authorization: Basic authentication",
        "pwd=/home/bob1",
        "2002 45 597 604 12139608",
        "http://example.com:8080/a@b",
        "RFC 2822 section 3.4.1",
        "PMID: 12345678",
    ],
)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert redacted(text) == text


def test_kinds_can_be_chosen() -> None:
    text = "a@example.com 192.168.1.17"
    assert redacted(text, kinds=["IP"]) == "a@example.com [IP]"
    assert redacted(text, kinds=[]) == text


def test_national_phone_numbers_count_in_the_countries_named() -> None:
    assert redacted("Tel. 030 901820", phone_regions=["DE"]) == "Tel. [PHONE]"
    assert redacted("Tel. 030 901820") == "Tel. 030 901820"


def test_title_and_metadata_are_redacted_and_counted_but_not_the_identity() -> None:
    mail = "a@example.com"
    document = SourceDocument(mail, f"to {mail}", mail, "text/plain", mail, {mail: f"cc {mail}"})
    found = redact(document, REDACTOR)
    assert (found.text, found.title, dict(found.metadata)) == (
        "to [EMAIL]",
        "[EMAIL]",
        {"[EMAIL]": "cc [EMAIL]"},
    )
    assert (found.id, found.uri, dict(found.redactions)) == (mail, mail, {"EMAIL": 4})


def test_a_value_of_the_metadata_is_read_along_with_its_key() -> None:
    metadata = {
        "ssn": "536904399",
        "password": "'hunter2'",
        "n": "536904399",
        "nhs no": "4010232137",
    }
    found = redact(SourceDocument("d", "x", metadata=metadata), REDACTOR)
    assert dict(found.metadata) == {
        "n": "536904399",
        "nhs no": "[UK_NHS]",
        "password": "'[SECRET]'",
        "ssn": "[US_SSN]",
    }
    assert dict(found.redactions) == {"SECRET": 1, "UK_NHS": 1, "US_SSN": 1}


def test_two_keys_that_become_one_placeholder_keep_both_values() -> None:
    for order in (("a@example.com", "b@example.com"), ("b@example.com", "a@example.com")):
        metadata = {key: f"of {key[0]}" for key in order}
        found = redact(SourceDocument("d", "x", metadata=metadata), REDACTOR)
        assert dict(found.metadata) == {"[EMAIL]": "of a, of b"}


def test_the_fingerprint_knows_whose_numbering_plans_were_read() -> None:
    assert REDACTOR.fingerprint_extra().keys() == {"phonenumbers", "python-stdnum"}


def test_without_a_redactor_nothing_changes() -> None:
    found = redact(SourceDocument("d", "a@example.com", "t", metadata={"k": "v"}), None)
    assert (found.text, found.title, found.metadata, found.redactions) == (
        "a@example.com",
        "t",
        {"k": "v"},
        {},
    )


@given(st.lists(st.sampled_from([v for vs in FOUND.values() for v in vs]), max_size=5), st.text())
def test_no_planted_value_survives_whatever_stands_around(values: list[str], noise: str) -> None:
    text = f" {noise} ".join(f"\n{value}\n" for value in values)
    result = redacted(text)
    for value in values:
        assert value not in result or value in noise
    assert redacted(text) == result


def test_a_long_text_without_findings_is_quick() -> None:
    assert redacted("word 12 and a.b@ or 1.2 " * 20_000).startswith("word")


@pytest.mark.parametrize(
    ("settings", "key"), [({"kinds": ["NAME"]}, "kinds"), ({"kind": []}, "unknown key 'kind'")]
)
def test_wrong_settings_are_refused(settings: dict, key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        PatternRedactor(settings)


def test_it_is_a_redactor_that_travels_to_workers() -> None:
    assert isinstance(REDACTOR, Redactor)
    assert pickle.loads(pickle.dumps(REDACTOR)).fingerprint == REDACTOR.fingerprint
    assert PatternRedactor(kinds=["IP"]).fingerprint != REDACTOR.fingerprint
