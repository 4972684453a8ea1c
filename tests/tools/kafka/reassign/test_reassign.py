"""kafka-reassign-partitions without a cluster: its files, its throttles, its proposals, and replicas that come late."""

from __future__ import annotations

import json
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from controller.rules.placement import Usable, UsableBroker, place
from records.errors import Error
from records.messages.cluster import DescribeClusterResponse, DescribeTopicPartitionsResponse, MetadataResponse
from records.messages.configs import IncrementalAlterConfigsResponse
from records.messages.log_dirs import AlterReplicaLogDirsResponse, DescribeLogDirsResponse
from records.messages.reassignments import AlterPartitionReassignmentsResponse, ListPartitionReassignmentsResponse
from records.resource_types import ResourceType
from tests.tools.client.test_admin import Node, nodes
from tests.tools.kafka.cases import ours
from tools.client.admin import Admin, Call
from tools.client.settings import Settings
from tools.command_line.java_texts import Uncaught
from tools.kafka.reassign import reassign_partitions, reassignment_calls, reassignment_execution
from tools.kafka.reassign.reassignment_calls import (
    Replica,
    alter_configs,
    alter_directories,
    alter_reassignments,
    describe_replicas,
)
from tools.kafka.reassign.reassignment_file import assignments_in, json_of
from tools.kafka.reassign.reassignment_plan import SystemNumbers
from tools.kafka.reassign.reassignment_throttles import moves_of
from tools.kafka.topics.topic_calls import Reassignment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tools.kafka.cases import Case

METADATA, DESCRIBE_CLUSTER, DESCRIBE_TOPICS, DESCRIBE_DIRECTORIES, ALTER_DIRECTORIES = 3, 60, 75, 35, 34
ALTER_CONFIGS, ALTER_REASSIGNMENTS, LIST_REASSIGNMENTS = 44, 45, 46


def metadata(*listening: Node) -> MetadataResponse:
    listed = MetadataResponse.MetadataResponseBroker
    brokers = tuple(
        listed(node_id=number, host="127.0.0.1", port=node.port) for number, node in enumerate(listening, 1)
    )
    return MetadataResponse(brokers=brokers, topics=(), controller_id=1)


def cluster(*racks: str | None) -> DescribeClusterResponse:
    """Of brokers 1, 2, … with these racks."""
    listed = DescribeClusterResponse.DescribeClusterBroker
    return DescribeClusterResponse(
        throttle_time_ms=0, error_code=0, endpoint_type=1, cluster_id="c", controller_id=1,
        brokers=tuple(
            listed(broker_id=number, host="127.0.0.1", port=1, rack=rack) for number, rack in enumerate(racks, 1)
        ),
    )  # fmt: skip


TopicsResponse = DescribeTopicPartitionsResponse
TopicResponse = TopicsResponse.DescribeTopicPartitionsResponseTopic


def topic(name: str, *replicas: tuple[int, ...], first: int = 0, code: int = 0) -> Any:
    partition = TopicResponse.DescribeTopicPartitionsResponsePartition
    return TopicResponse(
        error_code=code, name=name, topic_id=bytes(16), is_internal=False,
        partitions=tuple(
            partition(
                error_code=0, partition_index=index, leader_id=each[0], replica_nodes=each, isr_nodes=each,
                offline_replicas=(),
            )
            for index, each in enumerate(replicas, first)
        ),
    )  # fmt: skip


def topics(*listed: Any, cursor: tuple[str, int] | None = None) -> DescribeTopicPartitionsResponse:
    at = None if cursor is None else TopicsResponse.Cursor(topic_name=cursor[0], partition_index=cursor[1])
    return TopicsResponse(throttle_time_ms=0, topics=listed, next_cursor=at)


def settings(node: Node) -> Settings:
    return Settings((("127.0.0.1", node.port),), at_controllers=False, api_timeout=5.0, retry_backoff=0.01)


def run(tmp_path: Path, answers: dict[int, Any], text: str, *arguments: str) -> tuple[Case, Node]:
    """A run of our tool with a file, asking one broker."""
    (tmp_path / "file").write_text(text)
    with nodes(answers) as (node,):
        node.answers[METADATA] = lambda: metadata(node)
        return ours("reassign-partitions", ["--bootstrap-server", f"127.0.0.1:{node.port}", *arguments]), node


def test_a_proposal_places_replicas_by_the_given_random_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    racks = ("a", "b", "a", "b")
    (tmp_path / "file").write_text('{"topics":[{"topic":"t"}]}')
    answers = {
        DESCRIBE_CLUSTER: lambda: cluster(*racks),
        DESCRIBE_TOPICS: lambda: topics(topic("t", *[(1, 2)] * 20)),
        DESCRIBE_DIRECTORIES: lambda: DescribeLogDirsResponse(throttle_time_ms=0, results=()),
    }
    with nodes(answers, answers) as (node, other):
        for each in (node, other):
            each.answers[METADATA] = lambda: metadata(node, other)
        given = ["--topics-to-move-json-file", str(tmp_path / "file"), "--broker-list", "1,2,3,4"]
        code = reassign_partitions.run(
            ["--bootstrap-server", f"127.0.0.1:{node.port}", "--generate", *given], Random(7)
        )

    brokers = [UsableBroker(number, rack, fenced=False) for number, rack in enumerate(racks, 1)]
    proposed = json.loads(capsys.readouterr().out.splitlines()[-1])["partitions"]
    assert code == 0
    assert [each["replicas"] for each in proposed] == place(Usable(brokers), 20, 2, Random(7))


def test_random_numbers_of_the_system_reach_each_number_and_shuffle_all_items() -> None:
    numbers, items = SystemNumbers(), list(range(50))
    numbers.shuffle(items)

    assert {numbers.randrange(3) for _ in range(200)} == {0, 1, 2}
    assert sorted(items) == list(range(50))
    assert items != list(range(50))


def test_a_proposal_needs_racks_of_all_brokers_or_of_none(tmp_path: Path) -> None:
    answers = {
        DESCRIBE_CLUSTER: lambda: cluster("a", None),
        DESCRIBE_TOPICS: lambda: topics(topic("t", (2,))),
        DESCRIBE_DIRECTORIES: lambda: DescribeLogDirsResponse(throttle_time_ms=0, results=()),
    }
    given = ("--generate", "--topics-to-move-json-file", str(tmp_path / "file"), "--broker-list", "1,2")
    with nodes(answers, answers) as (node, other):
        for each in (node, other):
            each.answers[METADATA] = lambda: metadata(node, other)
        (tmp_path / "file").write_text('{"topics":[{"topic":"t"}]}')
        found = ours("reassign-partitions", ["--bootstrap-server", f"127.0.0.1:{node.port}", *given])

    assert found["stdout"].startswith("Error: Not all brokers have rack information. Add --disable-rack-aware")
    assert found["exit"] == 1


def test_topics_that_do_not_fit_into_one_answer_are_asked_for_in_parts() -> None:
    answers = [
        topics(topic("a", (1,), (2,)), topic("b", (1,)), cursor=("b", 1)),
        topics(topic("b", (2,), (3,), first=1), topic("c", code=Error.UNKNOWN_TOPIC_OR_PARTITION)),
    ]
    with nodes({DESCRIBE_CLUSTER: lambda: cluster(None), DESCRIBE_TOPICS: lambda: answers.pop(0)}) as (node,):
        node.answers[METADATA] = lambda: metadata(node)
        with Admin(settings(node)) as admin:
            found = describe_replicas(admin, ["c", "b", "a"])

    assert (found["a"], found["b"]) == ([(1,), (2,)], [(1,), (2,), (3,)])
    assert str(found["c"]).startswith("org.apache.kafka.common.errors.UnknownTopicOrPartitionException")


def altered(code: int = 0) -> IncrementalAlterConfigsResponse:
    resource = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    listed = resource(error_code=code, error_message=None, resource_type=ResourceType.BROKER, resource_name="1")
    return IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=(listed,))


def test_configs_of_brokers_are_sent_to_each_although_the_first_refuses() -> None:
    with nodes(
        {ALTER_CONFIGS: lambda: altered(Error.CLUSTER_AUTHORIZATION_FAILED)}, {ALTER_CONFIGS: altered}
    ) as (first, second):  # fmt: skip
        for each in (first, second):
            each.answers[METADATA] = lambda: metadata(first, second)
        with Admin(settings(first)) as admin, pytest.raises(Uncaught) as raised:
            alter_configs(admin, ResourceType.BROKER, {"1": {"k": "v"}, "2": {"k": None}})

    assert str(raised.value.cause).startswith("org.apache.kafka.common.errors.ClusterAuthorizationException")
    assert second.asked == [ALTER_CONFIGS]


def test_all_brokers_together_get_the_time_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    limits: list[float | None] = []

    def fail(_: Admin, call: Call, seconds: float | None = None) -> None:
        limits.append(seconds)
        now[0] += 3.0
        raise Uncaught("TimeoutException", call.name)

    monkeypatch.setattr(Admin, "call", fail)
    monkeypatch.setattr(reassignment_calls, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with Admin(Settings((("127.0.0.1", 1),), at_controllers=False, api_timeout=5.0)) as admin:
        with pytest.raises(Uncaught):
            alter_configs(admin, ResourceType.BROKER, {broker: {"k": "v"} for broker in "123"})
        outcomes = alter_directories(admin, {Replica("t", 0, broker): "/a" for broker in (1, 2, 3)})

    assert limits == [5.0, 2.0, 0.0] * 2
    assert all(outcomes.values())


def test_sources_of_a_reassignment_in_progress_stay_those_of_its_begin() -> None:
    ongoing = {("t", 0): Reassignment((1, 2, 3), adding=(3,), removing=(1,)), ("u", 0): Reassignment((1, 2), (2,), ())}
    current = {("t", 0): (1, 2, 3), ("t", 1): (5, 6)}

    found = moves_of(ongoing, {("t", 0): (2, 4), ("t", 1): (6, 7)}, current)

    assert found == {("t", 0): ({1, 2}, {4}), ("t", 1): ({5, 6}, {7}), ("u", 0): ({1}, {2})}


def listed() -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(throttle_time_ms=0, error_code=0, error_message=None, topics=())


def started() -> AlterPartitionReassignmentsResponse:
    named = AlterPartitionReassignmentsResponse.ReassignableTopicResponse
    partition = named.ReassignablePartitionResponse(partition_index=0, error_code=0, error_message=None)
    return AlterPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=0, error_message=None, responses=(named(name="t", partitions=(partition,)),)
    )


def moved(code: int) -> AlterReplicaLogDirsResponse:
    named = AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult
    partition = named.AlterReplicaLogDirPartitionResult(partition_index=0, error_code=code)
    return AlterReplicaLogDirsResponse(throttle_time_ms=0, results=(named(topic_name="t", partitions=(partition,)),))


MOVE = '{"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["/a"]}]}'


def moving(codes: list[int]) -> dict[int, Any]:
    return {
        LIST_REASSIGNMENTS: listed, DESCRIBE_CLUSTER: lambda: cluster(None), ALTER_REASSIGNMENTS: started,
        DESCRIBE_TOPICS: lambda: topics(topic("t", (1,))),
        DESCRIBE_DIRECTORIES: lambda: DescribeLogDirsResponse(throttle_time_ms=0, results=()),
        ALTER_DIRECTORIES: lambda: moved(codes.pop(0)),
    }  # fmt: skip


def execute(tmp_path: Path, codes: list[int], *more: str) -> Case:
    given = ("--execute", "--reassignment-json-file", str(tmp_path / "file"), *more)
    return run(tmp_path, moving(codes), MOVE, *given)[0]


def test_a_replica_that_its_broker_does_not_have_yet_is_moved_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reassignment_execution, "AGAIN_S", 0)
    codes = [Error.REPLICA_NOT_AVAILABLE, Error.REPLICA_NOT_AVAILABLE, 0]

    found = execute(tmp_path, codes)

    assert found["stdout"].endswith(
        "Successfully started partition reassignment for t-0\n"
        "Successfully started moving log directory to /a for replica t-0 with broker 1 \n"
    )
    assert (found["exit"], codes) == (0, [])


def test_a_move_that_does_not_begin_in_time_is_named(tmp_path: Path) -> None:
    found = execute(tmp_path, [Error.REPLICA_NOT_AVAILABLE], "--timeout", "0")

    assert found["stdout"].endswith("Timed out before log directory move could be started for: t-0-1\n")
    assert found["exit"] == 1


def test_a_reassignment_is_not_started_while_another_goes_on(tmp_path: Path) -> None:
    ongoing = ListPartitionReassignmentsResponse.OngoingTopicReassignment
    partition = ongoing.OngoingPartitionReassignment(
        partition_index=3, replicas=(1, 2), adding_replicas=(2,), removing_replicas=()
    )
    answer = ListPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=0, error_message=None, topics=(ongoing(name="u", partitions=(partition,)),)
    )
    answers = moving([0]) | {LIST_REASSIGNMENTS: lambda: answer}
    given = ("--execute", "--reassignment-json-file", str(tmp_path / "file"))

    refused, node = run(tmp_path, answers, MOVE, *given)
    shown, _ = run(tmp_path, answers, MOVE, "--list")

    assert refused["stdout"].startswith("Cannot execute because there is an existing partition assignment.  Use --add")
    assert (refused["exit"], ALTER_REASSIGNMENTS in node.asked) == (1, False)
    assert shown["stdout"] == "Current partition reassignments:\nu-3: replicas: 1,2. adding: 2.\n"


def test_a_broker_that_cannot_keep_the_replication_factor_is_named_as_by_stock() -> None:
    with nodes({DESCRIBE_CLUSTER: lambda: cluster(None), ALTER_REASSIGNMENTS: started}) as (node,):
        node.answers[METADATA] = lambda: metadata(node)
        node.versions[ALTER_REASSIGNMENTS] = 0
        with Admin(settings(node)) as admin:
            found = alter_reassignments(admin, {("t", 0): (1,)}, fixed_factor=True)

    assert found["t", 0] is not None
    assert found["t", 0].startswith("The broker does not support the AllowReplicationFactorChange option for the Alter")
    assert ALTER_REASSIGNMENTS not in node.asked


@pytest.mark.parametrize("text", ["nonsense", '{"partitions":', '{"partitions":[NaN]}', "[" * 100_000])
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    found, node = run(tmp_path, {}, text, "--verify", "--reassignment-json-file", str(tmp_path / "file"))

    assert found["stdout"].startswith("Error: ")
    assert "\norg.apache.kafka.tools.AdminOperationException: " in found["stdout"]
    assert "\nCaused by: com.fasterxml.jackson.core.JsonParseException: " in found["stdout"]
    assert (found["exit"], node.asked) == (1, [])


def test_an_address_that_is_missing_is_named() -> None:
    found = ours("reassign-partitions", ["--list", "--bootstrap-controller"])

    assert found["stdout"].startswith("Error: Option bootstrap-controller needs a value, such as localhost:9092\n")
    assert found["exit"] == 1


def test_a_file_that_was_written_is_read_again() -> None:
    replicas = {("ü", 1): (3, 1), ("a", 0): (2,)}
    directories = {Replica("ü", 1, 1): '/d"\\', Replica("a", 0, 2): "/e"}

    text = json_of(replicas, directories)
    found = assignments_in(text)

    assert text.startswith('{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[2],"log_dirs":["/e"]},{')
    assert (dict(found.partitions), found.directories) == (replicas, directories)
