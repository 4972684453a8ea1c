"""Logs of the specification, and what a crash may leave of a disk."""

from __future__ import annotations

import pytest

from simulations.spec.disks import may_survive
from simulations.spec.values import UNKNOWN, Disk, Election, Log, Node

LOG = Log(0, 0, ((1, 4), (3, 9)))


def test_a_log_is_extended_and_truncated_by_epochs() -> None:
    assert LOG.append(3, 12) == Log(0, 0, ((1, 4), (3, 12)))
    assert LOG.append(5, 10) == Log(0, 0, ((1, 4), (3, 9), (5, 10)))
    assert LOG.cut(6) == Log(0, 0, ((1, 4), (3, 6)))
    assert LOG.cut(4) == Log(0, 0, ((1, 4),))
    assert LOG.cut(0) == Log()


def test_a_log_with_a_later_start_knows_the_epoch_before() -> None:
    assert LOG.begin_at(4) == Log(4, 1, ((3, 9),))
    assert LOG.begin_at(6) == Log(6, 3, ((3, 9),))
    assert LOG.begin_at(9).last_epoch == 3


@pytest.mark.parametrize(("epoch", "found"), [(0, (0, 0)), (1, (1, 4)), (2, (1, 4)), (3, (3, 9)), (7, (3, 9))])
def test_the_end_of_an_epoch_is_that_of_the_newest_one_not_above_it(epoch: int, found: tuple[int, int]) -> None:
    assert LOG.end_of(epoch) == found


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        (LOG, 9),
        (Log(0, 0, ((1, 4), (3, 7))), 7),
        (Log(0, 0, ((1, 4), (2, 9))), 4),
        (Log(0, 0, ((1, 2), (3, 9))), 2),
        (Log(4, 1, ((3, 8),)), 8),
        (Log(4, 2, ((3, 8),)), UNKNOWN),
        (Log(12, 3, ()), UNKNOWN),
    ],
)
def test_logs_share_the_records_of_equal_epochs(other: Log, shared: int) -> None:
    assert LOG.shares(other) == shared == other.shares(LOG)


def test_a_crash_leaves_what_was_durable_and_any_prefix_of_pending_writes() -> None:
    saved, next_one = Election(2, 1), Election(3)
    longer = LOG.append(3, 14)
    disk = Disk(saved, LOG, saving=((1, next_one),), writing=((1, longer),))

    assert may_survive(disk, saved, LOG) == may_survive(disk, next_one, longer.cut(11)) == ""
    assert "its election was" in may_survive(disk, Election(2, 2), LOG)
    assert "durable up to 9" in may_survive(disk, saved, LOG.cut(8))
    assert "its log was" in may_survive(disk, saved, LOG.append(4, 11))


def test_a_crash_may_leave_an_empty_log_only_after_a_snapshot_of_a_later_epoch() -> None:
    disk = Disk(Election(4, 1), LOG)
    later, same = Log(5, 4), Log(5, LOG.last_epoch)

    assert may_survive(disk, disk.election, later, [(4, 5)]) == ""
    assert "durable up to" in may_survive(disk, disk.election, later)
    assert "durable up to" in may_survive(disk, disk.election, same, [(LOG.last_epoch, 5)])


def test_but_changes_the_named_fields_of_a_node() -> None:
    node = Node(1, True, "Follower", 3, 2, UNKNOWN, LOG, Disk(), 70)

    assert node.but() == node
    assert node.but(epoch=4, fetched=True) == node._replace(epoch=4, fetched=True)
    assert type(node.but(leaving=True)) is Node
    with pytest.raises(KeyError):
        node.but(none_such=1)
