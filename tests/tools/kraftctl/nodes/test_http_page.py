"""The HTTP port as a caller: which certificate it trusts, and where the bearer token goes."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from records.java.config_error import ConfigError
from records.messages.configs import DescribeConfigsResponse
from tests.tools.kafka.hostile import hostile_node
from tools.kraftctl.main import main
from tools.kraftctl.nodes.http_page import Caller, HttpPage

if TYPE_CHECKING:
    from collections.abc import Iterator

TLS = Path(__file__).parents[3] / "data" / "tls"
TOKEN = "0123456789abcdef"
DESCRIBE_CONFIGS, DESCRIBE_QUORUM = 32, 55
NOT_LEADER = 6


class Port:
    """Accepts connections, with the TLS certificate of this name, and keeps what they send."""

    def __init__(self, name: str | None) -> None:
        self.received = b""
        self._context = None
        if name is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(TLS / f"{name}.pem", TLS / f"{name}.key")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.number: int = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
                with connection:
                    if self._context is None:
                        self._answer(connection)
                    else:
                        with self._context.wrap_socket(connection, server_side=True) as secured:
                            self._answer(secured)
            except ssl.SSLError:
                continue  # the client has refused the certificate
            except OSError:
                return

    def _answer(self, connection: socket.socket) -> None:
        self.received += connection.recv(1 << 16)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")


@contextmanager
def port_of(name: str | None) -> Iterator[Port]:
    port = Port(name)
    try:
        yield port
    finally:
        port.listener.close()


@pytest.fixture(name="token")
def _token(tmp_path: Path) -> str:
    (tmp_path / "tokens").write_text(TOKEN)
    return str(tmp_path / "tokens")


def chain_file(directory: Path) -> str:
    """The node's certificate, and that of the authority which signed it and others."""
    path = directory / "chain.pem"
    path.write_text((TLS / "node.pem").read_text() + (TLS / "ca.pem").read_text())
    return str(path)


# `renewed` has the names of loopback too, as each tenant of an authority may.
@pytest.mark.parametrize("name", ["stranger", "renewed"])
def test_another_certificate_of_the_same_authority_does_not_get_the_token(
    name: str, token: str, tmp_path: Path
) -> None:
    caller = Caller(chain_file(tmp_path), token=token, is_own=True)
    with port_of(name) as port, pytest.raises(OSError, match="certificate verify failed: that of 127"):
        HttpPage(("127.0.0.1", port.number), caller, 5).get("/readyz")

    assert port.received == b""


def test_the_certificate_that_begins_the_file_is_trusted_under_any_name(token: str, tmp_path: Path) -> None:
    path = tmp_path / "chain.pem"
    path.write_text((TLS / "stranger.pem").read_text() + (TLS / "ca.pem").read_text())

    with port_of("stranger") as port:
        answer = HttpPage(("127.0.0.1", port.number), Caller(str(path), token=token, is_own=True), 5).get("/readyz")

    assert answer == (200, "ok")
    assert TOKEN.encode() in port.received


def test_a_probe_gives_the_token_to_the_own_certificate_alone(
    token: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with port_of("renewed") as port:
        properties = tmp_path / "controller.properties"
        properties.write_text(
            "process.roles=controller\nnode.id=1\ncontroller.listener.names=C\nlisteners=C://127.0.0.1:1\n"
            f"controller.quorum.voters=1@127.0.0.1:1\nlog.dirs={tmp_path}\nkraft.http.token.path={token}\n"
            "listener.security.protocol.map=C:PLAINTEXT\n"
            f"kraft.http.listener=127.0.0.1:{port.number}\nkraft.http.tls.certificate.path={chain_file(tmp_path)}\n"
            f"kraft.http.tls.key.path={TLS / 'node.key'}\n"
        )
        code = main(["probe", "ready", "-c", str(properties)])

    assert code == 1
    assert "is not the first of " in capsys.readouterr().err
    assert port.received == b""


@pytest.mark.parametrize("host", ["192.0.2.1", "controller.example.org"])
def test_a_token_leaves_this_machine_with_tls_only(host: str, token: str) -> None:
    with pytest.raises(ConfigError, match=f"no token is sent to {host}:1 without TLS"):
        HttpPage((host, 1), Caller(token=token), 0.1).get("/readyz")


@pytest.mark.parametrize("ca", [None, str(TLS / "ca.pem")])
def test_a_token_does_not_go_to_a_host_that_only_the_answer_of_a_node_names(
    ca: str | None, token: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(HttpPage, "get", lambda page, _: asked.append(page._host))  # would reach another machine
    entry = DescribeConfigsResponse.DescribeConfigsResult.DescribeConfigsResourceResult
    listed = entry(name="kraft.http.listener", value="192.0.2.1:80", read_only=True, is_sensitive=False)
    result = DescribeConfigsResponse.DescribeConfigsResult(
        error_code=0, error_message=None, resource_type=4, resource_name="1", configs=(listed,)
    )
    configs = DescribeConfigsResponse(throttle_time_ms=0, results=(result,))

    with hostile_node("x", {"error_code": 0}, {DESCRIBE_CONFIGS: lambda _: configs}) as node:
        # The node leads nothing, so that its own view is asked for.
        node.set_error(DESCRIBE_QUORUM, NOT_LEADER)
        options = ["status", "--bootstrap-controller", f"127.0.0.1:{node.port}", "--token", token, "--json"]
        code = main(options if ca is None else [*options, "--ca", ca])

    (status,) = json.loads(capsys.readouterr().out)["nodes"]
    assert (code, asked) == (2, [])
    assert "no token is sent to 192.0.2.1:80, whose host was not given" in status["error"]


def test_a_watch_sends_a_token_to_another_machine_with_tls_only(token: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["watch", "--grpc", "192.0.2.1:1", "--token-file", token])

    refusal = "no token is sent to 192.0.2.1:1 without TLS; --ca names the authority of its certificate"
    assert (code, capsys.readouterr().err) == (1, f"kraftctl watch: {refusal}\n")
