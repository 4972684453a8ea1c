"""A model broker as partition leader: it requests changes of ISRs, and blocks of producer ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.partitions import AlterPartitionRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from simulations.nodes.client import is_elsewhere
from simulations.world.streams import between

if TYPE_CHECKING:
    from simulations.cluster.clients.interfaces import BrokerLife
    from simulations.histories.operations import Operation

REQUEST_TIMEOUT_MS = 1500

TopicData = AlterPartitionRequest.TopicData
PartitionData = TopicData.PartitionData


class Leading:
    """Requests the ISR changes of the partitions that a broker leads, by its own view."""

    def __init__(self, process: BrokerLife) -> None:
        self._process = process
        self._run = process.run
        self._rng = process.rng
        self._altering: dict[tuple[bytes, int], int] = {}  # the partition epoch that is waited for
        self._epochs: dict[int, list[int]] = {}  # by broker: the epochs that it was seen to have

    def act(self) -> None:
        """Request the ISRs that should be, and sometimes producer ids; and again after a while."""
        process = self._process
        process.later(between(self._rng, 1, 2 * self._run.plan.lead_every_ms), self.act)
        if process.epoch < 0 or process.leading.is_paused:
            return
        if self._rng.random() < 0.1:
            self._allocate()
        topics: dict[bytes, list[PartitionData]] = {}
        operations = []
        for key in process.image.partitions_led_by(process.id):
            wanted = self._wanted_isr(key)
            partition = process.image.partitions[key]
            if wanted is None or self._altering.get(key, -1) >= partition.epoch:
                continue
            self._altering[key] = partition.epoch
            members = tuple(
                PartitionData.BrokerState(broker_id=each, broker_epoch=self._epoch_of(each)) for each in wanted
            )
            topics.setdefault(key[0], []).append(
                PartitionData(
                    partition_index=key[1],
                    leader_epoch=partition.leader_epoch,
                    new_isr_with_epochs=members,
                    partition_epoch=partition.epoch,
                )
            )
            asked = ("alter partition", *key, partition.epoch)
            operations.append(self._run.recorder.ask(f"broker-{process.id}", asked))
        if topics:
            request = AlterPartitionRequest(
                broker_id=process.id,
                broker_epoch=process.epoch,
                topics=tuple(
                    TopicData(topic_id=topic_id, partitions=tuple(asked)) for topic_id, asked in topics.items()
                ),
            )
            process.leading.ask(request, lambda response: self._on_altered(operations, response), REQUEST_TIMEOUT_MS)

    def _wanted_isr(self, key: tuple[bytes, int]) -> list[int] | None:
        """The ISR as this leader sees it; None if nothing is to be changed."""
        process = self._process
        partition = process.image.partitions[key]
        known = process.image.brokers
        wanted = [process.id]
        for each in partition.replicas:
            if each == process.id:
                continue
            is_well = self._run.is_replicating(each, key)
            falls_behind = self._rng.random() < self._run.lag
            # A leader may not know yet that a follower is fenced; the controller must refuse it.
            is_active = each in known and not (known[each].fenced or known[each].leaving)
            if each in known and not falls_behind and is_well and (is_active or self._rng.random() < 0.5):
                wanted.append(each)
        if process.id not in known or set(wanted) == set(partition.isr) or not process.directories.has(key):
            return None
        return wanted

    def _epoch_of(self, broker_id: int) -> int:
        """The broker epoch of a follower that this leader knows: from a Fetch, maybe of a former process."""
        epoch = self._process.image.brokers[broker_id].epoch
        known = self._epochs.setdefault(broker_id, [epoch])
        if epoch != known[-1]:
            known.append(epoch)
        if self._run.plan.echoes and self._rng.random() < 0.02:
            return epoch + 1  # of a registration that was lost with a former controller
        return known[-2] if len(known) > 1 and self._rng.random() < 0.1 else epoch

    def _on_altered(self, operations: list[Operation], response: Any) -> None:
        self._altering.clear()
        if response is None or is_elsewhere(response.error_code):
            self._process.leading.look_elsewhere()
            return
        recorder = self._run.recorder
        answered = {
            (bytes(topic.topic_id), each.partition_index): each
            for topic in response.topics
            for each in topic.partitions
        }
        for operation in operations:
            result = answered.get(operation.asked[1:3])
            if response.error_code != Error.NONE:
                recorder.answer(operation, "stale")
            elif result is None or result.error_code in (Error.NOT_CONTROLLER, Error.NEW_LEADER_ELECTED):
                continue
            elif result.error_code == Error.NONE:
                recorder.answer(operation, ("ok", result.partition_epoch))
            else:
                recorder.answer(operation, "stale")

    def _allocate(self) -> None:
        process, recorder = self._process, self._run.recorder
        operation = recorder.ask(f"broker-{process.id}", ("allocate",))

        def on_done(response: Any) -> None:
            if response is None or is_elsewhere(response.error_code):
                process.leading.look_elsewhere()
            elif response.error_code == Error.NONE:
                recorder.answer(operation, response.producer_id_start)
            else:
                recorder.answer(operation, "refused")

        request = AllocateProducerIdsRequest(broker_id=process.id, broker_epoch=process.epoch)
        process.leading.ask(request, on_done, REQUEST_TIMEOUT_MS)
