"""Elections of the specification: timeouts, votes, pre-votes, the start and end of leadership (KIP-595, KIP-996).

Each action is a function of a node that returns the node after it, or raises NotAllowed with the guard that fails. The
names are those of the TLA+ specification of KIP-996, where it has them.
"""

from __future__ import annotations

from typing import NamedTuple

from records.errors import Error
from simulations.spec.values import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    NOBODY,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    UNKNOWN,
    Leading,
    Node,
    NotAllowed,
    Rules,
    is_sole,
)  # fmt: skip

EPOCH_MAX = (1 << 31) - 2
NONE_YET: frozenset[int] = frozenset()

# The errors, as numbers.
FENCED = int(Error.FENCED_LEADER_EPOCH)
UNKNOWN_EPOCH = int(Error.UNKNOWN_LEADER_EPOCH)
NOT_LEADER = int(Error.NOT_LEADER_OR_FOLLOWER)
INVALID = int(Error.INVALID_REQUEST)
OTHER_KEY = int(Error.INVALID_VOTER_KEY)
OTHER_SET = int(Error.INCONSISTENT_VOTER_SET)
UNAVAILABLE = int(Error.BROKER_NOT_AVAILABLE)


class Asked(NamedTuple):
    """A Vote. pre: whether it is a pre-vote."""

    epoch: int
    candidate: int
    last_epoch: int
    end: int
    pre: bool


# Epochs and leaders from other nodes


def become_unattached(node: Node, epoch: int, leader: int, now_ms: int) -> Node:
    """The node knows no leader to fetch from."""
    return node.but(
        role=UNATTACHED, epoch=epoch, leader=leader, voted=node.voted if epoch == node.epoch else NOBODY,
        since_ms=now_ms, reaches=False, granted=NONE_YET, refused=NONE_YET, fetched=False, released=False,
        download=None, leading=None,
    )  # fmt: skip


def follower(node: Node, epoch: int, leader: int, now_ms: int) -> Node:
    """The node fetches from a leader."""
    return become_unattached(node, epoch, leader, now_ms).but(role=FOLLOWER, reaches=True)


def contradicts(node: Node, epoch: int, leader: int) -> bool:
    """Whether a message says something impossible: two leaders in an epoch, or that this node leads
    when it does not.
    """
    if leader == node.id:
        return node.leader != leader or node.epoch != epoch
    return epoch == node.epoch and NOBODY not in (leader, node.leader) and leader != node.leader


def learn(node: Node, epoch: int, leader: int, now_ms: int, *, can_reach: bool) -> Node:
    """A message has an epoch that is not lower than this node's, and perhaps its leader."""
    if epoch > EPOCH_MAX or contradicts(node, epoch, leader):
        return node
    is_leader_known = leader != NOBODY and can_reach
    if epoch > node.epoch:
        return (
            follower(node, epoch, leader, now_ms) if is_leader_known else become_unattached(node, epoch, leader, now_ms)
        )
    # A replica may know its leader, and not have learned its endpoint before.
    if is_leader_known and leader != node.id and (node.leader == NOBODY or not node.reaches):
        return follower(node, epoch, leader, now_ms)
    return node


def learn_from_answer(
    node: Node, error: int, epoch: int, leader: int, now_ms: int, *, can_reach: bool
) -> tuple[Node, bool]:
    """The fields that every answer has; and whether the rest is still to be handled."""
    if epoch < node.epoch or error == UNKNOWN_EPOCH:
        return node, False
    if epoch > node.epoch or error in {FENCED, NOT_LEADER} or contradicts(node, epoch, leader):
        return learn(node, epoch, leader, now_ms, can_reach=can_reach), False
    if leader != NOBODY and node.leader == NOBODY:
        learned = learn(node, epoch, leader, now_ms, can_reach=can_reach)
        return learned, learned is not node and error == 0
    return node, error == 0


# Requests of voters


def handle_vote_request(
    node: Node, asked: Asked, now_ms: int, *, is_meant: bool, is_silent: bool = False
) -> tuple[Node, tuple[int, ...]]:
    """HandleVoteRequest, HandlePreVoteRequest: one vote an epoch, to an up-to-date log; a pre-vote changes nothing.

    is_silent: the leader was silent for a fetch timeout. Returns the answer: error, epoch, leader, whether it is
    granted.
    """
    if asked.end < 0 or not 0 <= asked.last_epoch <= (asked.epoch if asked.pre else asked.epoch - 1):
        return node, (INVALID, node.epoch, node.leader, 0)
    if asked.epoch < node.epoch:
        return node, (FENCED, node.epoch, node.leader, 0)
    if asked.candidate < 0 or asked.epoch > EPOCH_MAX:
        return node, (INVALID, node.epoch, node.leader, 0)
    if asked.epoch > node.epoch:
        node = become_unattached(node, asked.epoch, NOBODY, now_ms)
    if not is_meant:
        return node, (OTHER_KEY, node.epoch, node.leader, 0)
    granted = asked.candidate != node.id and _grants(node, asked, is_silent=is_silent)
    if granted and not asked.pre and node.voted == NOBODY:
        node = node.but(voted=asked.candidate, since_ms=now_ms)
        if node.role == PROSPECTIVE:
            node = node.but(granted=frozenset((node.id,)), refused=NONE_YET, electorate=node.voters)
    return node, (0, node.epoch, node.leader, int(granted))


def _grants(node: Node, asked: Asked, *, is_silent: bool) -> bool:
    is_as_good = (asked.last_epoch, asked.end) >= (node.log.last_epoch, node.log.end)
    if asked.pre:
        follows = node.role == FOLLOWER and node.fetched and (node.may_stand or not is_silent)
        return is_as_good and node.role != LEADER and not follows
    if node.role not in {UNATTACHED, PROSPECTIVE}:
        return False
    if node.voted != NOBODY:
        return node.voted == asked.candidate
    return node.leader == NOBODY and is_as_good


def handle_begin_request(
    node: Node, epoch: int, leader: int, now_ms: int, *, is_meant: bool, can_reach: bool
) -> tuple[Node, tuple[int, ...]]:
    """AcceptBeginQuorumRequest, or its refusal; returns the answer: error, epoch, leader."""
    node, error = _learn_leader(node, epoch, leader, now_ms, can_reach=can_reach)
    if error == 0 and not is_meant:
        error = OTHER_KEY
    return node, (error, node.epoch, node.leader)


def handle_end_request(
    node: Node, epoch: int, leader: int, now_ms: int, *, can_reach: bool
) -> tuple[Node, tuple[int, ...]]:
    """AcceptEndQuorumRequest, or its refusal: a follower of that leader waits for it no more. A repeated one has no
    effect.
    """
    node, error = _learn_leader(node, epoch, leader, now_ms, can_reach=can_reach)
    if error == 0 and node.role == FOLLOWER and node.leader == leader and not node.released:
        node = node.but(released=True, fetched=False, since_ms=now_ms)
    return node, (error, node.epoch, node.leader)


def _learn_leader(node: Node, epoch: int, leader: int, now_ms: int, *, can_reach: bool) -> tuple[Node, int]:
    if epoch < node.epoch:
        return node, FENCED
    if leader < 0 or epoch > EPOCH_MAX:
        return node, INVALID
    if contradicts(node, epoch, leader):
        return node, OTHER_SET
    return learn(node, epoch, leader, now_ms, can_reach=can_reach), 0


# Answers to voters


def handle_vote_response(node: Node, voter: int, *, granted: bool, pre: bool) -> Node:
    """HandleVoteResponse, HandlePreVoteResponse: it counts if it was requested in this candidacy."""
    if node.role != (PROSPECTIVE if pre else CANDIDATE):
        return node
    if granted:
        return node.but(granted=node.granted | {voter})
    if pre:
        return node.but(refused=node.refused | {voter})
    return node if voter in node.granted else node.but(refused=node.refused | {voter})


# Timeouts and other actions without a message


def voter_fetch_timeout(node: Node, rules: Rules, now_ms: int, *, is_refused: bool) -> Node:
    """VoterFetchTimeout: the leader was silent for too long, resigned, or refuses connections."""
    name = "VoterFetchTimeout"
    need(node.role == FOLLOWER, name, "it follows")
    need(node.may_stand, name, "it may be elected")
    waited = now_ms - node.since_ms
    need(
        is_refused or node.released or waited >= rules.fetch_ms, name,
        f"the leader was silent for {rules.fetch_ms} ms (for {waited} now), resigned, or its process is gone",
    )  # fmt: skip
    return prospective(node, now_ms)


def voter_election_timeout(node: Node, rules: Rules, now_ms: int) -> Node:
    """VoterElectionTimeout: no leader was elected for too long."""
    name = "VoterElectionTimeout"
    need(node.role in {UNATTACHED, CANDIDATE}, name, "it knows no leader to fetch from")
    need(node.may_stand, name, "it may be elected")
    waited = now_ms - node.since_ms
    need(node.role == UNATTACHED or waited >= rules.election_ms, name, f"its candidacy is {waited} ms old")
    return prospective(node, now_ms)


def stand_alone(node: Node, now_ms: int) -> Node:
    """VoterElectionTimeout of a sole voter that starts: there are no others to wait for."""
    name = "VoterElectionTimeout"
    need(is_sole(node), name, "it is the only voter")
    need(node.role != CANDIDATE, name, "it does not stand yet")
    return prospective(node, now_ms)


def prospective(node: Node, now_ms: int) -> Node:
    """The node asks for pre-votes; its saved state stays."""
    return node.but(
        role=PROSPECTIVE, since_ms=now_ms, granted=frozenset((node.id,)), refused=NONE_YET, electorate=node.voters,
        fetched=False, released=False, download=None,
    )  # fmt: skip


def has_majority(node: Node) -> bool:
    """Whether a majority of the voters granted a vote. A node that is no voter does not count itself."""
    voters = node.electorate
    return sum(1 for voter_id in voters.ids if voter_id in node.granted) >= voters.majority


def win_pre_vote(node: Node, now_ms: int, *, may_skip: bool) -> Node:
    """ConcludePreVote, if a majority would vote for it, or a peer does not support pre-votes: it becomes candidate."""
    name = "ConcludePreVote"
    need(node.role == PROSPECTIVE, name, "it asks for pre-votes")
    need(node.may_stand, name, "it may be elected")
    need(
        may_skip or has_majority(node), name, f"a majority of {node.electorate.ids} granted it: {sorted(node.granted)}"
    )
    # After a crash it stands again in this epoch, and those who voted for it repeat their votes, whatever its log.
    need(not node.disk.writing, name, f"its log is on disk: {node.disk.writing}")
    return node.but(
        role=CANDIDATE, epoch=node.epoch + 1, leader=NOBODY, voted=node.id, reaches=False, since_ms=now_ms,
        granted=frozenset((node.id,)), refused=NONE_YET, electorate=node.voters,
    )  # fmt: skip


def lose_pre_vote(node: Node, rules: Rules, now_ms: int) -> Node:
    """ConcludePreVote, if no majority would, or not in time: back to the leader that it knew, or to Unattached."""
    name = "ConcludePreVote"
    need(node.role == PROSPECTIVE, name, "it asks for pre-votes")
    waited = now_ms - node.since_ms
    voters = node.electorate
    is_lost = sum(1 for voter_id in voters.ids if voter_id not in node.refused) < voters.majority
    need(
        is_lost or waited >= rules.election_ms or not node.may_stand,
        name,
        f"refused by {sorted(node.refused)}, after {waited} ms",
    )
    if node.leader != NOBODY and node.reaches:
        return follower(node, node.epoch, node.leader, now_ms)
    return become_unattached(node, node.epoch, node.leader, now_ms)


def become_leader(node: Node, now_ms: int) -> Node:
    """BecomeLeader: a majority voted for it. Its log continues with a record of the epoch, which `append` adds."""
    name = "BecomeLeader"
    need(node.role == CANDIDATE, name, "it stands")
    need(has_majority(node), name, f"a majority of {node.electorate.ids} voted for it: {sorted(node.granted)}")
    return node.but(
        role=LEADER, leader=node.id, voted=NOBODY, since_ms=now_ms, watermark=UNKNOWN,
        leading=Leading(node.log.end, {}, NONE_YET, now_ms),
    )  # fmt: skip


def check_quorum_resign(node: Node, rules: Rules, now_ms: int, *, is_asked: bool) -> Node:
    """CheckQuorumResign: no majority fetched for too long; or Resign: on request, at shutdown, or because its removal
    from the voters is committed.
    """
    name = "CheckQuorumResign"
    need(node.role == LEADER, name, "it leads")
    assert node.leading is not None, "a leader keeps books"
    waited = now_ms - node.leading.quorum_ms
    if not is_asked and not node.is_removed:
        need(not is_sole(node), name, "there are other voters")
        need(waited >= rules.quorum_ms, name, f"no majority fetched for {rules.quorum_ms} ms (it did {waited} ago)")
    return node.but(role=RESIGNED, since_ms=now_ms, watermark=UNKNOWN, leading=None)


def resigned_election_timeout(node: Node, rules: Rules, now_ms: int) -> Node:
    """ResignedElectionTimeout: a former leader becomes candidate in the next epoch."""
    name = "ResignedElectionTimeout"
    need(node.role == RESIGNED, name, "it resigned")
    waited = now_ms - node.since_ms
    need(waited >= rules.election_ms, name, f"it resigned {waited} ms ago")
    return become_unattached(node, node.epoch + 1, NOBODY, now_ms)


def need(condition: object, action: str, guard: str) -> None:
    """Raise NotAllowed if a guard does not hold."""
    if not condition:
        raise NotAllowed(action, guard)
