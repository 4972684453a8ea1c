"""Controlled shutdowns under one active controller: which brokers are leaving, which partitions they have still to
leave, and how far each broker has read (KIP-841). It is made of heartbeats and of the log, not of the controller's
sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord, UnregisterBrokerRecord
from simulations.cluster.metadata.image import UNCHANGED
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from records.metadata.topics import PartitionChangeRecord
    from simulations.cluster.metadata.image import Image

# The number of ticks of other work, beside one step for each partition and broker.
TICKS_MAX = 20


class Departures:
    """since: of each broker that is leaving, an offset that the other brokers must have read before it may stop; read:
    by broker and its epoch, the offset up to which it said last that it had read, inclusive. at_once: the ISRs that a
    broker leaves in one step. ticks: of each broker and partition that it has still to leave, how many there were.
    """

    def __init__(self, at_once: int = 5_000) -> None:
        self.at_once = at_once
        self.since: dict[int, int] = {}
        self.read: dict[tuple[int, int], int] = {}
        self.ticks: dict[tuple[int, tuple[bytes, int]], int] = {}

    def on_heartbeat(self, image: Image, request: Any, last_offset: int, *, is_done: bool) -> None:
        """A heartbeat is handled. image: before it. last_offset: of the log after it. is_done: False where it was not
        decided yet, or timed out.
        """
        broker = image.brokers.get(request.broker_id)
        if broker is None or broker.epoch != request.broker_epoch:
            return
        self.read[request.broker_id, request.broker_epoch] = request.current_metadata_offset
        wants = request.want_shut_down and not request.want_fence and not broker.fenced
        if is_done and wants and self.has_to_leave(image, request.broker_id):
            self.since.setdefault(request.broker_id, last_offset)

    def has_to_leave(self, image: Image, broker_id: int) -> bool:
        """Whether a broker that wants to shut down enters its controlled shutdown, and does not stop at once."""
        isrs = sum(broker_id in partition.isr for partition in image.partitions.values())
        return bool(image.partitions_led_by(broker_id)) or isrs > self.at_once

    def left_isrs(self, image: Image, record: PartitionChangeRecord, offset: int) -> None:
        """A partition is changed by periodic work. image: before it. A broker that is leaving may stop when the others
        have read the last change by which it leaves.
        """
        before = image.partitions[bytes(record.topic_id), record.partition_id]
        for broker_id in self.since:
            is_out = record.isr is not None and broker_id in before.isr and broker_id not in record.isr
            if is_out or (before.leader == broker_id and record.leader != UNCHANGED):
                self.since[broker_id] = offset

    def leave_at_once(self, node_id: int, image: Image) -> None:
        """The first step is the last where the partitions are few. Raises Violation if it leaves any."""
        for broker_id in self.since if len(image.partitions) <= self.at_once else ():
            left = stays(image, broker_id)
            if left:
                text = f"node {node_id} leaves broker {broker_id}, which shuts down, in the ISRs of {left}"
                raise Violation("C21", text)

    def on_ticked(self, node_id: int, image: Image) -> None:
        """The controller did its periodic work. Raises Violation where it goes on with no step."""
        left = [(broker_id, key) for broker_id in self.since for key in stays(image, broker_id)]
        self.ticks = {each: self.ticks.get(each, 0) + 1 for each in left}
        ticks_max = TICKS_MAX + len(image.partitions) * (1 + len(image.brokers))
        late = [each for each, count in self.ticks.items() if count > ticks_max]
        if late:
            text = f"node {node_id} leaves brokers that shut down in ISRs for {ticks_max} ticks: {late}"
            raise Violation("C21", text)

    def on_written(self, records: Iterable[Any]) -> None:
        """A broker that is fenced, or registers, is leaving no more."""
        for record in records:
            kind = type(record)
            if kind not in (RegisterBrokerRecord, BrokerRegistrationChangeRecord, UnregisterBrokerRecord):
                continue
            # A broker whose registration has changed counts as one that has read nothing, until its next heartbeat.
            self.read.pop((record.broker_id, record.broker_epoch), None)
            if kind is not BrokerRegistrationChangeRecord or record.fenced > 0:
                self.since.pop(record.broker_id, None)

    def have_read(self, image: Image, broker_id: int) -> bool:
        """Whether all brokers that serve may have read that this one is leaving."""
        return all(
            self.read.get((other, broker.epoch), -1) >= self.since[broker_id]
            for other, broker in image.brokers.items()
            if not broker.fenced and other not in self.since
        )


def stays(image: Image, broker_id: int) -> list[tuple[bytes, int]]:
    """The partitions that a broker leads, or shares the ISR of."""
    return [
        key
        for key, each in image.partitions.items()
        if each.leader == broker_id or (broker_id in each.isr and len(each.isr) > 1)
    ]
