"""Each rule of members, features, directories and transactions detects a violation, and accepts other logs."""

from __future__ import annotations

import pytest

from records.batch import build_batch
from records.frame import encode_record
from records.metadata.brokers import (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnregisterBrokerRecord,
)
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, TopicRecord
from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord
from simulations.cluster.metadata.log_rules import LogRules
from simulations.world.violation import Violation

T = b"t" * 16
D1, D2, D3 = b"1" * 16, b"2" * 16, b"3" * 16
METADATA, ELR = "metadata.version", "eligible.leader.replicas.version"


def level(name, value):
    return FeatureLevelRecord(name=name, feature_level=value)


def registers(broker, epoch, directories, newest=30):
    feature = RegisterBrokerRecord.BrokerFeature
    return RegisterBrokerRecord(
        broker_id=broker, incarnation_id=bytes([broker]) * 16, broker_epoch=epoch, end_points=(), rack=None,
        fenced=False, features=(feature(name=METADATA, min_supported_version=7, max_supported_version=newest),
                  feature(name=ELR, min_supported_version=0, max_supported_version=1)),
        log_dirs=directories,
    )  # fmt: skip


def controller(number, newest):
    feature = RegisterControllerRecord.ControllerFeature
    return RegisterControllerRecord(
        controller_id=number, incarnation_id=b"c" * 16, zk_migration_ready=False, end_points=(),
        features=(feature(name=METADATA, min_supported_version=7, max_supported_version=newest),
                  feature(name=ELR, min_supported_version=0, max_supported_version=1)),
    )  # fmt: skip


def partition(index=0, directories=(D1, D3), **fields):
    return PartitionRecord(
        partition_id=index, topic_id=T, replicas=(1, 2), isr=(1, 2), removing_replicas=(), adding_replicas=(), leader=1,
        leader_epoch=0, partition_epoch=0, directories=directories, **fields,
    )  # fmt: skip


def change(**fields):
    return PartitionChangeRecord(partition_id=0, topic_id=T, **fields)


def changes(broker, epoch, **fields):
    return BrokerRegistrationChangeRecord(broker_id=broker, broker_epoch=epoch, **fields)


def min_isr(of, value="1"):
    return ConfigRecord(resource_type=4, resource_name=of, name="min.insync.replicas", value=value)


# Broker 1 has D1 and D2, broker 2 has D3; a partition is in D1 and D3.
BEGIN = [level(METADATA, 25), registers(1, 0, (D1, D2)), registers(2, 2, (D3,)), controller(1, 30)]
TOPIC = [TopicRecord(name="t", topic_id=T), partition()]
OPEN = [BeginTransactionRecord(name=None), TopicRecord(name="u", topic_id=b"u" * 16)]
CONFIG = ConfigRecord(resource_type=4, resource_name="", name="x", value="1")

SOUND = {
    "a level that all support": [[level(METADATA, 30)]],
    "a level falls where nothing is lost": [[level(METADATA, 24)]],
    "eligible replicas with one minimum for all": [[min_isr(""), level(ELR, 1)]],
    "a replica leaves a directory that failed": [
        [change(isr=(2,), leader=2), changes(1, 0, log_dirs=(D2,))], [change(directories=(D2, D3))],
        [change(isr=(2, 1), leader=1, leader_recovery_state=1)],
    ],
    "the leader in a directory that failed gets a new epoch, and then leads no longer": [
        [changes(1, 0, log_dirs=(D2,)), change(leader=1), change(isr=(2,), leader=2)],
    ],
    "the leader gets a directory that failed and a new epoch, and then leads no longer": [
        [change(leader=1, directories=(D3, D3)), change(isr=(2,), leader=2)],
    ],
    "a broker is unregistered": [[change(isr=(1,)), UnregisterBrokerRecord(broker_id=2, broker_epoch=2)]],
    "a leader after aborts": [OPEN, 2, [AbortTransactionRecord(reason=None), CONFIG]],
}  # fmt: skip

WRONG = {
    "C20 a replica in sync gets a directory that its broker does not have": [[change(directories=(D1, D1))]],
    "C20 a leader is named again, in a directory that it does not have": [[change(leader=1, directories=(D3, D3))]],
    "C19 a broker lacks a level": [[registers(3, 4, (), newest=25)], [level(METADATA, 30)]],
    "C19 a controller lacks a level": [[controller(2, 27)], [level(METADATA, 30)]],
    "C19 a broker comes that lacks what counts": [[registers(3, 4, (), newest=21)]],
    "C19 a controller comes that lacks what counts": [[controller(2, 21)]],
    "C19 a level falls below what is there": [[level(METADATA, 22)]],
    "C19 eligible replicas with two minima": [[min_isr(""), min_isr("1"), level(ELR, 1)]],
    "C19 eligible replicas without a minimum": [[level(ELR, 1)]],
    "C19 a minimum of one broker": [[min_isr(""), level(ELR, 1)], [min_isr("2")]],
    "C20 two brokers have one directory": [[registers(3, 4, (D2,))]],
    "C20 a partition is made in a directory that is not there": [[partition(1, directories=(D3, D3))]],
    "C20 a partition is made without directories": [[partition(1, directories=())]],
    "C20 a directory fails, and its replica leads": [[changes(1, 0, log_dirs=(D2,))]],
    "C20 a replica in a failed directory is elected": [
        [change(isr=(2,), leader=2), changes(1, 0, log_dirs=(D2,))], [change(leader=1)],
    ],
    "C10 a broker is unregistered by a former epoch": [[UnregisterBrokerRecord(broker_id=2, broker_epoch=1)]],
    "C06 a broker is unregistered that is in sync": [[UnregisterBrokerRecord(broker_id=2, broker_epoch=2)]],
    "C13 another ends a transaction": [OPEN, 2, [EndTransactionRecord()]],
    "C13 another goes on with a transaction": [OPEN, 2, [CONFIG]],
    "C13 a transaction within a transaction": [OPEN, [BeginTransactionRecord(name=None)]],
    "C13 an end of nothing": [[EndTransactionRecord()]],
    "C13 nothing is aborted": [[AbortTransactionRecord(reason=None)]],
    "C14 an unclean leader that does not know it": [
        [ConfigRecord(resource_type=2, resource_name="t", name="unclean.leader.election.enable", value="true")],
        [change(isr=(2,), leader=2)], [change(isr=(1,), leader=1)],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_a_log_that_keeps_the_rules_passes(name):
    log_rules = prepared()
    log_rules.on_isr_requested((T, 0), 2, {(1, 0), (2, 2)})

    feed(log_rules, SOUND[name])

    assert log_rules.image.end_offset > 6


@pytest.mark.parametrize("name", WRONG)
def test_a_log_that_breaks_a_rule_is_detected(name):
    log_rules = prepared()

    with pytest.raises(Violation) as seen:
        feed(log_rules, WRONG[name])

    assert seen.value.property_id == name[:3]


def test_the_feature_levels_at_each_offset_are_known():
    log_rules = prepared()

    feed(log_rules, [[level(METADATA, 30)]])

    assert log_rules.levels == [(4, {METADATA: 25}), (7, {METADATA: 30})]


def prepared():
    log_rules = LogRules()
    feed(log_rules, [BEGIN, TOPIC])
    return log_rules


def feed(log_rules, batches):
    """Batches of records; a number is the epoch of those that follow."""
    offset, epoch = log_rules.image.end_offset, 1
    for records in batches:
        if isinstance(records, int):
            epoch = records
            continue
        values = [encode_record(record, type(record).__schema__.versions[1]) for record in records]
        data = build_batch(values, base_offset=offset, leader_epoch=epoch, timestamp_ms=0)
        offset += len(records)
        log_rules.on_committed(data, offset)
