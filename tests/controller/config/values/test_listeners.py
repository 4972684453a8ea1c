"""Listeners and the addresses of the quorum; stock's texts about them in a file are in test_node.py."""

from __future__ import annotations

import pytest

from controller.config.values.listeners import Endpoint, host_and_port, parse_listeners, security_protocols
from records.java.config_error import ConfigError

PLAIN = {"A": "PLAINTEXT", "B": "SSL"}


def test_an_endpoint_is_read_and_written() -> None:
    texts = ("a://h.example:9092", "B://[::1]:9093", "A2://:0")

    endpoints = parse_listeners(texts, PLAIN | {"A2": "PLAINTEXT"})

    assert endpoints == (
        Endpoint("A", "PLAINTEXT", "h.example", 9092),
        Endpoint("B", "SSL", "::1", 9093),
        Endpoint("A2", "PLAINTEXT", None, 0),
    )
    assert [str(endpoint) for endpoint in endpoints] == ["A://h.example:9092", "B://[::1]:9093", "A2://:0"]


@pytest.mark.parametrize("port", ["65536", "-1", "99999999999999999999999"])
def test_an_invalid_port_is_refused(port: str) -> None:
    with pytest.raises(ConfigError, match="is not within 0 to 65535"):
        parse_listeners((f"A://h:{port}",), PLAIN)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("h:1", ("h", 1)),
        ("[::1]:65535", ("::1", 65535)),
        ("PLAINTEXT://h:1", ("h", 1)),
        (":1", ("", 1)),
        ("h", None),
        ("h:", None),
        ("h:x", None),
        ("h:65536", None),
        ("h h:1", None),
        ("h:1/", None),
    ],
)
def test_an_address_is_split_into_host_and_port(text: str, parts: tuple[str, int] | None) -> None:
    assert host_and_port(text) == parts


def test_without_a_map_the_controller_s_listeners_are_plaintext_unless_something_is_secure() -> None:
    default = "PLAINTEXT:PLAINTEXT,SSL:SSL"

    plain = security_protocols(default, False, ("C://h:1",), ("C",))
    beside_ssl = security_protocols(default, False, ("C://h:1", "SSL://h:2"), ("C",))
    given = security_protocols("c:SSL", True, ("C://h:1",), ("C",))

    assert plain == {"PLAINTEXT": "PLAINTEXT", "SSL": "SSL", "C": "PLAINTEXT"}
    assert beside_ssl == {"PLAINTEXT": "PLAINTEXT", "SSL": "SSL"}
    assert given == {"C": "SSL"}
