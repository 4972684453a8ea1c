"""The configuration file of a client: the few keys that the tools use; any other key is refused."""

from __future__ import annotations

from typing import NamedTuple

from records.properties import PropertiesError, parse_properties

PROTOCOL, TIMEOUT, CLIENT_ID = "security.protocol", "default.api.timeout.ms", "client.id"
KEYS = (CLIENT_ID, TIMEOUT, PROTOCOL)
FILE_BYTES_MAX = 1 << 20


class ClientConfigError(Exception):
    """The file is invalid; the text is one line that names the file and the key."""


class ClientConfig(NamedTuple):
    """client_id: None if not set. timeout_s: how long to look for a leader; None if not set."""

    client_id: str | None = None
    timeout_s: float | None = None


def read_client_config(path: str) -> ClientConfig:
    """Raises ClientConfigError; OSError if the file cannot be read."""
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs 10 ms
        data = file.read(FILE_BYTES_MAX + 1)
    if len(data) > FILE_BYTES_MAX:
        raise ClientConfigError(f"{path}: the file is larger than {FILE_BYTES_MAX} bytes, so it is not a configuration")
    try:
        values = parse_properties(data)
    except PropertiesError as error:
        raise ClientConfigError(f"{path}: {error}") from None
    for key, value in values.items():
        if key not in KEYS:
            raise ClientConfigError(f"{path}: unknown key {key}; the keys are {', '.join(KEYS)}")
        if not value.strip():
            raise ClientConfigError(f"{path}: {key} has no value")
    protocol = values.get(PROTOCOL, "PLAINTEXT").strip()
    if protocol != "PLAINTEXT":
        raise ClientConfigError(f"{path}: {PROTOCOL}={protocol}: only PLAINTEXT is supported")
    return ClientConfig(values.get(CLIENT_ID, "").strip() or None, _seconds(path, values.get(TIMEOUT)))


def _seconds(path: str, text: str | None) -> float | None:
    if text is None:
        return None
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9 and int(digits) > 0):
        raise ClientConfigError(f"{path}: {TIMEOUT}={digits} is not a number of milliseconds")
    return int(digits) / 1000
