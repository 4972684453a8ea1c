"""The properties of a client, in the file that a tool takes (`--config`, `--command-config`): the one reader of them.

The keys that stock's AdminClient has for a connection are read; other keys are ignored, because one file often serves
several clients. With PLAINTEXT nothing of TLS and SASL is imported.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from records.java.config_error import ConfigError
from records.java.properties import PropertiesError, parse_properties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from raft.network.security import ClientSecurity

PROTOCOL, TIMEOUT, CLIENT_ID = "security.protocol", "default.api.timeout.ms", "client.id"
# A value of any key may be elsewhere where this is set.
PROVIDERS = "config.providers"
FILE_BYTES_MAX = 1 << 20


class ClientConfig(NamedTuple):
    """client_id: None if not set. timeout_s: how long to look for a leader; None if not set. security: None for
    PLAINTEXT.
    """

    client_id: str | None = None
    timeout_s: float | None = None
    security: ClientSecurity | None = None


def read_client_config(path: str, environment: Mapping[str, str] = os.environ) -> ClientConfig:
    """The properties in a file. environment: has KAFKA_OPTS, and what `${env:NAME}` names.

    Raises ConfigError, with one line that names the file and the key and shows no secret; OSError if the file cannot be
    read.
    """
    try:
        values, security = _resolve_security(_parse_file(path), environment)
        client_id = _text(values, CLIENT_ID)
        return ClientConfig(client_id, _seconds(_text(values, TIMEOUT)), security)
    except ConfigError as error:
        raise ConfigError(error.text if error.text.startswith(path) else f"{path}: {error.text}") from None


def _parse_file(path: str) -> dict[str, str]:
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs 10 ms
        data = file.read(FILE_BYTES_MAX + 1)
    if len(data) > FILE_BYTES_MAX:
        raise ConfigError(f"the file is larger than {FILE_BYTES_MAX} bytes, so it is not a configuration")
    try:
        return parse_properties(data)
    except PropertiesError as error:
        raise ConfigError(str(error)) from None


def _resolve_security(
    given: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[Mapping[str, str], ClientSecurity | None]:
    """The properties with what config providers have, and the security that they ask for."""
    if (_text(given, PROTOCOL) or "PLAINTEXT").upper() == "PLAINTEXT" and not given.get(PROVIDERS):
        return given, None
    from tools.client.client_security import ClientProperties, client_security

    properties = ClientProperties(given, environment)
    _text(properties.originals, PROTOCOL)
    return properties.originals, client_security(properties)


def _text(values: Mapping[str, str], key: str) -> str | None:
    """None if not set. Raises ConfigError for a key without a value."""
    value = values.get(key)
    if value is not None and not value.strip():
        raise ConfigError(f"{key} has no value")
    return None if value is None else value.strip()


def _seconds(digits: str | None) -> float | None:
    if digits is None:
        return None
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9 and int(digits) > 0):
        raise ConfigError(f"{TIMEOUT}={digits} is not a number of milliseconds")
    return int(digits) / 1000
