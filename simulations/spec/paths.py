"""The actions of a node without a message, between two observed states."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulations.spec.elections import (
    become_leader,
    check_quorum_resign,
    lose_pre_vote,
    resigned_election_timeout,
    stand_alone,
    voter_election_timeout,
    voter_fetch_timeout,
    win_pre_vote,
)
from simulations.spec.values import (
    CANDIDATE,
    FOLLOWER,
    FOLLOWS,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    Node,
    NotAllowed,
    Rules,
    is_sole,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.spec.track import Seen

LENGTH_MAX = 6
"""No step takes more roles than a resigned sole voter that leads again: Unattached, Prospective, Candidate, Leader."""

Step = tuple[str, Node]


class Moment(NamedTuple):
    """The conditions of a step besides the node: the node's clock, and what its input allows.

    is_refused: the leader's process is not running; may_skip: a peer does not support pre-votes; is_asked: to resign;
    starts: it is the first step.
    """

    rules: Rules
    now_ms: int
    is_refused: bool = False
    may_skip: bool = False
    is_asked: bool = False
    starts: bool = False


def path(node: Node, seen: Seen, moment: Moment) -> list[Step]:
    """The actions that lead from a node to one of the observed role; none if it has that role already.

    Raises NotAllowed, with the guard that fails nearest to it, if there are none.
    """
    steps: list[Step] = []
    failed: list[NotAllowed] = []
    if not _find(node, seen[:4], moment, steps, failed):
        if failed:
            raise failed[-1]
        known = ", ".join(FOLLOWS[node.role])
        raise NotAllowed("step", f"from {node.role} only {known} can come, by an action that was taken here")
    return steps


def _find(node: Node, wanted: tuple[object, ...], moment: Moment, steps: list[Step], failed: list[NotAllowed]) -> bool:
    if (node.role, node.epoch, node.leader, node.voted) == wanted:
        return True
    if len(steps) == LENGTH_MAX:
        return False
    for name, act in OWN[node.role]:
        try:
            after = act(node, moment)
        except NotAllowed as refusal:
            failed.append(refusal)
            continue
        steps.append((name, after))
        if _find(after, wanted, moment, steps, failed):
            return True
        steps.pop()
    return False


def _alone(node: Node, moment: Moment) -> Node:
    if not moment.starts:
        raise NotAllowed("VoterElectionTimeout", "a sole voter starts")
    return stand_alone(node, moment.now_ms)


def _silent(node: Node, moment: Moment) -> Node:
    return voter_fetch_timeout(node, moment.rules, moment.now_ms, is_refused=moment.is_refused)


OWN: dict[str, tuple[tuple[str, Callable[[Node, Moment], Node]], ...]] = {
    FOLLOWER: (
        ("VoterElectionTimeout", _alone),
        ("VoterFetchTimeout", _silent),
    ),
    UNATTACHED: (("VoterElectionTimeout", lambda node, at: voter_election_timeout(node, at.rules, at.now_ms)),),
    PROSPECTIVE: (
        ("ConcludePreVote", lambda node, at: lose_pre_vote(node, at.rules, at.now_ms)),
        ("ConcludePreVote", lambda node, at: win_pre_vote(node, at.now_ms, may_skip=at.may_skip)),
    ),
    CANDIDATE: (
        ("VoterElectionTimeout", lambda node, at: voter_election_timeout(node, at.rules, at.now_ms)),
        ("BecomeLeader", lambda node, at: become_leader(node, at.now_ms)),
    ),
    LEADER: (
        (
            "CheckQuorumResign",
            lambda node, at: check_quorum_resign(node, at.rules, at.now_ms, is_asked=at.is_asked or node.leaving),
        ),
    ),
    RESIGNED: (
        ("VoterElectionTimeout", _alone),
        ("ResignedElectionTimeout", lambda node, at: resigned_election_timeout(node, at.rules, at.now_ms)),
    ),
}  # fmt: skip


def check_time(node: Node, rules: Rules, now_ms: int) -> None:
    """Raise NotAllowed if a timeout of the node has expired without an action."""
    role = node.role
    if node.leaving:
        return
    if role == FOLLOWER:
        waits_ms, what = (rules.backoff_ms, "has resigned") if node.released else (rules.fetch_ms, "is silent")
        if now_ms - node.since_ms >= waits_ms and node.may_stand:
            raise NotAllowed("VoterFetchTimeout", f"it was due: the leader {what} since {node.since_ms} ms")
    elif role == LEADER:
        if node.leading is not None and now_ms - node.leading.quorum_ms >= rules.quorum_ms and not is_sole(node):
            raise NotAllowed("CheckQuorumResign", f"it was due: no majority since {node.leading.quorum_ms} ms")
        if len(node.sets) > 1 and node.is_removed:
            raise NotAllowed("CheckQuorumResign", f"it was due: the voters {node.voters} are committed")
    elif (
        role in {CANDIDATE, RESIGNED}
        and now_ms - node.since_ms >= 2 * rules.election_ms
        and (role == RESIGNED or node.may_stand)
    ):
        raise NotAllowed("VoterElectionTimeout", f"it was due: it is {role} since {node.since_ms} ms")
