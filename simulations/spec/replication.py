"""The log of the specification: appending, fetching, committing (KIP-595; Raft 5.3, 5.4.2).

Each action is a function of a node that returns the node after it, or raises NotAllowed with the guard that fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulations.spec.elections import FENCED, INVALID, NOT_LEADER, UNKNOWN_EPOCH, need
from simulations.spec.membership import truncate_sets
from simulations.spec.values import LEADER, UNKNOWN, Leading, Node, NotAllowed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulations.world.voter_sets import Key, Voters

ACCEPTED, DIVERGING, SNAPSHOT = "AcceptFetchRequest", "DivergingFetchRequest", "SnapshotFetchRequest"


class Fetched(NamedTuple):
    """A Fetch: all records before `offset` are on the sender's disk, and the last of them is of last_epoch."""

    epoch: int
    offset: int
    last_epoch: int


class Place(NamedTuple):
    """The result of comparing a fetch with the leader's log. kind: ACCEPTED, DIVERGING (epoch, end: the newest that may
    be common), SNAPSHOT (epoch, end of it).
    """

    kind: str
    epoch: int = UNKNOWN
    end: int = UNKNOWN


_ON_THE_LOG = Place(ACCEPTED)


# The leader


def client_request(node: Node, end: int) -> Node:
    """HandleClientRequest: the leader appends records of its own epoch."""
    name = "HandleClientRequest"
    leading = node.leading
    need(node.role == LEADER and leading is not None, name, "it leads")
    assert leading is not None, "a leader keeps books"
    need(end > node.log.end, name, "the log grows")
    if node.log.end != leading.start and end != leading.proposed:
        raise NotAllowed(name, f"up to {leading.proposed} was proposed, the log goes to {end}")
    return node.but(log=node.log.append(node.epoch, end))


def refusal(node: Node, epoch: int) -> int:
    """RejectFetchRequest: why this node refuses a request to the leader of an epoch; 0 if it does not."""
    if epoch < node.epoch:
        return FENCED
    if epoch > node.epoch:
        return UNKNOWN_EPOCH
    return 0 if node.role == LEADER else NOT_LEADER


def find_error(asked: Fetched) -> int:
    """The error of an invalid fetch; 0 for a valid one."""
    return 0 if asked.offset >= 0 and 0 <= asked.last_epoch <= asked.epoch else INVALID


def place(node: Node, asked: Fetched) -> Place:
    """AcceptFetchRequest, DivergingFetchRequest, or that the sender must start from a snapshot."""
    log, snapshots = node.log, node.snapshots
    latest = snapshots[-1] if snapshots else None
    if asked.offset == 0 and latest is not None and latest[:2] != (0, 0):
        return Place(SNAPSHOT, latest[0], latest[1])
    if log.start == 0 and asked.offset == 0:
        return _ON_THE_LOG
    if latest is not None:
        earliest = snapshots[0]
        is_before = asked.offset < log.start or asked.last_epoch < earliest[0]
        if is_before or (asked.offset == log.start and asked.last_epoch != earliest[0]):
            return Place(SNAPSHOT, latest[0], latest[1])
    epoch, end = log.end_of(asked.last_epoch)
    if latest is None and end == 0:
        epoch = asked.last_epoch  # the epoch before is unknown
    if epoch == asked.last_epoch and asked.offset <= end:
        return _ON_THE_LOG
    return Place(DIVERGING, epoch, end)


def record_contact(node: Node, voter: int, now_ms: int) -> Node:
    """A voter fetched: after a majority of them, the leader's quorum deadline moves."""
    assert node.leading is not None, "a leader keeps books"
    return node.but(leading=_with_contact(node, node.leading, voter, now_ms))


def accept_fetch(node: Node, key: Key, offset: int, now_ms: int, *, is_voter: bool) -> Node:
    """AcceptFetchRequest: a replica has all records before an offset on its disk, and a voter follows. Those of an
    observer count if it becomes a voter (KIP-853).
    """
    leading = node.leading
    assert leading is not None, "a leader keeps books"
    key = node.voters.key_of(key)
    if leading.ends.get(key) != offset:
        start, ends, fetched, quorum_ms, proposed, wanted = leading
        leading = Leading(start, {**ends, key: offset}, fetched, quorum_ms, proposed, wanted)
    elif not is_voter:
        return node
    return node.but(leading=_with_contact(node, leading, key[0], now_ms) if is_voter else leading)


def _with_contact(node: Node, leading: Leading, voter: int, now_ms: int) -> Leading:
    start, ends, fetched, _, proposed, wanted = leading
    # A leader that was removed does not count itself.
    needed = node.voters.majority - node.is_voter
    if len(fetched) + (voter not in fetched) >= needed:
        return Leading(start, ends, frozenset(), now_ms, proposed, wanted)
    return leading if voter in fetched else leading._replace(fetched=fetched | {voter})


def advance_high_watermark(node: Node) -> Node:
    """AdvanceHighWatermark: the end of the records that a majority of the newest voter set has on disk, if one of the
    leader's own epoch is among them.
    """
    leading = node.leading
    assert leading is not None, "a leader keeps books"
    ends, voters = leading.ends, node.voters
    own = voters.key_of(node.key)
    of_voters = [ends.get(key, UNKNOWN) if key != own else node.disk.holds(node.log) for key in voters.keys]
    of_voters.sort()
    held = of_voters[len(of_voters) - voters.majority]
    if held <= leading.start or held <= node.watermark:
        return node
    return node.but(watermark=held, committed=max(node.committed, held))


# The follower


def append_fetched(
    node: Node, batches: Iterable[tuple[int, int, int]], watermark: int, sets: tuple[Voters, ...] = ()
) -> Node:
    """HandleFetchResponse with records, or none: (base, end, epoch) of each batch, and the voter sets in them, which
    count at once; the watermark is the leader's.
    """
    name = "HandleFetchResponse"
    log = node.log
    for base, end, epoch in batches:
        if base != log.end or not log.last_epoch <= epoch <= node.epoch:
            raise NotAllowed(name, f"a batch of {base}, epoch {epoch}, goes on from {log}")
        log = log.append(epoch, end)
    committed, known = node.committed, node.watermark
    reached = min(watermark, log.end)
    if watermark >= 0 and reached >= committed and reached > known:
        committed = known = reached
    if log is node.log and known == node.watermark:
        return node
    sets = (*node.sets, *sets) if sets else node.sets
    return node.but(log=log, committed=committed, watermark=known, sets=sets)


def truncate(node: Node, epoch: int, end: int, now_ms: int) -> Node:
    """HandleFetchResponse with a diverging epoch: truncate to the records that both may have."""
    if end < 0:
        return node
    own_epoch, own_end = node.log.end_of(epoch)
    if epoch == 0:
        target = min(end, node.log.end)
    else:
        target = min(own_end, end) if own_epoch == epoch else own_end
    if target < node.committed:
        return node  # no leader may ask for that
    return node.but(log=node.log.cut(target), sets=truncate_sets(node.sets, target)).on_served(now_ms)
