"""Requests that are too large for a file of a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from records.registry import request_class
from tests.oracle.commands import Request, Snapshot, Start
from tests.oracle.generate.world import directory
from tests.oracle.ours import CLUSTER, supported

if TYPE_CHECKING:
    from tests.oracle.commands import Command
    from tests.oracle.pair import Pair

PARTITIONS = 5_100
# The longest string that a request can have; in the text of an error it is too long for the answer.
LONG = "x" * 32_767
RETENTION = {"name": "log.retention.ms", "value": LONG}
TOO_LONG: dict[int, dict[str, Any]] = {
    19: {"topics": [{"name": LONG, "numPartitions": 1, "replicationFactor": 1}], "timeoutMs": 1000},
    20: {"topics": [{"name": LONG}], "timeoutMs": 1000},
    30: {
        "creations": [
            {
                "resourceType": 2,
                "resourceName": "a",
                "resourcePatternType": 3,
                "principal": LONG,
                "host": "*",
                "operation": 3,
                "permissionType": 3,
            }
        ]
    },
    32: {"resources": [{"resourceType": 4, "resourceName": LONG}]},
    33: {"resources": [{"resourceType": 4, "resourceName": "3000", "configs": [RETENTION]}]},
    37: {"topics": [{"name": LONG, "count": 1}], "timeoutMs": 1000},
    44: {
        "resources": [
            {"resourceType": 4, "resourceName": "", "configs": [{"name": "log.retention.ms", "value": "5"}]},
            {"resourceType": 4, "resourceName": "3000", "configs": [RETENTION]},
        ]
    },
    49: {"entries": [{"entity": [{"entityType": LONG, "entityName": "a"}], "ops": [{"key": "a", "value": 1.0}]}]},
    57: {"featureUpdates": [{"feature": LONG, "maxVersionLevel": 1}], "timeoutMs": 1000},
}


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


@pytest.mark.parametrize("api_key", TOO_LONG)
def test_an_answer_with_too_long_a_text_is_an_unknown_error(pair: Pair, api_key: int) -> None:
    first, last = request_class(api_key).__schema__.served
    for version in range(first, last + 1):
        outcome = pair.run([Start(), Request(api_key, version, TOO_LONG[api_key]), Snapshot()])

        assert (outcome.found, outcome.names) == ([], set())
