"""Checks between the keys of the watch service."""

from __future__ import annotations

import pytest

from controller.config.node import NodeConfig
from controller.config.values.definition import ConfigError
from controller.config.watch_service import check_watch_service

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
    check_watch_service(NodeConfig({**NODE, **keys}))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"kraft.grpc.tls.key.path": "node.key"}, "kraft.grpc.tls.certificate.path is not: TLS needs both"),
        ({"kraft.grpc.tls.certificate.path": "node.pem"}, "kraft.grpc.tls.key.path is not: TLS needs both"),
        ({"kraft.grpc.tls.client.ca.path": "ca.pem"}, "only over TLS are clients asked for certificates"),
        ({**SERVER, "kraft.grpc.allow": "CN=a"}, "but nobody is asked for a certificate"),
        (CLIENTS, "name who may watch"),
        ({**CLIENTS, "kraft.grpc.allow": "alice"}, "kraft.grpc.allow has alice: each name must be one of CN=…, DNS=…"),
        ({**CLIENTS, "kraft.grpc.allow": "CN=a,DNS="}, "kraft.grpc.allow has DNS="),
    ],
)
def test_an_inconsistent_configuration_is_refused_with_what_to_do(keys: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError, match=r".") as refused:
        check_watch_service(NodeConfig({**NODE, **keys}))

    assert text in str(refused.value)


def test_keys_of_a_disabled_service_are_not_checked() -> None:
    without = {key: value for key, value in NODE.items() if key != "kraft.grpc.listener"}

    check_watch_service(NodeConfig({**without, "kraft.grpc.tls.key.path": "node.key"}))
