"""Readiness by role: what a node must know about the quorum, and how far its state may be behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.interface.inputs import SnapshotClosed, SnapshotOpened
from controller.server.http.probes import BEHIND_MAX, Check, check_startup, ready, role_name
from raft.interface.config import SnapshotId
from raft.interface.inputs import ShutDown
from raft.interface.voters import VoterSet
from tests.controller.rig import Rig
from tests.controller.server.http.bundle import node_of
from tests.raft.building import (
    Bench,
    active,
    batch,
    candidate,
    dynamic_voters,
    fetch_response,
    follower,
    leader,
    log,
    prospective,
    snapshot,
    unattached,
    voted,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def fetched(bench: Bench, *, records: bytes = b"", high_watermark: int = 0) -> Bench:
    """The leader answers the pending Fetch."""
    bench.answer(bench.last_send(), fetch_response(bench.role.epoch, 2, records=records, high_watermark=high_watermark))
    return bench


def verdict(bench: Bench, rig: Rig | None = None) -> dict[str, Check]:
    return {check.name: check for check in ready(node_of(bench, rig or Rig()), bench.now)}


def test_a_follower_is_ready_when_it_has_fetched_and_has_what_is_committed() -> None:
    bench = fetched(follower(), records=batch(0, 1, 3), high_watermark=3)

    checks = verdict(bench)

    assert [check.passed for check in checks.values()] == [True, True, True]
    assert checks["joined"].reason == "follows node 2 in epoch 1; it answered 0 ms ago"


def test_a_follower_that_has_not_fetched_yet_is_not_ready() -> None:
    assert not verdict(follower())["joined"].passed


def test_a_follower_without_a_high_watermark_is_not_ready() -> None:
    joined = verdict(fetched(follower(), high_watermark=-1))["joined"]

    assert joined == Check("joined", False, "follows node 2 in epoch 1, but does not know the high watermark yet")


def test_a_follower_that_knows_no_voters_is_not_ready_until_the_log_has_them() -> None:
    bench = fetched(follower(), records=batch(0, 1, 3), high_watermark=3)
    voters = bench.replica.voters

    bench.replica.voters = VoterSet()
    before = verdict(bench)["joined"]
    bench.replica.voters = voters

    assert not before.passed
    assert before.reason == "follows node 2 in epoch 1, but knows no voters: its log has none, nor its configuration"
    assert verdict(bench)["joined"].passed


def test_a_follower_is_not_ready_while_its_log_lacks_much_of_what_the_leader_has_committed() -> None:
    near = fetched(follower(), records=batch(0, 1, 3), high_watermark=3 + BEHIND_MAX)
    far = fetched(follower(), records=batch(0, 1, 3), high_watermark=4 + BEHIND_MAX)

    assert verdict(near)["caught up"].passed
    assert verdict(far)["caught up"] == Check(
        "caught up", False, f"the log lacks {BEHIND_MAX + 1} records that the leader has committed"
    )


def test_a_node_is_not_ready_while_its_state_lacks_much_of_what_its_log_has() -> None:
    bench = fetched(follower(), records=batch(0, 1, BEHIND_MAX + 1), high_watermark=BEHIND_MAX + 1)

    assert verdict(bench)["caught up"] == Check(
        "caught up", False, f"the state lacks {BEHIND_MAX + 1} committed records"
    )


def test_a_node_is_not_ready_while_a_snapshot_is_fetched_or_loaded() -> None:
    fetching = follower()
    fetching.answer(fetching.last_send(), fetch_response(1, 2, snapshot_id=SnapshotId(100, 1)))
    rig = Rig()
    rig.step(SnapshotOpened(SnapshotId(10, 1)))
    loading = verdict(fetched(follower()), rig)["caught up"]
    rig.step(SnapshotClosed())

    assert verdict(fetching)["caught up"].reason == "a snapshot is being fetched from node 2"
    assert loading == Check("caught up", False, "a snapshot is being loaded")
    assert verdict(fetched(follower()), rig)["caught up"].passed


def test_a_leader_is_ready_when_its_controller_is_active() -> None:
    assert not verdict(leader())["joined"].passed
    assert not verdict(active())["joined"].passed
    assert verdict(active(), Rig().lead())["joined"] == Check("joined", True, "leads epoch 2")


@pytest.mark.parametrize(
    ("make", "role"),
    [
        (unattached, "unattached"),
        (prospective, "prospective"),
        (candidate, "candidate"),
        (lambda: Bench(election=voted(1, None, None)), "unattached"),
    ],
)
def test_a_node_without_a_known_leader_is_not_ready(make: Callable[[], Any], role: str) -> None:
    joined = verdict(make())["joined"]

    assert not joined.passed
    assert joined.reason.startswith(f"{role} in epoch ")
    assert joined.reason.endswith("; no leader is known")


def test_a_stopping_node_is_not_ready() -> None:
    from controller.interface import inputs

    rig = Rig().lead()
    rig.step(inputs.ShutDown())

    assert verdict(active(), rig) == {"staying": Check("staying", False, "the node is stopping")}


def test_a_node_has_started_when_its_newest_snapshot_is_in_its_state() -> None:
    bench = Bench(recovered=log(20, (1, 0), snapshots=(snapshot(10, 1), snapshot(5, 1))))
    rig = Rig()

    before = check_startup(node_of(bench, rig))
    rig.step(SnapshotOpened(SnapshotId(10, 1)))
    rig.step(SnapshotClosed())
    after = check_startup(node_of(bench, rig))

    assert before == [Check("replayed", False, "the snapshot that ends at offset 10 is being loaded")]
    assert after == [Check("replayed", True, "the state has offset 10")]


def test_roles_have_kafkas_names() -> None:
    resigned = active()
    resigned.tell(ShutDown())
    observer = follower(9, voters=dynamic_voters(1, 2, 3))

    names = [role_name(bench.replica) for bench in (active(), follower(), observer, candidate(), resigned)]

    assert names == ["leader", "follower", "observer", "candidate", "unattached"]
