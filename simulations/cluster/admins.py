"""Admin clients: each asks one thing after the other of a few topics, again where no answer came. All is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.configs import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest, ElectLeadersRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from simulations.cluster.client import Client
from simulations.streams import between
from simulations.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.cluster.run import ClusterRun
    from simulations.histories.operations import Operation

    Read = Callable[[Any], Any]

FIRST_ID = 201
TIMEOUT_MS = 1200
TOPIC, SET, DELETE = 2, 0, 1
KEYS = ("retention.ms", "segment.bytes", "min.insync.replicas")
VALUES = {"retention.ms": ("1000", "60000"), "segment.bytes": ("1048576", "2097152"), "min.insync.replicas": ("1", "2")}
# The source of a topic's own configs.
DYNAMIC_TOPIC = 1
_NO_WORD = object()


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
        _NO_WORD for what may or may not be so.
        """
        operations = [self.run.recorder.ask(self.name, each) for each in asked]
        self.asked += 1

        def done(response: Any) -> None:
            told = [_NO_WORD] * len(operations) if response is None else read(response)
            self._write_down(operations, told)
            if response is None or _NO_WORD in told:
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
            elif each is not _NO_WORD:
                self.run.recorder.answer(operation, each)

    # What is asked

    def _topic(self) -> str:
        return f"topic-{int(self.luck.random() * self.run.plan.topics)}"

    def _tries(self) -> int:
        return between(self.luck, 0, 2)

    def _create(self) -> None:
        count = 1 if self.luck.random() < 0.7 else 2
        names = sorted({self._topic() for _ in range(count)})
        make, topics, asked = CreateTopicsRequest.CreatableTopic, [], []
        for name in names:
            partitions = between(self.luck, 1, 4)
            replicas = between(self.luck, 1, max(1, min(3, self.run.plan.brokers)))
            configs = self._configs() if self.luck.random() < 0.3 else ()
            topics.append(make(
                name=name, num_partitions=partitions, replication_factor=replicas, assignments=(),
                configs=tuple(make.CreatableTopicConfig(name=key, value=value) for key, value in configs),
            ))  # fmt: skip
            asked.append(("create", name, partitions, configs))

        def read(response: Any) -> list[Any]:
            told = []
            for name in names:
                found = next(each for each in response.topics if each.name == name)
                if found.error_code == Error.NONE:
                    self._ids[name] = bytes(found.topic_id)
                    told.append(("ok", bytes(found.topic_id)))
                else:
                    told.append(_told(found.error_code, {Error.TOPIC_ALREADY_EXISTS: "exists"}))
            return told

        self._ask(CreateTopicsRequest(topics=tuple(topics), timeout_ms=TIMEOUT_MS), asked, read, self._tries())

    def _delete(self) -> None:
        name = self._topic()
        topic_id = self._ids.get(name) if self.luck.random() < 0.5 else None
        state = DeleteTopicsRequest.DeleteTopicState
        which = state(name=name) if topic_id is None else state(name=None, topic_id=topic_id)
        missing = {Error.UNKNOWN_TOPIC_OR_PARTITION: "missing", Error.UNKNOWN_TOPIC_ID: "missing"}
        self._ask(
            DeleteTopicsRequest(topics=(which,), timeout_ms=TIMEOUT_MS),
            [("delete", name, topic_id)],
            lambda response: [_told(response.responses[0].error_code, missing)],
            self._tries(),
        )

    def _grow(self) -> None:
        name, count = self._topic(), between(self.luck, 1, 6)
        topic = CreatePartitionsRequest.CreatePartitionsTopic(name=name, count=count, assignments=None)
        known = {Error.UNKNOWN_TOPIC_OR_PARTITION: "missing", Error.INVALID_PARTITIONS: "too few"}
        self._ask(
            CreatePartitionsRequest(topics=(topic,), timeout_ms=TIMEOUT_MS, validate_only=False),
            [("grow", name, count)],
            lambda response: [_told(response.results[0].error_code, known)],
            self._tries(),
        )

    def _configure(self) -> None:
        name = self._topic()
        changes = tuple((key, None if self.luck.random() < 0.3 else value) for key, value in self._configs())
        resource = IncrementalAlterConfigsRequest.AlterConfigsResource
        configs = tuple(
            resource.AlterableConfig(name=key, config_operation=DELETE if value is None else SET, value=value)
            for key, value in changes
        )
        request = IncrementalAlterConfigsRequest(
            resources=(resource(resource_type=TOPIC, resource_name=name, configs=configs),), validate_only=False
        )
        missing = {Error.UNKNOWN_TOPIC_OR_PARTITION: "missing"}
        self._ask(
            request,
            [("configure", name, changes)],
            lambda response: [_told(response.responses[0].error_code, missing)],
            self._tries(),
        )

    def _read(self) -> None:
        name = self._topic()
        resource = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=TOPIC, resource_name=name, configuration_keys=KEYS
        )

        def read(response: Any) -> list[Any]:
            found = response.results[0]
            if found.error_code == Error.NONE:
                own = [(each.name, each.value) for each in found.configs if each.config_source == DYNAMIC_TOPIC]
                return [tuple(sorted(own))]
            return [_told(found.error_code, {Error.UNKNOWN_TOPIC_OR_PARTITION: "missing"})]

        self._ask(DescribeConfigsRequest(resources=(resource,)), [("read", name)], read)

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


def _told(code: int, known: dict[Error, str]) -> Any:
    """The answer as the history has it; _NO_WORD where it may be either."""
    if code == Error.NONE:
        return "ok"
    if code in (Error.NOT_CONTROLLER, Error.REQUEST_TIMED_OUT):
        return _NO_WORD
    return next((name for error, name in known.items() if code == error), "refused")
