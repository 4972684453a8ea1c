"""Addresses of the ports that stock does not have."""

from __future__ import annotations

import pytest

from controller.config.node import NodeConfig
from controller.config.values.addresses import parse_address
from records.java.config_error import ConfigError

NODE = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
}


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9644", ("127.0.0.1", 9644)),
        ("[::1]:9644", ("::1", 9644)),
        ("controller-1.example:0", ("controller-1.example", 0)),
        (":9644", ("", 9644)),
        ("9644", None),
        ("127.0.0.1", None),
        ("127.0.0.1:65536", None),
        ("127.0.0.1:-1", None),
        ("http://127.0.0.1:9644", None),
        (":", None),
        ("", None),
    ],
)
def test_an_address_is_host_and_port(text: str, address: tuple[str, int] | None) -> None:
    assert parse_address(text) == address


def test_an_invalid_address_is_refused_with_a_valid_example() -> None:
    with pytest.raises(ConfigError) as refused:
        NodeConfig({**NODE, "kraft.http.listener": "9644"})

    assert str(refused.value) == (
        "Invalid value 9644 for configuration kraft.http.listener: It must be host:port, [address]:port, or :port for"
        " all addresses of this machine"
    )


def test_a_node_has_no_port_of_ours_unless_one_is_set() -> None:
    assert NodeConfig(NODE).text("kraft.http.listener") is None
