from __future__ import annotations

import pytest

from controller.rules.partition_elections import PartitionElections, min_isr
from controller.rules.topic_rules import topic_rules
from records.metadata.configs import ConfigRecord
from records.metadata.topics import PartitionRecord, TopicRecord
from tests.controller.rules.test_bulk_elections import env
from tests.controller.state.tables.replaying import state_of


def topic(name, *widths):
    topic_id = name.encode().ljust(16, b"-")
    yield TopicRecord(name=name, topic_id=topic_id)
    for partition_id, width in enumerate(widths):
        yield PartitionRecord(
            partition_id=partition_id,
            topic_id=topic_id,
            replicas=tuple(range(width)),
            isr=(0,),
            removing_replicas=(),
            adding_replicas=(),
        )


def config(name, value, resource=(4, "")):
    return ConfigRecord(resource_type=resource[0], resource_name=resource[1], name=name, value=value)


MIN_ISR, UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"


@pytest.mark.parametrize(
    "configs",
    [
        [],
        [config(MIN_ISR, "3"), config(UNCLEAN, "true")],
        [config(MIN_ISR, "2", (2, "a")), config(UNCLEAN, "true", (2, "c"))],
        [config(MIN_ISR, "3"), config(MIN_ISR, "1", (2, "b")), config(UNCLEAN, "true", (4, "3000"))],
        [config("retention.ms", "1", (2, name)) for name in ("a", "b", "c", "gone")],
        [config(MIN_ISR, str(2**40), (2, "a")), *(config("x", "1", (16, str(number))) for number in range(9))],
    ],
)
@pytest.mark.parametrize("rows_of_topic", [0, 50])
def test_each_row_has_the_rules_of_its_topic(configs, rows_of_topic, monkeypatch):
    monkeypatch.setattr("controller.rules.topic_rules.ROWS_OF_TOPIC", rows_of_topic)
    state = state_of(*topic("a", 3, 3), *topic("b", 20, 1), *topic("c", 2), *configs)
    nearby = env(min_insync_replicas=2)
    rows = state.partitions.with_replica(0)

    min_isrs, unclean = topic_rules(state, nearby, rows)

    leadership = PartitionElections(state, nearby)
    topics = [state.partitions.topic_at(row) for row in rows.tolist()]
    assert min_isrs.tolist() == [leadership.min_isr(topic) for topic in topics]
    assert unclean.tolist() == [leadership.allows_unclean(topic) for topic in topics]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3", 3), (" 3 ", 3), ("+3", 3), ("²", 2), ("1" * 5000, 2), ("-1", 2), ("", 2), ("x", 2), ("3.0", 2)],
)
def test_a_dynamic_min_isr_that_is_no_number_does_not_count(text, expected):
    state = state_of(*topic("a", 3), config(MIN_ISR, text))

    assert min_isr(state, env(min_insync_replicas=2), "a") == expected
