"""The record of producer ids (KIP-730)."""

from records.schema import message
from records.wire import int32, int64


@message(api_key=15, kind="metadata", versions=(0, 0), flexible=0)
class ProducerIdsRecord:
    """Producer ids below next_producer_id are given away (KIP-730).

    broker_id: the broker that got the last block.
    next_producer_id: the first that is not allocated.
    """

    broker_id: int32
    broker_epoch: int64 = -1
    next_producer_id: int64
