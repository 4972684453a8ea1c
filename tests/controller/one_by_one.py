"""Leaders and in-sync replicas of many partitions, changed one after the other: the bulk path must give the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.rules.partition_change import Election, PartitionTarget
from controller.rules.partition_elections import PartitionElections

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.interface.env import Env
    from controller.state.state import State

    Records = list[tuple[Any, int]]


def leader_and_isr_changes(
    state: State,
    env: Env,
    rows: Iterable[int],
    *,
    removed: int | None = None,
    added: int | None = None,
    lost_data: int | None = None,
    election: Election | None = None,
) -> Records:
    """The changes of the partitions in these rows.

    removed: a broker that leaves their ISRs and may not lead. added: one that counts as active from now on. lost_data:
    one that was shut down uncleanly, and therefore leaves ISRs and ELRs.
    """
    gone = tuple(broker_id for broker_id in (removed, lost_data) if broker_id is not None)
    leadership = PartitionElections(state, env, also=added, without=gone)
    partitions = state.partitions
    records: Records = []
    for row in rows:
        topic = partitions.topic_at(row)
        partition = partitions.get(row)
        target = PartitionTarget(
            election=leadership.election(topic) if election is None else election,
            isr=[replica for replica in partition.isr if replica not in gone],
            unclean_shutdown=() if lost_data is None else (lost_data,),
        )
        change = leadership.change(topic, partitions.partition_id_at(row), target)
        if change is not None:
            records.append(change)
    return records
