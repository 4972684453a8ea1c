"""Reassignment of a partition's replicas: what it adds and removes, when it is complete, what cancelling restores
(KIP-455, KIP-860).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from records.errors import ApiError, Error

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from controller.state.partitions.partition import Partition


class Reassignment(NamedTuple):
    """replicas: the target in its order, then those to be removed. adding, removing: ascending."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class Completed(NamedTuple):
    """Replicas and ISR after a completed reassignment."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]


class Reverted(NamedTuple):
    """Replicas and ISR after cancelling. unclean: no member of the ISR remains, so a replica outside of it is used."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    unclean: bool


def plan_reassignment(current: Sequence[int], target: Sequence[int]) -> Reassignment:
    """The reassignment from the current replicas to the target. During another reassignment `current` includes the
    replicas that it was adding; those that are not in the new target are removed.
    """
    removing = tuple(sorted(set(current).difference(target)))
    adding = tuple(sorted(set(target).difference(current)))
    return Reassignment((*target, *removing), adding, removing)


def complete(
    replicas: Sequence[int], isr: Sequence[int], adding: Collection[int], removing: Collection[int]
) -> Completed | None:
    """Replicas and ISR of the partition if the reassignment is complete, else None.

    All added replicas must be in sync. A reassignment that lowers the replication factor also waits for all remaining
    replicas: else [0,1,2,3,4] to [2,3,4,5] with only 0, 1 and 5 in sync would end with 5 as the only one in sync.
    """
    if not adding and not removing:
        return None
    left_isr = tuple(replica for replica in isr if replica not in removing)
    left_replicas = tuple(replica for replica in replicas if replica not in removing)
    if removing and not (left_isr and left_replicas):
        return None
    if not set(adding) <= set(left_isr):
        return None
    if len(adding) < len(removing) and not set(left_replicas) <= set(left_isr):
        return None
    return Completed(left_replicas, left_isr)


def revert(partition: Partition) -> Reverted:
    """Replicas and ISR after cancelling the running reassignment.

    Raises ApiError(INVALID_REPLICA_ASSIGNMENT) if every replica is being added.
    """
    replicas = tuple(replica for replica in partition.replicas if replica not in partition.adding)
    isr = tuple(replica for replica in partition.isr if replica not in partition.adding)
    if isr:
        return Reverted(replicas, isr, unclean=False)
    if not replicas:
        raise ApiError(
            Error.INVALID_REPLICA_ASSIGNMENT, "Invalid replica assignment: addingReplicas contains all replicas."
        )
    return Reverted(replicas, replicas[:1], unclean=True)
