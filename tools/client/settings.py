"""The settings of Kafka's admin client that the tools use: bootstrap addresses, and a properties file.

They are checked in stock's order, with its texts. Other keys are ignored, because a file often serves several clients.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tools.client.exceptions import CONFIG_EXCEPTION, not_created
from tools.command_line.java_texts import Uncaught, uncaught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from raft.network.security import ClientSecurity
    from tools.client.client_security import ClientProperties

    Address = tuple[str, int]

SERVERS, CONTROLLERS = "bootstrap.servers", "bootstrap.controllers"
PROTOCOL = "security.protocol"
SECURED = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")
# A value of any key may be elsewhere where this is set.
PROVIDERS = "config.providers"
FILE_BYTES_MAX = 1 << 20
# `PROTOCOL://HOST:PORT`, of which only host and port are used; an IPv6 address may stand in brackets.
_URL = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")


class Settings(NamedTuple):
    """Times are in seconds. at_controllers: whether the addresses are those of controllers. security: None for
    PLAINTEXT.
    """

    addresses: tuple[Address, ...]
    at_controllers: bool
    client_id: str = "adminclient-1"
    api_timeout: float = 60.0
    request_timeout: float = 30.0
    retry_backoff: float = 0.1
    retry_backoff_max: float = 1.0
    retries: int = (1 << 31) - 1
    security: ClientSecurity | None = None


def read_given(path: str | None) -> dict[str, str]:
    """The properties that `--command-config` names; none without it. Raises Uncaught, also if it cannot be read."""
    try:
        return {} if path is None else read_file(path)
    except OSError as error:
        raise uncaught(error) from None


def read_file(path: str) -> dict[str, str]:
    """The properties in a file. Raises Uncaught if it is no such file, OSError if it cannot be read."""
    from records.java.properties import PropertiesError, parse_properties

    with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs 10 ms
        data = file.read(FILE_BYTES_MAX + 1)
    if len(data) > FILE_BYTES_MAX:
        text = f"{path}: the file is larger than {FILE_BYTES_MAX} bytes, so it is not a configuration"
        raise Uncaught("java.lang.IllegalArgumentException", text)
    try:
        return parse_properties(data)
    except PropertiesError as error:
        raise Uncaught("java.lang.IllegalArgumentException", f"{path}: {error}") from None


def settings_of(servers: str | None, controllers: str | None, properties: Mapping[str, str]) -> Settings:
    """The settings of a client for these bootstrap addresses, one of which is None.

    properties: those of the file. Raises Uncaught as Java throws it where they are wrong.
    """
    text = servers if servers is not None else controllers
    assert text is not None
    secured = _security_properties(properties)
    given = properties if secured is None else secured.originals
    values = _check_numbers({**given, SERVERS if servers is not None else CONTROLLERS: text})
    if not text.strip():
        raise not_created(f"You must set either {SERVERS} or {CONTROLLERS}")
    if values["default.api.timeout.ms"] < values["request.timeout.ms"]:
        raise not_created(
            "The specified value of default.api.timeout.ms must be no smaller than the value of request.timeout.ms."
        )
    return Settings(
        addresses=_addresses(text),
        at_controllers=servers is None,
        client_id=given.get("client.id") or "adminclient-1",
        api_timeout=values["default.api.timeout.ms"] / 1000,
        request_timeout=values["request.timeout.ms"] / 1000,
        retry_backoff=values["retry.backoff.ms"] / 1000,
        retry_backoff_max=max(values["retry.backoff.max.ms"], values["retry.backoff.ms"]) / 1000,
        retries=values["retries"],
        security=None if secured is None else _security(secured),
    )


DEFAULTS = {
    "retry.backoff.ms": 100,
    "retry.backoff.max.ms": 1000,
    "request.timeout.ms": 30000,
    "retries": (1 << 31) - 1,
    "default.api.timeout.ms": 60000,
}


def _check_numbers(given: Mapping[str, str]) -> dict[str, int]:
    """The numbers among the settings, after the checks that Java makes of each key. Raises Uncaught."""
    for name in (SERVERS, CONTROLLERS):
        if any(not part.strip() for part in given.get(name, "").split(",")) and given.get(name, "").strip():
            raise Uncaught(CONFIG_EXCEPTION, f"Configuration '{name}' values must not be empty.")
    if not any(name in given for name in (*DEFAULTS, PROTOCOL)):
        return dict(DEFAULTS)
    from controller.config.values.definition import Definition, Importance, Key, Type
    from controller.config.values.valid import OneOfIgnoringCase, at_least
    from records.java.config_error import ConfigError

    low, high = Importance.LOW, at_least(0)
    longs = ("retry.backoff.ms", "retry.backoff.max.ms")
    numbers = [
        Key(name, Type.LONG if name in longs else Type.INT, default, high, low) for name, default in DEFAULTS.items()
    ]
    protocol = Key(
        PROTOCOL, Type.STRING, "PLAINTEXT", OneOfIgnoringCase("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"), low
    )
    try:
        values = Definition(*numbers, protocol).parse(given)
    except ConfigError as error:
        raise Uncaught(error.exception, error.text) from None
    return {name: int(str(values[name])) for name in DEFAULTS}


def _addresses(text: str) -> tuple[Address, ...]:
    """The addresses in a list. Raises Uncaught for one that is none, or if the names of all are unknown."""
    import socket

    addresses = []
    for part in (part.strip() for part in text.split(",")):
        match = _URL.fullmatch(part)
        if match is None:
            raise not_created(f"Invalid url in {SERVERS}: {part}")
        digits = match[2].lstrip("0") or "0"
        if len(digits) > 5 or int(digits) > 65535:
            raise not_created(f"Invalid port in {SERVERS}: {part}")
        # No host is this machine, as for Java.
        host, port = match[1] or "localhost", int(digits)
        try:
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            continue
        addresses.append((host, port))
    if not addresses:
        raise not_created(f"No resolvable bootstrap urls given in {SERVERS}")
    return tuple(addresses)


def _security_properties(properties: Mapping[str, str]) -> ClientProperties | None:
    """What the keys of TLS and SASL need; None for PLAINTEXT, for which nothing of it is imported. Raises Uncaught."""
    protocol = properties.get(PROTOCOL, "PLAINTEXT").strip().upper()
    if protocol not in SECURED and not properties.get(PROVIDERS):
        return None
    import os

    from records.java.config_error import ConfigError
    from tools.client.client_security import ClientProperties

    try:
        return ClientProperties(properties, os.environ)
    except ConfigError as error:
        raise Uncaught(error.exception, error.text) from None


def _security(properties: ClientProperties) -> ClientSecurity | None:
    """The security that the properties ask for. Raises Uncaught for properties that are not valid."""
    from records.java.config_error import ConfigError
    from tools.client.client_security import client_security

    try:
        return client_security(properties)
    except ConfigError as error:
        raise not_created(error.text) from None
