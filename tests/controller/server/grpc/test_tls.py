"""The watch service over TLS: which clients may watch, and a certificate that is renewed while clients watch."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from kraft_quorum.client import Client, Files, WatchFailed
from tests.controller.server.grpc.test_watch import Served, values_of
from tests.controller.server.processes import format_directory, free_port, run_to_end, running, write_properties

if TYPE_CHECKING:
    from collections.abc import Iterator

TLS = Path(__file__).parents[3] / "data" / "tls"


def files(name: str | None) -> Files:
    """The certificate files of the client of this name; None for a client without a certificate."""
    ca = str(TLS / "ca.pem")
    return Files(ca) if name is None else Files(ca, str(TLS / f"{name}.pem"), str(TLS / f"{name}.key"))


def put(root: Path, name: str) -> None:
    """Make the certificate of this name the node's."""
    for kind in ("pem", "key"):
        shutil.copy(TLS / f"{name}.{kind}", root / f"new.{kind}")
        (root / f"new.{kind}").rename(root / f"grpc.{kind}")


@pytest.fixture(name="node", scope="module")
def _node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root, port, grpc_port = tmp_path_factory.mktemp("node"), free_port(), free_port()
    put(root, "node")
    keys = {
        "kraft_log_format": "json",
        "kraft_grpc_listener": f"127.0.0.1:{grpc_port}",
        "kraft_grpc_tls_certificate_path": str(root / "grpc.pem"),
        "kraft_grpc_tls_key_path": str(root / "grpc.key"),
        "kraft_grpc_tls_client_ca_path": str(TLS / "ca.pem"),
        "kraft_grpc_allow": "CN=other,URI=spiffe://example.org/watcher",
    }
    with running(root, port, **keys) as process:
        yield Served(process, root, port, grpc_port)


def test_a_client_in_the_allow_list_may_watch(node: Served) -> None:
    node.put("A0")

    with Client([node.target], tls=files("watcher")) as client:
        assert values_of(client.watch(0), "A0")[-1] == "A0"
        assert client.status()["node_id"] == 1


def test_a_client_outside_the_allow_list_is_refused_with_its_names(node: Served) -> None:
    with Client([node.target], tls=files("stranger")) as client:
        refusals = []
        for ask in (client.status, lambda: next(client.watch(0)), lambda: next(client.snapshot())):
            with pytest.raises(WatchFailed) as refused:
                ask()
            refusals.append(refused.value)

    assert {one.code for one in refusals} == {grpc.StatusCode.PERMISSION_DENIED}
    assert "the client is CN=stranger, DNS=stranger.example.org; kraft.grpc.allow does not list it" in str(refusals)
    logged = [event for event in node.events() if event["event"] == "watch_refused"]
    assert logged[-1]["client"] == "CN=stranger, DNS=stranger.example.org"


@pytest.mark.parametrize("name", ["foreign", None])
def test_a_client_without_a_certificate_of_the_authority_cannot_connect(node: Served, name: str | None) -> None:
    with Client([node.target], tls=files(name)) as client, pytest.raises(WatchFailed) as refused:
        client.status(timeout_s=2)

    assert refused.value.code is grpc.StatusCode.UNAVAILABLE


def test_a_client_without_tls_cannot_connect(node: Served) -> None:
    with Client([node.target]) as client, pytest.raises(WatchFailed) as refused:
        client.status(timeout_s=2)

    assert refused.value.code is grpc.StatusCode.UNAVAILABLE


def subject(node: Served) -> str:
    """The subject of the certificate that a new client gets."""
    context = ssl.create_default_context(cafile=str(TLS / "ca.pem"))
    # Python 3.13 requires a key usage in an authority's certificate, which the tests' lacks; gRPC does not require it.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.load_cert_chain(TLS / "watcher.pem", TLS / "watcher.key")
    context.set_alpn_protocols(["h2"])
    host, _, port = node.target.rpartition(":")
    with (
        socket.create_connection((host, int(port)), timeout=5) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        shown: Any = secure.getpeercert()
    assert shown is not None
    return str(dict(pair for entry in shown["subject"] for pair in entry)["commonName"])


def test_new_connections_use_a_renewed_certificate_while_open_ones_continue(node: Served) -> None:
    node.put("B0")
    with Client([node.target], tls=files("watcher")) as client:
        updates = client.watch(0)
        before = (values_of(updates, "B0")[-1], subject(node))

        put(node.root, "renewed")
        node.put("B1")
        after = (values_of(updates, "B1")[-1], subject(node))

    assert (before, after) == (("B0", "node"), ("B1", "node, renewed"))
    assert "certificate_renewed" in {event["event"] for event in node.events()}


def test_an_invalid_renewal_is_logged_and_the_previous_certificate_stays(node: Served) -> None:
    used = subject(node)
    (node.root / "grpc.pem").write_text("half a certif")

    shown = [subject(node), subject(node)]

    end = time.monotonic() + 5
    while "certificate_refused" not in {event["event"] for event in node.events()}:
        assert time.monotonic() < end
        time.sleep(0.02)
    put(node.root, "node")
    assert shown == [used, used]
    assert subject(node) == "node"
    assert "PRIVATE" not in json.dumps(node.events())


def test_a_call_needs_a_token_where_the_port_has_tokens(tmp_path: Path) -> None:
    port, tokens, other = free_port(), tmp_path / "tokens", tmp_path / "other"
    tokens.write_text("new-token-of-the-port\nold-token-of-the-port\n")
    other.write_text("some-token-of-nobody")
    target = f"127.0.0.1:{free_port()}"
    keys = {"kraft_log_format": "json", "kraft_grpc_listener": target, "kraft_grpc_token_path": str(tokens)}
    with running(tmp_path, port, **keys) as process:
        node = Served(process, tmp_path, port, int(target.rpartition(":")[2]))
        node.put("A0")
        with Client([target], token_file=str(tokens)) as client:
            assert values_of(client.watch(0), "A0")[-1] == "A0"
            assert client.status()["node_id"] == 1
            tokens.write_text("old-token-of-the-port\n")
            assert client.status()["node_id"] == 1  # the file is read for each call, on both sides
        refused = []
        for file in (None, str(other)):
            with Client([target], token_file=file) as client:
                for ask in (client.status, lambda: next(client.watch(0)), lambda: next(client.snapshot())):
                    with pytest.raises(WatchFailed) as failed:
                        ask()
                    refused.append(failed.value.code)
        # The health service of a supervisor has no token.
        with grpc.insecure_channel(target) as channel:
            health = channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=5)
        events = node.events()

    assert refused == [grpc.StatusCode.UNAUTHENTICATED] * 6
    assert health == b"\x08\x01"
    logged = [event["reason"] for event in events if event["event"] == "watch_refused"]
    assert logged == ["it sends no token of kraft.grpc.token.path"]  # once a minute
    assert not any("-of-the-port" in json.dumps(event) or "nobody" in json.dumps(event) for event in events)


def test_an_unreadable_certificate_refuses_the_start_in_one_line(tmp_path: Path) -> None:
    properties = write_properties(
        tmp_path,
        free_port(),
        kraft_grpc_listener="127.0.0.1:0",
        kraft_grpc_tls_certificate_path=str(TLS / "node.pem"),
        kraft_grpc_tls_key_path=str(TLS / "missing.key"),
    )
    format_directory(properties)

    refused = run_to_end(properties)

    missing = TLS / "missing.key"
    assert (refused.returncode, refused.stderr) == (
        1,
        f"kraftctl start: kraft.grpc.listener: {missing}: No such file or directory\n",
    )
