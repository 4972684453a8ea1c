"""`kraftctl topic alter` on a real controller, with brokers whose requests the test sends."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest
from records.messages.partitions import AlterPartitionRequest
from records.messages.topics import CreateTopicsRequest
from tests.controller.server.processes import CLUSTER_ID, free_port, running
from tools.client.connection import Connection
from tools.client.live_quorum import LiveQuorum
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

BROKERS = (1, 2, 3)
SESSION = {"broker_session_timeout_ms": "600000"}


class Cluster:
    """A controller of ours with three brokers, which lead and are in sync as soon as they are asked to."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.address = f"127.0.0.1:{port}"
        self.epochs: dict[int, int] = {}
        self.live = LiveQuorum([("127.0.0.1", port)], "test")

    def ask(self, request: Any) -> Any:
        with Connection("127.0.0.1", self.port, "test") as connection:
            return connection.ask(request)

    def register(self) -> None:
        features = BrokerRegistrationRequest.Feature
        listener = BrokerRegistrationRequest.Listener(name="PLAIN", host="127.0.0.1", port=9, security_protocol=0)
        for number in BROKERS:
            request = BrokerRegistrationRequest(
                broker_id=number, cluster_id=CLUSTER_ID, incarnation_id=bytes(15) + bytes([number]),
                listeners=(listener,), rack=None, log_dirs=(bytes(14) + bytes([9, number]),),
                features=(
                    features(name="metadata.version", min_supported_version=7, max_supported_version=33),
                    features(name="group.version", min_supported_version=0, max_supported_version=1),
                    features(name="transaction.version", min_supported_version=0, max_supported_version=2),
                    features(name="share.version", min_supported_version=0, max_supported_version=2),
                    features(name="streams.version", min_supported_version=0, max_supported_version=1),
                    features(name="eligible.leader.replicas.version", min_supported_version=0, max_supported_version=1),
                ),
            )  # fmt: skip
            answer = self.ask(request)
            assert answer.error_code == 0, answer
            self.epochs[number] = answer.broker_epoch
            beat = BrokerHeartbeatRequest(
                broker_id=number, broker_epoch=answer.broker_epoch, current_metadata_offset=answer.broker_epoch + 1,
                want_fence=False, want_shut_down=False,
            )  # fmt: skip
            answer = self.ask(beat)
            assert (answer.error_code, answer.is_fenced) == (0, False), answer

    def create(self, name: str, *replicas: tuple[int, ...]) -> None:
        kind = CreateTopicsRequest.CreatableTopic
        assignments = tuple(
            kind.CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in enumerate(replicas)
        )
        topic = kind(name=name, num_partitions=-1, replication_factor=-1, assignments=assignments, configs=())
        answer = self.ask(CreateTopicsRequest(topics=(topic,)))
        assert answer.topics[0].error_code == 0, answer

    def replicas(self, name: str) -> list[tuple[int, ...]]:
        image = self.live.update()
        partitions = image.topics[image.topic_ids[name]].partitions
        return [partitions[number].replicas for number in sorted(partitions)]

    def config(self, name: str) -> dict[str, str]:
        return dict(self.live.update().configs.get((2, name), {}))

    def catch_up(self, name: str) -> None:
        """Let each leader take all replicas of its partitions into the ISR."""
        kind = AlterPartitionRequest.TopicData
        image = self.live.update()
        topic = image.topics[image.topic_ids[name]]
        for number, partition in topic.partitions.items():
            if set(partition.isr) == set(partition.replicas):
                continue
            member = kind.PartitionData.BrokerState
            data = kind.PartitionData(
                partition_index=number, leader_epoch=partition.leader_epoch, partition_epoch=partition.partition_epoch,
                new_isr_with_epochs=tuple(
                    member(broker_id=broker, broker_epoch=self.epochs[broker]) for broker in partition.replicas
                ),
            )  # fmt: skip
            self.ask(
                AlterPartitionRequest(
                    broker_id=partition.leader, broker_epoch=self.epochs[partition.leader],
                    topics=(kind(topic_id=topic.topic_id, partitions=(data,)),),
                )
            )  # fmt: skip


@pytest.fixture(name="cluster", scope="module")
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    port = free_port()
    settings: dict[str, Any] = {**SESSION}
    with running(tmp_path_factory.mktemp("node"), port, **settings):
        assert main(["wait", "--bootstrap-controller", f"127.0.0.1:{port}", "--timeout", "20"]) == 0
        cluster = Cluster(port)
        with cluster.live:
            cluster.register()
            yield cluster


def alter(cluster: Cluster, topic: str, *options: str) -> int:
    return main(["topic", "alter", topic, "--bootstrap-controller", cluster.address, *options])


def test_partitions_and_configs_are_altered_in_one_call(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.create("grown", (1, 2), (2, 3))

    code = alter(cluster, "grown", "--partitions", "4", "--set", "retention.ms=1000", "--set", "min.insync.replicas=1")
    reset = alter(cluster, "grown", "--delete", "retention.ms")

    assert (code, reset) == (0, 0)
    assert [len(replicas) for replicas in cluster.replicas("grown")] == [2, 2, 2, 2]
    assert cluster.config("grown") == {"min.insync.replicas": "1"}
    assert "partitions: 4 in total, the new ones placed by the controller" in capsys.readouterr().out.splitlines()


def test_progress_is_printed_until_all_replicas_have_moved(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.create("moved", (1,), (2,))
    ended = threading.Event()

    def follow() -> None:
        while not ended.wait(0.1):
            cluster.catch_up("moved")

    brokers = threading.Thread(target=follow)
    brokers.start()
    try:
        code = alter(cluster, "moved", "--replication-factor", "2", "--partitions", "3")
    finally:
        ended.set()
        brokers.join()

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert cluster.replicas("moved") == [(1, 3), (2, 1), (3, 2)]
    assert lines[:1] == ["partitions: 3 in total, the new ones on brokers [3]"]
    assert "partition 0: from brokers [1] to [1, 3]" in lines
    assert lines[-1] == "3 of 3 partitions have moved"


def test_an_assignment_is_carried_out_and_printed_as_json(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.create("assigned", (1, 2), (2, 3))

    code = alter(cluster, "assigned", "--replica-assignment", "0:1;2:3,1", "--partitions", "9", "--json")

    assert code == 0
    assert cluster.replicas("assigned") == [(1,), (2, 3), (3, 1)]
    assert json.loads(capsys.readouterr().out) == {
        "topic": "assigned",
        "dry_run": False,
        "done": True,
        "configs": {},
        "partitions": 3,
        "new_replicas": [[3, 1]],
        "moves": [{"partition": 0, "from": [1, 2], "to": [1]}],
        "still_moving": 0,
    }


def test_a_dry_run_alters_nothing(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.create("dry", (1,))

    code = alter(cluster, "dry", "--partitions", "2", "--set", "retention.ms=5", "--dry-run")

    assert code == 0
    assert (cluster.replicas("dry"), cluster.config("dry")) == ([(1,)], {})
    assert capsys.readouterr().out.splitlines() == [
        "config retention.ms: set to 5",
        "partitions: 2 in total, the new ones placed by the controller",
        "dry run: nothing is altered",
    ]


def test_an_alteration_that_changes_nothing_is_reported(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.create("same", (1, 2))

    assert alter(cluster, "same", "--replication-factor", "2") == 0
    assert capsys.readouterr().out == "topic same needs no change\n"


def test_reassignments_in_progress_are_reported_at_the_timeout(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.create("slow", (1,))

    begun = alter(cluster, "slow", "--replication-factor", "2", "--no-wait", "--json")
    first = json.loads(capsys.readouterr().out)
    started = time.monotonic()
    late = alter(cluster, "slow", "--replication-factor", "3", "--timeout", "0.2")

    assert (begun, first["done"], first["still_moving"]) == (0, False, 1)
    assert (late, time.monotonic() - started < 20) == (1, True)
    assert capsys.readouterr().err == "kraftctl topic alter: reassignments still in progress after 0.2 s\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--partitions", "1"), "topic whole: it has 2 partitions, 1 would be fewer (INVALID_PARTITIONS)"),
        (
            ("--partitions", "3", "--set", "retention.ms=soon"),
            (
                "topic whole, configs: INVALID_CONFIG: Invalid value soon for configuration retention.ms: "
                "Not a number of type LONG"
            ),
        ),
        (("--replica-assignment", "0:1,7", "--set", "retention.ms=5"),
         "topic whole, partition 0: broker 7 is not registered; registered are [1, 2, 3]"),
        (("--replication-factor", "4", "--set", "retention.ms=5"),
         "a replication factor of 4 needs 4 brokers, and 3 are active and not cordoned"),
        (("--set", "retention.ms"), "--set retention.ms: expected KEY=VALUE"),
        (("--set", "a=1", "--delete", "a"), "--delete a: the key is already set or deleted"),
    ],
)  # fmt: skip
def test_an_invalid_alteration_changes_nothing(
    cluster: Cluster, options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "whole" not in cluster.live.update().topic_ids:
        cluster.create("whole", (1, 2), (2, 3))

    code = alter(cluster, "whole", *options)

    assert (code, capsys.readouterr()) == (1, ("", f"kraftctl topic alter: {message}\n"))
    assert (cluster.replicas("whole"), cluster.config("whole")) == ([(1, 2), (2, 3)], {})


def test_a_missing_topic_is_reported(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert alter(cluster, "nowhere", "--partitions", "2") == 1
    assert capsys.readouterr().err == "kraftctl topic alter: topic nowhere: the topic does not exist\n"


def test_a_quorum_that_does_not_answer_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()

    code = main(["topic", "alter", "t", "--bootstrap-controller", f"127.0.0.1:{port}", "--timeout", "0.2"])

    assert code == 1
    assert capsys.readouterr().err.startswith("kraftctl topic alter: no leader of the quorum answered within 0.2 s: ")


@pytest.mark.parametrize("text", ["0", "0:", "0:a", "x:1", "0:1;0:2", ";", "0:1,,2", "-1:2"])
def test_a_malformed_assignment_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["topic", "alter", "t", "--bootstrap-controller", "a:1", f"--replica-assignment={text}"])

    assert ended.value.code == 1
    assert "--replica-assignment" in capsys.readouterr().err
