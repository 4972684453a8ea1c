"""What an operator's own policies are asked before a topic is created or a configuration altered (KIP-108, KIP-133)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class PolicyViolation(Exception):
    """Raised by a policy to refuse what it is asked; its text is the error message that the client gets."""


class NewTopic(NamedTuple):
    """A topic that is to be created, valid by all of Kafka's own rules.

    num_partitions, replication_factor: with the cluster's defaults filled in; None where the client assigned replicas.
    replicas_assignments: partition -> broker ids, the preferred leader first; None where the controller places them.
    configs: those that the client asked for.
    """

    topic: str
    num_partitions: int | None
    replication_factor: int | None
    replicas_assignments: Mapping[int, list[int]] | None
    configs: Mapping[str, str]


class ConfigChange(NamedTuple):
    """Keys of one resource that are to be altered, valid by all of Kafka's own rules.

    resource_type: TOPIC, BROKER, GROUP or CLIENT_METRICS. resource_name: empty for the default of all brokers. configs:
    the new values of those keys alone; None where a key is removed. What AlterConfigs removes by not naming it is not
    among them.
    """

    resource_type: str
    resource_name: str
    configs: Mapping[str, str | None]


@dataclass(slots=True)
class Policies:
    """The policies of this node; None where there is none. Each raises ApiError to refuse."""

    create_topic: Callable[[NewTopic], None] | None = None
    alter_config: Callable[[ConfigChange], None] | None = None
