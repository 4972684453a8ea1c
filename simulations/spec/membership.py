"""Changes of the voter set in the specification (KIP-853): what a leader appends, and what counts from then on.

A voter set counts from its append on, committed or not, and no more where its record is truncated. Each action is a
function of a node that returns the node after it, or raises NotAllowed with the guard that fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulations.spec.elections import need
from simulations.spec.values import LEADER, UNKNOWN, Leading, Node, NotAllowed, is_sole

if TYPE_CHECKING:
    from simulations.world.voter_sets import Key, Voters

ADD, REMOVE, UPDATE, RAISE = "AddVoter", "RemoveVoter", "UpdateVoter", "RaiseVersion"
# An update whose voter has not answered at its new address yet (KAFKA-20661).
ASK = "AskVoter"


class Wanted(NamedTuple):
    """A change that a leader was asked for. kind: ADD, REMOVE, UPDATE or ASK; key: of the voter; host: its address, ""
    of a voter to remove.
    """

    kind: str
    key: Key
    host: str = ""


def want(node: Node, wanted: Wanted) -> Node:
    """The leader was asked for a change, and did not refuse it; it may append it, or give it up."""
    leading = node.leading
    assert leading is not None, "a leader keeps books"
    return node.but(leading=leading._replace(wanted=leading.wanted | {wanted}))


def take_update(node: Node, voter: int) -> Node:
    """A voter answered at the address of its update: the leader may append it."""
    leading = node.leading
    assert leading is not None, "a leader keeps books"
    taken = {each._replace(kind=UPDATE) for each in leading.wanted if each.kind == ASK and each.key[0] == voter}
    return node.but(leading=leading._replace(wanted=leading.wanted | taken))


def change_voters(node: Node, voters: Voters, now_ms: int) -> tuple[str, Node]:
    """AddVoter, RemoveVoter, UpdateVoter: a leader appends the voter set after one change, in a record of its own.

    Returns the name of the action too.
    """
    leading, before = node.leading, node.voters
    added, removed = set(voters.keys) - set(before.keys), set(before.keys) - set(voters.keys)
    kind = ADD if added else REMOVE if removed else UPDATE
    need(node.role == LEADER and leading is not None, kind, "it leads")
    assert leading is not None, "a leader keeps books"
    need(before.is_dynamic, kind, "kraft.version is 1")
    need(node.watermark != UNKNOWN, kind, f"a record of its epoch {node.epoch} is committed")
    need(before.offset < node.watermark, kind, f"the voters {before.ids} at {before.offset} are committed")
    need(len(added) + len(removed) <= 1, kind, f"one voter changes: {before.ids} become {voters.ids}")
    asked = sorted(leading.wanted)
    wanted = next((each for each in asked if _after(before, each) == (voters.keys, voters.hosts)), None)
    if wanted is None:
        known = ", ".join(f"{each.kind} {each.key[0]}@{each.key[1].hex()[:4]}" for each in asked)
        raise NotAllowed(kind, f"this change was requested: {voters}; these were: {known or 'none'}")
    if added and node.sets[0].is_dynamic:  # of observers of static voters nothing is kept
        need(wanted.key in leading.ends, kind, f"node {wanted.key[0]} has fetched from this leader")
    node = node.but(
        log=node.log.append(node.epoch, voters.offset + 1),
        leading=leading._replace(wanted=leading.wanted - {wanted}),
    )
    return kind, _follow(node, voters, now_ms)


def _after(before: Voters, wanted: Wanted) -> tuple[tuple[Key, ...], tuple[str, ...]] | None:
    """The keys and addresses of a voter set after a change; None where the change is not possible."""
    rows = dict(zip(before.keys, before.hosts, strict=True))
    if wanted.kind == ADD:
        if wanted.key[0] in before.ids:
            return None
        rows[wanted.key] = wanted.host
    elif wanted.kind == ASK or wanted.key not in rows or (wanted.kind == REMOVE and len(rows) == 1):
        return None
    elif wanted.kind == REMOVE:
        del rows[wanted.key]
    else:
        rows[wanted.key] = wanted.host
    keys = tuple(sorted(rows))
    return keys, tuple(rows[key] for key in keys)


def raise_version(node: Node, voters: Voters, own_host: str, now_ms: int) -> Node:
    """RaiseVersion: kraft.version becomes 1, and the static voters get the directory ids that they have reported."""
    leading, before = node.leading, node.voters
    need(node.role == LEADER and leading is not None, RAISE, "it leads")
    assert leading is not None, "a leader keeps books"
    need(not before.is_dynamic, RAISE, "kraft.version is 0")
    need(voters.ids == before.ids, RAISE, f"the voters stay the same: {before.ids} become {voters.ids}")
    for key, host in zip(voters.keys, voters.hosts, strict=True):
        is_own = (key, host) == (node.key, own_host)
        need(is_own or Wanted(UPDATE, key, host) in leading.wanted, RAISE, f"voter {key} at {host} has reported that")
    by_id = {key[0]: key for key in voters.keys}
    ends = {by_id[key[0]] if key in before.keys else key: end for key, end in leading.ends.items()}
    node = node.but(
        log=node.log.append(node.epoch, voters.offset + 1),
        leading=leading._replace(ends=ends, wanted=frozenset()),
    )
    return _follow(node, voters, now_ms)


def begin_epoch(node: Node, voters: Voters | None, own_host: str) -> Node:
    """The first batch of an epoch repeats the voter set where only the formatter has written it, or where the leader
    has another address in it. voters: in this batch; None where it has none.
    """
    name, before = "HandleClientRequest", node.voters
    hosts = tuple(own_host if key == node.key else host for key, host in zip(before.keys, before.hosts, strict=True))
    is_due = before.is_dynamic and node.is_voter and (before.offset < 0 or hosts != before.hosts)
    need(is_due == (voters is not None), name, f"the first batch of an epoch has the voters: {is_due}; {before}")
    if voters is None:
        return node
    need((voters.keys, voters.hosts) == (before.keys, hosts), name, f"{before} is repeated, not {voters}")
    return node.but(sets=(*node.sets, voters))


def _follow(node: Node, voters: Voters, now_ms: int) -> Node:
    """A new set counts: voters that fetched before go on to count. After a sole voter the others get as long as any."""
    leading = node.leading
    assert leading is not None, "a leader keeps books"
    start, ends, fetched, quorum_ms, proposed, wanted = leading
    quorum_ms = now_ms if is_sole(node) else quorum_ms
    leading = Leading(start, ends, fetched & frozenset(voters.ids), quorum_ms, proposed, wanted)
    return node.but(sets=(*node.sets, voters), leading=leading)


def truncate_sets(sets: tuple[Voters, ...], end: int) -> tuple[Voters, ...]:
    """The voter sets that are left when a log is truncated: the one before all records stays."""
    if sets[-1].offset < end:
        return sets
    return tuple(each for each in sets if each.offset < end) or sets[:1]
