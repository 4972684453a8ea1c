"""Requests that are too large for a file of a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.oracle.commands import Request, Start
from tests.oracle.generate.world import directory
from tests.oracle.ours import CLUSTER, supported

if TYPE_CHECKING:
    from tests.oracle.commands import Command
    from tests.oracle.pair import Pair

PARTITIONS = 5_100


def up(broker_id: int) -> list[Command]:
    """A broker that is registered and unfenced."""
    features = [
        {"name": name, "minSupportedVersion": low, "maxSupportedVersion": high}
        for name, (low, high) in supported().items()
    ]
    registration = {
        "brokerId": broker_id, "clusterId": CLUSTER, "features": features, "logDirs": [directory(broker_id)],
    }  # fmt: skip
    epoch = f"$broker_epoch({broker_id})"
    heartbeat = {"brokerId": broker_id, "brokerEpoch": epoch, "currentMetadataOffset": "$end()-1"}
    return [Request(62, 4, registration), Request(63, 2, heartbeat)]


def topic(name: str) -> Command:
    assignments = [{"partitionIndex": index, "brokerIds": [0]} for index in range(PARTITIONS)]
    body = {"name": name, "numPartitions": -1, "replicationFactor": -1, "assignments": assignments}
    return Request(19, 7, {"topics": [body], "timeoutMs": 1000})


def moved(*names: str) -> Command:
    partitions = [{"partitionIndex": index, "replicas": [1]} for index in range(PARTITIONS)]
    topics: list[dict[str, Any]] = [{"name": name, "partitions": partitions} for name in names]
    return Request(45, 1, {"topics": topics, "timeoutMs": 1000})


def test_the_first_10000_partitions_of_a_request_are_reassigned_and_no_more(pair: Pair) -> None:
    commands = [Start(), *up(0), *up(1), topic("a"), topic("b"), moved("a", "b")]

    outcome = pair.run(commands)

    assert (outcome.found, outcome.names) == ([], set())
