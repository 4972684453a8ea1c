from __future__ import annotations

import pytest

from controller.state.state import ReplayError
from controller.state.tables.brokers import Broker, Endpoint, VersionRange
from records.metadata.brokers import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from records.schema import replace
from records.uuids import LOST_DIRECTORY, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from tests.controller.state.tables.replaying import state_of

D, E, F = b"d" * 16, b"e" * 16, b"f" * 16
ENDPOINT = RegisterBrokerRecord.BrokerEndpoint(name="A", host="h", port=9092, security_protocol=3)
REGISTER = RegisterBrokerRecord(
    broker_id=1,
    incarnation_id=b"i" * 16,
    broker_epoch=100,
    end_points=(ENDPOINT,),
    features=(
        RegisterBrokerRecord.BrokerFeature(name="metadata.version", min_supported_version=7, max_supported_version=30),
    ),
    rack="r",
    log_dirs=(E, D),
)
BROKER = Broker(
    broker_id=1,
    epoch=100,
    incarnation_id=b"i" * 16,
    listeners={"A": Endpoint("h", 9092, 3)},
    features={"metadata.version": VersionRange(7, 30)},
    rack="r",
    fenced=True,
    in_controlled_shutdown=False,
    is_migrating_zk_broker=False,
    directories=(D, E),
    cordoned=None,
)


def changed(**fields):
    return state_of(REGISTER, BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=100, **fields)).brokers[1]


def test_a_broker_registers_with_its_directories_in_order():
    state = state_of(REGISTER)

    assert state.brokers == {1: BROKER}
    assert state.registration_offsets == {1: 0}
    assert state.directory_owners == {D: 1, E: 1}


def test_a_new_incarnation_replaces_the_former():
    state = state_of(REGISTER, replace(REGISTER, broker_epoch=200, fenced=False, log_dirs=(E, F)))

    assert state.brokers == {1: BROKER._replace(epoch=200, fenced=False, directories=(E, F))}
    assert state.registration_offsets == {1: 1}
    assert state.directory_owners == {E: 1, F: 1}


def test_an_unregistered_broker_is_removed_completely():
    state = state_of(REGISTER, UnregisterBrokerRecord(broker_id=1, broker_epoch=100))

    assert (state.brokers, state.registration_offsets, state.directory_owners) == ({}, {}, {})


def test_a_registration_change_has_only_the_changed_fields():
    assert changed() == BROKER
    assert changed(fenced=-1) == BROKER._replace(fenced=False)
    assert changed(fenced=1) == BROKER
    assert changed(in_controlled_shutdown=1) == BROKER._replace(in_controlled_shutdown=True)
    assert changed(log_dirs=(F, E)) == BROKER._replace(directories=(E, F))
    assert changed(log_dirs=()) == BROKER
    assert changed(cordoned_log_dirs=()) == BROKER._replace(cordoned=())
    assert changed(cordoned_log_dirs=(E,)) == BROKER._replace(cordoned=(E,))


def test_the_records_of_early_releases_fence_and_unfence():
    unfenced = state_of(REGISTER, UnfenceBrokerRecord(id=1, epoch=100))
    fenced = state_of(REGISTER, UnfenceBrokerRecord(id=1, epoch=100), FenceBrokerRecord(id=1, epoch=100))

    assert unfenced.brokers[1] == BROKER._replace(fenced=False)
    assert fenced.brokers[1] == BROKER


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([UnregisterBrokerRecord(broker_id=1, broker_epoch=100)], "broker 1 is not registered"),
        ([REGISTER, UnregisterBrokerRecord(broker_id=1, broker_epoch=99)], "with epoch 100, not 99"),
        ([FenceBrokerRecord(id=1, epoch=100)], "broker 1 is not registered"),
        ([REGISTER, UnfenceBrokerRecord(id=1, epoch=99)], "with epoch 100, not 99"),
        ([REGISTER, BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=9)], "with epoch 100, not 9"),
        ([REGISTER, BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=100, fenced=2)], "fencing is 2"),
        (
            [REGISTER, BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=100, in_controlled_shutdown=-1)],
            "shutdown is -1",
        ),
        ([REGISTER, replace(REGISTER, broker_id=2)], "of broker 2 belongs to broker 1"),
        ([replace(REGISTER, end_points=(replace(ENDPOINT, security_protocol=9),))], "no security protocol 9"),
        ([replace(REGISTER, end_points=(replace(ENDPOINT, name=""),))], "has no name"),
    ],
)
def test_a_record_that_contradicts_the_state_is_refused(records, reason):
    with pytest.raises(ReplayError, match=reason):
        state_of(*records)


def test_a_broker_is_active_unless_fenced_or_in_controlled_shutdown():
    assert not BROKER.is_active
    assert BROKER._replace(fenced=False).is_active
    assert not BROKER._replace(fenced=False, in_controlled_shutdown=True).is_active


@pytest.mark.parametrize(
    ("directories", "expected"), [((), MIGRATING_DIRECTORY), ((D,), D), ((D, E), UNASSIGNED_DIRECTORY)]
)
def test_a_new_replica_is_assigned_if_the_broker_has_one_directory(directories, expected):
    assert BROKER._replace(directories=directories).default_directory == expected
    # Which directories are cordoned says nothing of where a broker puts a replica that it gets nevertheless.
    assert BROKER._replace(directories=directories, cordoned=directories[:1]).default_directory == expected


@pytest.mark.parametrize(
    ("directories", "directory", "expected"),
    [
        ((D,), D, True),
        ((D,), E, False),
        ((), E, True),
        ((D,), UNASSIGNED_DIRECTORY, True),
        ((D,), MIGRATING_DIRECTORY, True),
        ((D,), LOST_DIRECTORY, False),
        ((), LOST_DIRECTORY, False),
    ],
)
def test_a_directory_is_online_if_registered_or_unknown(directories, directory, expected):
    assert BROKER._replace(directories=directories).has_online(directory) is expected


@pytest.mark.parametrize(
    ("directories", "cordoned", "expected"),
    [((D, E), None, True), ((D, E), (), True), ((D, E), (D,), True), ((D, E), (E, D), False), ((), (D,), True)],
)
def test_a_broker_takes_replicas_while_one_directory_is_not_cordoned(directories, cordoned, expected):
    assert BROKER._replace(directories=directories, cordoned=cordoned).has_uncordoned_directory is expected
