"""The limits on the size of one request."""

from __future__ import annotations

from typing import Any

import pytest

from controller.core.apis import APIS, CLUSTER_ACTION
from controller.node.request_bounds import (
    ANSWERED_ENTRIES_MAX,
    COUNTED_BYTES_MIN,
    USER_ENTRIES_MAX,
    TooLarge,
    entries,
    refusal_of_size,
)
from records.codec import encode
from records.errors import Error
from records.messages.partitions import AlterPartitionRequest
from records.messages.reassignments import ElectLeadersRequest
from records.messages.topics import CreateTopicsRequest, DeleteTopicsRequest
from records.registry import response_class
from records.schema import default_of, schema_of


def deletion(count: int) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=(), topic_names=tuple(map(str, range(count))), timeout_ms=1)


def refusal(request: Any, version: int, size: int = COUNTED_BYTES_MIN) -> Any:
    key = schema_of(type(request)).api_key
    assert key is not None
    return refusal_of_size(APIS[key], request, version, size)


def test_entries_of_nested_arrays_count_and_numbers_count_by_their_cost() -> None:
    topic = CreateTopicsRequest.CreatableTopic
    assignment = topic.CreatableReplicaAssignment(partition_index=0, broker_ids=tuple(range(16)))
    config = topic.CreatableTopicConfig(name="a", value=None)
    made = topic(name="t", num_partitions=-1, replication_factor=-1, assignments=(assignment,) * 3, configs=(config,))

    request = CreateTopicsRequest(topics=(made,) * 5, timeout_ms=1, validate_only=False)

    assert entries(request, 1000) == 5 * (1 + 3 * (1 + 2) + 1)


def test_counting_stops_at_the_limit() -> None:
    assert entries(deletion(10), 9) == 10
    assert (
        20 < entries(ElectLeadersRequest(election_type=0, timeout_ms=1, topic_partitions=(topics(8),) * 100), 20) < 110
    )


def topics(partitions: int) -> Any:
    return ElectLeadersRequest.TopicPartitions(topic="t", partitions=tuple(range(partitions)))


def test_a_small_request_is_not_counted() -> None:
    assert refusal(deletion(USER_ENTRIES_MAX + 1), 5, COUNTED_BYTES_MIN - 1) is None


def test_a_user_request_within_the_limit_is_served() -> None:
    assert refusal(deletion(USER_ENTRIES_MAX), 5) is None


def test_a_user_request_above_the_limit_is_refused_for_each_entry() -> None:
    refused = refusal(deletion(USER_ENTRIES_MAX + 1), 5)

    assert len(refused.responses) == USER_ENTRIES_MAX + 1
    assert {each.error_code for each in refused.responses} == {Error.POLICY_VIOLATION}


def test_a_request_too_large_for_an_error_response_closes_its_connection() -> None:
    with pytest.raises(TooLarge, match="DeleteTopicsRequest has more than 100000 entries"):
        refusal(deletion(ANSWERED_ENTRIES_MAX + 1), 5)


def test_a_broker_may_report_all_its_partitions_in_one_request() -> None:
    topic = AlterPartitionRequest.TopicData
    state = topic.PartitionData.BrokerState(broker_id=1)
    partition = topic.PartitionData(
        partition_index=0, leader_epoch=1, partition_epoch=1, new_isr_with_epochs=(state,) * 3
    )
    request = AlterPartitionRequest(broker_id=1, topics=(topic(topic_id=bytes(16), partitions=(partition,) * 49_000),))

    assert refusal(request, 3) is None
    assert len(encode(request, 3)) < 4 << 20


@pytest.mark.parametrize("key", sorted(APIS))
def test_the_newest_version_of_each_api_has_an_error_response(key: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.node.request_bounds.USER_ENTRIES_MAX", -1)
    api = APIS[key]

    refused = refusal(default_of(api.request), api.versions[1])

    if api.needs != CLUSTER_ACTION:
        assert type(refused) is response_class(key)
        assert encode(refused, api.versions[1])
