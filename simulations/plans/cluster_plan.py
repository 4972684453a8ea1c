"""Plans of whole clusters: those of the raft level, with brokers, admin clients, and their settings."""

from __future__ import annotations

from dataclasses import dataclass, field

from records.features.levels import LATEST_PRODUCTION
from simulations.plans.plan import Plan
from simulations.world.releases import NEWEST

OPERATIONS = ("create", "delete", "grow", "configure", "read", "reassign", "elect")

FIRST_BROKER = 101


@dataclass(slots=True)
class ClusterPlan(Plan):
    """brokers, admins: how many. topics: the number of names. operations: of admins, with equal chances; ask_every_ms:
    the pause of each between two. session_ms, heartbeat_ms: of brokers; lead_every_ms: how often a leader checks its
    ISRs, in which a follower falls behind with the probability `lag`. fetch_wait_ms: of brokers. metadata_version: of
    the bootstrap records. properties: of every controller, beside the required ones. directories: log directories of
    each broker. broker_releases: by broker, where it is not the newest. fuzz_clients: how many. racks: the
    number of racks of the brokers, 0 for none. is_inherited: whether the log begins with users, quotas and ACLs of a
    stock cluster. sliced: the share of clients' requests that controllers serve in slices. hostile: the number of
    users that send large requests without a pause. echoes: the share of heartbeats that a broker sends once more on
    another connection, before the first is answered; or its registration in their place.
    """

    brokers: int = 3
    admins: int = 2
    topics: int = 4
    operations: list[str] = field(default_factory=lambda: list(OPERATIONS))
    ask_every_ms: int = 60
    session_ms: int = 1500
    heartbeat_ms: int = 300
    lead_every_ms: int = 250
    lag: float = 0.1
    fetch_wait_ms: int = 200
    metadata_version: int = LATEST_PRODUCTION
    properties: dict[str, str] = field(default_factory=dict)
    directories: int = 1
    broker_releases: dict[int, str] = field(default_factory=dict)
    fuzz_clients: int = 0
    racks: int = 0
    is_inherited: bool = False
    sliced: float = 0.0
    hostile: int = 0
    echoes: float = 0.0

    @property
    def software(self) -> set[str]:
        ids = range(FIRST_BROKER, FIRST_BROKER + self.brokers)
        of_brokers = {self.broker_releases.get(each, NEWEST) for each in ids}
        return of_brokers | {self.releases.get(each, NEWEST) for each in self.ids}

    def __post_init__(self) -> None:
        self.broker_releases = {int(broker): release for broker, release in self.broker_releases.items()}
