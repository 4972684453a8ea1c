"""Allocation of producer ids in blocks: AllocateProducerIds (KIP-730)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.handlers.heartbeats import require_broker
from controller.interface.results import Result
from controller.state.tables.producer_ids import NEXT
from records.errors import ApiError, Error
from records.messages.producer_ids import AllocateProducerIdsResponse
from records.metadata.producer_ids import ProducerIdsRecord

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.state import State
    from records.messages.producer_ids import AllocateProducerIdsRequest

BLOCK_SIZE = 1000
PRODUCER_ID_MAX = (1 << 63) - 1


def allocate_producer_ids(
    state: State, _context: RequestContext, request: AllocateProducerIdsRequest, _env: Env
) -> Result:
    """AllocateProducerIds: the broker gets the next 1000 ids, which are never allocated again.

    Raises ApiError: STALE_BROKER_EPOCH; UNKNOWN_SERVER_ERROR if all ids are used.
    """
    require_broker(state, request.broker_id, request.broker_epoch)
    block = state.producer_ids.get(NEXT)
    first = 0 if block is None else block.next_id
    if first > PRODUCER_ID_MAX - BLOCK_SIZE:
        raise ApiError(
            Error.UNKNOWN_SERVER_ERROR,
            "Exhausted all producerIds as the next block's end producerId has exceeded the int64 type limit",
        )
    record = ProducerIdsRecord(
        broker_id=request.broker_id, broker_epoch=request.broker_epoch, next_producer_id=first + BLOCK_SIZE
    )
    response = AllocateProducerIdsResponse(
        throttle_time_ms=0, error_code=Error.NONE, producer_id_start=first, producer_id_len=BLOCK_SIZE
    )
    return Result(response, [(record, 0)])
