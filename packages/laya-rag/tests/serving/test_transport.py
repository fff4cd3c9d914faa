from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest
from laya_rag.mcp import LoopbackTransport, ServerSetupError, Transport
from laya_rag.serving import transport as module


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "::1"])
def test_loopback_is_accepted(host: str) -> None:
    assert LoopbackTransport(host, 0).loopback


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "192.0.2.1", "10.0.0.1", "169.254.0.1", "::ffff:192.0.2.1", "2001:db8::1"],
)
def test_everything_else_is_refused(host: str) -> None:
    with pytest.raises(ServerSetupError, match="token-file"):
        LoopbackTransport(host, 0)


def test_a_name_counts_by_every_address_that_it_stands_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def resolve(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        return [
            (socket.AF_INET, 0, 0, "", ("127.0.0.1", port)),
            (socket.AF_INET, 0, 0, "", ("192.0.2.1", port)),
        ]

    monkeypatch.setattr(module.socket, "getaddrinfo", resolve)
    with pytest.raises(ServerSetupError):
        LoopbackTransport("localhost.example", 0)


def test_a_unix_socket_is_for_its_owner_alone(tmp_path: Path) -> None:
    transport = LoopbackTransport.parse(f"unix:{tmp_path / 's'}", 8078)
    with transport.bind():
        assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
        with pytest.raises(ServerSetupError, match="cannot listen"):
            transport.bind()  # somebody is there
    transport.bind().close()  # what was left behind is replaced


def test_a_file_that_is_no_socket_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("mine")
    with pytest.raises(ServerSetupError):
        LoopbackTransport(path=tmp_path / "s").bind()
    assert (tmp_path / "s").read_text() == "mine"


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:80", "127.0.0.1", 80),
        ("localhost", "localhost", 8078),
        ("[::1]:9", "::1", 9),
        ("[::1]", "::1", 8078),
        ("0.0.0.0:0", "0.0.0.0", 0),
    ],
)
def test_addresses_are_read(text: str, host: str, port: int) -> None:
    transport = Transport.parse(text, 8078)
    assert (transport.host, transport.port) == (host, port)


@pytest.mark.parametrize("text", ["", ":80", "h:", "h:x", "h:-1", "h:65536", "h:８０"])
def test_no_addresses(text: str) -> None:
    with pytest.raises(ServerSetupError):
        Transport.parse(text, 8078)


def test_it_binds_and_says_so_when_it_cannot() -> None:
    with LoopbackTransport("127.0.0.1", 0).bind() as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ServerSetupError, match=str(port)):
            LoopbackTransport("127.0.0.1", port).bind()
