from __future__ import annotations

from controller.state.partitions.bulk_changes import PartitionChanges, group_changes
from records.frame import encode_record
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, TopicRecord
from tests.controller.state.tables.replaying import state_of

TOPIC = b"t" * 16
CHANGES = [
    {"leader": 2},
    {"isr": (1, 2), "leader": 1},
    {"isr": (1,), "leader": 3},
    {"isr": (2, 1), "leader": -1},
    {"replicas": (1, 2), "directories": (b"d" * 16, b"e" * 16), "removing_replicas": (), "adding_replicas": ()},
    {"eligible_leader_replicas": (), "last_known_elr": (1,), "leader_recovery_state": 1},
    {"leader": -1},
]


def state():
    return state_of(
        TopicRecord(name="t", topic_id=TOPIC),
        *(
            PartitionRecord(
                partition_id=number,
                topic_id=TOPIC,
                replicas=(1, 2, 3),
                isr=(1, 2, 3),
                removing_replicas=(),
                adding_replicas=(),
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
            )
            for number in range(len(CHANGES))
        ),
    )


def test_changes_of_one_shape_are_grouped_in_their_order():
    groups = group_changes(enumerate(CHANGES))

    assert [group.rows.tolist() for group in groups] == [[0, 6], [1, 3], [2], [4], [5]]
    assert [sorted(group.fields) for group in groups[:2]] == [["leader"], ["isr", "leader"]]
    assert groups[1].fields["isr"].tolist() == [[1, 2], [2, 1]]


def test_groups_can_be_read_as_messages_and_as_bytes():
    partitions = state().partitions
    changes = PartitionChanges(group_changes(enumerate(CHANGES)))

    records = list(changes.records(partitions))

    expected = [
        PartitionChangeRecord(partition_id=number, topic_id=TOPIC, **CHANGES[number])
        for number in (0, 6, 1, 3, 2, 4, 5)
    ]
    assert records == expected
    assert len(changes) == len(CHANGES)
    values = [value for part in changes.parts(partitions, 2) for value in part.to_list()]
    assert values == [encode_record(record, 2) for record in expected]


def test_a_part_of_a_group_is_a_group():
    group = group_changes(enumerate(CHANGES))[0]

    part = group.part(slice(1, 2))

    assert (part.rows.tolist(), part.fields["leader"].tolist()) == ([6], [-1])
