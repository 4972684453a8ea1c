"""Elections from outside the ISR: counted once each, by every way of replay, and not when they are undone."""

from __future__ import annotations

import pytest

from controller.state.partitions.bulk_batches import replay_batch
from controller.state.partitions.election_counts import ELR, UNCLEAN
from controller.state.state import State
from records.batch import batches
from tests.controller.rig import Rig


def unclean() -> Rig:
    """Partition a-0 lost its leader 1 while 2 was not in sync, and took 2."""
    rig = Rig(auto=False).lead()
    rig.auto = True
    rig.commit()
    rig.brokers(1, 2)
    rig.create("a", (1, 2), unclean_leader_election_enable="true")
    rig.fence(2)
    rig.unfence(2)
    return rig


def eligible() -> Rig:
    """Partition a-0 lost all of its ISR, whose last member 1 stayed eligible and came back to lead."""
    rig = Rig(elr=True).lead().brokers(1, 2)
    rig.create("a", (1, 2), min_insync_replicas="2")
    rig.fence(2)
    rig.fence(1)
    rig.unfence(2)
    return rig


def counted(state: State) -> tuple[int, int]:
    return state.elections.get(UNCLEAN, 0), state.elections.get(ELR, 0)


def replayed(rig: Rig) -> State:
    """A standby's state, from the log by columns."""
    state = State()
    for data in rig.log:
        for batch in batches(data):
            if batch.is_control:
                state.end_offset = batch.last_offset + 1
            else:
                replay_batch(state, data, batch)
    return state


def test_an_unclean_election_is_counted_on_every_controller() -> None:
    rig = unclean()
    before = counted(rig.state)

    rig.fence(1)

    assert before == (0, 0)
    assert rig.partition("a").leader == 2
    assert counted(rig.state) == counted(replayed(rig)) == (1, 0)


def test_an_election_from_the_elr_is_counted_on_every_controller() -> None:
    rig = eligible()

    assert rig.partition("a").leader == 2
    assert counted(rig.state) == counted(replayed(rig)) == (0, 1)


def test_an_election_that_is_undone_is_not_counted() -> None:
    rig = unclean()
    rig.auto = False

    rig.heartbeat_unanswered(1, want_fence=True)
    while_open = counted(rig.state)
    rig.follow()

    assert while_open == (1, 0)
    assert counted(rig.state) == (0, 0)


@pytest.mark.parametrize("make", [unclean, eligible])
def test_the_counts_are_not_part_of_the_metadata(make: object) -> None:
    rig = make()  # type: ignore[operator]
    rig.fence(1)

    assert "elections" not in rig.state.contents()
