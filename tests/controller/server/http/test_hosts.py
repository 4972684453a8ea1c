"""Hosts that a request to the HTTP port may name: no page of another site reads it (DNS rebinding)."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from controller.config.node import NodeConfig
from controller.server.http.hosts import Hosts
from tests.controller.server.http.test_connection import LIVE, PROPERTIES, exchange
from tests.controller.server.http.test_tls import TOKEN, asked, context_of, put, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.controller.server.http.test_tls import Port

PLACES = {
    "controller.quorum.voters": "1@kraft-0.kraft.svc:9093,2@controller-2:9093",
    "listeners": "CONTROLLER://bound.example:9093",
    "advertised.listeners": "CONTROLLER://kraft-0.example.org:9093",
    "kraft.http.listener": "node-1.example:0",
}


@pytest.mark.parametrize(
    "host",
    [
        "", "localhost", "localhost:9644", "LOCALHOST.", "127.0.0.1", "10.1.2.3:9644", "[::1]:9644", "[fd00::7]",
        "kraft-0.kraft.svc:9644", "kraft-0", "controller-2", "bound.example", "kraft-0.example.org", "node-1.example",
        socket.gethostname(), "proxy.example.net:443",
    ],
)  # fmt: skip
def test_addresses_and_names_of_the_quorum_are_served(host):
    assert Hosts(NodeConfig({**PROPERTIES, **PLACES, "kraft.http.hosts": "Proxy.example.net"})).has(host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.com", "evil.example.com:9644", "kraft-0.kraft", "example.org", "localhost.evil.com",
        "127.0.0.1.nip.io", "kraft-0.kraft.svc.evil.com", "127.1", "::1", "*", "\xff", "a b", "\0",
    ],
)  # fmt: skip
def test_any_other_name_is_not(host):
    assert not Hosts(NodeConfig({**PROPERTIES, **PLACES})).has(host)


def test_an_asterisk_allows_every_name():
    assert Hosts(NodeConfig({**PROPERTIES, "kraft.http.hosts": "*"})).has("evil.example.com")


@pytest.mark.parametrize(
    "request_bytes",
    [
        LIVE.replace(b"localhost", b"evil.example.com:9644"),
        LIVE.replace(b"/livez", b"/quorum").replace(b"localhost", b"evil.example.com"),
        LIVE.replace(b"/livez", b"http://evil.example.com/events"),
        LIVE.replace(b"GET /livez", b"HEAD /metrics").replace(b"localhost", b"evil.example.com"),
    ],
)
def test_a_request_for_the_name_of_another_site_is_refused_and_logged_once(request_bytes):
    async def talk(port: Port) -> None:
        for _ in range(3):
            assert (await exchange(port, request_bytes)).split(b" ")[1] == b"421"
        assert port.reasons() == ["the request is for a host not in kraft.http.hosts"]

    run({}, talk)


def test_a_request_with_a_token_or_over_tls_may_name_any_host(tmp_path: Path):
    (tmp_path / "tokens").write_text(TOKEN)
    named = LIVE.replace(b"Host: localhost", b"Host: proxy.example.net\r\nConnection: close")
    bearing = named.replace(b"Connection", f"Authorization: Bearer {TOKEN}\r\nConnection".encode())

    async def with_token(port: Port) -> None:
        assert [(await asked(port, each))[0] for each in (bearing, named)] == [200, 421]

    async def over_tls(port: Port) -> None:
        assert (await asked(port, named, context_of()))[0] == 200

    run({"kraft.http.token.path": str(tmp_path / "tokens")}, with_token)
    run(put(tmp_path, "node"), over_tls)
