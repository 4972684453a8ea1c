"""Rules that are easily broken in an implementation of this controller: one test for each."""

import pytest

from controller.interface.inputs import Committed
from controller.state.partitions.partition import apply_change
from records.errors import Error
from records.frame import encode_record
from records.messages.brokers import BrokerHeartbeatRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import IncrementalAlterConfigsRequest
from records.messages.topics import CreateTopicsRequest
from records.metadata.configs import ConfigRecord
from records.metadata.topics import ClearElrRecord, PartitionChangeRecord
from records.schema import default_of, replace
from tests.controller.handlers.test_directories import assignment
from tests.controller.rig import Rig, directory, new_topic, registration, set_config

Resource = IncrementalAlterConfigsRequest.AlterConfigsResource
SET, APPEND = 0, 2


def create(*names):
    return CreateTopicsRequest(topics=tuple(new_topic(name, (0,)) for name in names))


def configure(rig, kind, name, key, value, operation=SET):
    config = Resource.AlterableConfig(name=key, config_operation=operation, value=value)
    resource = Resource(resource_type=kind, resource_name=name, configs=(config,))
    response = rig.ask(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False))
    return response.responses[0].error_code


def test_a_change_that_names_the_current_leader_raises_the_leader_epoch():
    rig = Rig().lead().brokers(0)
    topic_id = rig.create("foo", (0,))
    before = rig.partition("foo")

    after = apply_change(before, PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=before.leader))

    assert (after.leader, after.leader_epoch) == (before.leader, before.leader_epoch + 1)


def test_a_broker_epoch_is_the_next_offset_and_unfencing_needs_the_registration_record():
    rig = Rig().lead().brokers(0, 1)
    rig.create("foo", (0, 1))
    rig.now_ms += 9001
    next_offset = rig.end_offset

    epoch = rig.register(0, incarnation=2).broker_epoch
    behind = rig.heartbeat(0, current_metadata_offset=next_offset)
    there = rig.heartbeat(0, current_metadata_offset=next_offset + 1)

    assert epoch == next_offset
    assert (behind.is_caught_up, there.is_caught_up) == (False, True)


def test_no_response_precedes_the_commit_of_what_it_depends_on():
    rig = Rig().lead().brokers(0)
    rig.auto = False

    first, second = rig.send(create("foo")), rig.send(create("foo"))

    assert (first in rig.replies, second in rig.replies) == (False, False)


def test_of_two_concurrent_creations_of_a_topic_one_succeeds():
    rig = Rig().lead().brokers(0)
    rig.auto = False
    sent = [rig.send(create("foo")) for _ in range(2)]
    rig.commit()

    assert [rig.replies[n].topics[0].error_code for n in sent] == [0, Error.TOPIC_ALREADY_EXISTS]


# A NOT_CONTROLLER within an envelope: test_envelope.


def test_a_standby_answers_an_empty_request():
    assert Rig().ask(CreateTopicsRequest(topics=())).topics == ()


def test_default_values_of_tagged_fields_are_not_written_and_directories_are_untagged():
    rig = Rig().lead().brokers(0)
    rig.create("foo", (0,))
    record, version = rig.records()[-1]

    value = encode_record(record, version)

    assert record.eligible_leader_replicas is None
    assert value.endswith(b"\x02" + directory(0) + b"\0")


@pytest.mark.parametrize(
    ("metadata_version", "version", "has_directories"), [(16, 0, 0), (17, 1, 1), (22, 1, 1), (23, 2, 1)]
)
def test_no_record_version_is_written_below_its_metadata_version(metadata_version, version, has_directories):
    rig = Rig(metadata_version=metadata_version).lead().brokers(0, 1)
    rig.create("foo", (0, 1))
    assert (rig.records()[-1][1], len(rig.records()[-1][0].directories)) == (version, 2 * has_directories)

    rig.alter("foo", (0,))

    assert rig.records()[-1][1] == version


def test_without_elr_an_isr_never_becomes_empty_and_its_order_is_kept():
    rig = Rig().lead().brokers(0, 1, 2)
    rig.create("foo", (2, 0, 1))

    rig.fence(0, 2, 1)

    assert (rig.partition("foo").isr, rig.partition("foo").leader) == ((1,), -1)
    assert rig.records()[-2][0].isr is None


def test_directories_and_a_cleared_elr_raise_the_partition_epoch():
    rig = Rig(elr=True).lead().brokers(1)
    rig.brokers(0, log_dirs=(directory(0), directory(0, 1)))
    rig.create("foo", (0, 1), min_insync_replicas="2")
    rig.ask(assignment(rig, 0, {directory(0): [("foo", 0)]}))
    assert rig.partition("foo").partition_epoch == 1
    rig.fence(1)
    assert rig.partition("foo").elr == (1,)
    epochs = rig.partition("foo")[3:5]

    assert configure(rig, 2, "foo", "min.insync.replicas", "1") == 0

    assert [type(record) for record, _ in rig.records()[-2:]] == [ConfigRecord, ClearElrRecord]
    assert (rig.partition("foo").elr, rig.partition("foo")[3:5]) == ((), (epochs[0], epochs[1] + 1))


def test_unchanged_configs_are_written_for_brokers_and_not_for_topics():
    rig = Rig().lead().brokers(0)
    rig.create("foo", (0,), segment_ms="60000")
    configure(rig, 4, "", "log.cleaner.threads", "2")
    before = rig.end_offset

    assert configure(rig, 2, "foo", "segment.ms", "60000") == 0
    assert rig.end_offset == before
    assert configure(rig, 4, "", "log.cleaner.threads", "2") == 0
    assert rig.end_offset == before + 1


def test_append_to_an_unset_key_starts_from_the_default():
    rig = Rig().lead().brokers(0)
    rig.create("foo", (0,))

    configure(rig, 2, "foo", "cleanup.policy", "compact", APPEND)

    assert rig.records()[-1][0].value == "delete,compact"


def test_a_fenced_broker_stays_eligible_and_unfencing_adds_it_to_no_isr():
    rig = Rig(elr=True).lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2), min_insync_replicas="3")

    rig.fence(1)
    fenced = rig.partition("foo")
    rig.unfence(1)

    assert (fenced.replicas, fenced.isr, fenced.elr) == ((0, 1, 2), (0, 2), (1,))
    assert rig.partition("foo") == fenced


def test_a_controlled_shutdown_waits_until_every_active_broker_has_read_it():
    rig = Rig().lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2))
    rig.heartbeat(0, want_shut_down=True)
    shutdown_offset = rig.end_offset - 1
    rig.heartbeat(1, current_metadata_offset=shutdown_offset)

    waits = rig.heartbeat(0, want_shut_down=True).should_shut_down
    rig.heartbeat(2, current_metadata_offset=shutdown_offset)

    assert (waits, rig.heartbeat(0, want_shut_down=True).should_shut_down) == (False, True)


def test_stale_brokers_are_fenced_one_at_a_time():
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(0, 1)
    rig.create("foo", (0, 1), (0, 1))
    before = len(rig.log)

    rig.tick(9001)

    assert len(rig.log) == before + 2
    assert rig.partition("foo").isr == (1,)


# Wildcards of ACLs come with ACLs.


def test_the_end_offset_of_a_snapshot_is_exclusive_and_ends_a_batch():
    rig = Rig(metadata_log_max_record_bytes_between_snapshots=1, auto=False).lead()
    rig.commit()
    rig.send(registration(0))
    rig.send(registration(1))

    rig.commit()

    assert [snapshot.id.end_offset for snapshot in rig.snapshots()] == [4]
    assert rig.snapshots()[0].view.end_offset == 4


def test_partition_0_bounds_the_min_isr_of_its_topic():
    rig = Rig(elr=True).lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1), (0, 1), min_insync_replicas="3")
    from tests.controller.handlers.test_reassignments import reassign

    reassign(rig, ("foo", 1, (0, 1, 2)))
    rig.alter("foo", (0, 1, 2), partition_id=1)

    rig.fence(2)

    # Three replicas are in the ISR of partition 1 and two are left, which is what partition 0 has.
    assert (rig.partition("foo", 1).isr, rig.partition("foo", 1).elr) == ((0, 1), ())


@pytest.mark.parametrize("mine", [True, False])
def test_static_defaults_are_those_of_the_active_controller_not_of_brokers(mine):
    rig = Rig(elr=False, unclean_leader_election_enable=mine).lead().brokers(0, 1)
    rig.create("foo", (0, 1))
    set_config(rig, 4, "0", "unclean.leader.election.enable", "false" if mine else "true")
    rig.fence(1, 0)

    rig.unfence(1)

    assert rig.partition("foo").leader == (1 if mine else -1)


def test_describe_cluster_version_0_is_refused_by_a_controller():
    rig = Rig().lead()

    assert (
        rig.ask(DescribeClusterRequest(include_cluster_authorized_operations=False), 0).error_code
        == Error.INVALID_REQUEST
    )
    newer = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2)
    assert rig.ask(newer, 1).error_code == 0


def test_a_standby_knows_the_offset_of_a_brokers_registration_record():
    active = Rig().lead().brokers(0)
    standby = Rig(node_id=7)
    for data in active.log:
        standby.step(Committed(data))

    assert standby.state.registration_offsets == active.state.registration_offsets
    beat = replace(default_of(BrokerHeartbeatRequest), broker_id=0, broker_epoch=active.state.brokers[0].epoch)
    assert standby.ask(beat).error_code == Error.NOT_CONTROLLER
