"""The files of the stock reassign tool, to the byte."""

from __future__ import annotations

import json

from pipeline.planner.cluster import Broker, cluster_of
from pipeline.planner.plan import Plan, plan
from pipeline.planner.reassignment_json import current, propose


def drained() -> Plan:
    """Broker 1 is drained of b-0, a.x-10 and a.x-9; t-0 stays."""
    partitions = [("b", 0, [1]), ("a.x", 10, [1, 2]), ("a.x", 9, [2, 1]), ("t", 0, [2])]
    return plan(cluster_of([Broker(1), Broker(2), Broker(3)], partitions), drain=[1])


def test_a_plan_is_compact_and_in_the_order_of_topic_and_partition() -> None:
    found = list(propose(drained()))

    assert found == [
        (
            '{"version":1,"partitions":['
            '{"topic":"a.x","partition":9,"replicas":[2,3],"log_dirs":["any","any"]},'
            '{"topic":"a.x","partition":10,"replicas":[3,2],"log_dirs":["any","any"]},'
            '{"topic":"b","partition":0,"replicas":[3],"log_dirs":["any"]}]}'
        )
    ]


def test_the_rollback_has_the_same_partitions_with_their_present_replicas() -> None:
    assert json.loads(current(drained())) == {
        "version": 1,
        "partitions": [
            {"topic": "a.x", "partition": 9, "replicas": [2, 1], "log_dirs": ["any", "any"]},
            {"topic": "a.x", "partition": 10, "replicas": [1, 2], "log_dirs": ["any", "any"]},
            {"topic": "b", "partition": 0, "replicas": [1], "log_dirs": ["any"]},
        ],
    }


def test_a_plan_is_divided_into_files() -> None:
    whole = json.loads(next(propose(drained())))["partitions"]

    parts = [json.loads(text)["partitions"] for text in propose(drained(), 2)]

    assert parts == [whole[:2], whole[2:]]


def test_an_empty_plan_is_a_file_without_partitions() -> None:
    nothing = plan(cluster_of([Broker(1)], [("t", 0, [1])]))

    assert list(propose(nothing, 5)) == ['{"version":1,"partitions":[]}']
