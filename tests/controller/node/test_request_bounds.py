"""The limits on the size of one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.core.apis import APIS, CLUSTER_ACTION
from controller.interface.inputs import RequestContext
from controller.interface.refusals import error_response
from controller.node.request_bounds import (
    LARGE_BYTES_MAX,
    SMALL_BYTES_MAX,
    USER_ENTRIES_MAX,
    entries_max,
)
from raft.interface.inputs import Source
from raft.network.requests import COUNTED_BYTES_MIN, ENTRIES_MAX, decode_message
from records.codec import encode
from records.errors import ApiError, Error
from records.messages.partitions import AlterPartitionRequest
from records.messages.topics import DeleteTopicsRequest
from records.registry import response_class
from records.schema import default_of
from records.wire import DecodeError

if TYPE_CHECKING:
    from controller.core.apis import Api


def context(*, is_broker: bool) -> RequestContext:
    return RequestContext(Source(1, 1), 56, 3, "CONTROLLER", is_broker=is_broker)


def test_an_alter_partition_of_250_000_partitions_is_within_the_limits() -> None:
    topic = AlterPartitionRequest.TopicData
    member = topic.PartitionData.BrokerState(broker_id=1)
    partition = topic.PartitionData(
        partition_index=0, leader_epoch=1, partition_epoch=1, new_isr_with_epochs=(member,) * 3
    )
    topics = (topic(topic_id=bytes(16), partitions=(partition,) * 100),) * 2_500
    request = AlterPartitionRequest(broker_id=1, topics=topics)
    data = encode(request, 3)

    assert SMALL_BYTES_MAX < len(data) < LARGE_BYTES_MAX
    assert decode_message(AlterPartitionRequest, 3, data, 0, entries_max(context(is_broker=True))) == request
    with pytest.raises(DecodeError, match="more than 1002499 entries"):
        decode_message(AlterPartitionRequest, 3, data, 0, 1_002_499)


def test_a_request_of_a_user_with_more_entries_is_not_decoded() -> None:
    limit = entries_max(context(is_broker=False))
    names = DeleteTopicsRequest(topics=(), topic_names=("",) * (limit + 1), timeout_ms=1)
    data = encode(names, 5)

    with pytest.raises(DecodeError, match="DeleteTopicsRequest v5: it has more than 100000 entries"):
        decode_message(DeleteTopicsRequest, 5, data, 0, limit)

    assert limit == USER_ENTRIES_MAX
    assert decode_message(DeleteTopicsRequest, 5, data, 0, limit + 1) == names


def test_the_entries_of_a_small_request_are_not_counted() -> None:
    names = DeleteTopicsRequest(topics=(), topic_names=("",) * 40_000, timeout_ms=1)
    data = encode(names, 5)

    assert len(data) < COUNTED_BYTES_MIN
    assert decode_message(DeleteTopicsRequest, 5, data, 0, ENTRIES_MAX) == names


@pytest.mark.parametrize(
    "api", [api for api in APIS.values() if api.needs != CLUSTER_ACTION], ids=lambda api: api.api_key
)
def test_the_newest_version_of_each_api_has_an_error_response(api: Api) -> None:
    request: Any = default_of(api.request)

    refused = error_response(request, ApiError(Error.POLICY_VIOLATION, "Refused."), api.versions[1])

    assert type(refused) is response_class(api.api_key)
    assert encode(refused, api.versions[1])
