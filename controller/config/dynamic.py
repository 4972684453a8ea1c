"""A node's configuration: the dynamic configs of BROKER resources over those of its file (KIP-226)."""

from __future__ import annotations

import re

from controller.config.java_metrics import JMX_REPORTER
from controller.config.keys import own, server
from controller.config.keys.dynamic import DYNAMIC, LISTENER_ONLY, OF_LISTENER_CLUSTER_WIDE, PER_BROKER
from controller.config.keys.topic import NODE_SYNONYMS
from controller.config.node import NodeConfig
from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.config.values.definition import Key, Type

_OF_LISTENER = re.compile(r"listener\.name\.[^.]*\.(.*)")

# Keys of one SASL mechanism of one listener: their prefix is longer than that of other listener keys.
_OF_MECHANISM = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)


class DynamicConfig:
    """The configuration in effect on a node, layer by layer; each is key -> text.

    node: dynamic configs of this node; cluster: those of all nodes; static: the file's. config: all three merged, or
    the file alone if the merged configuration is invalid.
    """

    __slots__ = ("cluster", "config", "node", "static")

    def __init__(self, static: NodeConfig, node: Mapping[str, str], cluster: Mapping[str, str]) -> None:
        self.static = static.originals
        self.node = applied_keys(node, is_per_broker=True)
        self.cluster = applied_keys(cluster, is_per_broker=False)
        self.config = self._config(static)

    def _config(self, static: NodeConfig) -> NodeConfig:
        if not self.node and not self.cluster:
            return static
        merged = dict(self.static)
        for layer in (self.cluster, self.node):
            for name, text in layer.items():
                # A synonym from a lower layer must not take precedence over this key.
                for synonym in synonyms(name):
                    merged.pop(synonym, None)
                merged[name] = text
        _clamp(merged)
        try:
            # The node runs: nothing on its thread may wait for the Kubernetes API.
            config = NodeConfig(merged, may_wait=False)
        except ConfigError:
            return static
        return config if _can_be_applied(config, static) else static


def _can_be_applied(config: NodeConfig, static: NodeConfig) -> bool:
    """Whether a running controller can change to these: it loads no class, and halves or doubles threads at most."""
    reporters, known = config.values["metric.reporters"], static.values["metric.reporters"]
    assert isinstance(reporters, tuple), reporters
    assert isinstance(known, tuple), known
    if not set(reporters) <= {*known, JMX_REPORTER}:
        return False
    threads, had = config.number("num.io.threads"), static.number("num.io.threads")
    return had // 2 <= threads <= had * 2


def applied_keys(given: Mapping[str, str], *, is_per_broker: bool) -> dict[str, str]:
    """The keys of a BROKER resource that a node applies: valid dynamic keys, and unknown keys."""
    return {
        name: text
        for name, text in given.items()
        if _is_valid(name, text)
        and (name not in server.KEYS or name in DYNAMIC)
        and name not in LISTENER_ONLY
        and (is_per_broker or not _is_per_broker(name))
    }


def synonyms(name: str) -> tuple[str, ...]:
    """The keys of a node that are synonyms of this one, itself included, highest precedence first."""
    return NODE_SYNONYMS.get(name, (name,))


def described_synonyms(name: str) -> tuple[str, ...]:
    """The synonyms that DescribeConfigs lists: for a key with a listener prefix, also the key without it."""
    match = None if name in NODE_SYNONYMS else _OF_LISTENER.fullmatch(name)
    return synonyms(name) if match is None else (name, _base_name(match[1]))


def node_type(name: str) -> Type | None:
    """The type of a key of a node, without regard to a listener prefix; None if the key is unknown."""
    for definition in (server.KEYS, server.BROKER_QUOTA_KEYS, own.KEYS):
        if name in definition:
            return definition.type_of(name)
    known = (server.KEYS.type_of(synonym) for synonym in described_synonyms(name))
    return next((kind for kind in known if kind is not None), None)


def _base_name(rest: str) -> str:
    return next((name for name in _OF_MECHANISM if rest.endswith(name)), rest)


def _definition(name: str) -> Key | None:
    match = _OF_LISTENER.fullmatch(name)
    base = name if match is None else match[1]
    return server.KEYS.get(base) if base in DYNAMIC else server.BROKER_QUOTA_KEYS.get(base)


def _is_valid(name: str, text: str) -> bool:
    key = _definition(name) or server.BROKER_QUOTA_KEYS.get(name)
    if key is None:
        return True
    try:
        key.parse(text)
    except ConfigError:
        return False
    return True


def _is_per_broker(name: str) -> bool:
    match = _OF_LISTENER.fullmatch(name)
    return name in PER_BROKER or (match is not None and match[1] not in OF_LISTENER_CLUSTER_WIDE)


def _clamp(merged: dict[str, str]) -> None:
    """Clamp the assignment intervals of groups to their bounds; stock does so too, and does not refuse them."""
    for kind in ("consumer", "share", "streams"):
        name = f"group.{kind}.assignment.interval.ms"
        if name not in merged:
            continue
        try:
            value = _number(merged, name)
            least = _number(merged, f"group.{kind}.min.assignment.interval.ms")
            most = _number(merged, f"group.{kind}.max.assignment.interval.ms")
        except ConfigError:
            # Not a number: the check of all keys, which follows, refuses it.
            continue
        merged[name] = str(min(max(value, least), most))


def _number(texts: Mapping[str, str], name: str) -> int:
    key = server.KEYS.keys[name]
    value = key.parse(texts[name]) if name in texts else key.initial
    assert isinstance(value, int), (name, value)
    return value
