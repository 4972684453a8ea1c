"""Responses of controllers that do not fit the request are detected."""

from __future__ import annotations

import pytest

from records.errors import Error
from records.messages.topics import CreateTopicsRequest, CreateTopicsResponse
from simulations.cluster.metadata.answers import check
from simulations.world.violation import Violation

Wanted = CreateTopicsRequest.CreatableTopic
CreatedTopic = CreateTopicsResponse.CreatableTopicResult


def asked(*names: str) -> CreateTopicsRequest:
    """A request for these topics."""
    topics = tuple(
        Wanted(name=name, num_partitions=1, replication_factor=1, assignments=(), configs=()) for name in names
    )
    return CreateTopicsRequest(topics=topics, timeout_ms=100)


def answer(*names: str, error: Error = Error.NONE) -> CreateTopicsResponse:
    """A response with results for these topics."""
    return CreateTopicsResponse(topics=tuple(CreatedTopic(name=name, error_code=error) for name in names))


def test_a_response_with_a_result_for_each_item_fits() -> None:
    check(1, asked("a", "b"), answer("b", "a", error=Error.TOPIC_ALREADY_EXISTS))


def test_an_answer_that_leaves_one_out_is_detected() -> None:
    with pytest.raises(Violation, match="C22"):
        check(1, asked("a", "b"), answer("a"))


def test_an_answer_that_something_failed_is_detected() -> None:
    with pytest.raises(Violation, match="UNKNOWN_SERVER_ERROR"):
        check(1, asked("a"), answer("a", error=Error.UNKNOWN_SERVER_ERROR))
