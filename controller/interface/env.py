"""The environment of a handler: the node it runs on, and the present time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from controller.interface.policies import Policies
from controller.interface.slices import Slices
from records.features.levels import CURRENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from controller.interface.access import Access
    from controller.interface.loggers import Loggers
    from controller.interface.sessions import Sessions
    from controller.interface.settings import Settings
    from records.features.levels import Release


@dataclass(slots=True)
class Env:
    """The node, and the present time. Handlers read it; the controller keeps it up to date.

    config: the node's own configuration (`controller.config.node.NodeConfig`): its topic defaults count where the
    cluster has none. release: of Kafka, whose levels and APIs the node supports. settings: what the rules of brokers
    and topics take from the configuration. random: for topic ids and placement.
    now_ms: monotonic; wall_ms: since 1970. epoch: of this node's leadership, -1 on a standby. leader_id: of the active
    controller, -1 where unknown; last_leader_id: of the last one that was known, -1 before the first. next_offset: of
    the next record to be appended. sessions: None on a standby.
    kraft_version: as the control records of the log have it; kraft_version_offset: of that record, -1 without one.
    kraft_version_support: the highest level that all voters support, as they have reported to the leader of the epoch
    that stands before it.
    loggers: of this node; None where none can be changed. topic_defaults: what `controller.handlers.topics` keeps.
    access: the authorizer; None where everything is allowed. token_secrets: kept by
    `controller.handlers.security.delegation_tokens`. mutation_buckets: kept by `controller.rules.mutation_quotas`.
    documentation: returns type of config resource -> key -> text, for DescribeConfigs. slices: by which a handler lets
    other inputs be taken. partitions_at_once: so many leave a broker that has expired, or is in controlled shutdown, in
    one step.
    """

    cluster_id: str
    node_id: int
    random: Random
    settings: Settings
    config: Any = None
    release: Release = CURRENT
    now_ms: int = 0
    wall_ms: int = 0
    epoch: int = -1
    leader_id: int = -1
    last_leader_id: int = -1
    next_offset: int = 0
    sessions: Sessions | None = None
    kraft_version: int = 0
    kraft_version_offset: int = -1
    kraft_version_support: tuple[int, int] = (-1, 0)
    loggers: Loggers | None = None
    topic_defaults: tuple[Any, Any, Any] | None = None
    access: Access | None = None
    policies: Policies = field(default_factory=Policies)
    token_secrets: Any = None
    mutation_buckets: dict[tuple[str, str], Any] = field(default_factory=dict)
    documentation: Callable[[], Mapping[Any, Mapping[str, str]]] = dict
    slices: Slices = field(default_factory=Slices)
    # Some 3 ms.
    partitions_at_once: int = 5_000
