"""Reassignment of a partition's replicas: what is added and removed, when it is done, what its cancelling restores
(KIP-455, KIP-860).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from records.errors import ApiError, Error

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from controller.state.partitions.partition import Partition


class Reassignment(NamedTuple):
    """replicas: the wished ones in their order, then those that will go. adding, removing: ascending."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class Completed(NamedTuple):
    """What a partition has when its reassignment is over."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]


class Reverted(NamedTuple):
    """What cancelling restores. unclean: no member of the ISR is left, so its only one was not in sync."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    unclean: bool


def reassigned(current: Sequence[int], target: Sequence[int]) -> Reassignment:
    """How to come from the current replicas to the target. While another reassignment runs, `current` is all that it
    merged, so what it was adding and nobody wishes any more is now removed.
    """
    removing = tuple(sorted(set(current).difference(target)))
    adding = tuple(sorted(set(target).difference(current)))
    return Reassignment((*target, *removing), adding, removing)


def completed(
    replicas: Sequence[int], isr: Sequence[int], adding: Collection[int], removing: Collection[int]
) -> Completed | None:
    """What the partition has once the reassignment is over; None while it must go on.

    All that is added must be in sync. A reassignment that lowers the replication factor waits in addition for all that
    stays: [0,1,2,3,4] to [2,3,4,5] with only 0, 1 and 5 in sync would else end with 5 alone.
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


def reverted(partition: Partition) -> Reverted:
    """What cancelling the running reassignment restores.

    Raises ApiError(INVALID_REPLICA_ASSIGNMENT) where every replica is one that is being added.
    """
    replicas = tuple(replica for replica in partition.replicas if replica not in partition.adding)
    isr = tuple(replica for replica in partition.isr if replica not in partition.adding)
    if isr:
        return Reverted(replicas, isr, unclean=False)
    if not replicas:
        raise ApiError(
            Error.INVALID_REPLICA_ASSIGNMENT,
            "Invalid replica assignment: addingReplicas contains all replicas.",
        )
    return Reverted(replicas, replicas[:1], unclean=True)
