"""Admin clients: each asks one thing after the other of a few topics, again where no answer came. All is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.reassignments import AlterPartitionReassignmentsRequest, ElectLeadersRequest
from records.messages.topics import CreateTopicsRequest
from simulations.cluster.client import Client
from simulations.histories.controller_requests import request_of, told_by, told_of_created, topic_to_create
from simulations.histories.operations import UNKNOWN
from simulations.streams import between
from simulations.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.cluster.run import ClusterRun
    from simulations.histories.operations import Operation

    Read = Callable[[Any], Any]

FIRST_ID = 201
TIMEOUT_MS = 1200
KEYS = ("retention.ms", "segment.bytes", "min.insync.replicas")
VALUES = {"retention.ms": ("1000", "60000"), "segment.bytes": ("1048576", "2097152"), "min.insync.replicas": ("1", "2")}


class Admin:
    """One client. asked: how many requests it has sent."""

    def __init__(self, run: ClusterRun, number: int) -> None:
        self.run = run
        self.name = f"admin-{number + 1}"
        self.luck = run.stream(self.name)
        self.client = Client(run.world, run.network, self.luck, FIRST_ID + number, run.plan.voter_ids)
        self.asked = 0
        self._ids: dict[str, bytes] = {}
        self._is_over = False
        self._later()

    def stop(self) -> None:
        """It asks nothing more."""
        self._is_over = True

    def _later(self) -> None:
        self.run.world.after(between(self.luck, 1, 2 * self.run.plan.ask_every_ms) * MS, self._act)

    def _act(self) -> None:
        if self._is_over:
            return
        kinds = self.run.plan.operations
        getattr(self, f"_{kinds[int(self.luck.random() * len(kinds))]}")()

    def _ask(self, request: Any, asked: list[tuple[Any, ...]], read: Read, tries: int = 0) -> None:
        """Send a request that is written down as several operations. read: told an answer, gives what each was told;
        UNKNOWN for what may or may not be so.
        """
        operations = [self.run.recorder.ask(self.name, each) for each in asked]
        self.asked += 1

        def done(response: Any) -> None:
            told = [UNKNOWN] * len(operations) if response is None else read(response)
            self._write_down(operations, told)
            if response is None or UNKNOWN in told:
                self.client.look_elsewhere()
                if tries and not self._is_over:  # as a client does, which does not know whether it was done
                    self._ask(request, asked, read, tries - 1)
                    return
            self._later()

        self.client.ask(request, done, TIMEOUT_MS)

    def _write_down(self, operations: list[Operation], told: list[Any]) -> None:
        from_standby = self.run.watch.is_from_standby(self.client)
        for operation, each in zip(operations, told, strict=True):
            if from_standby and operation.asked[0] == "read":
                self.run.recorder.forget(operation)  # as of what that one has read, which may be little
            elif each is not UNKNOWN:
                self.run.recorder.answer(operation, each)

    # What is asked

    def _topic(self) -> str:
        return f"topic-{int(self.luck.random() * self.run.plan.topics)}"

    def _tries(self) -> int:
        return between(self.luck, 0, 2)

    def _create(self) -> None:
        count = 1 if self.luck.random() < 0.7 else 2
        names = sorted({self._topic() for _ in range(count)})
        topics, asked = [], []
        for name in names:
            partitions = between(self.luck, 1, 4)
            replicas = between(self.luck, 1, max(1, min(3, self.run.plan.brokers)))
            configs = self._configs() if self.luck.random() < 0.3 else ()
            asked.append(("create", name, partitions, configs))
            topics.append(topic_to_create(asked[-1], replicas))

        def read(response: Any) -> list[Any]:
            told = []
            for name in names:
                found = next(each for each in response.topics if each.name == name)
                told.append(told_of_created(found))
                if found.error_code == Error.NONE:
                    self._ids[name] = found.topic_id
            return told

        self._ask(CreateTopicsRequest(topics=tuple(topics), timeout_ms=TIMEOUT_MS), asked, read, self._tries())

    def _delete(self) -> None:
        name = self._topic()
        topic_id = self._ids.get(name) if self.luck.random() < 0.5 else None
        self._ask_one(("delete", name, topic_id), self._tries())

    def _grow(self) -> None:
        self._ask_one(("grow", self._topic(), between(self.luck, 1, 6)), self._tries())

    def _configure(self) -> None:
        name = self._topic()
        changes = tuple((key, None if self.luck.random() < 0.3 else value) for key, value in self._configs())
        self._ask_one(("configure", name, changes), self._tries())

    def _read(self) -> None:
        self._ask_one(("read", self._topic()))

    def _ask_one(self, asked: tuple[Any, ...], tries: int = 0) -> None:
        """Send what is one operation."""
        request = request_of(asked, TIMEOUT_MS, KEYS)
        self._ask(request, [asked], lambda response: [told_by(asked, response)], tries)

    def _reassign(self) -> None:
        """Move a partition, or call a move off; what comes of it is seen in the log."""
        reassignable = AlterPartitionReassignmentsRequest.ReassignableTopic
        replicas: tuple[int, ...] | None = None
        if self.luck.random() < 0.75:
            ids = [machine.id for machine in self.run.brokers]
            self.luck.shuffle(ids)
            replicas = tuple(ids[: between(self.luck, 1, min(3, len(ids)))])
        partition = reassignable.ReassignablePartition(partition_index=between(self.luck, 0, 2), replicas=replicas)
        request = AlterPartitionReassignmentsRequest(
            topics=(reassignable(name=self._topic(), partitions=(partition,)),), timeout_ms=TIMEOUT_MS
        )
        self._ask(request, [], lambda _response: [])

    def _elect(self) -> None:
        topic = ElectLeadersRequest.TopicPartitions(topic=self._topic(), partitions=(0, 1, 2))
        self._ask(ElectLeadersRequest(topic_partitions=(topic,), timeout_ms=TIMEOUT_MS), [], lambda _response: [])

    def _configs(self) -> tuple[tuple[str, str], ...]:
        keys = sorted({KEYS[int(self.luck.random() * len(KEYS))] for _ in range(2)})
        return tuple((key, VALUES[key][int(self.luck.random() * 2)]) for key in keys)
