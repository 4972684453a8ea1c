"""Blocks of producer ids (KIP-730)."""

from records.schema import message
from records.wire import int16, int32, int64


@message(api_key=67, kind="request", versions=(0, 0), flexible=0)
class AllocateProducerIdsRequest:
    """A broker asks the controller for a block of producer ids (KIP-730)."""

    broker_id: int32
    broker_epoch: int64 = -1


@message(api_key=67, kind="response", versions=(0, 0), flexible=0)
class AllocateProducerIdsResponse:
    """Gives a block of producer ids that no one else gets.

    producer_id_start: the first.
    producer_id_len: how many.
    """

    throttle_time_ms: int32
    error_code: int16
    producer_id_start: int64
    producer_id_len: int32
