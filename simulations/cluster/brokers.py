"""Model brokers: they register, heartbeat, read the metadata log as observers, and lead their partitions' replicas.

What a broker does with records of clients is not modelled; what it tells the controller is, from its own view of the
log, which is late, and from its own notion of which process it is, which may be over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.features import supported_features
from raft.config import METADATA_TOPIC
from records.errors import Error
from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.partitions import AlterPartitionRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.uuids import METADATA_TOPIC_ID
from simulations.cluster.client import BACKOFF_MS, Client, is_elsewhere
from simulations.cluster.image import Image, Settling, batches_of, decoded
from simulations.streams import between
from simulations.violation import Violation
from simulations.world import MS

if TYPE_CHECKING:
    from records.messages.brokers import BrokerHeartbeatResponse
    from simulations.cluster.run import ClusterRun
    from simulations.histories.operations import Operation

FIRST_ID = 101
FETCH_TIMEOUT_MS = 2000
REQUEST_TIMEOUT_MS = 1500
PART_BYTES = 1 << 20


class BrokerProcess:
    """One life of a broker. image: the metadata as far as it has read; epoch: that of its registration, -1 before.

    wants_out: it asks to be let go. is_over: it is gone.
    """

    def __init__(self, machine: BrokerMachine, life: int) -> None:
        self.machine = machine
        self.run = machine.run
        self.world = machine.run.world
        self.id = machine.id
        self.life = life
        self.luck = self.run.stream("broker", self.id, life)
        self.incarnation = self.luck.randbytes(16)
        self.epoch = -1
        self._previous_epoch = machine.clean_epoch
        self.wants_out = False
        self.is_over = False
        self.image = Image()
        self.log = LogReader(self)
        # A broker has a channel for each sort of request, as Kafka's has.
        servers = self.run.plan.voter_ids
        self.control, self.fetching, self.leading = (
            Client(self.world, self.run.network, self.luck, self.id, servers) for _ in range(3)
        )
        self._altering: dict[tuple[bytes, int], int] = {}  # the partition epoch that is waited for
        self._epochs: dict[int, list[int]] = {}  # by broker: the epochs that it was seen to have

    @property
    def clients(self) -> tuple[Client, ...]:
        return self.control, self.fetching, self.leading

    def start(self) -> None:
        self._register()
        self.log.fetch()
        self._later(self.run.plan.lead_every_ms, self._lead)

    def end(self) -> None:
        """It is gone, whatever it was doing."""
        self.is_over = True
        for client in self.clients:
            client.die()

    def pause(self, *, is_paused: bool) -> None:
        """SIGSTOP, and SIGCONT."""
        for client in self.clients:
            if is_paused:
                client.is_paused = True
            else:
                client.resume()

    # Registration and heartbeats

    def _register(self) -> None:
        listener, feature = BrokerRegistrationRequest.Listener, BrokerRegistrationRequest.Feature
        request = BrokerRegistrationRequest(
            broker_id=self.id,
            cluster_id=self.run.cluster_id,
            incarnation_id=self.incarnation,
            listeners=(listener(name="PLAINTEXT", host=f"broker-{self.id}", port=9092, security_protocol=0),),
            features=tuple(
                feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in supported_features().items()
            ),
            rack=None,
            log_dirs=(self.machine.directory_id,),
            previous_broker_epoch=self._previous_epoch,
        )
        operation = self.run.recorder.ask(f"broker-{self.id}", ("register", self.id, self.incarnation))
        self.control.ask(request, lambda response: self._registered(operation, response), REQUEST_TIMEOUT_MS)

    def _registered(self, operation: Operation, response: Any) -> None:
        if response is None or is_elsewhere(response.error_code):
            self.control.look_elsewhere()
            self._later(BACKOFF_MS, self._register)
        elif response.error_code != Error.NONE:
            self.run.recorder.answer(operation, "refused")
            self._later(3 * BACKOFF_MS, self._register)
        else:
            self.run.recorder.answer(operation, response.broker_epoch)
            self.epoch = response.broker_epoch
            self._heartbeat()

    def _heartbeat(self) -> None:
        request = BrokerHeartbeatRequest(
            broker_id=self.id,
            broker_epoch=self.epoch,
            current_metadata_offset=self.image.end_offset - 1,
            want_fence=False,
            want_shut_down=self.wants_out,
        )
        self.control.ask(request, self._heard, self.run.plan.heartbeat_ms)

    def _heard(self, response: BrokerHeartbeatResponse | None) -> None:
        if response is None or is_elsewhere(response.error_code):
            self.control.look_elsewhere()
            self._later(BACKOFF_MS, self._heartbeat)
            return
        if response.error_code == Error.NONE and response.should_shut_down and self.wants_out:
            self.machine.clean_epoch = self.epoch
            self.machine.left(self)
            return
        # Fenced brokers ask more often, until they are let in.
        self._later(self.run.plan.heartbeat_ms // (4 if response.is_fenced else 1), self._heartbeat)

    # Leading

    def _lead(self) -> None:
        self._later(between(self.luck, 1, 2 * self.run.plan.lead_every_ms), self._lead)
        if self.epoch < 0 or self.leading.is_paused:
            return
        if self.luck.random() < 0.1:
            self._allocate()
        topics: dict[bytes, list[Any]] = {}
        operations = []
        data = AlterPartitionRequest.TopicData.PartitionData
        for key in self.image.led_by(self.id):
            wanted = self._wanted_isr(key)
            found = self.image.partitions[key]
            if wanted is None or self._altering.get(key, -1) >= found.epoch:
                continue
            self._altering[key] = found.epoch
            members = tuple(data.BrokerState(broker_id=each, broker_epoch=self._epoch_of(each)) for each in wanted)
            topics.setdefault(key[0], []).append(
                data(
                    partition_index=key[1],
                    leader_epoch=found.leader_epoch,
                    new_isr_with_epochs=members,
                    partition_epoch=found.epoch,
                )
            )
            operations.append(self.run.recorder.ask(f"broker-{self.id}", ("alter partition", *key, found.epoch)))
        if topics:
            request = AlterPartitionRequest(
                broker_id=self.id,
                broker_epoch=self.epoch,
                topics=tuple(
                    AlterPartitionRequest.TopicData(topic_id=topic_id, partitions=tuple(asked))
                    for topic_id, asked in topics.items()
                ),
            )
            self.leading.ask(request, lambda response: self._altered(operations, response), REQUEST_TIMEOUT_MS)

    def _wanted_isr(self, key: tuple[bytes, int]) -> list[int] | None:
        """Who is in sync, as this leader sees it; None where nothing is to be changed."""
        found = self.image.partitions[key]
        known = self.image.brokers
        others = [each for each in found.replicas if each != self.id]
        wanted = [self.id]
        for each in others:
            is_well = self.run.is_replicating(each)
            falls_behind = self.luck.random() < self.run.lag
            # A leader may not have heard yet that a follower is fenced; the controller has to know better.
            is_let_in = each in known and not (known[each].fenced or known[each].leaving)
            if each in known and not falls_behind and is_well and (is_let_in or self.luck.random() < 0.5):
                wanted.append(each)
        if self.id not in known or set(wanted) == set(found.isr):
            return None
        return wanted

    def _epoch_of(self, broker_id: int) -> int:
        """That by which this leader knows a follower: it was told in a Fetch, and may be that of a former life."""
        epoch = self.image.brokers[broker_id].epoch
        known = self._epochs.setdefault(broker_id, [epoch])
        if epoch != known[-1]:
            known.append(epoch)
        return known[-2] if len(known) > 1 and self.luck.random() < 0.1 else epoch

    def _altered(self, operations: list[Operation], response: Any) -> None:
        self._altering.clear()
        if response is None or is_elsewhere(response.error_code):
            self.leading.look_elsewhere()
            return
        recorder = self.run.recorder
        told = {
            (bytes(topic.topic_id), each.partition_index): each
            for topic in response.topics
            for each in topic.partitions
        }
        for operation in operations:
            found = told.get(operation.asked[1:3])
            if response.error_code != Error.NONE:
                recorder.answer(operation, "stale")
            elif found is None or found.error_code in (Error.NOT_CONTROLLER, Error.NEW_LEADER_ELECTED):
                continue
            elif found.error_code == Error.NONE:
                recorder.answer(operation, ("ok", found.partition_epoch))
            else:
                recorder.answer(operation, "stale")

    def _allocate(self) -> None:
        operation = self.run.recorder.ask(f"broker-{self.id}", ("allocate",))

        def done(response: Any) -> None:
            if response is None or is_elsewhere(response.error_code):
                self.leading.look_elsewhere()
            elif response.error_code == Error.NONE:
                self.run.recorder.answer(operation, response.producer_id_start)
            else:
                self.run.recorder.answer(operation, "refused")

        request = AllocateProducerIdsRequest(broker_id=self.id, broker_epoch=self.epoch)
        self.leading.ask(request, done, REQUEST_TIMEOUT_MS)

    def _later(self, delay_ms: int, act: Any) -> None:
        self.world.after(delay_ms * MS, self._if_alive, act)

    def _if_alive(self, act: Any) -> None:
        if not self.is_over:
            self.control.when_awake(act)


class LogReader:
    """The observer within a broker: reads the log, applies what is committed, begins anew from snapshots."""

    def __init__(self, process: BrokerProcess) -> None:
        self._process = process
        self._client: Client | None = None
        self._ahead: list[tuple[int, int, int, bytes]] = []  # base, end, epoch of what is not known to be committed
        self._applied_epoch = -1
        self._leader_epoch = 0
        self._snapshot: tuple[int, int] | None = None
        self._parts = bytearray()
        self._settling = Settling()

    def fetch(self) -> None:
        """Ask for what comes next."""
        process = self._process
        if process.is_over:
            return
        end, epoch = process.image.end_offset, self._applied_epoch
        if self._ahead:
            end, epoch = self._ahead[-1][1:3]
        asked = FetchRequest.FetchTopic.FetchPartition(
            partition=0, current_leader_epoch=self._leader_epoch, fetch_offset=end, last_fetched_epoch=max(epoch, 0),
            log_start_offset=-1, partition_max_bytes=0, replica_directory_id=process.machine.directory_id,
        )  # fmt: skip
        request = FetchRequest(
            cluster_id=process.run.cluster_id,
            replica_state=FetchRequest.ReplicaState(replica_id=process.id, replica_epoch=-1),
            max_wait_ms=process.run.plan.fetch_wait_ms,
            min_bytes=0,
            max_bytes=8 << 20,
            topics=(FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=(asked,)),),
        )
        process.fetching.ask(request, self._fetched, FETCH_TIMEOUT_MS)

    def _fetched(self, response: Any) -> None:
        process = self._process
        if response is None or response.error_code != Error.NONE or not response.responses:
            self._again(BACKOFF_MS)
            return
        data = response.responses[0].partitions[0]
        leader = data.current_leader
        self._leader_epoch = max(self._leader_epoch, leader.leader_epoch)
        if data.error_code != Error.NONE:
            if leader.leader_id in process.run.nodes:
                process.fetching.target = leader.leader_id
                process.world.after(BACKOFF_MS * MS // 4, process.fetching.when_awake, self.fetch)
            else:
                self._again(BACKOFF_MS)
            return
        if data.diverging_epoch.epoch >= 0:
            self._truncate(data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
        elif data.snapshot_id.epoch >= 0:
            self._snapshot = (data.snapshot_id.end_offset, data.snapshot_id.epoch)
            self._parts.clear()
            self._fetch_part()
            return
        else:
            self._take(data.records or b"", data.high_watermark)
        process.world.after(MS, process.fetching.when_awake, self.fetch)

    def _again(self, delay_ms: int) -> None:
        process = self._process
        process.fetching.look_elsewhere()
        process.world.after(delay_ms * MS, process.fetching.when_awake, self.fetch)

    def _take(self, data: bytes, high_watermark: int) -> None:
        for base, end, batch in batches_of(data):
            epoch = int.from_bytes(batch[12:16], "big", signed=True)
            self._ahead.append((base, end, epoch, batch))
        image = self._process.image
        while self._ahead and self._ahead[0][1] <= high_watermark:
            base, end, epoch, batch = self._ahead.pop(0)
            if base != image.end_offset:
                raise Violation("L09", f"broker {self._process.id} got {base} where {image.end_offset} was next")
            for _, record in self._settling.take(batch):
                image.apply(record)
            image.end_offset = end
            self._applied_epoch = epoch

    def _truncate(self, epoch: int, end_offset: int) -> None:
        image = self._process.image
        if end_offset < image.end_offset:
            text = f"broker {self._process.id} has applied {image.end_offset}, and is to go back to {end_offset}"
            raise Violation("S11", text)
        while self._ahead and (self._ahead[-1][1] > end_offset or self._ahead[-1][2] > epoch):
            self._ahead.pop()

    # Snapshots

    def _fetch_part(self) -> None:
        process = self._process
        assert self._snapshot is not None
        asked = FetchSnapshotRequest.TopicSnapshot
        partition = asked.PartitionSnapshot(
            partition=0, current_leader_epoch=self._leader_epoch,
            snapshot_id=asked.PartitionSnapshot.SnapshotId(end_offset=self._snapshot[0], epoch=self._snapshot[1]),
            position=len(self._parts), replica_directory_id=process.machine.directory_id,
        )  # fmt: skip
        request = FetchSnapshotRequest(
            cluster_id=process.run.cluster_id, replica_id=process.id, max_bytes=PART_BYTES,
            topics=(asked(name=METADATA_TOPIC, partitions=(partition,)),),
        )  # fmt: skip
        process.fetching.ask(request, self._part_came, FETCH_TIMEOUT_MS)

    def _part_came(self, response: Any) -> None:
        if response is None or response.error_code != Error.NONE or not response.topics:
            self._again(BACKOFF_MS)
            return
        data = response.topics[0].partitions[0]
        if data.error_code != Error.NONE or data.position != len(self._parts):
            self._again(BACKOFF_MS)
            return
        self._parts += data.unaligned_records
        if len(self._parts) < data.size:
            self._fetch_part()
            return
        self._load()
        self.fetch()

    def _load(self) -> None:
        assert self._snapshot is not None
        image = self._process.image = Image()
        for _, _, batch in batches_of(bytes(self._parts)):
            for _, record in decoded(batch):
                image.apply(record)
        image.end_offset, self._applied_epoch = self._snapshot
        self._settling = Settling()
        self._ahead.clear()
        self._parts.clear()
        self._snapshot = None


class BrokerMachine:
    """The machine of a broker, on which its processes live. clean_epoch: what its last clean end left on its disk.

    current: the process that was started last; stale: earlier ones that still live. gone_at: when the last one was.
    """

    def __init__(self, run: ClusterRun, broker_id: int) -> None:
        self.run = run
        self.id = broker_id
        self.life = 0
        self.clean_epoch = -1
        self.directory_id = run.stream("directory", broker_id).randbytes(16)
        self.current: BrokerProcess | None = None
        self.stale: list[BrokerProcess] = []
        self.back_after_ms = 0
        self.gone_at = 0

    def start(self) -> None:
        """Start a process, where none runs."""
        if self.current is None:
            self.life += 1
            self.current = BrokerProcess(self, self.life)
            self.current.start()
            self.clean_epoch = -1  # the file is gone once it was read

    def crash(self) -> None:
        """It ends without a word."""
        if self.current is not None:
            self.current.end()
            self.current = None
            self.gone_at = self.run.world.now

    def leave(self, back_after_ms: int) -> None:
        """Have it leave in good order, and come back a while after."""
        self.back_after_ms = back_after_ms
        if self.current is not None:
            self.current.wants_out = True

    def left(self, process: BrokerProcess) -> None:
        process.end()
        if process is self.current:
            self.current = None
            self.gone_at = self.run.world.now
            self.run.world.after(self.back_after_ms * MS, self.start)

    def replace(self) -> None:
        """Stop it where it stands, and start another process of the same id: the first may come back to life."""
        if self.current is not None:
            self.current.pause(is_paused=True)
            self.stale.append(self.current)
            self.current = None
        self.start()

    def wake_stale(self) -> None:
        """Zombies go on, with the epochs they had."""
        for process in self.stale:
            process.pause(is_paused=False)

    def end_stale(self) -> None:
        """Somebody sees to it that none is left."""
        for process in self.stale:
            process.end()
        self.stale.clear()
