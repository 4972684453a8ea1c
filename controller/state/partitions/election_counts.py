"""The number of elections that took a leader from outside the ISR, since this process started (KIP-966, KIP-841).

The counts are a table with undo, so an election whose record is lost is not counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controller.state.partitions.partition import RECOVERING
from controller.state.partitions.sets import distinct
from controller.state.partitions.uncommon_fields import COMMON

if TYPE_CHECKING:
    from controller.state.partitions.bulk_changes import Group
    from controller.state.partitions.partition import Partition
    from controller.state.state import State
    from records.metadata.topics import PartitionChangeRecord

# The keys: an unclean election, and one of an eligible leader replica.
UNCLEAN = "unclean"
ELR = "elr"


def count_election(state: State, partition: Partition, record: PartitionChangeRecord) -> None:
    """Count a change of this partition, where it is such an election (`TopicDelta.updateElectionStats`)."""
    if record.leader_recovery_state == RECOVERING:
        _add(state, UNCLEAN, 1)
    if partition.elr and record.leader in partition.elr:
        _add(state, ELR, 1)


def count_elections(state: State, group: Group) -> None:
    """Count those among many changes; called before they are written."""
    recovery_state = group.fields.get("leader_recovery_state")
    if recovery_state is not None:
        _add(state, UNCLEAN, int((recovery_state == RECOVERING).sum()))
    leader = group.fields.get("leader")
    if leader is None:
        return
    columns = state.partitions.columns
    numbers = columns.uncommon[group.rows]
    count = 0
    for number in distinct(numbers).tolist():
        elr = columns.uncommon_values.values[number].elr if number != COMMON else ()
        if elr:
            count += int(np.isin(leader[numbers == number], elr).sum())
    _add(state, ELR, count)


def _add(state: State, kind: str, count: int) -> None:
    if count:
        state.elections.put(kind, state.elections.get(kind, 0) + count)
