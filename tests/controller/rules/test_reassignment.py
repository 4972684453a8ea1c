"""Reassignment as pure functions: the behaviours of Kafka's PartitionReassignmentReplicasTest and …RevertTest."""

import pytest

from controller.rules.reassignment import Completed, Reassignment, Reverted, complete, plan_reassignment, revert
from controller.state.partitions.partition import Partition
from records.errors import ApiError, Error
from records.uuids import UNASSIGNED_DIRECTORY


@pytest.mark.parametrize(
    ("current", "target", "expected"),
    [
        ([0, 1, 2], [0, 1, 2], Reassignment((0, 1, 2), (), ())),
        ([0, 1, 2], [1, 2, 0], Reassignment((1, 2, 0), (), ())),
        ([0, 1, 2, 3], [4, 3, 2, 1, 0], Reassignment((4, 3, 2, 1, 0), (4,), ())),
        ([3, 0, 1, 2], [2, 1], Reassignment((2, 1, 0, 3), (), (0, 3))),
        ([0, 1, 2], [5, 4, 3], Reassignment((5, 4, 3, 0, 1, 2), (3, 4, 5), (0, 1, 2))),
    ],
)
def test_added_and_removed_replicas_are_listed_ascending(current, target, expected):
    assert plan_reassignment(current, target) == expected


@pytest.mark.parametrize(
    ("current", "target", "isr", "expected"),
    [
        ([0, 1, 2], [3, 4, 5], [0, 1, 2, 3, 4], None),
        ([0, 1, 2], [3, 4, 5], [0, 1, 2, 3, 4, 5], Completed((3, 4, 5), (3, 4, 5))),
        ([0, 1, 2], [0, 1, 3], [0, 1, 2, 3], Completed((0, 1, 3), (0, 1, 3))),
        # A former replica may be out of sync, an added one may not.
        ([0, 1, 2], [0, 1, 3], [0, 2, 3], Completed((0, 1, 3), (0, 3))),
        ([0, 1, 2], [0, 1, 3], [2, 3], Completed((0, 1, 3), (3,))),
        ([0, 1, 2], [0, 1, 3], [0, 1, 2], None),
        ([0, 1, 2, 3], [1, 2, 3, 4, 5], [0, 1, 2, 4, 5], Completed((1, 2, 3, 4, 5), (1, 2, 4, 5))),
        ([0, 1, 2, 3], [1, 2, 3, 4, 5], [0, 1, 2, 3, 4], None),
        # A reduction of the replication factor waits until all remaining replicas are in sync.
        ([0, 1, 2, 3, 4], [2, 3, 4, 5], [0, 1, 5], None),
        ([0, 1, 2, 3, 4], [2, 3, 4, 5], [0, 1, 2, 3, 4, 5], Completed((2, 3, 4, 5), (2, 3, 4, 5))),
        ([1, 2, 3, 4], [1, 2, 4], [1, 2, 4], Completed((1, 2, 4), (1, 2, 4))),
        ([1, 2, 3], [1, 2], [3], None),
        ([0, 1, 2], [2, 1, 0], [0, 1, 2], None),
        # No partition is left without replicas, whatever the log says.
        ([1, 2], [], [1, 2], None),
    ],
)
def test_a_reassignment_completes_when_enough_replicas_are_in_sync(current, target, isr, expected):
    replicas, adding, removing = plan_reassignment(current, target)

    assert complete(replicas, isr, adding, removing) == expected


def partition(replicas, isr, adding, removing):
    directories = (UNASSIGNED_DIRECTORY,) * len(replicas)
    return Partition(replicas, isr, isr[0], 0, 0, directories, removing, adding)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (partition((3, 2, 1), (3, 2), (), ()), Reverted((3, 2, 1), (3, 2), False)),
        (partition((3, 2, 1, 5, 4), (1, 2), (4, 5), ()), Reverted((3, 2, 1), (1, 2), False)),
        (partition((3, 2, 1, 5, 4), (4, 5, 1, 2), (4, 5), (2,)), Reverted((3, 2, 1), (1, 2), False)),
        (partition((3, 2, 1, 5, 4), (4, 5), (4, 5), (3,)), Reverted((3, 2, 1), (3,), True)),
    ],
)
def test_cancelling_restores_the_former_replicas(before, expected):
    assert revert(before) == expected


def test_a_partition_of_only_added_replicas_cannot_be_reverted():
    with pytest.raises(ApiError) as refused:
        revert(partition((4, 5), (4, 5), (4, 5), ()))

    assert refused.value.code == Error.INVALID_REPLICA_ASSIGNMENT
