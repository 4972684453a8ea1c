"""Names of an operator's own classes in a configuration: `python:module:attribute`."""

from __future__ import annotations

from typing import NamedTuple

from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.values.node_values import NodeValues

OWN = "python:"
CREATE_TOPIC_POLICY = "create.topic.policy.class.name"
ALTER_CONFIG_POLICY = "alter.config.policy.class.name"
QUOTA_CALLBACK = "client.quota.callback.class"
# Strimzi's quotas plugin, which its operator renders for controllers, too. It limits what clients produce and fetch;
# beside it no `controller_mutation_rate` applies.
STATIC_QUOTAS = "io.strimzi.kafka.quotas.StaticQuotaCallback"


class Plugin(NamedTuple):
    """A function, or a class, that is called with the configuration. key: the one that names it."""

    key: str
    module: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.key}={OWN}{self.module}:{self.attribute}"


def plugin_of(key: str, name: str) -> Plugin | None:
    """What the name names; None where it is not of this form."""
    parts = name.split(":")
    if not name.startswith(OWN) or len(parts) != 3 or not all(parts):
        return None
    return Plugin(key, parts[1], parts[2])


def policy(config: NodeValues, key: str) -> Plugin | None:
    """The policy that a key names; None where there is none. Raises ConfigError for a Java class."""
    name = (config.text(key) or "").strip()
    if not name:
        return None
    plugin = plugin_of(key, name)
    if plugin is None:
        raise ConfigError(
            f"{key}={name} names a Java class, which this node cannot run; remove the key, or name one of your own as "
            "python:module:attribute"
        )
    return plugin


def has_static_quotas(config: NodeValues) -> bool:
    """Whether the file names Strimzi's quotas plugin."""
    return config.text(QUOTA_CALLBACK) == STATIC_QUOTAS


def quota_lines(config: NodeValues) -> list[str]:
    """For the log: what becomes of that plugin."""
    if not has_static_quotas(config):
        return []
    instead = "brokers run it, and beside it this node applies no controller_mutation_rate, as in Kafka"
    return [f"{QUOTA_CALLBACK} names {STATIC_QUOTAS}: {instead}"]
