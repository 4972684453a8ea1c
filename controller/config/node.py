"""The configuration of a node: `NodeConfig`, read from a stock `controller.properties` (KIP-631, KIP-853)."""

from __future__ import annotations

import os

from controller.config.group_checks import check_node
from controller.config.java_metrics import JavaMetrics, java_metrics
from controller.config.keys import own, server
from controller.config.node_checks import check_addresses, check_values
from controller.config.plugins import quota_lines
from controller.config.system_properties import system_properties
from controller.config.unknown_keys import unknown_keys
from controller.config.values.listeners import (
    PROTOCOL_MAP,
    WILDCARD_HOST,
    Endpoint,
    normalise,
    parse_listeners,
    security_protocols,
)
from controller.config.values.node_values import NodeValues
from controller.config.values.quorum_addresses import (
    BOOTSTRAP_SERVERS,
    OVERRIDES,
    VOTERS,
    parse_bootstrap_servers,
    parse_overrides,
    parse_voters,
)
from raft.security import config_providers
from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

APPEND_LINGER_MS = "controller.quorum.append.linger.ms"
DEPRECATED_ID = (
    "The 'broker.id' configuration is deprecated and will be removed in Apache Kafka 5.0. Please use 'node.id' instead."
)


class NodeConfig(NodeValues):
    """The checked configuration of one node, of any roles.

    java_metrics: what it serves in the place of Java classes.
    """

    __slots__ = ("java_metrics",)

    java_metrics: JavaMetrics

    def __init__(
        self, given: Mapping[str, str], environment: Mapping[str, str] = os.environ, *, may_wait: bool = True
    ) -> None:
        """environment: variables that config providers look up, and `KAFKA_OPTS`. may_wait: whether config providers
        may ask the Kubernetes API, which takes up to 30 s for each resource.

        Raises ConfigError for the first error, in stock's order and with stock's text.
        """
        self.warnings = []
        self.system_properties = system_properties(environment)
        resolved = given
        if given.get(config_providers.KEY):
            allowed = self.system_properties.get(config_providers.ALLOWED_CLASSES)
            resolved = config_providers.resolve(given, environment, allowed, self.warnings, may_wait=may_wait)
        self.looked_up = frozenset(key for key, value in resolved.items() if value != given[key])
        self.originals = with_synonyms(resolved)
        is_deprecated = "broker.id" in given
        self.values = server.KEYS.parse(self.originals, self.warnings)
        self.values.update(own.KEYS.parse(self.originals, self.warnings))
        if is_deprecated and self.release.deprecates_broker_id:
            self.warnings.append(DEPRECATED_ID)
        check_node(self.values, self.originals)
        self.process_roles = self.list("process.roles")
        self.node_id = self.number("node.id")
        self.controller_listener_names = self.list("controller.listener.names")
        self.security_protocols = security_protocols(
            self.text(PROTOCOL_MAP) or "",
            PROTOCOL_MAP in self.originals,
            self.list("listeners"),
            self.controller_listener_names,
        )
        self.listeners = parse_listeners(self.list("listeners"), self.security_protocols)
        self.voters = parse_voters(self.list(VOTERS), routable=False)
        self.bootstrap_servers = parse_bootstrap_servers(self.list(BOOTSTRAP_SERVERS))
        self.voter_overrides = parse_overrides(self.list(OVERRIDES))
        self.log_dirs = self.list("log.dirs") or self.list("log.dir")
        check_values(self)
        self.advertised_listeners = self._advertised_endpoints()
        check_addresses(self)
        metadata_log_dir = self.text("metadata.log.dir")
        if metadata_log_dir == "":
            raise ConfigError("metadata.log.dir must not be empty")
        self.metadata_log_dir = self.log_dirs[0] if metadata_log_dir is None else metadata_log_dir
        self.java_metrics = java_metrics(self, environment)
        self.warnings += [*unknown_keys(self.originals), *self.java_metrics.lines, *quota_lines(self)]

    @property
    def asks_new_endpoints(self) -> bool:
        """Whether a leader asks a voter at its new endpoint before it takes an UpdateRaftVoter (KAFKA-20661)."""
        return self.text("kraft.preview.release") == own.PREVIEW

    @property
    def append_linger_ms(self) -> int:
        """`controller.quorum.append.linger.ms`; 0 if it is not set, where stock's default is 25."""
        return self.number(APPEND_LINGER_MS) if APPEND_LINGER_MS in self.originals else 0

    def _advertised_endpoints(self) -> tuple[Endpoint, ...]:
        advertised = self.list("advertised.listeners")
        given = parse_listeners(advertised, self.security_protocols, distinct_ports=False)
        given = tuple(endpoint for endpoint in given if endpoint.name in self.controller_listener_names)
        endpoints = []
        for position, name in enumerate(self.controller_listener_names):
            endpoint = _find_endpoint(given, name) or self._bound_endpoint(name, is_default=position == 0)
            if endpoint is not None:
                endpoints.append(endpoint)
        return tuple(endpoints)

    def _bound_endpoint(self, name: str, is_default: bool) -> Endpoint | None:
        """The address of a bound listener for other nodes, if no listener of this name is advertised."""
        bound = _find_endpoint(self.controller_listeners, name)
        if bound is None or bound.host not in {None, WILDCARD_HOST}:
            return bound
        voters = parse_voters(self.list(VOTERS)) if is_default else {}
        if self.node_id in voters:
            return Endpoint(bound.name, bound.protocol, *voters[self.node_id])
        return Endpoint(bound.name, bound.protocol, None, bound.port)


def with_synonyms(given: Mapping[str, str]) -> dict[str, str]:
    """The given keys; if only one of `node.id` and `broker.id` is given, the other gets its value."""
    values = dict(given)
    if "broker.id" not in values and "node.id" in values:
        values["broker.id"] = values["node.id"]
    elif "broker.id" in values and "node.id" not in values:
        values["node.id"] = values["broker.id"]
    return values


def _find_endpoint(endpoints: tuple[Endpoint, ...], name: str) -> Endpoint | None:
    return next((endpoint for endpoint in endpoints if endpoint.name == normalise(name)), None)
