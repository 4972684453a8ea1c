"""Filters: the changes that pass, and invalid filters."""

from __future__ import annotations

from typing import Any

import pytest

from controller.server.grpc.filters import FIELDS_MAX, VALUES_MAX, BadFilter, Filter

PARTITION = {"partitionId": 0, "topicId": "aaaa", "replicas": [1, 2], "isr": None}


@pytest.mark.parametrize(
    ("asked", "passes"),
    [
        (None, True),
        ({}, True),
        ({"types": ["TOPIC_RECORD", "PARTITION_RECORD"]}, True),
        ({"types": ["TOPIC_RECORD"]}, False),
        ({"where": {"topicId": ["bbbb", "aaaa"]}}, True),
        ({"where": {"topicId": ["bbbb"]}}, False),
        ({"where": {"topicId": ["aaaa"], "partitionId": [1]}}, False),
        ({"where": {"replicas": [3, 2]}}, True),
        ({"where": {"replicas": [3]}}, False),
        ({"where": {"isr": [1]}}, False),
        ({"where": {"name": ["aaaa"]}}, False),
        ({"types": ["PARTITION_RECORD"], "where": {"partitionId": [0]}}, True),
    ],
)
def test_a_record_matches_by_its_type_and_one_of_the_values_of_each_field(asked: Any, passes: bool) -> None:
    assert Filter(asked).passes("PARTITION_RECORD", PARTITION) is passes


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("TOPIC_RECORD", "a map with the keys types and where"),
        ({"type": ["TOPIC_RECORD"]}, "a map with the keys types and where"),
        ({"types": "TOPIC_RECORD"}, "a list of record types"),
        ({"types": []}, "a list of record types"),
        ({"types": ["TopicRecord"]}, "filter.types has 'TopicRecord'; known types: ABORT_TRANSACTION_RECORD, "),
        ({"where": []}, "a map of at most 16 fields to lists of values"),
        (
            {"where": {"topicId": "aaaa"}},
            "filter.where.'topicId' is 'aaaa'; it must be a list of 1 to 1000 strings or numbers",
        ),
        ({"where": {"topicId": [["aaaa"]]}}, "strings or numbers"),
        ({"where": {"topicId": [0] * (VALUES_MAX + 1)}}, "strings or numbers"),
        ({"where": {str(at): [0] for at in range(FIELDS_MAX + 1)}}, "at most 16 fields"),
    ],
)
def test_a_malformed_filter_is_refused_with_what_is_accepted(asked: Any, text: str) -> None:
    with pytest.raises(BadFilter) as refused:
        Filter(asked)

    assert text in str(refused.value)
    assert len(str(refused.value)) < 800
