"""The next block of producer ids (KIP-730)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from controller.state.state import State
    from records.metadata.producer_ids import ProducerIdsRecord

# The one key of the table.
NEXT = "next"


class ProducerIds(NamedTuple):
    """next_id: the first that is not allocated. broker_id, broker_epoch: of the broker that got the last block, -1
    unknown.
    """

    next_id: int
    broker_id: int
    broker_epoch: int


def replay_producer_ids(state: State, record: ProducerIdsRecord, _offset: int) -> None:
    current = state.producer_ids.get(NEXT)
    if current is not None and record.next_producer_id <= current.next_id:
        raise ValueError(f"the next producer id is to be {record.next_producer_id}, it is {current.next_id} already")
    state.producer_ids.put(NEXT, ProducerIds(record.next_producer_id, record.broker_id, record.broker_epoch))
