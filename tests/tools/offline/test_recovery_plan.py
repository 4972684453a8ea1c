"""A plan names the best survivor and what may be lost; there is none where it is not needed or not possible.

The directories of 4.3-dynamic have the voters 1 and 3; node 2 was removed. Those of 4.3-static have no voters in their
logs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from raft.interface.config import Endpoint, ReplicaKey, Voter
from raft.interface.recovered import Election
from raft.interface.voters import VoterSet
from raft.storage.meta_properties import MetaProperties
from tests.records.golden import GOLDEN
from tools.offline.examined import Examined, Fault, examine
from tools.offline.recovery_plan import (
    EPOCH_STEP,
    CannotRecover,
    best_of,
    election_epoch,
    make_plan,
    parse_plan,
    plan_text,
)
from tools.offline.saved_copy import Digest

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = {"meta.properties": Digest(7, "ab")}


def golden(name: str) -> Examined:
    return examine(str(GOLDEN / name))


def voters(count: int) -> Examined:
    """Node 1 of 4.3-dynamic, as one of so many voters."""
    found = golden("4.3-dynamic/node-1")
    assert found.voters is not None
    own = found.voters.get(1)
    assert own is not None
    others = [Voter(ReplicaKey(number, bytes([number] * 16)), own.endpoints) for number in range(2, count + 1)]
    return found._replace(voter_sets=((0, VoterSet([own, *others])),))


def test_the_best_log_is_the_one_that_an_election_would_choose() -> None:
    longest = golden("4.3-static/node-1")
    behind = longest._replace(end_offset=900)
    older = longest._replace(end_offset=2000, epochs=((1, 0),), snapshots=[])

    assert best_of([behind, older, longest]) is longest


def test_the_new_set_is_the_best_survivor_alone_at_an_epoch_that_nobody_has_used() -> None:
    survivor = voters(3)

    plan = make_plan([survivor], FILES)

    assert survivor.voters is not None
    assert plan.voter == survivor.voters.get(1)
    assert plan.new_epoch == election_epoch(survivor) + EPOCH_STEP
    assert (plan.old_voters, plan.survivors, plan.lost, plan.files) == ((1, 2, 3), (1,), (2, 3), FILES)


def test_the_new_epoch_is_above_that_of_each_survivor_and_not_of_the_best_alone() -> None:
    """The other survivor voted in an epoch whose leader may have written to the lost voters and to brokers."""
    best = voters(5)
    assert best.mark is not None
    other = best._replace(
        mark=MetaProperties(1, best.mark.cluster_id, 2, bytes([2] * 16)),
        end_offset=best.end_offset - 1,
        election=Election(best.epoch + 5000, None, None),
    )

    plans = [make_plan(measured, FILES) for measured in ([best, other], [other, best])]

    assert [plan.node_id for plan in plans] == [1, 1]
    assert [plan.new_epoch for plan in plans] == [best.epoch + 5000 + EPOCH_STEP] * 2


def test_another_address_replaces_that_of_the_old_set() -> None:
    plan = make_plan([voters(3)], FILES, address=("c1.example", 9999))

    assert {(each.host, each.port) for each in plan.voter.endpoints} == {("c1.example", 9999)}


@pytest.mark.parametrize(("count", "may_lose"), [(2, False), (3, True), (5, True)])
def test_acknowledged_writes_are_safe_where_fewer_than_a_majority_is_lost(count: int, may_lose: bool) -> None:
    plan = make_plan([voters(count)], FILES)

    assert plan.may_lose is may_lose
    others = ", ".join(map(str, range(2, count + 1)))
    assert plan.warning.startswith("Acknowledged writes" if may_lose else "No acknowledged write is lost")
    assert f"Keep voters {others} switched off: if a majority of the old voters returns" in plan.warning


def damaged(node_id: int, committed: int) -> Examined:
    """The directory of another node of the cluster of 4.3-dynamic, damaged at offset 10."""
    found = golden("4.3-dynamic/node-1")
    assert found.mark is not None
    mark = MetaProperties(1, found.mark.cluster_id, node_id, bytes([node_id] * 16))
    return found._replace(mark=mark, end_offset=10, committed=committed, fault=Fault("f", 0, 10, "broken"))


def test_a_damaged_voter_keeps_no_acknowledged_write() -> None:
    """Each write is on one of these two of four voters, perhaps on the damaged one alone."""
    plan = make_plan([voters(4), damaged(2, 0)], FILES)

    assert (plan.node_id, plan.survivors, plan.may_lose) == (1, (1, 2), True)


@pytest.mark.parametrize(
    ("count", "numbers", "may_lose"),
    [(2, (2,), False), (3, (2,), True), (3, (2, 3), True), (5, (2, 4), True)],
)
def test_damaged_voters_are_no_part_of_a_majority(count: int, numbers: tuple[int, ...], may_lose: bool) -> None:
    """They do not start. Of two voters, both have each acknowledged write; of three, perhaps the damaged one alone."""
    plan = make_plan([voters(count), *(damaged(number, 0) for number in numbers)], FILES)

    assert (plan.node_id, plan.survivors, plan.damaged) == (1, (1, *numbers), numbers)
    assert plan.lost == tuple(each for each in range(2, count + 1) if each not in numbers)
    assert plan.may_lose is may_lose
    assert plan.warning.startswith(
        "Acknowledged writes of lost or damaged nodes may be gone"
        if may_lose
        else "No acknowledged write is lost: fewer than a majority of the voters are lost or damaged. Keep voters 2"
    )


def test_damaged_static_voters_are_no_part_of_a_majority_either() -> None:
    static = {number: (f"c{number}", 9093) for number in range(1, 4)}
    measured = [damaged(2, 0)._replace(kraft_versions=()), golden("4.3-dynamic/node-1")._replace(kraft_versions=())]

    plans = [make_plan(measured, FILES, **given) for given in ({"static_voters": static}, {"voters_count": 3})]  # type: ignore[arg-type]

    assert [(plan.node_id, plan.damaged, plan.may_lose) for plan in plans] == [(1, (2,), True)] * 2


def test_a_damaged_voter_beside_a_sound_majority_needs_no_plan() -> None:
    measured = [voters(3), damaged(2, 0), damaged(3, 0)._replace(fault=None)]

    with pytest.raises(CannotRecover, match="2 of 3 voters survive undamaged, which is a majority: start them"):
        make_plan(measured, FILES)


def test_a_damaged_observer_is_no_lost_voter() -> None:
    plan = make_plan([voters(2), damaged(9, 0)], FILES)

    assert (plan.survivors, plan.damaged, plan.lost, plan.may_lose) == ((1, 9), (9,), (2,), False)


def test_a_damaged_static_voter_keeps_no_acknowledged_write_either() -> None:
    static = {number: (f"c{number}", 9093) for number in range(1, 5)}
    measured = [damaged(2, 0)._replace(kraft_versions=()), golden("4.3-dynamic/node-1")._replace(kraft_versions=())]

    plans = [make_plan(measured, FILES, **given) for given in ({"static_voters": static}, {"voters_count": 4})]  # type: ignore[arg-type]

    assert [(plan.node_id, plan.may_lose) for plan in plans] == [(1, True)] * 2


@pytest.mark.parametrize(("behind", "may_lose"), [(0, False), (1, True)])
def test_writes_that_a_damaged_directory_proves_and_the_best_log_lacks_are_lost(behind: int, may_lose: bool) -> None:
    survivor = voters(2)

    plan = make_plan([survivor, damaged(9, survivor.end_offset + behind)], FILES)

    assert (plan.node_id, plan.may_lose) == (1, may_lose)


@pytest.mark.parametrize("address", [None, ("c2.new", 9094)])
def test_the_directory_of_an_observer_is_taken_with_its_properties(address: tuple[str, int] | None) -> None:
    observer = golden("4.3-dynamic/node-2")

    plan = make_plan([observer], FILES, address=address, listener="CONTROLLER", advertised=("c2", 9093))

    assert observer.mark is not None
    assert observer.mark.directory_id is not None
    key = ReplicaKey(2, observer.mark.directory_id)
    assert plan.voter == Voter(key, (Endpoint("CONTROLLER", *(address or ("c2", 9093))),), (0, 1))
    assert (plan.old_voters, plan.survivors, plan.lost, plan.may_lose) == ((1, 3), (2,), (1, 3), True)


def test_a_voter_of_the_log_keeps_its_endpoints_with_its_properties() -> None:
    survivor = voters(3)

    plan = make_plan([survivor], FILES, listener="OTHER", advertised=("c2", 9093))

    assert survivor.voters is not None
    assert plan.voter == survivor.voters.get(1)


REFUSALS: dict[str, tuple[Callable[[], list[Examined]], str]] = {
    "a majority survives": (
        lambda: [golden("4.3-dynamic/node-1"), golden("4.3-dynamic/node-3")],
        "2 of 2 voters survive, which is a majority: start them",
    ),
    "not a voter": (lambda: [golden("4.3-dynamic/node-2")], "node 2 is not among the last voters of its own log"),
    "two clusters": (
        lambda: [golden("4.3-dynamic/node-1"), golden("4.3-dynamic/node-3")._replace(mark=MetaProperties(1, "x", 3))],
        "is of cluster x",
    ),
    "one node twice": (lambda: [golden("4.3-dynamic/node-1")] * 2, "node 1 has two directories"),
    "static voters without their number": (lambda: [golden("4.3-static/node-1")], "or their number by --static"),
    "not formatted": (lambda: [voters(3)._replace(mark=None)], "has no meta.properties"),
    "no log": (lambda: [voters(3)._replace(segments=[], end_offset=0)], "has no log segment"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_there_is_no_plan_where_it_is_not_needed_or_not_possible(case: str) -> None:
    measured, said = REFUSALS[case]

    with pytest.raises(CannotRecover, match=said):
        make_plan(measured(), FILES)


def test_a_damaged_directory_is_never_the_best() -> None:
    found = golden("4.3-static/node-1")
    damaged = found._replace(fault=("f", 0, 0, "broken"), end_offset=5000)  # type: ignore[arg-type]

    assert best_of([damaged, found]) is found
    with pytest.raises(CannotRecover, match="no directory is sound"):
        best_of([damaged])


def test_a_plan_goes_round_through_its_file() -> None:
    for plan in (
        make_plan([voters(3)], FILES),
        make_plan([voters(3), damaged(2, 0)], FILES),
        make_plan([golden("4.3-static/node-1")], FILES, voters_count=3),
    ):
        assert parse_plan(plan_text(plan, 5)) == plan


def test_any_other_text_is_no_plan() -> None:
    text = plan_text(make_plan([voters(3)], FILES), 5)
    whole = json.loads(text)
    changed = [{**whole, key: value} for key in whole for value in (None, -1, "x", [], {}, [None], 1 << 80)]
    accepted = []
    for said in ["", "[]", "1", "{", "[" * 100_000, *(json.dumps(each) for each in changed)]:
        try:
            accepted.append(parse_plan(said))
        except CannotRecover:
            continue

    # Fields that only the reader of the file needs, or whose other values are of the right kind.
    assert len(accepted) < len(changed) / 3


@pytest.mark.parametrize(
    "change", [{"new_epoch": 1}, {"new_epoch": 1 << 31}, {"node_id": 2}, {"directory_id": "AAAAAAAAAAAAAAAAAAAAAQ"}]
)
def test_a_plan_that_was_changed_so_that_it_would_harm_is_refused(change: dict[str, object]) -> None:
    whole = json.loads(plan_text(make_plan([voters(3)], FILES), 5))

    with pytest.raises(CannotRecover, match="the file is no plan"):
        parse_plan(json.dumps({**whole, **change}))


def test_a_survivor_whose_disk_was_replaced_since_is_not_the_voter_of_its_log() -> None:
    found = voters(3)
    assert found.mark is not None
    replaced = found._replace(mark=MetaProperties(1, found.mark.cluster_id, 1, bytes([9] * 16)))

    with pytest.raises(CannotRecover, match="is another directory than"):
        make_plan([replaced], FILES)
