"""The state that a generator sees, and the values that it draws: mostly valid ones, and a few of each invalid kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.state.roles import Follower, Resigned
from records.metadata_log import METADATA_TOPIC
from records.uuids import METADATA_TOPIC_ID, ZERO_UUID, uuid_text
from tests.oracle.raft.directory import directory_id, endpoint

if TYPE_CHECKING:
    from random import Random

    from raft.state.roles import Role
    from tests.oracle.raft.commands import Start
    from tests.oracle.raft.ours import Ours

# An observer: a broker, and a controller that is not a voter (yet).
STRANGERS = (7, 8)
OTHER_TOPIC = "other"
EPOCHS = ("$epoch()-1", "$epoch()+1", "$epoch()+2", "$epoch()+7", 0, -1)


class World:
    """rng: of the sequence. calm: values that stop stock are left out."""

    def __init__(self, rng: Random, ours: Ours, start: Start, *, calm: bool) -> None:
        self.rng = rng
        self.ours = ours
        self.start = start
        self.calm = calm

    @property
    def role(self) -> Role:
        return self.ours.replica.role

    @property
    def peers(self) -> list[int]:
        """Ids of the other voters."""
        return [voter_id for voter_id in self.voter_ids if voter_id != self.start.id] or [STRANGERS[0]]

    @property
    def voter_ids(self) -> tuple[int, ...]:
        """Ids of the voters in the log."""
        return self.ours.replica.voters.ids

    def maybe(self, probability: float) -> bool:
        return self.rng.random() < probability

    def peer(self) -> int:
        """Mostly the leader or another voter; sometimes a replica that is no voter."""
        leader_id = self.role.leader_id
        if isinstance(self.role, Follower) and leader_id is not None and self.maybe(0.5):
            return leader_id
        return self.rng.choice(STRANGERS) if self.maybe(0.06) else self.rng.choice(self.peers)

    def cluster_id(self) -> str | None:
        if self.maybe(0.03):
            return None
        return "another-cluster" if self.maybe(0.02) else "$cluster()"

    def epoch(self, wrong: float = 0.15) -> Any:
        """The current epoch, or a stale or future one."""
        return self.rng.choice(EPOCHS) if self.maybe(wrong) else "$epoch()"

    def directory(self, replica_id: int, wrong: float = 0.08) -> str:
        """The directory id of a replica, the zero id, or another."""
        if self.maybe(wrong):
            return self.rng.choice((uuid_text(ZERO_UUID), uuid_text(directory_id(replica_id, 1))))
        return uuid_text(directory_id(replica_id))

    def topics(self, partition: dict[str, Any], key: str = "topicName", index: str = "partitionIndex") -> list[Any]:
        """The topics of a request or response with this one partition; a few have others."""
        partition = {index: 0, **partition}
        topic = {key: METADATA_TOPIC, "partitions": [partition]}
        if key == "topicId":
            topic[key] = uuid_text(METADATA_TOPIC_ID)
        if not self.maybe(0.02):
            return [topic]
        other = {**topic, key: uuid_text(directory_id(1)) if key == "topicId" else OTHER_TOPIC}
        return self.rng.choice(
            (
                [],
                [topic, topic],
                [other],
                [{**topic, "partitions": []}],
                [{**topic, "partitions": [partition, partition]}],
                [{**topic, "partitions": [{**partition, index: 1}]}],
            )
        )

    def endpoints(self, replica_id: int, name: str = "name") -> list[dict[str, Any]]:
        """The listeners of a leader as it names them: none, its own, one more."""
        found = endpoint(replica_id)
        own = {name: found.listener, "host": found.host, "port": found.port}
        if replica_id in self.voter_ids and self.maybe(0.3):
            return []
        if self.maybe(0.1):
            return [own, {name: "SECOND", "host": f"other{replica_id}", "port": 9500 + replica_id}]
        return [own]

    def nodes(self, replica_id: int) -> list[dict[str, Any]]:
        """The endpoint of a leader in a response."""
        if replica_id < 0 or (replica_id in self.voter_ids and self.maybe(0.3)):
            return []
        found = endpoint(replica_id)
        return [{"nodeId": replica_id, "host": found.host, "port": found.port}]

    def claimed_leader(self, epoch: Any) -> int:
        """The leader of an epoch that a peer names, mostly the right one."""
        role = self.role
        if epoch == "$epoch()" and role.leader_id is not None:
            if self.maybe(0.12) or (self.calm and isinstance(role, Resigned)):
                return -1
            return role.leader_id if self.calm or self.maybe(0.97) else self.rng.choice(self.peers)
        if self.maybe(0.3):
            return -1
        if not self.calm and self.maybe(0.03):
            return self.start.id
        return self.rng.choice(self.peers)
