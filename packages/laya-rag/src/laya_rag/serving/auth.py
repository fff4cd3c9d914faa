"""Who calls: bearer tokens, and what each of them may see and do."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from laya_rag.access import Access
from laya_rag.serving.errors import ServerSetupError, UnauthorizedError

Scope = Literal["read", "write"]

#: A token is a secret, not a password: shorter ones can be guessed.
LEAST_LENGTH = 16

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, what that caller may see, and what it may do.

    `access` is None where the corpus's own settings say what may be seen.
    """

    name: str
    access: Access | None
    scopes: frozenset[Scope] = frozenset({"read"})


#: Whoever calls a server that has no tokens: the user who started it.
OWNER = Caller("owner", None, frozenset({"read", "write"}))


class _Entry(BaseModel):
    """A `[[token]]` of a token file."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    name: str = Field(min_length=1)
    token: str | None = None
    sha256: str | None = None
    tenants: list[str] | Literal["*"]
    scopes: list[Scope] = ["read"]
    min_trust: str = "untrusted"


class BearerAuth:
    """Callers by the SHA-256 of their token; the tokens themselves are not kept.

    A token is compared with every hash, each in constant time, so that neither the time nor the
    order says how near a guess was.
    """

    def __init__(self, callers: dict[str, Caller]) -> None:
        """`callers` by the SHA-256 of their token, 64 lower-case hex digits.

        Raises `ServerSetupError` without callers, for a malformed hash, for two callers of one
        name, and for one that may write but see some tenants only: an index belongs to all.
        """
        if not callers:
            raise ServerSetupError("there is no token: nobody could call")
        for digest, caller in callers.items():
            if not _DIGEST.fullmatch(digest):
                raise ServerSetupError(f"{caller.name!r}: a hash is 64 lower-case hex digits")
            if "write" in caller.scopes and caller.access is not None and caller.access.tenants:
                raise ServerSetupError(
                    f"{caller.name!r} sees some tenants only and cannot have the scope write: "
                    "writing changes the index of all"
                )
        names = [caller.name for caller in callers.values()]
        if len(set(names)) < len(names):
            raise ServerSetupError("two tokens have one name; callers are told apart by it")
        self._callers = tuple((bytes.fromhex(key), caller) for key, caller in callers.items())

    @classmethod
    def of(cls, tokens: dict[str, Caller]) -> BearerAuth:
        """Callers by token.

        Raises `ServerSetupError` for a token that is not printable ASCII without blanks or is
        shorter than 16 characters, and as the constructor.
        """
        return cls({digest_of(token, caller.name): caller for token, caller in tokens.items()})

    @classmethod
    def from_file(cls, path: Path) -> BearerAuth:
        """The tokens of a TOML file with a `[[token]]` for each; see `docs/mcp.md`.

        Raises `ServerSetupError`, which names the file and the entry and never a token.
        """
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise ServerSetupError(f"cannot read {str(path)!r}: {error.strerror}") from error
        except ValueError:
            # Not chained: the text of a parser's error can quote the line with the token.
            raise ServerSetupError(f"{str(path)!r} is no TOML file in UTF-8") from None
        entries = data.get("token")
        if set(data) != {"token"} or not isinstance(entries, list):
            raise ServerSetupError(f"{str(path)!r} holds [[token]] entries and nothing else")
        callers: dict[str, Caller] = {}
        for number, raw in enumerate(entries, start=1):
            digest, caller = _read(raw, f"{path}, token {number}")
            if digest in callers:
                raise ServerSetupError(f"{path}, token {number} is the same as another one")
            callers[digest] = caller
        return cls(callers)

    @classmethod
    def from_environment(cls, variable: str) -> BearerAuth | None:
        """The one token in that variable, which may see and do everything; None without it."""
        token = os.environ.get(variable)
        if token is None:
            return None
        scopes: frozenset[Scope] = frozenset({"read", "write"})
        return cls.of({token: Caller("environment", Access(all_tenants=True), scopes)})

    def caller(self, token: str | None) -> Caller:
        """Whose token this is; raises `UnauthorizedError`, also for one that is not ASCII."""
        if not isinstance(token, str) or not token.isascii():
            raise UnauthorizedError
        given = hashlib.sha256(token.encode("ascii")).digest()
        found: Caller | None = None
        for digest, caller in self._callers:
            if hmac.compare_digest(digest, given):
                found = caller
        if found is None:
            raise UnauthorizedError
        return found

    def __repr__(self) -> str:
        return f"BearerAuth({len(self._callers)} callers)"


def bearer(header: str | None) -> str | None:
    """The token of an `Authorization` header; None for anything but a bearer token."""
    kind, _, token = (header or "").partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else None


def digest_of(token: str, name: str) -> str:
    """The SHA-256 of a token, in hex digits; raises `ServerSetupError` naming whose it is."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ServerSetupError(f"the token of {name!r} must be printable ASCII without blanks")
    if len(token) < LEAST_LENGTH:
        raise ServerSetupError(
            f"the token of {name!r} has fewer than {LEAST_LENGTH} characters; "
            "make one with `openssl rand -hex 32`"
        )
    return hashlib.sha256(token.encode("ascii")).hexdigest()


def _read(raw: object, where: str) -> tuple[str, Caller]:
    try:
        entry = _Entry.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ServerSetupError(f"{where}: {place}: {first['msg']}") from None
    if (entry.token is None) == (entry.sha256 is None):
        raise ServerSetupError(f"{where}: give either token or sha256")
    if not entry.tenants:
        raise ServerSetupError(f'{where}: name tenants, or "*" for all of them')
    everything = entry.tenants == "*"
    tenants: Sequence[str] = () if everything else tuple(entry.tenants)
    access = Access(tenants, everything, entry.min_trust)
    digest = entry.sha256 or digest_of(entry.token or "", entry.name)
    return digest, Caller(entry.name, access, frozenset(entry.scopes))
