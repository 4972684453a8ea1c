"""BrokerRegistration and UnregisterBroker: the cases of Kafka's ClusterControlManagerTest and QuorumControllerTest."""

import pytest

from records.errors import Error
from records.messages.brokers import UnregisterBrokerRequest
from records.metadata.brokers import RegisterBrokerRecord, UnregisterBrokerRecord
from records.metadata.topics import PartitionChangeRecord
from records.uuids import LOST_DIRECTORY
from tests.controller.rig import Rig, directory, feature, registration, set_config


def test_a_new_broker_is_registered_fenced_with_the_next_offset_as_its_epoch():
    rig = Rig().lead()
    next_offset = rig.end_offset

    response = rig.register(1, rack="a")

    assert (response.error_code, response.broker_epoch) == (0, next_offset)
    assert rig.records(next_offset) == [
        (
            RegisterBrokerRecord(
                broker_id=1,
                incarnation_id=bytes([1]) * 16,
                broker_epoch=next_offset,
                end_points=(
                    RegisterBrokerRecord.BrokerEndpoint(
                        name="PLAINTEXT", host="broker1", port=9092, security_protocol=0
                    ),
                ),
                features=(
                    RegisterBrokerRecord.BrokerFeature(
                        name="metadata.version", min_supported_version=7, max_supported_version=30
                    ),
                    RegisterBrokerRecord.BrokerFeature(
                        name="eligible.leader.replicas.version", min_supported_version=0, max_supported_version=1
                    ),
                ),
                rack="a",
                fenced=True,
                log_dirs=(directory(1),),
            ),
            4,
        )
    ]


@pytest.mark.parametrize(("metadata_version", "version"), [(7, 1), (8, 2), (16, 2), (17, 3), (22, 3), (29, 3), (30, 4)])
def test_the_version_of_the_record_follows_the_metadata_version(metadata_version, version):
    rig = Rig(metadata_version=metadata_version).lead()

    rig.register(1)

    record, written = rig.records()[-1]
    assert (written, record.log_dirs) == (version, (directory(1),) if metadata_version >= 17 else ())


def test_the_same_incarnation_keeps_its_epoch_and_its_state():
    rig = Rig().lead().brokers(1)
    before = rig.state.brokers[1]

    response = rig.register(1, rack="b")

    after = rig.state.brokers[1]
    assert response.broker_epoch == before.epoch
    assert after == before._replace(rack="b")


def test_the_same_incarnation_stays_in_its_controlled_shutdown():
    rig = Rig().lead().brokers(1, 2)
    rig.create("foo", (1, 2))
    rig.heartbeat(1, want_shut_down=True)
    before = rig.state.brokers[1]

    rig.register(1, rack="b")

    assert before.in_controlled_shutdown
    assert rig.state.brokers[1] == before._replace(rack="b")


def test_another_incarnation_is_refused_while_the_session_of_the_first_lasts():
    rig = Rig().lead().brokers(1)

    assert rig.register(1, incarnation=2).error_code == Error.DUPLICATE_BROKER_REGISTRATION
    rig.now_ms += 9000
    assert rig.register(1, incarnation=2).error_code == Error.DUPLICATE_BROKER_REGISTRATION
    rig.now_ms += 1
    assert rig.register(1, incarnation=2).error_code == Error.NONE


def test_a_fenced_broker_that_still_sends_heartbeats_keeps_its_id():
    rig = Rig().lead().brokers(1).fence(1)

    assert rig.register(1, incarnation=2).error_code == Error.DUPLICATE_BROKER_REGISTRATION


def test_a_broker_without_a_heartbeat_has_no_session():
    rig = Rig().lead()
    rig.register(1)

    assert rig.register(1, incarnation=2).error_code == Error.NONE


def test_an_unfenced_broker_has_a_session_under_a_new_active_controller():
    rig = Rig().lead().brokers(1)
    rig.follow()
    rig.now_ms += 60_000
    rig.lead()

    assert rig.register(1, incarnation=2).error_code == Error.DUPLICATE_BROKER_REGISTRATION
    rig.now_ms += 9001
    assert rig.register(1, incarnation=2).error_code == Error.NONE


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"cluster_id": "other"}, Error.INCONSISTENT_CLUSTER_ID),
        ({"is_migrating_zk_broker": True}, Error.BROKER_ID_NOT_REGISTERED),
        ({"broker_id": -1}, Error.INVALID_REGISTRATION),
        ({"log_dirs": ()}, Error.INVALID_REGISTRATION),
        ({"log_dirs": (LOST_DIRECTORY,)}, Error.INVALID_REGISTRATION),
        ({"log_dirs": (directory(1), directory(1))}, Error.INVALID_REGISTRATION),
        ({"log_dirs": (directory(1), directory(9))}, Error.INVALID_REGISTRATION),
        ({"features": ()}, Error.INVALID_REGISTRATION),
        ({"features": (feature("metadata.version", 7, 29),)}, Error.UNSUPPORTED_VERSION),
        ({"features": (feature("metadata.version", 31, 40),)}, Error.UNSUPPORTED_VERSION),
        (
            {"features": (feature("metadata.version", 7, 30), feature("group.version", 1, 1))},
            Error.UNSUPPORTED_VERSION,
        ),
        (
            {"features": (feature("metadata.version", 7, 30), feature("kraft.version", 1, 1))},
            Error.UNSUPPORTED_VERSION,
        ),
        ({"features": (feature("group.version", 1, 1),)}, Error.UNSUPPORTED_VERSION),
        (
            {"listeners": (registration(1).listeners[0], registration(1).listeners[0])},
            Error.INVALID_REGISTRATION,
        ),
    ],
)
def test_an_invalid_registration_is_refused_and_writes_nothing(fields, error):
    rig = Rig().lead().brokers(9)
    before = rig.end_offset

    response = rig.register(1, **fields)

    assert (response.error_code, response.broker_epoch, rig.end_offset) == (error, -1, before)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"log_dirs": (), "is_migrating_zk_broker": True}, Error.BROKER_ID_NOT_REGISTERED),
        ({"log_dirs": (), "features": (feature("metadata.version", 7, 29),)}, Error.INVALID_REGISTRATION),
        ({"broker_id": -1, "features": (feature("metadata.version", 7, 29),)}, Error.UNSUPPORTED_VERSION),
    ],
)
def test_of_several_violations_the_first_in_kafkas_order_is_reported(fields, error):
    assert Rig().lead().register(1, **fields).error_code == error


def test_a_broker_must_offer_each_feature_in_use():
    rig = Rig(elr=True).lead()

    response = rig.register(1, features=(feature("metadata.version", 7, 30),))

    assert response.error_code == Error.UNSUPPORTED_VERSION


@pytest.mark.parametrize(("finalized", "offered", "error"), [(1, (0, 1), 0), (1, (0, 0), 35), (0, (0, 1), 0)])
def test_the_broker_must_support_the_kraft_version_of_the_quorum(finalized, offered, error):
    rig = Rig().lead()
    rig.controller.env.kraft_version = finalized

    response = rig.register(1, features=(feature("metadata.version", 7, 30), feature("kraft.version", *offered)))

    assert response.error_code == error


def test_directories_are_not_required_below_their_metadata_version():
    rig = Rig(metadata_version=16).lead()

    assert rig.register(1, log_dirs=()).error_code == 0


def test_a_new_incarnation_leaves_its_isrs_in_the_batch_that_registers_it():
    rig = Rig().lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2))
    rig.now_ms += 9001
    next_offset = rig.end_offset

    response = rig.register(0, incarnation=2)

    records = [record for record, _ in rig.records(next_offset)]
    assert [type(record) for record in records] == [PartitionChangeRecord, RegisterBrokerRecord]
    assert (records[0].isr, records[0].leader) == ((1, 2), 1)
    # The epoch is the next offset when the registration came; its record lies behind what was cleaned up.
    assert response.broker_epoch == next_offset
    assert rig.state.registration_offsets[0] == next_offset + 1


@pytest.mark.parametrize(
    ("version", "is_same_epoch", "elr"),
    [(4, True, (0,)), (3, True, (0,)), (4, False, ()), (2, True, ())],
)
def test_a_broker_stays_eligible_only_after_a_clean_shutdown(version, is_same_epoch, elr):
    rig = Rig(elr=True).lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2), min_insync_replicas="3")
    rig.fence(0)
    assert rig.partition("foo").elr == (0,)
    epoch = rig.state.brokers[0].epoch
    rig.now_ms += 9001

    response = rig.register(0, 2, version, previous_broker_epoch=epoch if is_same_epoch else epoch - 1)

    assert response.error_code == 0
    assert (rig.partition("foo").isr, rig.partition("foo").elr) == ((1, 2), elr)


def test_after_an_unclean_restart_of_the_last_leader_an_eligible_replica_leads():
    rig = Rig(elr=True).lead().brokers(0, 1, 2, 3)
    rig.create("foo", (0, 1, 2, 3), min_insync_replicas="3")
    rig.fence(1, 2, 3)
    assert (rig.partition("foo").isr, rig.partition("foo").elr) == ((0,), (2, 3))
    rig.now_ms += 9001

    rig.register(3, incarnation=2)
    assert rig.partition("foo").elr == (2,)
    rig.register(0, incarnation=2)

    partition = rig.partition("foo")
    assert (partition.isr, partition.elr, partition.leader, partition.last_known_elr) == ((), (2,), -1, (0,))


def test_without_elr_the_last_member_stays_in_the_isr_through_its_restart():
    rig = Rig().lead().brokers(0, 1)
    rig.create("foo", (0, 1))
    rig.fence(1)
    rig.now_ms += 9001

    rig.register(0, incarnation=2)
    assert (rig.partition("foo").isr, rig.partition("foo").leader) == ((0,), -1)

    rig.unfence(0)
    assert (rig.partition("foo").isr, rig.partition("foo").leader) == ((0,), 0)


@pytest.mark.parametrize("fenced", [False, True])
def test_an_unregistered_broker_leaves_every_isr_and_stays_in_the_elr(fenced):
    rig = Rig(elr=True).lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2), (1, 0, 2), min_insync_replicas="3")
    if fenced:
        rig.fence(0)
    epoch = rig.state.brokers[0].epoch
    before = rig.end_offset

    response = rig.ask(UnregisterBrokerRequest(broker_id=0))

    assert (response.error_code, response.error_message) == (0, "")
    records = [record for record, _ in rig.records(before)]
    assert [type(record) for record in records] == [
        *([] if fenced else [PartitionChangeRecord] * 2), UnregisterBrokerRecord,
    ]  # fmt: skip
    assert records[-1] == UnregisterBrokerRecord(broker_id=0, broker_epoch=epoch)
    for partition_id in (0, 1):
        partition = rig.partition("foo", partition_id)
        assert (partition.isr, partition.elr, partition.leader) == ((1, 2), (0,), 1)
        assert partition.replicas.count(0) == 1
    assert 0 not in rig.state.brokers
    assert rig.state.directory_owners.get(directory(0)) is None
    assert rig.controller.env.sessions.get(0) is None


@pytest.mark.parametrize("previous_epoch", [-1, None])
def test_an_unregistered_broker_leaves_the_elr_when_it_registers_again(previous_epoch):
    rig = Rig(elr=True).lead().brokers(0, 1, 2)
    rig.create("foo", (0, 1, 2), min_insync_replicas="3")
    epoch = rig.state.brokers[0].epoch if previous_epoch is None else previous_epoch
    rig.ask(UnregisterBrokerRequest(broker_id=0))

    rig.register(0, incarnation=2, previous_broker_epoch=epoch)

    assert (rig.partition("foo").isr, rig.partition("foo").elr) == ((1, 2), ())


def test_where_an_unregistered_broker_was_eligible_a_leader_is_elected_as_the_topic_allows_now():
    rig = Rig(elr=True).lead().brokers(0, 1)
    rig.create("foo", (0, 1), min_insync_replicas="2")
    rig.fence(1)
    rig.now_ms += 9001
    rig.register(1, incarnation=2)
    rig.fence(0).unfence(1)
    assert rig.partition("foo")[1:3] == ((), -1)
    set_config(rig, 2, "foo", "unclean.leader.election.enable", "true")

    rig.ask(UnregisterBrokerRequest(broker_id=0))

    partition = rig.partition("foo")
    assert (partition.leader, partition.isr, partition.elr, partition.recovery_state) == (1, (1,), (), 1)


def test_an_unknown_broker_cannot_be_unregistered():
    rig = Rig().lead()

    response = rig.ask(UnregisterBrokerRequest(broker_id=7))

    assert (response.error_code, response.error_message) == (
        Error.BROKER_ID_NOT_REGISTERED,
        "Broker ID 7 is not currently registered",
    )


def test_an_unregistered_broker_registers_as_a_new_one():
    rig = Rig().lead().brokers(0)
    rig.ask(UnregisterBrokerRequest(broker_id=0))

    assert rig.register(0, incarnation=2).error_code == 0
    assert rig.heartbeat(0).is_fenced is False
