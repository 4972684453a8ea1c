"""AllocateProducerIds: blocks of ids, of which no id is allocated twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.handlers.producer_ids import allocate_producer_ids
from records.errors import ApiError, Error
from records.messages.producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from records.metadata.producer_ids import ProducerIdsRecord
from tests.controller.handlers.cluster_of_configs import broker, context, env, replay, state

if TYPE_CHECKING:
    from collections.abc import Sequence

FIRST = AllocateProducerIdsRequest(broker_id=5, broker_epoch=105)


def block(next_id: int) -> ProducerIdsRecord:
    return ProducerIdsRecord(broker_id=5, broker_epoch=105, next_producer_id=next_id)


def test_blocks_of_1000_follow_each_other_from_0_on() -> None:
    found = state(broker(5))
    answers = []

    for _ in range(3):
        result = allocate_producer_ids(found, context(), FIRST, env())
        rows: Sequence[Any] = result.records
        ((record, _version),) = rows
        replay(found, record)
        answers.append((result.response.producer_id_start, record))

    assert answers == [(0, block(1000)), (1000, block(2000)), (2000, block(3000))]


def test_the_response_has_the_block() -> None:
    result = allocate_producer_ids(state(broker(5)), context(), FIRST, env())

    assert result.response == AllocateProducerIdsResponse(
        throttle_time_ms=0, error_code=Error.NONE, producer_id_start=0, producer_id_len=1000
    )


@pytest.mark.parametrize(("broker_id", "epoch"), [(5, 104), (5, 106), (6, 106)])
def test_an_unknown_broker_or_epoch_gets_nothing(broker_id: int, epoch: int) -> None:
    request = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch)

    with pytest.raises(ApiError) as error:
        allocate_producer_ids(state(broker(5)), context(), request, env())

    assert error.value.code is Error.STALE_BROKER_EPOCH


def test_allocation_fails_at_the_end_of_int64() -> None:
    last = (1 << 63) - 1 - 1000

    result = allocate_producer_ids(state(broker(5), block(last)), context(), FIRST, env())
    with pytest.raises(ApiError) as error:
        allocate_producer_ids(state(broker(5), block(last + 1)), context(), FIRST, env())

    assert result.response.producer_id_start == last
    assert error.value.code is Error.UNKNOWN_SERVER_ERROR
