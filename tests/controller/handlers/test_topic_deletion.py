"""DeleteTopics: ControllerApisTest's and ReplicationControlManagerTest's cases."""

import pytest

from records.errors import Error, error_text
from records.java.java_order import uuid_order
from records.messages.topics import DeleteTopicsRequest
from records.metadata.topics import RemoveTopicRecord
from records.uuids import ZERO_UUID
from tests.controller.rig import Rig

State = DeleteTopicsRequest.DeleteTopicState
NO_TOPIC = bytes([9]) * 16


def delete(rig, *topics, version=6):
    """Delete by names and ids, or by what else is given; returns (name, id, error, text) sorted."""
    states = tuple(
        State(topic_id=t) if isinstance(t, bytes) else State(name=t) if isinstance(t, str) else t for t in topics
    )
    fields = {"topics": states} if version >= 6 else {"topic_names": topics}
    responses = rig.ask(DeleteTopicsRequest(timeout_ms=1000, **fields), version).responses
    found = [(r.name, r.topic_id, r.error_code, r.error_message) for r in responses]
    return sorted(found, key=lambda result: (result[0] or "", result[1]))


def cluster(**fields):
    rig = Rig(**fields).lead().brokers(0, 1)
    ids = {name: rig.create(name, (0, 1), (1, 0), segment_ms="60000") for name in ("bar", "foo", "x.y")}
    return rig, ids


def test_deleting_a_topic_deletes_its_partitions_and_configs():
    rig, ids = cluster()
    before = rig.end_offset

    found = delete(rig, "foo", ids["bar"])

    assert found == [("bar", ids["bar"], 0, None), ("foo", ids["foo"], 0, None)]
    assert sorted(r.topic_id for r, _ in rig.records(before)) == sorted([ids["bar"], ids["foo"]])
    assert {type(r) for r, _ in rig.records(before)} == {RemoveTopicRecord}
    assert list(rig.state.topic_ids) == ["x.y"]
    assert [name for kind, name in rig.state.configs if kind == 2] == ["x.y"]
    assert len(rig.state.partitions.in_isr(0)) == 2


@pytest.mark.parametrize("version", [1, 5])
def test_older_versions_name_topics(version):
    rig, ids = cluster()

    assert delete(rig, "foo", "nope", version=version) == [
        ("foo", ids["foo"], 0, None),
        ("nope", ZERO_UUID, Error.UNKNOWN_TOPIC_OR_PARTITION, error_text(3)),
    ]


def test_an_invalid_entry_is_refused_on_its_own():
    rig, ids = cluster()

    found = delete(
        rig,
        "foo",
        "foo",
        ids["bar"],
        ids["bar"],
        State(),
        State(name="x.y", topic_id=ids["x.y"]),
        NO_TOPIC,
        "nope",
    )

    assert found == sorted(
        [
            (None, ZERO_UUID, Error.INVALID_REQUEST, "Neither topic name nor id were specified."),
            (None, ids["bar"], Error.INVALID_REQUEST, "Duplicate topic id."),
            (None, NO_TOPIC, Error.UNKNOWN_TOPIC_ID, error_text(100)),
            ("foo", ZERO_UUID, Error.INVALID_REQUEST, "Duplicate topic name."),
            ("nope", ZERO_UUID, Error.UNKNOWN_TOPIC_OR_PARTITION, error_text(3)),
            ("x.y", ids["x.y"], Error.INVALID_REQUEST, "You may not specify both topic name and topic id."),
        ],
        key=lambda result: (result[0] or "", result[1]),
    )
    assert len(rig.state.topics) == 3


SUPPLIED = "The provided topic name maps to an ID that was already supplied."


def test_a_topic_given_by_name_and_by_id_is_not_deleted():
    rig, ids = cluster()

    assert delete(rig, "foo", ids["foo"]) == [("foo", ids["foo"], Error.INVALID_REQUEST, SUPPLIED)]
    assert "foo" in rig.state.topic_ids


def test_a_topic_given_by_name_and_twice_by_id_is_not_deleted():
    rig, ids = cluster()

    found = delete(rig, "foo", ids["foo"], ids["foo"])

    assert found == [
        (None, ids["foo"], Error.INVALID_REQUEST, "Duplicate topic id."),
        ("foo", ids["foo"], Error.INVALID_REQUEST, SUPPLIED),
    ]
    assert "foo" in rig.state.topic_ids


def test_topics_are_deleted_in_the_order_of_kafkas_map():
    rig, ids = cluster()
    asked = list(reversed(uuid_order(ids.values())))
    before = rig.end_offset

    delete(rig, *asked)

    deleted = [record.topic_id for record, _ in rig.records(before)]
    assert deleted == uuid_order(asked) != asked


@pytest.mark.parametrize(
    ("version", "error"),
    [(6, Error.TOPIC_DELETION_DISABLED), (3, Error.TOPIC_DELETION_DISABLED), (2, Error.INVALID_REQUEST)],
)
def test_deletion_can_be_disabled(version, error):
    rig, _ = cluster(delete_topic_enable=False)

    assert delete(rig, "foo", version=version) == [("foo", ZERO_UUID, error, None)]
    assert "foo" in rig.state.topic_ids


@pytest.mark.parametrize(("version", "error"), [(6, Error.TOPIC_DELETION_DISABLED), (2, Error.INVALID_REQUEST)])
def test_disabled_deletion_is_answered_before_the_timeout_and_by_a_standby(version, error):
    rig, _ = cluster(delete_topic_enable=False)
    fields = {"topics": (State(name="foo"),)} if version >= 6 else {"topic_names": ("foo",)}
    late = DeleteTopicsRequest(timeout_ms=0, **fields)

    assert [result.error_code for result in rig.ask(late, version).responses] == [error]
    rig.follow(leader_id=7)
    assert delete(rig, "foo", version=version) == [("foo", ZERO_UUID, error, None)]


def test_the_name_of_a_deleted_topic_can_be_used_again():
    rig, _ = cluster()
    delete(rig, "x.y", "foo")

    rig.create("x_y", (0,))
    rig.create("foo", (0,))

    assert sorted(rig.state.topic_ids) == ["bar", "foo", "x_y"]


def test_a_standby_deletes_nothing():
    rig, ids = cluster()
    rig.follow(leader_id=7)

    assert delete(rig) == []
    assert delete(rig, "nope", "nope") == [("nope", ZERO_UUID, Error.INVALID_REQUEST, "Duplicate topic name.")]
    assert delete(rig, ids["foo"]) == [(None, ids["foo"], Error.NOT_CONTROLLER, None)]


def test_a_topic_deleted_a_moment_ago_is_unknown_only_once_that_is_committed():
    rig, ids = cluster()
    rig.auto = False
    first = rig.send(DeleteTopicsRequest(topics=(State(name="foo"),), timeout_ms=1000))

    second = rig.send(DeleteTopicsRequest(topics=(State(topic_id=ids["foo"]),), timeout_ms=1000))

    assert first not in rig.replies
    assert second not in rig.replies
    rig.commit()
    assert rig.replies[first].responses[0].error_code == 0
    assert rig.replies[second].responses[0].error_code == Error.UNKNOWN_TOPIC_ID
