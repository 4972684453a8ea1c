"""CreateTopics: ReplicationControlManagerTest's and ControllerApisTest's cases."""

from typing import Any

import pytest

from controller.handlers.topics import random_topic_id
from records.errors import Error
from records.features.levels import KAFKA_4_3, KAFKA_4_4
from records.messages.topics import CreateTopicsRequest
from records.metadata.configs import ConfigRecord
from records.metadata.topics import ClearElrRecord, PartitionRecord, TopicRecord
from records.schema import replace
from records.uuids import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, uuid_text
from tests.controller.rig import Rig, directory, new_topic

Topic = CreateTopicsRequest.CreatableTopic


def topic(name, partitions=1, replication=1, **configs):
    return Topic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication,
        assignments=(),
        configs=new_topic(name, **configs).configs,
    )


def create(rig, *topics, **fields):
    return rig.ask(CreateTopicsRequest(topics=topics, **fields)).topics


def refusals(results):
    return [(r.name, r.error_code, r.error_message) for r in results]


def test_a_topic_is_its_record_then_its_configs_then_its_partitions():
    rig = Rig(elr=True).lead().brokers(0, 1)
    before = rig.end_offset

    result = create(rig, new_topic("foo", (0, 1), (1, 0), min_insync_replicas="2", segment_ms="60000"))[0]

    id_ = result.topic_id
    rows: tuple[dict[str, Any], ...] = {"isr": (0, 1), "leader": 0}, {"isr": (1, 0), "leader": 1}
    partitions = [
        PartitionRecord(
            partition_id=number,
            topic_id=id_,
            replicas=row["isr"],
            removing_replicas=(),
            adding_replicas=(),
            leader_epoch=0,
            partition_epoch=0,
            directories=tuple(map(directory, row["isr"])),
            **row,
        )
        for number, row in enumerate(rows)
    ]
    config = {"resource_type": 2, "resource_name": "foo"}
    assert rig.records(before) == [
        (TopicRecord(name="foo", topic_id=id_), 0),
        (ConfigRecord(name="min.insync.replicas", value="2", **config), 0),
        (ConfigRecord(name="segment.ms", value="60000", **config), 0),
        (ClearElrRecord(topic_name="foo"), 0),
        *[(partition, 2) for partition in partitions],
    ]
    assert (result.error_code, result.error_message, result.num_partitions, result.replication_factor) == (
        0,
        None,
        2,
        2,
    )


def test_the_answer_has_all_configs_in_effect_by_name():
    rig = Rig().lead().brokers(0)

    configs = create(rig, topic("foo", cleanup_policy="compact"))[0].configs

    names = [config.name for config in configs]
    found = {config.name: (config.value, config.config_source, config.is_sensitive) for config in configs}
    assert (names == sorted(names), len(names)) == (True, 37)
    assert found["cleanup.policy"] == ("compact", 1, False)
    assert found["segment.ms"] == ("604800000", 5, False)


@pytest.mark.parametrize(("metadata_version", "version"), [(7, 0), (16, 0), (17, 1), (22, 1), (23, 2), (30, 2)])
def test_the_version_of_partitions_follows_the_metadata_version(metadata_version, version):
    rig = Rig(metadata_version=metadata_version).lead().brokers(0)

    rig.create("foo", (0,))

    record, written = rig.records()[-1]
    assert (written, record.directories) == (version, (directory(0),) if version else ())
    assert rig.partition("foo").directories == ((directory(0),) if version else (MIGRATING_DIRECTORY,))


def test_a_replica_of_a_broker_with_several_directories_is_unassigned_at_first():
    rig = Rig().lead()
    rig.brokers(0, log_dirs=(directory(0), directory(0, 1)))

    rig.create("foo", (0,))

    assert rig.partition("foo").directories == (UNASSIGNED_DIRECTORY,)


def test_unset_values_are_the_nodes_defaults():
    rig = Rig(num_partitions=3, default_replication_factor=2).lead().brokers(0, 1)

    result = create(rig, topic("foo", -1, -1))[0]

    assert (result.error_code, result.num_partitions, result.replication_factor) == (0, 3, 2)


def test_only_active_brokers_are_in_the_first_isr():
    rig = Rig().lead().brokers(0, 1, 2, 3)
    rig.create("bar", (1, 0), (2, 0))
    rig.fence(0)
    rig.heartbeat(2, want_shut_down=True)
    assert rig.state.brokers[2].in_controlled_shutdown

    results = create(rig, new_topic("foo", (0, 1, 2), (2, 3, 1)), topic("auto", 4, 3))

    assert refusals(results) == [("foo", 0, None), ("auto", 0, None)]
    assert [rig.partition("foo", n)[:3] for n in (0, 1)] == [((0, 1, 2), (1,), 1), ((2, 3, 1), (3, 1), 3)]
    for number in range(4):
        partition = rig.partition("auto", number)
        assert (sorted(partition.replicas), sorted(partition.isr)) == ([0, 1, 3], [1, 3])
        assert partition.leader == partition.isr[0]


BAD = Error.INVALID_REPLICA_ASSIGNMENT


@pytest.mark.parametrize(
    ("asked", "error", "text"),
    [
        (topic("", 1, 1), 17, "Topic name is invalid: the empty string is not allowed"),
        (topic(".", 1, 1), 17, "Topic name is invalid: '.' is not allowed"),
        (topic("..", 1, 1), 17, "Topic name is invalid: '..' is not allowed"),
        (
            topic("a" * 250, 1, 1),
            17,
            f"Topic name is invalid: the length of '{'a' * 250}' is longer than the max allowed length 249",
        ),
        (
            topic("é", 1, 1),
            17,
            (
                "Topic name is invalid: 'é' contains one or more characters other than ASCII alphanumerics, '.', '_' "
                "and '-'"
            ),
        ),
        (topic("a_b", 1, 1), 17, "Topic 'a_b' collides with existing topic: a.b"),
        (topic("a.b", 1, 1), 36, "Topic 'a.b' already exists."),
        (topic("old", 1, 1), 36, "Topic 'old' already exists."),
        (topic("foo", 1, 0), 38, "Replication factor must be larger than 0, or -1 to use the default value."),
        (topic("foo", 1, -2), 38, "Replication factor must be larger than 0, or -1 to use the default value."),
        (topic("foo", 0, 1), 37, "Number of partitions was set to an invalid non-positive value."),
        (topic("foo", -2, 1), 37, "Number of partitions was set to an invalid non-positive value."),
        (
            topic("foo", 1, 4),
            38,
            (
                "Unable to replicate the partition 4 time(s): The target replication factor of 4 cannot be reached "
                "because only 3 broker(s) are registered or some brokers have all their log directories cordoned."
            ),
        ),
        (topic("foo", 1, 1, cleanup_policy=None), 40, "Null value not supported for topic configs: cleanup.policy"),
        # Of several mistakes that in the configs comes first.
        (topic("foo", 1, 4, segment_mb="1"), 40, "Unknown topic config name: segment.mb"),
        (new_topic("foo", (0, 9), segment_mb="1"), 40, "Unknown topic config name: segment.mb"),
        (
            replace(new_topic("foo", (0,)), num_partitions=2),
            42,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (
            replace(new_topic("foo", (0,)), num_partitions=0),
            42,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (
            replace(new_topic("foo", (0,)), replication_factor=1),
            42,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        ),
        (new_topic("foo", ()), BAD, "The manual partition assignment includes an empty replica list."),
        (
            new_topic("foo", (0, 9)),
            BAD,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (new_topic("foo", (0, 0)), BAD, "The manual partition assignment includes the broker 0 more than once."),
        (
            new_topic("foo", (0,), (0, 1)),
            BAD,
            (
                "The manual partition assignment includes a partition with 2 replica(s), but this is not consistent "
                "with previous partitions, which have 1 replica(s)."
            ),
        ),
        (
            new_topic("foo", (0, 1), (0,)),
            BAD,
            (
                "The manual partition assignment includes a partition with 1 replica(s), but this is not consistent "
                "with previous partitions, which have 2 replica(s)."
            ),
        ),
        (
            new_topic("foo", (2,)),
            BAD,
            (
                "All brokers specified in the manual partition assignment for partition 0 are fenced or in controlled "
                "shutdown."
            ),
        ),
    ],
)
def test_an_invalid_topic_is_refused_on_its_own(asked, error, text):
    rig = Rig().lead().brokers(0, 1, 2).fence(2)
    rig.create("old", (0,))
    rig.create("a.b", (0,))

    results = create(rig, asked, topic("good"))

    assert refusals(results) == [(asked.name, error, text), ("good", 0, None)]
    assert sorted(rig.state.topic_ids) == ["a.b", "good", "old"]


@pytest.mark.parametrize(
    ("indexes", "text"),
    [
        ((0, 2), "partitions should be a consecutive 0-based integer sequence"),
        ((1, 2), "partitions should be a consecutive 0-based integer sequence"),
        ((0, 0), "Found multiple manual partition assignments for partition 0"),
        ((-1, 0), "partitions should be a consecutive 0-based integer sequence"),
    ],
)
def test_manual_partitions_start_at_0_without_gaps(indexes, text):
    rig = Rig().lead().brokers(0)
    assignments = tuple(Topic.CreatableReplicaAssignment(partition_index=index, broker_ids=(0,)) for index in indexes)

    results = create(
        rig, Topic(name="foo", num_partitions=-1, replication_factor=-1, assignments=assignments, configs=())
    )

    assert refusals(results) == [("foo", BAD, text)]


def test_manual_partitions_may_come_in_any_order():
    rig = Rig().lead().brokers(0, 1)
    assignments = tuple(
        Topic.CreatableReplicaAssignment(partition_index=index, broker_ids=(index,)) for index in (1, 0)
    )

    create(rig, Topic(name="foo", num_partitions=-1, replication_factor=-1, assignments=assignments, configs=()))

    assert [rig.partition("foo", n).replicas for n in (0, 1)] == [(0,), (1,)]


def test_a_name_that_collides_with_an_uncommitted_topic_is_refused_when_that_is_committed():
    rig = Rig().lead().brokers(0)
    rig.auto = False
    rig.send(CreateTopicsRequest(topics=(new_topic("a.b", (0,)),)))

    refused = rig.send(CreateTopicsRequest(topics=(new_topic("a_b", (0,)),)))
    before = refused in rig.replies
    rig.commit()

    assert not before
    assert rig.replies[refused].topics[0].error_message == "Topic 'a_b' collides with existing topic: a.b"


def test_names_that_differ_only_in_dots_collide_only_with_existing_topics():
    rig = Rig().lead().brokers(0)

    assert refusals(create(rig, topic("x.y"), topic("x_y"))) == [("x.y", 0, None), ("x_y", 0, None)]
    assert refusals(create(rig, topic("x-y"))) == [("x-y", 0, None)]


def test_a_topic_needs_an_unfenced_broker():
    rig = Rig().lead()
    rig.register(0)

    assert refusals(create(rig, topic("foo"))) == [
        (
            "foo",
            Error.INVALID_REPLICATION_FACTOR,
            (
                "Unable to replicate the partition 1 time(s): All brokers are currently fenced, or have all their log "
                "directories cordoned."
            ),
        )
    ]


@pytest.mark.parametrize(("release", "refused"), [(KAFKA_4_3, False), (KAFKA_4_4, True)])
def test_a_broker_whose_directories_are_all_cordoned_gets_no_replica_but_before_4_4_by_a_manual_assignment(
    release, refused
):
    rig = Rig(metadata_version=30, release=release).lead().brokers(0, 1)
    rig.heartbeat(0, cordoned_log_dirs=(directory(0),))

    results = create(rig, new_topic("foo", (0,)), topic("bar", 4, 1))

    text = "The manual partition assignment includes broker 0, but all its log directories are cordoned."
    foo = ("foo", Error.INVALID_REPLICA_ASSIGNMENT, text) if refused else ("foo", 0, None)
    assert refusals(results) == [foo, ("bar", 0, None)]
    assert refused or rig.partition("foo", 0).replicas == (0,)
    assert [rig.partition("bar", n).replicas for n in range(4)] == [(1,)] * 4


def test_bad_configs_are_refused_with_the_topic():
    rig = Rig().lead().brokers(0)

    results = create(rig, topic("foo", min_insync_replicas="x"), topic("bar", no_such_key="1"))

    assert [(r.name, r.error_code) for r in results] == [("foo", Error.INVALID_CONFIG), ("bar", Error.INVALID_CONFIG)]
    assert "min.insync.replicas" in results[0].error_message


def test_duplicates_and_the_metadata_topic_are_answered_after_the_others():
    rig = Rig().lead().brokers(0)

    results = create(rig, topic("twice"), topic("__cluster_metadata"), topic("once"), topic("twice"))

    assert refusals(results) == [
        ("once", 0, None),
        ("twice", Error.INVALID_REQUEST, "Duplicate topic name."),
        (
            "__cluster_metadata",
            Error.INVALID_REQUEST,
            "Creation of internal topic __cluster_metadata is prohibited.",
        ),
    ]


def test_an_empty_request_is_answered_by_a_standby():
    rig = Rig()

    assert create(rig) == ()
    assert refusals(create(rig, topic("twice"), topic("twice"))) == [
        ("twice", Error.INVALID_REQUEST, "Duplicate topic name.")
    ]
    assert refusals(create(rig, topic("foo"))) == [("foo", Error.NOT_CONTROLLER, "No controller appears to be active.")]


def test_a_dry_run_has_the_same_response_and_writes_nothing():
    rig = Rig().lead().brokers(0, 1)
    before = rig.end_offset

    results = create(rig, topic("foo", 2, 2), topic("bar", 1, 5), validate_only=True)

    assert [(r.name, r.error_code, r.num_partitions) for r in results] == [("foo", 0, 2), ("bar", 38, -1)]
    assert (rig.end_offset, "foo" in rig.state.topic_ids) == (before, False)


@pytest.mark.parametrize(
    "topics",
    [
        (topic("foo", 5000), topic("bar", 5001)),
        (new_topic("foo", *[(0,)] * 10_001),),
        (topic("foo", 10_000), topic("bar", -1)),
        (topic("foo", 10_001), topic("bar", -5)),
    ],
)
def test_too_many_partitions_are_refused_as_a_whole(topics):
    rig = Rig().lead().brokers(0)

    results = create(rig, *topics)

    text = "Excessively large number of partitions per request."
    assert refusals(results) == [(t.name, Error.POLICY_VIOLATION, text) for t in topics]


def test_too_many_records_are_refused_as_a_whole():
    rig = Rig().lead().brokers(0)
    before = rig.end_offset

    results = create(rig, topic("foo", 10_000))

    text = "Unable to perform excessively large batch operation."
    assert (refusals(results), rig.end_offset) == ([("foo", Error.POLICY_VIOLATION, text)], before)


def test_all_topics_of_a_request_are_one_batch():
    rig = Rig().lead().brokers(0)
    before = len(rig.log)

    create(rig, topic("foo", 3), topic("bar", 2))

    assert len(rig.log) == before + 1


@pytest.mark.parametrize("release", [KAFKA_4_3, KAFKA_4_4])
def test_topic_ids_are_random_uuids_without_a_dash_which_before_4_4_is_only_not_the_first_character(release):
    env = Rig(release=release).controller.env

    ids = [random_topic_id(env) for _ in range(500)]

    texts = [uuid_text(id_) for id_ in ids]
    assert len(set(ids)) == 500
    assert all(id_[6] >> 4 == 4 and id_[8] >> 6 == 2 for id_ in ids)
    assert not any(text.startswith("-") for text in texts)
    assert any("-" in text for text in texts) is release.ids_have_dashes


def test_configs_are_described_as_they_are_when_the_topic_is_created():
    from tests.controller.rig import set_config

    rig = Rig().lead().brokers(0)

    def described(name):
        configs = create(rig, topic(name, retention_ms="1000"))[0].configs
        found = {config.name: (config.value, config.config_source) for config in configs}
        return found["segment.bytes"], found["retention.ms"]

    before = described("a")
    set_config(rig, 4, "", "log.segment.bytes", "2000000")
    cluster = described("b")
    set_config(rig, 4, "3000", "log.segment.bytes", "3000000")

    own = ("1000", 1)
    assert (before, cluster, described("c")) == (
        (("1073741824", 5), own),
        (("2000000", 3), own),
        (("3000000", 2), own),
    )
