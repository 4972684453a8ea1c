"""The values of a node's configuration by key and type, for the checks."""

from __future__ import annotations

from records.features.levels import CURRENT, RELEASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.values.definition import Value
    from controller.config.values.listeners import Endpoint
    from records.features.levels import Release

RELEASE = "kraft.release"


class NodeValues:
    """The parsed values of one node; `controller.config.node.NodeConfig` fills and checks them.

    originals: key -> text, as given, with `node.id` and `broker.id` filled in from each other, and with what config
    providers have in the place of variables. looked_up: the keys with such a variable.
    system_properties: those of `KAFKA_OPTS`.
    values: each of stock's keys of a node, and each of ours, with its parsed value.
    warnings: lines, among them one for each unknown key.
    listeners: all, as bound. advertised_listeners: of the controller, in the order of `controller.listener.names`,
    for other nodes; host None stands for the name of this machine, port 0 for the bound port.
    voters: node id -> host and port, of `controller.quorum.voters`; empty with dynamic voters. voter_overrides: id of
    a voter, and host and port at which it may be instead.
    log_dirs: as given; metadata_log_dir: the one that holds `__cluster_metadata-0`.
    """

    __slots__ = (
        "advertised_listeners", "bootstrap_servers", "controller_listener_names", "listeners", "log_dirs", "looked_up",
        "metadata_log_dir", "node_id", "originals", "process_roles", "security_protocols", "system_properties",
        "values", "voter_overrides", "voters", "warnings",
    )  # fmt: skip

    advertised_listeners: tuple[Endpoint, ...]
    bootstrap_servers: tuple[tuple[str, int], ...]
    controller_listener_names: tuple[str, ...]
    listeners: tuple[Endpoint, ...]
    log_dirs: tuple[str, ...]
    looked_up: frozenset[str]
    metadata_log_dir: str
    node_id: int
    originals: dict[str, str]
    process_roles: tuple[str, ...]
    security_protocols: dict[str, str]
    system_properties: dict[str, str]
    values: dict[str, Value]
    voter_overrides: tuple[tuple[int, tuple[str, int]], ...]
    voters: dict[int, tuple[str, int]]
    warnings: list[str]

    @property
    def release(self) -> Release:
        """The release of Kafka whose levels, APIs and rules the node has: `kraft.release`."""
        return RELEASES[self.text(RELEASE) or CURRENT.name]

    def number(self, key: str) -> int:
        value = self.values[key]
        assert type(value) is int, (key, value)
        return value

    def number_or_none(self, key: str) -> int | None:
        return None if self.values[key] is None else self.number(key)

    def flag(self, key: str) -> bool:
        value = self.values[key]
        assert isinstance(value, bool), (key, value)
        return value

    def text(self, key: str) -> str | None:
        value = self.values[key]
        assert value is None or isinstance(value, str), (key, type(value))
        return value

    def list(self, key: str) -> tuple[str, ...]:
        """The parts of a list; empty if the key is not set."""
        value = self.values[key]
        assert value is None or isinstance(value, tuple), (key, value)
        return value or ()

    @property
    def controller_listeners(self) -> tuple[Endpoint, ...]:
        """Those of `listeners` that are the controller's."""
        return tuple(endpoint for endpoint in self.listeners if endpoint.name in self.controller_listener_names)
