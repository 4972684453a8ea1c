"""Controlled shutdowns under one active controller: which brokers are leaving, and how far each broker has read
(KIP-841). It is made of heartbeats and of the log, not of the controller's sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord, UnregisterBrokerRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulations.cluster.metadata.image import Image


class Departures:
    """since: of each broker that is leaving, an offset that the other brokers must have read before it may stop; read:
    by broker and its epoch, the offset up to which it said last that it had read, inclusive.
    """

    def __init__(self) -> None:
        self.since: dict[int, int] = {}
        self.read: dict[tuple[int, int], int] = {}

    def on_heartbeat(self, image: Image, request: Any, last_offset: int, *, is_done: bool) -> None:
        """A heartbeat is handled. image: before it. last_offset: of the log after it. is_done: False where it was not
        decided yet, or timed out.
        """
        broker = image.brokers.get(request.broker_id)
        if broker is None or broker.epoch != request.broker_epoch:
            return
        self.read[request.broker_id, request.broker_epoch] = request.current_metadata_offset
        wants = request.want_shut_down and not request.want_fence and not broker.fenced
        if is_done and wants and image.partitions_led_by(request.broker_id):
            self.since.setdefault(request.broker_id, last_offset)

    def on_written(self, records: Iterable[Any]) -> None:
        """A broker that is fenced, or registers, is leaving no more."""
        for record in records:
            is_fenced = type(record) is BrokerRegistrationChangeRecord and record.fenced > 0
            if is_fenced or type(record) in (RegisterBrokerRecord, UnregisterBrokerRecord):
                self.since.pop(record.broker_id, None)

    def have_read(self, image: Image, broker_id: int) -> bool:
        """Whether all brokers that serve may have read that this one is leaving."""
        return all(
            self.read.get((other, broker.epoch), -1) >= self.since[broker_id]
            for other, broker in image.brokers.items()
            if not broker.fenced and other not in self.since
        )
