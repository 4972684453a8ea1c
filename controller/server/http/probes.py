"""Probes: whether this node is live, started and ready, each with its reasons.

Liveness does not depend on the quorum: restarting all nodes because a majority is down makes an outage worse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from controller.node.logging.problems import DATA_LOST, name_of
from raft.state.roles import Follower, Leader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.node.logging.problems import Problems
    from controller.node.node import Node
    from raft.state.replica import Replica

# A node has caught up while it lacks no more than this number of committed records: a standby of a busy quorum is
# always some records behind.
BEHIND_MAX = 1000
# The greatest number of problems in a reason; `/quorum` has all of them.
PROBLEMS_MAX = 4


class Check(NamedTuple):
    """One check. reason: what was found, whether it passed or failed."""

    name: str
    passed: bool
    reason: str


def check_startup(node: Node) -> list[Check]:
    """Whether the state has loaded the newest snapshot of the node's own directory; once true it stays true."""
    recovered = node.replica.recovered
    newest = max((snapshot.id.end_offset for snapshot in recovered.snapshots), default=0)
    has = node.controller.state.stable_end_offset
    if has >= newest:
        return [Check("replayed", True, f"the state has offset {has}")]
    return [Check("replayed", False, f"the snapshot that ends at offset {newest} is being loaded")]


def known_leader(replica: Replica) -> int | None:
    """The leader that this node follows, or itself while it leads; None in an election, and after it resigned."""
    return replica.leader_id if isinstance(replica.role, Leader | Follower) else None


class Shown(NamedTuple):
    """A problem with a peer or of this node, in words, and for how long it has lasted. event: of the log, if one."""

    text: str
    lasts_ms: int
    event: str = ""


def problems_of(node: Node, logged: Problems) -> list[Shown]:
    """What is wrong between this node and its peers, and with this node; lost data first. logged: those in the log."""
    now_s = node.loop.time()
    problems = [
        Shown(f"cannot connect to {name_of(peer)} at {failure}", int((now_s - since_s) * 1000))
        for peer, (failure, since_s) in node.channels.failures().items()
    ]
    logged_s = logged.now_s()
    for problem in sorted(logged.current(), key=lambda problem: problem.event == DATA_LOST):
        shown = Shown(problem.text, int((logged_s - problem.since_s) * 1000), problem.event)
        problems.insert(0 if problem.event == DATA_LOST else len(problems), shown)
    return problems


def ready(node: Node, now_ms: int, problems: Sequence[Shown] = ()) -> list[Check]:
    """Whether this node serves: formatted, in contact with the quorum, caught up.

    problems: added to the reason when the node is not in contact with the quorum, else a check that passes.
    """
    if node.is_ending or node.controller.is_shut_down:
        return [Check("staying", False, "the node is stopping")]
    env = node.controller.env
    formatted = Check("formatted", True, f"cluster {env.cluster_id}, node {env.node_id}")
    contact = check_joined(node, now_ms)
    if not problems:
        return [formatted, contact, _check_caught_up(node)]
    texts = "; ".join(shown.text for shown in problems[:PROBLEMS_MAX])
    if contact.passed:
        return [formatted, contact, _check_caught_up(node), Check("problems", True, texts)]
    return [formatted, contact._replace(reason=f"{contact.reason}; {texts}"), _check_caught_up(node)]


def check_joined(node: Node, now_ms: int) -> Check:
    """Whether the node is in contact with the quorum: it leads, or follows a leader that answers."""
    replica = node.replica
    role = replica.role
    if isinstance(role, Leader):
        if not node.controller.is_active:
            return Check("joined", False, f"elected for epoch {role.epoch}; its first record is not committed yet")
        left_ms = role.state.quorum_deadline_ms - now_ms
        is_alone = len(replica.voters) == 1
        if left_ms <= 0 and not is_alone:
            return Check("joined", False, f"leads epoch {role.epoch}, but without fetches from a majority of voters")
        return Check("joined", True, f"leads epoch {role.epoch}")
    if not isinstance(role, Follower):
        return Check("joined", False, f"{role_name(replica)} in epoch {role.epoch}; no leader is known")
    where = f"follows node {role.leader_id} in epoch {role.epoch}"
    if not role.state.has_fetched:
        return Check("joined", False, f"{where}, but has not fetched from it yet")
    silent_ms = now_ms - (role.state.fetch_deadline_ms - replica.config.fetch_timeout_ms)
    if silent_ms >= replica.config.fetch_timeout_ms:
        return Check("joined", False, f"{where}, which has not answered for {silent_ms} ms")
    if replica.high_watermark is None:
        return Check("joined", False, f"{where}, but does not know the high watermark yet")
    if not len(replica.voters):
        # Where the voters are static, one node after the other would lose its vote, until no majority is left.
        return Check("joined", False, f"{where}, but knows no voters: its log has none, nor its configuration")
    return Check("joined", True, f"{where}; it answered {silent_ms} ms ago")


def _check_caught_up(node: Node) -> Check:
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
    return Check("caught up", True, f"the state has offset {state.end_offset}")


def role_name(replica: Replica) -> str:
    """The role by its name in Kafka's metric `current-state` (`KafkaRaftMetrics`)."""
    role = replica.role
    name = type(role).__name__.lower()
    if name == "resigned":
        return "unattached"
    if name == "follower" and not replica.is_voter:
        return "observer"
    if name in {"prospective", "unattached"} and role.voted is not None:
        return f"{name}-voted"
    return name
