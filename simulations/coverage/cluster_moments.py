"""Named moments of controllers that some world must reach: what is not committed when a snapshot is taken, moves that
end by a failure, claims that are overtaken. None of them is a violation.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from controller.interface import effects, inputs
from raft.interface import effects as do
from records.messages.brokers import BrokerHeartbeatRequest, UnregisterBrokerRequest
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from simulations.cluster.metadata.image import records_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulations.cluster.metadata.image import Image
    from simulations.nodes.driver import ControllerProcess
    from simulations.world.process import Process

GROWS = "a topic grows, and is not committed, while a snapshot is taken"
GOES = "a topic is deleted, and that is not committed, while a snapshot is taken"
MOVE_ENDS = "a failed directory ends a move"
ELIGIBLE_LEAVES = "a member of an ELR is unregistered"
OVERTAKEN = "this node leads no longer, and has not become the active controller"
WAITS = "time passes between the arrival of a request and its step"
NAMES = (GROWS, GOES, MOVE_ENDS, ELIGIBLE_LEAVES, OVERTAKEN, WAITS)

Life = tuple[int, int]
Kinds = set[type]


class ClusterMoments:
    """counts: of each moment, by name. image: of the committed log."""

    def __init__(self, image: Image) -> None:
        self.counts: Counter[str] = Counter()
        self._image = image
        self._claims: set[Life] = set()
        # Of each active controller: the end and the kinds of records of what it wrote, where that grows or deletes.
        self._written: dict[Life, list[tuple[int, Kinds]]] = {}

    def on_raft_stepped(self, process: Process, done: Sequence[Any]) -> None:
        """A replica took a step."""
        life = process.node.id, process.life
        for each in done:
            if type(each) is do.LeaderChanged:
                is_own = each.leader_id == process.node.id
                if not is_own and life in self._claims:
                    self.counts[OVERTAKEN] += 1
                self._claims.discard(life)
                if is_own:
                    self._claims.add(life)

    def on_stepped(self, process: ControllerProcess, event: inputs.Input, done: Sequence[Any]) -> None:
        """A controller took a step."""
        life = process.node.id, process.life
        if not process.controller.is_active:
            self._written.pop(life, None)
        else:
            self._claims.discard(life)
        appends = [each for each in done if type(each) is effects.Append]
        records = [(each.last_offset + 1, [record for _, record in records_in(each.data)]) for each in appends]
        if type(event) is inputs.Requested:
            self._take(event, [record for _, batch in records for record in batch])
            self.counts[WAITS] += process.controller.env.now_ms > event.context.arrived_ms
        written = self._written.setdefault(life, [])
        written += [(end_offset, kinds) for end_offset, batch in records if (kinds := _kinds_of(batch))]
        for each in done:
            if type(each) is effects.TakeSnapshot:
                later = [kinds for end_offset, kinds in written if end_offset > each.id.end_offset]
                self.counts[GROWS] += any(PartitionRecord in kinds and TopicRecord not in kinds for kinds in later)
                self.counts[GOES] += any(RemoveTopicRecord in kinds for kinds in later)

    def _take(self, event: inputs.Requested, records: Sequence[Any]) -> None:
        request = event.request
        if type(request) is BrokerHeartbeatRequest and request.offline_log_dirs:
            self.counts[MOVE_ENDS] += any(
                type(record) is PartitionChangeRecord and () in (record.adding_replicas, record.removing_replicas)
                for record in records
            )
        elif type(request) is UnregisterBrokerRequest and records:
            self.counts[ELIGIBLE_LEAVES] += any(
                request.broker_id in partition.elr for partition in self._image.partitions.values()
            )


def _kinds_of(records: Sequence[Any]) -> Kinds:
    return {type(record) for record in records} & {PartitionRecord, RemoveTopicRecord, TopicRecord}
