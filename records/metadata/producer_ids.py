"""The record of producer ids (KIP-730)."""

from records.schema import message
from records.wire import int32, int64


@message(api_key=15, kind="metadata", versions=(0, 0), flexible=0)
class ProducerIdsRecord:
    """Record 15."""

    broker_id: int32
    broker_epoch: int64 = -1
    next_producer_id: int64
