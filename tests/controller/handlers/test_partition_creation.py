"""CreatePartitions: ReplicationControlManagerTest's and ControllerApisTest's cases."""

import pytest

from records.errors import Error
from records.messages.topics import CreatePartitionsRequest
from records.metadata.topics import PartitionRecord
from tests.controller.rig import Rig

Topic = CreatePartitionsRequest.CreatePartitionsTopic


def more(name, count, *assignments, manual=False):
    cls = Topic.CreatePartitionsAssignment
    listed = tuple(cls(broker_ids=replicas) for replicas in assignments)
    return Topic(name=name, count=count, assignments=listed if assignments or manual else None)


def grow(rig, *topics, validate_only=False):
    """Ask for more partitions; returns (name, error, text) in the order of the request."""
    names = [topic.name for topic in topics]
    request = CreatePartitionsRequest(topics=topics, timeout_ms=1000, validate_only=validate_only)
    found = [(r.name, r.error_code, r.error_message) for r in rig.ask(request).results]
    return sorted(found, key=lambda result: names.index(result[0]))


def cluster():
    rig = Rig().lead().brokers(0, 1, 2, 3)
    rig.create("foo", (0, 1, 2))
    rig.create("bar", (1, 0))
    return rig


BAD = Error.INVALID_REPLICA_ASSIGNMENT


def test_partitions_are_added_with_manual_and_with_chosen_replicas():
    rig = cluster()
    before = rig.end_offset

    assert grow(rig, more("foo", 3), more("bar", 2, (3, 2))) == [("foo", 0, None), ("bar", 0, None)]

    records = [record for record, _ in rig.records(before)]
    assert {type(record) for record in records} == {PartitionRecord}
    assert [(r.partition_id, len(r.replicas)) for r in records] == [(1, 2), (1, 3), (2, 3)]
    assert rig.partition("bar", 1)[:5] == ((3, 2), (3, 2), 3, 0, 0)


def test_topics_grow_in_the_order_of_a_java_hash_map():
    rig = cluster()
    before = rig.end_offset

    grow(rig, more("foo", 2), more("bar", 2))

    names = {id_: topic.name for id_, topic in rig.state.topics.items()}
    assert [names[record.topic_id] for record, _ in rig.records(before)] == ["bar", "foo"]


@pytest.mark.parametrize(
    ("asked", "error", "text"),
    [
        (more("foo", 1), Error.INVALID_PARTITIONS, "Topic already has 1 partition(s)."),
        (
            more("foo", 0),
            Error.INVALID_PARTITIONS,
            "The topic foo currently has 1 partition(s); 0 would not be an increase.",
        ),
        (more("nope", 3), Error.UNKNOWN_TOPIC_OR_PARTITION, None),
        (
            more("foo", 3, (1, 2, 3)),
            BAD,
            "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
        ),
        (
            more("foo", 2, (1, 2, 3), (1, 2, 3)),
            BAD,
            "Attempted to add 1 additional partition(s), but only 2 assignment(s) were specified.",
        ),
        (
            more("foo", 2, manual=True),
            BAD,
            "Attempted to add 1 additional partition(s), but only 0 assignment(s) were specified.",
        ),
        (
            more("foo", 2, (1, 2)),
            BAD,
            (
                "The manual partition assignment includes a partition with 2 replica(s), but this is not consistent "
                "with previous partitions, which have 3 replica(s)."
            ),
        ),
        (
            more("foo", 2, (1, 2, 9)),
            BAD,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
    ],
)
def test_an_invalid_topic_is_refused_on_its_own(asked, error, text):
    rig = cluster()

    assert grow(rig, asked, more("bar", 2)) == [(asked.name, error, text), ("bar", 0, None)]


def test_a_topic_named_twice_is_refused():
    rig = cluster()

    assert grow(rig, more("foo", 2), more("bar", 2), more("foo", 3)) == [
        ("foo", Error.INVALID_REQUEST, "Duplicate topic name."),
        ("bar", 0, None),
    ]


def test_a_dry_run_writes_nothing():
    rig = cluster()
    before = rig.end_offset

    assert grow(rig, more("foo", 2), more("bar", 1), validate_only=True) == [
        ("foo", 0, None),
        ("bar", Error.INVALID_PARTITIONS, "Topic already has 1 partition(s)."),
    ]
    assert rig.end_offset == before


def test_a_new_partition_needs_an_active_replica():
    rig = cluster().fence(2, 3)

    by_hand, foo = grow(rig, more("bar", 2, (2, 3)), more("foo", 2, (0, 2, 3)))

    assert by_hand == (
        "bar",
        BAD,
        (
            "All brokers specified in the manual partition assignment for partition 1 are fenced or in controlled "
            "shutdown."
        ),
    )
    assert foo == ("foo", 0, None)
    assert rig.partition("foo", 1).isr == (0,)
    rig.fence(0, 1)
    assert grow(rig, more("bar", 3)) == [
        (
            "bar",
            Error.INVALID_REPLICATION_FACTOR,
            "All brokers are currently fenced, or have all their log directories cordoned.",
        )
    ]


def test_too_many_partitions_are_refused_as_a_whole():
    rig = cluster()

    assert grow(rig, more("foo", 2_000_000_000), more("bar", 2)) == [
        ("foo", Error.POLICY_VIOLATION, "Unable to perform excessively large batch operation."),
        ("bar", 0, None),
    ]


def test_an_empty_request_is_answered_by_a_standby():
    rig = Rig()

    assert grow(rig) == []
    assert grow(rig, more("foo", 2), more("foo", 2)) == [("foo", Error.INVALID_REQUEST, "Duplicate topic name.")]
    assert grow(rig, more("foo", 2)) == [("foo", Error.NOT_CONTROLLER, "No controller appears to be active.")]
