"""The HTTP port over TLS and with tokens: allowed clients, a certificate that is renewed, and handshakes that stall."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import shutil
import socket
import ssl
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from controller.config.node import NodeConfig
from controller.node.logging.logs import Log
from controller.server.http.port import HANDSHAKES_MIN, HttpPort
from raft.security import sessions
from tests.controller.server.http.test_connection import LIVE, PROPERTIES
from tests.controller.server.processes import format_directory, free_port, run_to_end, running, write_properties
from tests.deploy.watched import eventually
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

TLS = Path(__file__).parents[3] / "data" / "tls"
TOKEN = "0123456789abcdef"
PAGE = LIVE.replace(b"/livez", b"/")


class Port(HttpPort):
    """notes: the events it logged."""

    notes: list[tuple[str, dict[str, Any]]]

    def reasons(self) -> list[str]:
        return [fields["reason"] for _, fields in self.notes]


def put(directory: Path, name: str) -> dict[str, str]:
    """Make the certificate of this name the port's; the keys that name its files."""
    for kind in ("pem", "key"):
        shutil.copy(TLS / f"{name}.{kind}", directory / f"new.{kind}")
        (directory / f"new.{kind}").rename(directory / f"http.{kind}")
    return {
        "kraft.http.tls.certificate.path": str(directory / "http.pem"),
        "kraft.http.tls.key.path": str(directory / "http.key"),
    }


CLIENTS = {"kraft.http.tls.client.ca.path": str(TLS / "ca.pem"), "kraft.http.allow": "CN=watcher,DNS=x"}


@contextlib.asynccontextmanager
async def opened(keys: dict[str, str]) -> AsyncIterator[Port]:
    """A port without a node."""
    log = Log("json", "FATAL")
    port = Port(asyncio.get_running_loop(), NodeConfig({**PROPERTIES, **keys}), log)
    port.notes = []
    port._log = lambda name, **fields: port.notes.append((name, fields))  # type: ignore[assignment]
    await port.listen()
    try:
        yield port
    finally:
        port.close()


def run(keys: dict[str, str], talk: Callable[[Port], Awaitable[None]]) -> None:
    async def with_port() -> None:
        async with opened(keys) as port:
            await asyncio.wait_for(talk(port), 30)

    asyncio.run(with_port())


def context_of(name: str | None = None) -> ssl.SSLContext:
    """Of a client, with the certificate of this name."""
    context = ssl.create_default_context(cafile=str(TLS / "ca.pem"))
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if name is not None:
        context.load_cert_chain(TLS / f"{name}.pem", TLS / f"{name}.key")
    return context


async def asked(port: Port, request: bytes, context: ssl.SSLContext | None = None) -> tuple[int, bytes, str]:
    """Status, body, and the name in the port's certificate; 0 if the port answers nothing."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port.port, ssl=context)
    except (ssl.SSLError, ConnectionError):
        return 0, b"", ""
    shown = writer.get_extra_info("peercert")
    name = "" if shown is None else dict(pair for entry in shown["subject"] for pair in entry)["commonName"]
    writer.write(request.replace(b"Host: localhost", b"Host: localhost\r\nConnection: close"))
    try:
        found = await reader.read()
    except (ssl.SSLError, ConnectionError):
        found = b""
    writer.transport.abort()
    head, _, body = found.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]) if head else 0, body, name


def test_the_port_is_served_over_tls_and_not_in_plain_text(tmp_path: Path) -> None:
    async def talk(port: Port) -> None:
        assert (await asked(port, LIVE, context_of()))[0] == 200
        assert (await asked(port, LIVE))[0] == 0
        assert port.reasons() == ["the client does not speak TLS: use https://"]

    run(put(tmp_path, "node"), talk)


def test_a_page_comes_whole_over_tls(tmp_path: Path) -> None:
    async def talk(port: Port) -> None:
        plain = await asked(port, PAGE, context_of())
        assert (plain[0], len(plain[1]) > 10_000) == (200, True)

    run(put(tmp_path, "node"), talk)


def test_new_connections_get_a_renewed_certificate(tmp_path: Path) -> None:
    async def talk(port: Port) -> None:
        before = (await asked(port, LIVE, context_of()))[2]
        put(tmp_path, "renewed")
        after = (await asked(port, LIVE, context_of()))[2]
        (tmp_path / "http.pem").write_text("half a certif")
        kept = (await asked(port, LIVE, context_of()))[2]

        assert (before, after, kept) == ("node", "node, renewed", "node, renewed")

    run(put(tmp_path, "node"), talk)


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("watcher", 200, None),
        ("stranger", 403, "the client is CN=stranger, DNS=stranger.example.org; kraft.http.allow does not list it"),
        ("foreign", 0, "its certificate is of no authority in kraft.http.tls.client.ca.path"),
        (None, 0, "it sends no certificate: give it one of kraft.http.tls.client.ca.path"),
    ],
)
def test_a_client_needs_a_certificate_that_is_allowed(
    tmp_path: Path, name: str | None, status: int, reason: str | None
) -> None:
    async def talk(port: Port) -> None:
        for path in (b"/livez", b"/"):
            found = await asked(port, LIVE.replace(b"/livez", path), context_of(name))
            assert found[0] == status
        assert port.reasons() == ([] if reason is None else [reason])

    run({**put(tmp_path, "node"), **CLIENTS}, talk)


def test_a_tls_session_is_not_resumed_when_the_certificate_has_expired(tmp_path: Path, monkeypatch: Any) -> None:
    context = context_of("watcher")
    context.maximum_version = ssl.TLSVersion.TLSv1_2

    def ask(port: int, session: ssl.SSLSession | None = None) -> tuple[bytes, ssl.SSLSocket]:
        """What the port answers, and the connection, which stays open."""
        raw = socket.create_connection(("127.0.0.1", port))
        found = context.wrap_socket(raw, server_hostname="localhost", session=session)
        try:
            found.sendall(LIVE)
            return found.recv(12), found
        except OSError:
            return b"", found

    async def talk(port: Port) -> None:
        answer, first = await asyncio.to_thread(ask, port.port)
        again, second = await asyncio.to_thread(ask, port.port, first.session)
        assert (answer, again, second.session_reused) == (b"HTTP/1.1 200", b"HTTP/1.1 200", True)

        monkeypatch.setattr(sessions, "wall_s", lambda: time.time() + 365 * 24 * 3600 * 200)
        refused, third = await asyncio.to_thread(ask, port.port, first.session)

        assert (refused, third.session_reused) == (b"", True)
        assert port.reasons() == ["TLS failed: its certificate has expired since its TLS session began: renew it"]
        for connection in (first, second, third):
            connection.close()

    run({**put(tmp_path, "node"), **CLIENTS}, talk)


def test_tls_sessions_are_forgotten_when_their_connections_end_or_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "CACHED_MAX", 2)
    context = context_of("watcher")
    context.maximum_version = ssl.TLSVersion.TLSv1_2

    async def talk(port: Port) -> None:
        for _ in range(5):
            assert (await asked(port, LIVE, context))[0] == 200
        while port._connections:
            await asyncio.sleep(0.01)
        gc.collect()

        # From Python 3.14 on a connection that ends leaves its session in the cache.
        assert port._security.context().session_stats()["number"] <= (0 if sys.version_info < (3, 14) else 2)

    run({**put(tmp_path, "node"), **CLIENTS}, talk)


def test_a_request_needs_a_token_and_a_probe_without_one_gets_the_verdict_alone(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(TOKEN)

    def bearing(token: str, request: bytes = PAGE) -> bytes:
        return request.replace(b"Host: localhost", f"Host: localhost\r\nAuthorization: Bearer {token}".encode())

    async def talk(port: Port) -> None:
        refused = [(await asked(port, request))[0] for request in (PAGE, bearing("wrong"), bearing(TOKEN + "x"))]
        events = await asked(port, PAGE.replace(b"GET /", b"GET /events"))
        served = await asked(port, bearing(TOKEN))
        short, whole = await asked(port, LIVE), await asked(port, bearing(TOKEN, LIVE))

        assert refused == [401] * 3
        assert (events[0], served[0]) == (401, 200)
        assert json.loads(short[1]) == {"status": "alive", "checks": []}
        assert [check["check"] for check in json.loads(whole[1])["checks"]] == ["loop", "disk"]
        assert port.reasons() == ["it sends no token of kraft.http.token.path"]  # once a minute

    run({"kraft.http.token.path": str(tmp_path / "tokens")}, talk)


def test_handshakes_that_stall_do_not_keep_a_client_out(tmp_path: Path) -> None:
    async def talk(port: Port) -> None:
        stalled = [await asyncio.open_connection("127.0.0.1", port.port) for _ in range(3 * HANDSHAKES_MIN)]
        for _, writer in stalled:
            writer.write(b"\x16")
        while len(port._handshakes) > HANDSHAKES_MIN or len(port.notes) < 1:
            await asyncio.sleep(0.01)
        assert (await asked(port, LIVE, context_of()))[0] == 200
        assert len(port._connections) <= 1
        for _, writer in stalled:
            writer.transport.abort()

    run(put(tmp_path, "node"), talk)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"kraft_http_tls_key_path": str(TLS / "missing.key")}, f"{TLS / 'missing.key'}: No such file or directory"),
        ({"kraft_http_token_path": str(TLS / "README.md")}, "README.md, line 1: a token has 16 to 4096"),
    ],
)
def test_files_that_cannot_be_used_refuse_the_start_in_one_line(
    tmp_path: Path, keys: dict[str, str], text: str
) -> None:
    keys = {"kraft_http_tls_certificate_path": str(TLS / "node.pem"), "kraft_http_tls_key_path": str(TLS / "node.key"),
            **keys}  # fmt: skip
    properties = write_properties(tmp_path, free_port(), kraft_http_listener="127.0.0.1:0", **keys)
    format_directory(properties)

    refused = run_to_end(properties)

    assert refused.returncode == 1
    assert refused.stderr.startswith("kraftctl start: kraft.http.listener: ")
    assert (text in refused.stderr, refused.stderr.count("\n")) == (True, 1)


def test_a_probe_takes_what_it_needs_from_the_configuration_or_from_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    (tmp_path / "tokens").write_text(TOKEN)
    keys = {
        "kraft_http_listener": f"127.0.0.1:{port}", "kraft_http_token_path": str(tmp_path / "tokens"),
        **{key.replace(".", "_"): value for key, value in {**put(tmp_path, "node"), **CLIENTS}.items()},
        "kraft_http_allow": "*",
    }  # fmt: skip
    at = ["probe", "ready", "--at", f"127.0.0.1:{port}"]
    with running(tmp_path, free_port(), **keys):
        own = ["probe", "ready", "-c", str(tmp_path / "controller.properties")]
        eventually(lambda: main(own) == 0, "the node is ready")
        capsys.readouterr()

        answers = []
        for arguments in (
            own,
            [*at, "--ca", str(TLS / "ca.pem"), "--certificate", str(TLS / "watcher.pem"), "--key",
             str(TLS / "watcher.key"), "--token", str(tmp_path / "tokens")],
            [*at, "--ca", str(TLS / "ca.pem"), "--certificate", str(TLS / "watcher.pem"), "--key",
             str(TLS / "watcher.key")],
            [*at, "--ca", str(TLS / "foreign.pem")],
            [*at, "--ca", str(TLS / "README.md")],
            at,
        ):  # fmt: skip
            code = main(arguments)
            said = capsys.readouterr()
            answers.append((code, len(json.loads(said.out)["checks"]) if said.out else said.err))

    assert [code for code, _ in answers] == [0, 0, 0, 1, 1, 1]
    assert (answers[0][1], answers[1][1], answers[2][1]) == (3, 3, 0)
    assert "certificate verify failed" in str(answers[3][1])
    assert "the certificates in" in str(answers[4][1])
    assert all(TOKEN not in str(answer) for answer in answers)


def test_a_node_with_secured_listeners_warns_of_an_open_port(tmp_path: Path) -> None:
    keys = {
        "kraft_log_format": "json", "kraft_http_listener": "no-such-host.invalid:9644",  # no port is really open
        "listener_security_protocol_map": "CONTROLLER:SSL", "ssl_keystore_type": "PEM",
        "ssl_truststore_type": "PEM", "ssl_truststore_location": str(TLS / "ca.pem"),
        "ssl_keystore_location": str(tmp_path / "node.pem"),
    }  # fmt: skip
    (tmp_path / "node.pem").write_text((TLS / "node.key").read_text() + (TLS / "node.pem").read_text())
    properties = write_properties(tmp_path, free_port(), **keys)
    format_directory(properties)

    lines = run_to_end(properties).stderr.splitlines()

    (warning,) = [json.loads(line) for line in lines if '"edge_open"' in line]
    assert (warning["level"], warning["listener"]) == ("warn", "kraft.http.listener")
    assert "anyone who reaches this port may read the metadata" in warning["reason"]
