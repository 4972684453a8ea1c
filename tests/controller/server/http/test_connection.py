"""The HTTP port with clients of every kind, on real sockets: its responses, and that no client can block it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.config.node import NodeConfig
from controller.node.logging.logs import Log
from controller.server.http import connection as connection_module
from controller.server.http.connection import HEAD_BYTES_MAX
from controller.server.http.port import HttpPort

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

CONNECTIONS_MAX = 4
PROPERTIES = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
    "kraft.http.listener": "127.0.0.1:0",
    "kraft.http.connections.max": str(CONNECTIONS_MAX),
}
LIVE = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"


@contextlib.asynccontextmanager
async def opened() -> AsyncIterator[HttpPort]:
    """A port without a node, which serves HTTP already."""
    port = HttpPort(asyncio.get_running_loop(), NodeConfig(PROPERTIES), Log("json", "FATAL"))
    await port.listen()
    try:
        yield port
    finally:
        port.close()


def run(talk: Callable[[HttpPort], Awaitable[None]]) -> None:
    async def with_port() -> None:
        async with opened() as port:
            await asyncio.wait_for(talk(port), 20)

    asyncio.run(with_port())


async def exchange(port: HttpPort, data: bytes, *, ends: bool = True) -> bytes:
    """All bytes received in response to these, until the port closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port.port)
    writer.write(data)
    if ends:
        writer.write_eof()
    try:
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def test_before_there_is_a_node_liveness_is_served_and_readiness_is_not() -> None:
    async def talk(port: HttpPort) -> None:
        live = await exchange(port, LIVE)
        ready = await exchange(port, LIVE.replace(b"livez", b"readyz"))

        assert live.startswith(b"HTTP/1.1 200 OK\r\n")
        assert json.loads(live.split(b"\r\n\r\n")[1])["status"] == "alive"
        assert ready.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert json.loads(ready.split(b"\r\n\r\n")[1]) == {"status": "starting", "checks": []}

    run(talk)


def test_requests_on_one_connection_are_answered_in_order() -> None:
    async def talk(port: HttpPort) -> None:
        said = await exchange(port, LIVE + LIVE.replace(b"GET /livez", b"GET /nowhere") + LIVE)

        assert re.findall(rb"HTTP/1.1 (\d+)", said) == [b"200", b"404", b"200"]

    run(talk)


def test_a_head_gets_the_headers_of_a_get_without_the_body() -> None:
    async def talk(port: HttpPort) -> None:
        got = await exchange(port, LIVE.replace(b"/livez", b"/"))
        head = await exchange(port, LIVE.replace(b"GET /livez", b"HEAD /"))

        assert head == got.split(b"\r\n\r\n")[0] + b"\r\n\r\n"

    run(talk)


@pytest.mark.parametrize(
    "target", [b"/livez?verbose", b"http://127.0.0.1:9644/livez", b"http://localhost/livez?a=http://y/"]
)
def test_a_target_may_have_a_query_and_a_host(target: bytes) -> None:
    async def talk(port: HttpPort) -> None:
        assert (await exchange(port, LIVE.replace(b"/livez", target))).split(b" ")[1] == b"200"

    run(talk)


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"405"),
        (b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", b"405"),
        (LIVE.replace(b"Host: localhost", b"Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket"), b"200"),
        (LIVE.replace(b"GET", b"POST"), b"405"),
        (LIVE.replace(b"GET", b"DELETE"), b"405"),
        (b"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", b"413"),
        (
            b"GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            b"413",
        ),
        (b"GET /livez HTTP/1.1\r\n\r\n", b"400"),  # no Host
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100) + b"\r\n\r\n", b"400"),  # TLS
        (b"GET /" + b"a" * (HEAD_BYTES_MAX + 100_000), b"431"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20_000, b"431"),
        (LIVE.replace(b"/livez", b"/%2e%2e/etc/passwd"), b"404"),
    ],
)
def test_an_unsupported_request_is_refused_with_its_status(request_bytes: bytes, status: bytes) -> None:
    async def talk(port: HttpPort) -> None:
        assert (await exchange(port, request_bytes)).split(b" ")[1] == status

    run(talk)


def test_a_connection_above_the_limit_replaces_the_one_that_is_idle_longest() -> None:
    async def talk(port: HttpPort) -> None:
        held = []
        for _ in range(CONNECTIONS_MAX):
            held.append(await asyncio.open_connection("127.0.0.1", port.port))
            held[-1][1].write(LIVE)
            await held[-1][0].readuntil(b"\n}\n")

        probe = await exchange(port, LIVE)
        held[1][1].write(LIVE)

        assert probe.startswith(b"HTTP/1.1 200 OK")
        assert await held[0][0].read() == b""
        assert (await held[1][0].readuntil(b"\r\n")) == b"HTTP/1.1 200 OK\r\n"
        for _, writer in held:
            writer.close()

    run(talk)


def test_a_connection_above_the_limit_is_refused_if_all_others_are_busy() -> None:
    async def talk(port: HttpPort) -> None:
        readers = [await asyncio.open_connection("127.0.0.1", port.port) for _ in range(CONNECTIONS_MAX)]
        for reader, writer in readers:
            writer.write(LIVE.replace(b"/livez", b"/events"))
            await reader.readuntil(b"event: log")

        assert await exchange(port, LIVE, ends=False) == b""
        assert len(port._connections) == CONNECTIONS_MAX
        for _, writer in readers:
            writer.close()

    run(talk)


def test_a_connection_with_an_unfinished_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "HEAD_S_MAX", 0.05)

    async def talk(port: HttpPort) -> None:
        assert await exchange(port, b"GET /livez HT", ends=False) == b""

    run(talk)


def test_responses_are_sent_at_a_limited_rate() -> None:
    async def talk(port: HttpPort) -> None:
        loop = asyncio.get_running_loop()
        count = 40

        began_s = loop.time()
        said = await exchange(port, LIVE * count)
        took_s = loop.time() - began_s

        assert said.count(b"HTTP/1.1 200") == count
        assert took_s >= (count - 1) * 0.005 * 0.9

    run(talk)


def test_a_slow_reader_of_events_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.server.http.events.INTERVAL_S", 0.001)
    monkeypatch.setattr("controller.server.http.events.SHARE", 1)

    async def talk(port: HttpPort) -> None:
        port._view = lambda: {"much": "x" * 100_000}  # type: ignore[method-assign]
        port._events._make_view = port._view
        with socket.create_connection(("127.0.0.1", port.port)) as deaf:
            deaf.setblocking(False)
            deaf.send(LIVE.replace(b"/livez", b"/events"))
            while not port._events._readers:
                await asyncio.sleep(0.01)

            while port._connections:
                await asyncio.sleep(0.01)

        assert not port._events._readers

    run(talk)


def test_readers_of_events_are_limited_and_removed_when_they_disconnect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.server.http.port.READERS_MAX", 1)
    monkeypatch.setattr("controller.server.http.events.READERS_MAX", 1)
    ask = LIVE.replace(b"/livez", b"/events")

    async def talk(port: HttpPort) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port.port)
        writer.write(ask)
        first = await reader.readuntil(b"event: log")
        second = await exchange(port, ask)
        writer.close()
        while port._events._readers:
            port._events._send()
            await asyncio.sleep(0.01)
        third = await exchange(port, ask.replace(b"GET", b"HEAD"))

        assert b"Content-Type: text/event-stream" in first
        assert second.split(b" ")[1] == b"503"
        assert third.split(b" ")[1] == b"200"

    run(talk)


@given(st.lists(st.one_of(st.binary(max_size=300), st.sampled_from([LIVE, LIVE[:20], b"\r\n", b"GET "])), max_size=6))
def test_arbitrary_bytes_do_not_stop_the_port(parts: list[bytes]) -> None:
    async def talk(port: HttpPort) -> None:
        await exchange(port, b"".join(parts))

        assert (await exchange(port, LIVE)).startswith(b"HTTP/1.1 200 OK")
        assert not port._connections

    run(talk)
