"""Checks between the keys of the HTTP port and of the watch service, and the warning about open ports."""

from __future__ import annotations

import pytest

from controller.config.edges import check_edges, is_loopback, unprotected_edges
from controller.config.node import NodeConfig
from records.java.config_error import ConfigError

NODE = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
    "log.dirs": "data",
    "kraft.grpc.listener": "127.0.0.1:9646",
}
SERVER = {"kraft.grpc.tls.certificate.path": "node.pem", "kraft.grpc.tls.key.path": "node.key"}
CLIENTS = {**SERVER, "kraft.grpc.tls.client.ca.path": "ca.pem"}


@pytest.mark.parametrize(
    "keys",
    [
        {},
        SERVER,
        {**CLIENTS, "kraft.grpc.allow": "*"},
        {**CLIENTS, "kraft.grpc.allow": "CN=a b,DNS=c,URI=d=e,EMAIL=f@g,IP=::1"},
        {"kraft.grpc.allow": ""},
    ],
)
def test_a_consistent_configuration_is_accepted(keys: dict[str, str]) -> None:
    check_edges(NodeConfig({**NODE, **keys}))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"kraft.grpc.tls.key.path": "node.key"}, "kraft.grpc.tls.certificate.path is not: TLS needs both"),
        ({"kraft.grpc.tls.certificate.path": "node.pem"}, "kraft.grpc.tls.key.path is not: TLS needs both"),
        ({"kraft.grpc.tls.client.ca.path": "ca.pem"}, "only over TLS are clients asked for certificates"),
        ({**SERVER, "kraft.grpc.allow": "CN=a"}, "but nobody is asked for a certificate"),
        (CLIENTS, "name who may call"),
        ({**CLIENTS, "kraft.grpc.allow": "alice"}, "kraft.grpc.allow has alice: each name must be one of CN=…, DNS=…"),
        ({**CLIENTS, "kraft.grpc.allow": "CN=a,DNS="}, "kraft.grpc.allow has DNS="),
    ],
)
def test_an_inconsistent_configuration_is_refused_with_what_to_do(keys: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError, match=r".") as refused:
        check_edges(NodeConfig({**NODE, **keys}))

    assert text in str(refused.value)


REMOTE = {"kraft.grpc.listener": ":9646", "kraft.http.listener": "0.0.0.0:9644"}
SECURED = {**NODE, "listener.security.protocol.map": "CONTROLLER:SSL"}


def warned(node: dict[str, str], keys: dict[str, str]) -> list[str]:
    return [key for key, _ in unprotected_edges(NodeConfig({**node, **keys}))]


def test_an_open_port_beside_secured_listeners_is_warned_of() -> None:
    tokens = {"kraft.grpc.token.path": "tokens", "kraft.http.token.path": "tokens"}
    http_tls = {"kraft.http.tls.certificate.path": "a.pem", "kraft.http.tls.key.path": "a.key"}

    assert warned(NODE, REMOTE) == []
    assert warned(SECURED, {}) == []
    assert warned(SECURED, REMOTE) == ["kraft.http.listener", "kraft.grpc.listener"]
    assert warned(SECURED, {**REMOTE, **CLIENTS, **http_tls}) == ["kraft.http.listener"]
    assert warned(SECURED, {**REMOTE, **tokens, **http_tls}) == ["kraft.grpc.listener"]
    (_, opened), (_, readable) = (
        *unprotected_edges(NodeConfig({**SECURED, "kraft.http.listener": ":1"})),
        *unprotected_edges(NodeConfig({**SECURED, "kraft.http.listener": ":1", **tokens})),
    )
    assert opened.startswith("kraft.http.listener=:1: anyone who reaches this port may read the metadata")
    assert readable.startswith("kraft.http.listener=:1: tokens pass this port in plain text; set kraft.http.tls.cert")


@pytest.mark.parametrize(
    ("address", "is_ours"),
    [("127.0.0.1:1", True), ("127.8.0.1:1", True), ("[::1]:1", True), ("localhost:1", True), (":1", False),
     ("0.0.0.0:1", False), ("[::]:1", False), ("10.0.0.1:1", False), ("node:1", False)],
)  # fmt: skip
def test_only_an_address_of_loopback_is_out_of_reach(address: str, is_ours: bool) -> None:
    assert is_loopback(address) is is_ours


def test_keys_of_a_disabled_service_are_not_checked() -> None:
    without = {key: value for key, value in NODE.items() if key != "kraft.grpc.listener"}

    check_edges(NodeConfig({**without, "kraft.grpc.tls.key.path": "node.key"}))
