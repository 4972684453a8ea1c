"""The addresses of the quorum: its voters, its bootstrap servers, and where voters may be instead."""

from __future__ import annotations

from controller.config.values.definition import Check, Value, invalid
from controller.config.values.listeners import WILDCARD_HOST, host_and_port
from records.java.config_error import ConfigError
from records.java.java_values import parse_integer

VOTERS = "controller.quorum.voters"
BOOTSTRAP_SERVERS = "controller.quorum.bootstrap.servers"
OVERRIDES = "kraft.quorum.voter.overrides"

_VOTER_FORM = f"for the configuration {VOTERS}. Each entry should be in the form `{{id}}@{{host}}:{{port}}`."
_SERVER_FORM = f'for the configuration {BOOTSTRAP_SERVERS}. Each entry should be in the form "{{host}}:{{port}}"'


def parse_voters(entries: tuple[str, ...], routable: bool = True) -> dict[int, tuple[str, int]]:
    """Node id -> host and port of each `id@host:port`. routable: refuse 0.0.0.0. Raises ConfigError."""
    voters: dict[int, tuple[str, int]] = {}
    for entry in entries:
        # Java's split drops empty parts at the end.
        parts = entry.rstrip("@").split("@")
        if len(parts) != 2:
            raise ConfigError(
                f"Invalid configuration value for {VOTERS}. Each entry should be in the form "
                f"`{{id}}@{{host}}:{{port}}`."
            )
        voter_id = parse_integer(parts[0])
        if voter_id is None or not -(1 << 31) <= voter_id < 1 << 31:
            raise ConfigError(f"Failed to parse voter ID as an integer from {parts[0]}")
        address = host_and_port(parts[1])
        if address is None:
            raise ConfigError(f"Failed to parse host name from entry {entry} {_VOTER_FORM}")
        if routable and address[0] == WILDCARD_HOST:
            raise ConfigError(f"Host string ({address[0]}) is not routeable")
        voters[voter_id] = address
    return voters


def parse_bootstrap_servers(entries: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Host and port of each `host:port`. Raises ConfigError."""
    servers = []
    for entry in entries:
        address = host_and_port(entry)
        if address is None:
            raise ConfigError(f"Failed to parse host name from {entry} {_SERVER_FORM}")
        servers.append(address)
    return tuple(servers)


def parse_overrides(entries: tuple[str, ...]) -> tuple[tuple[int, tuple[str, int]], ...]:
    """Voter id, and host and port, of each `id@host:port`. Raises ConfigError."""
    overrides = []
    for entry in entries:
        voter_id, _, address = entry.partition("@")
        number, host_port = parse_integer(voter_id), host_and_port(address)
        if number is None or not 0 <= number < 1 << 31 or host_port is None or not 0 < host_port[1] < 65536:
            raise invalid(OVERRIDES, entry, "Each entry should be in the form `{id}@{host}:{port}`.")
        overrides.append((number, host_port))
    if len({number for number, _ in overrides}) != len(overrides):
        raise invalid(OVERRIDES, ",".join(entries), "Each voter should have one entry at most.")
    return tuple(overrides)


class VoterOverrides(Check):
    """A list of `id@host:port`, or an empty one."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        assert isinstance(value, tuple), (name, value)
        parse_overrides(value)

    def __str__(self) -> str:
        return "list of id@host:port"


class QuorumVoters(Check):
    """A list of `id@host:port`, or an empty one."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        if value is None:
            raise invalid(name, None)
        assert isinstance(value, tuple), (name, value)
        parse_voters(value, routable=False)

    def __str__(self) -> str:
        return "non-empty list"


class BootstrapServers(Check):
    """A list of `host:port`, or an empty one."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        if value is None:
            raise invalid(name, None)
        assert isinstance(value, tuple), (name, value)
        parse_bootstrap_servers(value)

    def __str__(self) -> str:
        return "non-empty list"
