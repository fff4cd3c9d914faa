"""Credentials: by their published shape, or by the name that a value is given to."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

# Each with a prefix of its own, so that a look for the prefixes tells most texts at once.
_SHAPES = (
    r"-----BEGIN[ ](?:[A-Z0-9 ]+[ ])?PRIVATE[ ]KEY(?:[ ]BLOCK)?-----[\s\S]*?"
    r"(?:-----END[ ][A-Z0-9 ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----|\Z)",
    r"PuTTY-User-Key-File-[23]:[\s\S]*?Private-MAC:[ ]?[0-9a-f]+",
    r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,}",
    r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",  # AWS
    r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b",  # GitHub
    r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b",
    r"\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_-]{20,}",  # GitLab
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"\bxapp-[0-9]-[A-Za-z0-9-]{10,}",
    r"\bhooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}",
    r"\bdiscord(?:app)?\.com/api/webhooks/[0-9]{15,22}/[A-Za-z0-9_-]{40,}",
    # OpenAI, Anthropic, OpenRouter, DeepSeek
    r"\bsk-(?:ant-|proj-|live-|test-|svcacct-|admin-|or-)?[A-Za-z0-9_-]{20,}",
    r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",  # Stripe
    r"\bwhsec_[A-Za-z0-9+/=]{24,}",
    r"\bAIza[A-Za-z0-9_-]{35}",  # Google
    r"\bya29\.[A-Za-z0-9_-]{20,}",
    r"\bGOCSPX-[A-Za-z0-9_-]{20,}",
    r"\bhf_[A-Za-z0-9]{30,}\b",  # Hugging Face
    r"\bgsk_[A-Za-z0-9]{40,}\b",  # Groq
    r"\bxai-[A-Za-z0-9]{60,}\b",  # xAI
    r"\br8_[A-Za-z0-9]{30,}\b",  # Replicate
    r"\bpypi-[A-Za-z0-9_-]{50,}",
    r"\bnpm_[A-Za-z0-9]{36}\b",
    r"\brubygems_[a-f0-9]{48}\b",
    r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}",  # Docker
    r"\bdo[opr]_v1_[a-f0-9]{64}\b",  # DigitalOcean
    r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}",  # SendGrid
    r"\bkey-[0-9a-f]{32}\b",  # Mailgun
    r"\bSK[0-9a-f]{32}\b",  # Twilio
    r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,33}\b",  # Telegram
    r"\bsh(?:pat|pca|ppa|pss)_[a-fA-F0-9]{32}\b",  # Shopify
    r"\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}",  # Square
    r"\bdapi[a-f0-9]{32}(?:-[0-9])?\b",  # Databricks
    r"\b(?:ntn|lin_api|figd|pscale_(?:tkn|pw|oauth)|sbp|glsa|glc|dp\.(?:pt|st))_?[.]?"
    r"[A-Za-z0-9_=-]{30,}",  # Notion, Linear, Figma, PlanetScale, Supabase, Grafana, Doppler
    r"\bATATT3[A-Za-z0-9_=-]{60,}",  # Atlassian
    r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}",  # Vault
    r"\bNRAK-[A-Z0-9]{27}\b",  # New Relic
    # JSON Web Tokens, signed and encrypted
    r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r"\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){3}\.[A-Za-z0-9_-]{8,}",
)
# Letters of a script without spaces between words end a key, as spaces do.
_SHAPED = re.compile("|".join(f"(?:{shape})" for shape in _SHAPES), re.ASCII)
_MARKS = (
    *("-----BEGIN", "PuTTY-User-Key", "AGE-SECRET-KEY", "AKIA", "ASIA", "ABIA", "ACCA"),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-"),
    *("glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-", "xox", "xapp-"),
    *("hooks.slack", "/webhooks/", "sk-", "sk_", "rk_", "pk_", "whsec_", "AIza", "ya29."),
    *("GOCSPX-", "hf_", "gsk_", "xai-", "r8_", "pypi-", "npm_", "rubygems_", "dckr_", "_v1_"),
    *("SG.", "key-", "SK", ":AA", "shpat_", "shpca_", "shppa_", "shpss_", "sq0", "dapi"),
    *("ntn_", "lin_api_", "figd_", "pscale_", "sbp_", "glsa_", "glc_", "dp.", "ATATT3"),
    *("hvs.", "hvb.", "hvr.", "NRAK-", "eyJ"),
)

# "name = value" where the value looks random.
_NAMES = ("pass", "secret", "token", "key", "auth", "pwd", "cred")
_ASSIGNED = re.compile(
    r"""(?ix) (?:pass(?:word|wd|phrase)?|secret|token|credentials?
          |(?:api|access|account|auth|client|encryption|master|private|shared|signing)[_-]?key|auth)
        [\w-]{0,20} ["']? \s* (?:[:=]|=>) \s* ["'`]? (?P<scheme>(?:bearer|basic|token)[ ]+)?
        (?P<value>[A-Za-z0-9_/+=.~-]{12,200})"""
)
# A password may be short and need not look random, but then it has to stand in quotes, be set in
# capitals as in an environment file, or end with the `;` of a connection string.
_QUOTED_PASSWORD = re.compile(
    r"""(?ix) (?:password|passwd|passphrase|passwort|kennwort) ["']? \s* (?:[:=]|=>) \s*
        (?P<quote>["'`]) (?P<value>(?:(?!(?P=quote))[^\s\\]){5,128}) (?P=quote)"""
)
_SET_PASSWORD = re.compile(
    r"(?m)^[ \t]*(?:export[ ]+|set[ ]+|-[ ]+)?[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE)="
    r"(?P<value>[^\s'\"]{5,128})"
)
_JOINED_PASSWORD = re.compile(r"(?i)(?<![A-Za-z])(?:pwd|password)=(?P<value>[^\s;'\"&]{4,128});")
# What documentation writes where a password would be.
_PLACEHOLDER = re.compile(
    r"(?i)^[\[<{$%*(@]|pass|secret|example|your|change|placeholder|redacted|xxx|\.\.\.|\*\*\*|…"
)
_URL_PASSWORD = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,64}:(?P<value>[^\s/]{1,128})@")
_SIGNATURE = re.compile(
    r"[?&](?:sig|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature)=(?P<value>[A-Za-z0-9%/+=_-]{16,})"
)
_RANDOM_BITS = 3.0
# `self.ec2_backend.volumes`, `bm25-index`, `ec2.amazonaws.com`: names of programs, joined.
_PIECE = r"(?:(?:[A-Z]?[a-z]{2,}|[A-Z]{2,})+[0-9]{0,3}|[0-9]{1,8})"
_JOINED_NAMES = re.compile(rf"_*{_PIECE}(?:[._/-]+{_PIECE})+_*")


def secrets(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the credentials in `text`; they may overlap."""
    # Most texts hold none of these marks, and looking for a plain string is almost free.
    if any(mark in text for mark in _MARKS):
        for match in _SHAPED.finditer(text):
            yield match.span()
    if "://" in text:
        for match in _URL_PASSWORD.finditer(text):
            yield match.span("value")
        for match in _SIGNATURE.finditer(text):
            yield match.span("value")
    lower = text.lower()
    if any(name in lower for name in _NAMES):
        for match in _ASSIGNED.finditer(text):
            called = text[match.end() : match.end() + 1] == "("
            named = called or _JOINED_NAMES.fullmatch(match["value"])
            encoded = match["scheme"] and not match["value"].islower()
            if encoded or (_looks_random(match["value"]) and not named):
                yield match.span("value")
        for pattern in (_QUOTED_PASSWORD, _SET_PASSWORD, _JOINED_PASSWORD):
            for match in pattern.finditer(text):
                if _is_password(match["value"]):
                    yield match.span("value")


def _looks_random(value: str) -> bool:
    """Whether digits and letters mix and the characters carry `_RANDOM_BITS` bits each or more."""
    if not (any(char.isdigit() for char in value) and any(char.isalpha() for char in value)):
        return False
    counts = Counter(value).values()
    bits = -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
    return bits >= _RANDOM_BITS


def _is_password(value: str) -> bool:
    """Whether it is no placeholder, and more than a word: letters along with something else."""
    plain = value.isalpha() or not any(char.isalpha() for char in value)
    return not plain and not _PLACEHOLDER.search(value)
