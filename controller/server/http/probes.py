"""Probes: is this node alive, has it started, is it ready? Each with its reasons, for a person at night.

Liveness does not rest on the quorum: who restarts all nodes because a majority is away makes it worse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raft.roles import Follower, Leader

if TYPE_CHECKING:
    from controller.node.node import Node
    from raft.replica import Replica

# A state is level with the quorum while it lacks no more than this of what is known to be committed: a standby of a
# busy quorum is always some records behind.
BEHIND_MAX = 1000


class Check(NamedTuple):
    """One thing that was looked at. reason: what was found, either way."""

    name: str
    passed: bool
    reason: str


def started(node: Node) -> list[Check]:
    """Whether the node has in its state what its own directory holds as committed; once true it stays true."""
    recovered = node.replica.recovered
    newest = max((snapshot.id.end_offset for snapshot in recovered.snapshots), default=0)
    has = node.controller.state.stable_end_offset
    if has >= newest:
        return [Check("replayed", True, f"the state is as of offset {has}")]
    return [Check("replayed", False, f"the snapshot that ends at offset {newest} is being loaded")]


def ready(node: Node, now_ms: int) -> list[Check]:
    """Whether this node does its part: formatted, in touch with the quorum, level with it."""
    if node.is_ending or node.controller.is_shut_down:
        return [Check("staying", False, "the node is on its way out")]
    env = node.controller.env
    formatted = Check("formatted", True, f"cluster {env.cluster_id}, node {env.node_id}")
    return [formatted, _joined(node, now_ms), _caught_up(node)]


def _joined(node: Node, now_ms: int) -> Check:
    replica = node.replica
    role = replica.role
    if isinstance(role, Leader):
        if not node.controller.is_active:
            return Check("joined", False, f"elected for epoch {role.epoch}; its first record is not committed yet")
        left_ms = role.state.quorum_deadline_ms - now_ms
        is_alone = len(replica.voters) == 1
        if left_ms <= 0 and not is_alone:
            return Check("joined", False, f"leads epoch {role.epoch}, and hears from no majority of the voters")
        return Check("joined", True, f"leads epoch {role.epoch}")
    if not isinstance(role, Follower):
        return Check("joined", False, f"{role_name(replica)} in epoch {role.epoch}; no leader is known")
    where = f"follows node {role.leader_id} in epoch {role.epoch}"
    if not role.state.has_fetched:
        return Check("joined", False, f"{where}, and has not fetched from it yet")
    silent_ms = now_ms - (role.state.fetch_deadline_ms - replica.config.fetch_timeout_ms)
    if silent_ms >= replica.config.fetch_timeout_ms:
        return Check("joined", False, f"{where}, which has not answered for {silent_ms} ms")
    if replica.high_watermark is None:
        return Check("joined", False, f"{where}, and does not know the high watermark yet")
    return Check("joined", True, f"{where}; it answered {silent_ms} ms ago")


def _caught_up(node: Node) -> Check:
    replica, state = node.replica, node.controller.state
    if node.controller.loading is not None or state.loading:
        return Check("caught up", False, "a snapshot is being loaded")
    role = replica.role
    if isinstance(role, Follower):
        if role.state.download is not None:
            return Check("caught up", False, f"a snapshot is being fetched from node {role.leader_id}")
        lacks = role.state.leader_high_watermark - replica.log.end
        if lacks > BEHIND_MAX:
            return Check("caught up", False, f"the log lacks {lacks} records that the leader has committed")
    lacks = (replica.high_watermark or 0) - state.end_offset
    if lacks > BEHIND_MAX:
        return Check("caught up", False, f"the state lacks {lacks} committed records")
    return Check("caught up", True, f"the state is as of offset {state.end_offset}")


def role_name(replica: Replica) -> str:
    """The role under the name that Kafka's `current-state` has for it (`KafkaRaftMetrics`)."""
    role = replica.role
    name = type(role).__name__.lower()
    if name == "resigned":
        return "unattached"
    if name == "follower" and not replica.is_voter:
        return "observer"
    if name in {"prospective", "unattached"} and role.voted is not None:
        return f"{name}-voted"
    return name
