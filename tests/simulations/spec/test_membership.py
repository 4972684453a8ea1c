"""Changes of the voter set: which a leader may append, what counts from then on, and wrong rules that are reported."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

import raft.change_stages
import raft.fetch_request
from raft.interface.voters import VoterSet
from raft.state.replica import Replica
from simulations.members.level import draw
from simulations.members.run import MembersRun
from simulations.spec.disks import persist_log, restart
from simulations.spec.membership import (
    ADD,
    ASK,
    REMOVE,
    UPDATE,
    Wanted,
    begin_epoch,
    change_voters,
    raise_version,
    take_update,
    truncate_sets,
    want,
)
from simulations.spec.pairs import feasible, of_changes
from simulations.spec.replication import accept_fetch, advance_high_watermark, append_fetched, truncate
from simulations.spec.values import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    UNATTACHED,
    UNKNOWN,
    Disk,
    Election,
    Leading,
    Log,
    Node,
    NotAllowed,
)  # fmt: skip
from simulations.world.violation import Violation
from simulations.world.voter_sets import NO_VOTERS, Voters

if TYPE_CHECKING:
    from collections.abc import Callable

LOG = Log(0, 0, ((1, 9),))


def key(node_id: int, disk: int = 1) -> tuple[int, bytes]:
    return node_id, bytes([disk]) * 16


def voters(*ids: int, offset: int = -1) -> Voters:
    return Voters(tuple(key(each) for each in ids), tuple(f"node-{each}" for each in ids), offset)


FIRST = voters(1, 2, 3)
ADDED = voters(1, 2, 3, 4, offset=9)


def leader(**fields: Any) -> Node:
    """Node 1 leads epoch 1, up to 9, which is durable here and committed; node 4, an observer, has all."""
    given: dict[str, Any] = {"sets": (FIRST, FIRST._replace(offset=2)), "committed": 9, "watermark": 9, **fields}
    ends = {key(2): 9, key(3): 5, key(4): 9}
    leading = Leading(0, ends, frozenset((3,)), 0, 9)
    return Node(*key(1), LEADER, 1, 1, -1, LOG, Disk(None, LOG, asked=LOG), 0, leading=leading, **given)


def asked(node: Node, *wanted: Wanted) -> Node:
    for each in wanted:
        node = want(node, each)
    return node


ADD_4 = Wanted(ADD, key(4), "node-4")


def test_a_voter_is_added_and_counts_from_the_append_on() -> None:
    name, node = change_voters(asked(leader(), ADD_4), ADDED, 70)

    assert name == ADD
    assert node.log.end == 10
    assert node.voters == ADDED
    assert node.leading is not None
    assert (node.leading.wanted, node.leading.ends[key(4)]) == (frozenset(), 9)
    # Nodes 1, 2 and 4 of the four have it up to 9 before its record is durable anywhere.
    assert advance_high_watermark(node.but(watermark=5)).watermark == 9


def test_a_voter_is_removed_and_counts_no_more() -> None:
    node = asked(leader(), Wanted(REMOVE, key(3)))

    name, node = change_voters(node, voters(1, 2, offset=9), 70)

    assert name == REMOVE
    assert node.leading is not None
    assert node.leading.fetched == frozenset()
    assert advance_high_watermark(node.but(watermark=5)).watermark == 9
    assert advance_high_watermark(accept_fetch(node, key(3), 10, 80, is_voter=False)).watermark == 9


def test_where_the_leader_asks_first_an_update_is_appended_after_the_answer() -> None:
    after = FIRST._replace(hosts=("node-1", "elsewhere", "node-3"), offset=9)
    node = asked(leader(), Wanted(ASK, key(2), "elsewhere"))

    with pytest.raises(NotAllowed, match="this change was requested"):
        change_voters(node, after, 0)
    name, _ = change_voters(take_update(node, 2), after, 0)

    assert name == UPDATE


def test_a_voter_that_has_moved_gets_another_address() -> None:
    moved = FIRST._replace(hosts=("node-1", "moved", "node-3"), offset=9)

    name, node = change_voters(asked(leader(), Wanted(UPDATE, key(2), "moved")), moved, 70)

    assert (name, node.voters) == (UPDATE, moved)


@pytest.mark.parametrize(
    ("node", "after", "guard"),
    [
        (leader(), ADDED, "this change was requested"),
        (asked(leader(), ADD_4._replace(key=key(4, 2))), ADDED, "this change was requested"),
        (asked(leader(), ADD_4._replace(host="elsewhere")), ADDED, "this change was requested"),
        (asked(leader(), Wanted(REMOVE, key(3, 2))), voters(1, 2, offset=9), "this change was requested"),
        (asked(leader(watermark=2), ADD_4), ADDED, r"the voters \(1, 2, 3\) at 2 are committed"),
        (asked(leader(watermark=UNKNOWN), ADD_4), ADDED, "a record of its epoch 1 is committed"),
        (asked(leader(), ADD_4, Wanted(REMOVE, key(3))), voters(1, 2, 4, offset=9), "one voter changes"),
        (asked(leader(), Wanted(ADD, key(5), "node-5")), voters(1, 2, 3, 5, offset=9), "node 5 has fetched"),
        (asked(leader(), Wanted(ADD, key(3, 2), "node-3")), FIRST._replace(offset=9), "this change was requested"),
        (asked(leader(sets=(voters(1),)), Wanted(REMOVE, key(1))), NO_VOTERS._replace(offset=9), "was requested"),
        (asked(leader(), ADD_4).but(role=FOLLOWER), ADDED, "it leads"),
    ],
)  # fmt: skip
def test_another_change_is_not_allowed(node: Node, after: Voters, guard: str) -> None:
    with pytest.raises(NotAllowed, match=guard):
        change_voters(node, after, 70)


def test_the_first_batch_of_an_epoch_repeats_what_only_the_formatter_wrote() -> None:
    node = leader(sets=(FIRST,))

    assert begin_epoch(node, FIRST._replace(offset=2), "node-1").sets == (FIRST, FIRST._replace(offset=2))
    with pytest.raises(NotAllowed, match="the first batch of an epoch has the voters: True"):
        begin_epoch(node, None, "node-1")
    with pytest.raises(NotAllowed, match="is repeated, not"):
        begin_epoch(node, voters(1, 2, offset=2), "node-1")


def test_the_first_batch_of_an_epoch_has_a_new_address_of_its_leader() -> None:
    moved = FIRST._replace(hosts=("moved", "node-2", "node-3"), offset=9)

    assert begin_epoch(leader(), moved, "moved").voters == moved
    assert begin_epoch(leader(), None, "node-1").voters.offset == 2
    with pytest.raises(NotAllowed, match="has the voters: False"):
        begin_epoch(leader(), moved, "node-1")


def test_static_voters_become_dynamic_when_all_have_reported_their_directories() -> None:
    static = Voters(tuple((each, bytes(16)) for each in (1, 2, 3)), FIRST.hosts)
    node = accept_fetch(leader(sets=(static,)), key(2), 7, 60, is_voter=True)
    reported = asked(node, *(Wanted(UPDATE, key(each), f"node-{each}") for each in (2, 3)))

    raised = raise_version(reported, FIRST._replace(offset=10), "node-1", 70)

    assert (raised.log.end, raised.voters.keys) == (11, FIRST.keys)
    assert raised.leading is not None
    assert raised.leading.ends[key(2)] == 7
    with pytest.raises(NotAllowed, match=r"voter .3, .* has reported that"):
        raise_version(asked(node, Wanted(UPDATE, key(2), "node-2")), FIRST._replace(offset=10), "node-1", 70)


def test_a_voter_set_is_followed_from_the_log_and_undone_by_a_truncation() -> None:
    node = Node(*key(4), FOLLOWER, 1, 1, -1, LOG, Disk(None, LOG, asked=LOG), 0, (FIRST,), True, committed=5)

    grown = append_fetched(node, [(9, 10, 1)], 5, (ADDED,))
    back = truncate(grown, 0, 9, 70)

    assert (node.is_voter, grown.is_voter, back.is_voter) == (False, True, False)
    assert back.sets == (FIRST,)
    # The disk may end before the offset that it was told to truncate to.
    ordered = grown.but(disk=grown.disk._replace(writing=((1, grown.log),), asked=grown.log))
    assert persist_log(ordered, 1, 9).sets == (FIRST,)
    assert truncate_sets((NO_VOTERS, ADDED), 3) == (NO_VOTERS,)


def test_a_node_stands_until_it_knows_its_removal_to_be_committed() -> None:
    removed = voters(1, 2, offset=9)
    node = Node(*key(3), FOLLOWER, 1, 1, -1, LOG.append(1, 10), Disk(), 0, (FIRST, removed), committed=9)

    assert (node.is_voter, node.may_stand, node.but(committed=10).may_stand) == (False, True, False)


@pytest.mark.parametrize(("node_id", "role"), [(3, CANDIDATE), (4, UNATTACHED)])
def test_only_a_voter_restarts_as_a_candidate(node_id: int, role: str) -> None:
    node = restart(key(node_id), (FIRST,), Election(4, voted=node_id), LOG, (), 0)

    assert node.role == role


def test_what_may_follow_a_change_of_the_voters_is_listed() -> None:
    run = MembersRun(draw(2))
    run.execute()

    found = run.watch.validator
    assert found.refusal_text == ""
    assert found.actions["RemoveVoter"] > 0
    assert set(found.pairs) <= {*feasible(), *of_changes()}


def _of_any_set(*_args: Any) -> None:
    return None


def _of_old_set(self: Replica, values: Any) -> None:
    """The next role follows a new set, and this one does not."""
    for offset, value in values:
        (self.voter_sets if isinstance(value, VoterSet) else self.kraft_versions).add(offset, value)


def _resigns_at_once(replica: Replica, role: Any) -> None:
    role.state.is_removed = not replica.is_voter


@pytest.mark.parametrize(
    ("seed", "place", "name", "wrong", "guard"),
    [
        (12, raft.change_stages, "uncommitted_voters", _of_any_set, "RemoveVoterAnswer is not allowed"),
        (1, Replica, "take_control", _of_old_set, "it follows the newest voters of its log"),
        (2, raft.fetch_request, "on_high_watermark", _resigns_at_once, "CheckQuorumResign"),
    ],
)
def test_a_wrong_rule_for_voters_is_reported(
    monkeypatch: pytest.MonkeyPatch, seed: int, place: Any, name: str, wrong: Callable[..., Any], guard: str
) -> None:
    monkeypatch.setattr(place, name, wrong)

    run = MembersRun(draw(seed))
    with suppress(Violation):
        run.execute()

    assert guard in run.watch.validator.refusal_text
    with pytest.raises(Violation, match="T01"):
        run.watch.validator.conclude()
