"""Where a server listens: an address, and whether anybody beyond this machine can reach it."""

from __future__ import annotations

import ipaddress
import os
import socket
import stat
from dataclasses import dataclass
from pathlib import Path

from laya_rag.serving.errors import ServerSetupError

_UNIX = "unix:"


@dataclass(frozen=True, slots=True)
class Transport:
    """A host and a port, or the path of a Unix socket.

    Raises `ServerSetupError` for an impossible port.
    """

    host: str = "127.0.0.1"
    port: int = 0
    path: Path | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.port < 2**16:
            raise ServerSetupError(f"a port is a number from 0 to 65535, not {self.port}")

    @classmethod
    def parse(cls, text: str, default_port: int) -> Transport:
        """`HOST:PORT`, `[IPV6]:PORT`, `HOST` or `unix:PATH`; raises `ServerSetupError`."""
        if text.startswith(_UNIX):
            return cls(path=Path(text.removeprefix(_UNIX)))
        host, colon, port = text.rpartition(":")
        if not colon or (text.startswith("[") and text.endswith("]")):
            host, port = text, str(default_port)
        host = host.removeprefix("[").removesuffix("]")
        if not host or not (port.isascii() and port.isdigit()):
            raise ServerSetupError(f"an address is HOST:PORT or unix:PATH, not {text!r}")
        return cls(host, int(port))

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it.

        A name counts when every address that it stands for is one of the machine itself.
        """
        if self.path is not None:
            return True
        return all(
            ipaddress.ip_address(address.partition("%")[0]).is_loopback
            for _, address in self._addresses()
        )

    def bind(self) -> socket.socket:
        """A listening socket; raises `ServerSetupError` when the address cannot be had.

        The file of a Unix socket is for its owner alone, and replaces one that nobody serves.
        """
        try:
            if self.path is not None:
                return self._bind_path(self.path)
            family, address = self._addresses()[0]
            return socket.create_server((address, self.port), family=family)
        except OSError as error:
            where = str(self.path) if self.path is not None else f"{self.host}:{self.port}"
            raise ServerSetupError(f"cannot listen on {where}: {error.strerror}") from error

    def _bind_path(self, path: Path) -> socket.socket:
        if path.exists() and stat.S_ISSOCK(path.stat().st_mode) and not _served(path):
            path.unlink()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
        except OSError:
            listener.close()
            raise
        finally:
            os.umask(before)
        listener.listen()
        return listener

    def _addresses(self) -> list[tuple[socket.AddressFamily, str]]:
        try:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise ServerSetupError(f"there is no host {self.host!r}") from error
        return [(family, str(address[0])) for family, _, _, _, address in found]


class LoopbackTransport(Transport):
    """A transport that only this machine can reach.

    Raises `ServerSetupError` for any address but loopback or a Unix socket.
    """

    def __post_init__(self) -> None:
        Transport.__post_init__(self)
        if not self.loopback:
            raise ServerSetupError(
                f"{self.host} can be reached from other machines: give callers tokens "
                "(--token-file), or listen on 127.0.0.1 or unix:PATH"
            )


def transport_for(address: str, default_port: int, *, tokens: bool) -> Transport:
    """The address as a transport: beyond loopback only where callers have tokens.

    Raises `ServerSetupError`.
    """
    transport = Transport.parse(address, default_port)
    if not tokens:
        return LoopbackTransport(transport.host, transport.port, transport.path)
    return transport


def _served(path: Path) -> bool:
    """Whether somebody answers on a Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return False
        return True
