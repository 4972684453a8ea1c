"""Each rule of a cluster's log detects a log that violates it, and accepts one that does not."""

from __future__ import annotations

import pytest

from records.batch import build_batch
from records.frame import encode_record
from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord, UnregisterBrokerRecord
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.producer_ids import ProducerIdsRecord
from records.metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord
from simulations.cluster.metadata.log_rules import LogRules
from simulations.world.violation import Violation

A, B = b"a" * 16, b"b" * 16
ELR = "eligible.leader.replicas.version"
MIN_ISR = ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="1")


def registers(broker, epoch, incarnation=A, fenced=True):
    feature = RegisterBrokerRecord.BrokerFeature
    return RegisterBrokerRecord(
        broker_id=broker, incarnation_id=incarnation, broker_epoch=epoch, end_points=(), rack=None, fenced=fenced,
        features=tuple(
            feature(name=name, min_supported_version=0, max_supported_version=30) for name in ("metadata.version", ELR)
        ),
    )  # fmt: skip


def changes(broker, epoch, **fields):
    return BrokerRegistrationChangeRecord(broker_id=broker, broker_epoch=epoch, **fields)


def partition(index=0, topic=A, replicas=(1, 2), isr=(1, 2), leader=1, **fields):
    return PartitionRecord(
        partition_id=index, topic_id=topic, replicas=replicas, isr=isr, removing_replicas=(), adding_replicas=(),
        leader=leader, leader_epoch=0, partition_epoch=0, **fields,
    )  # fmt: skip


def change(topic=A, index=0, **fields):
    return PartitionChangeRecord(partition_id=index, topic_id=topic, **fields)


# Brokers 1 to 3, of epochs 0 to 2, are let in; "t" has one partition on 1 and 2.
BROKERS = [
    registers(1, 0),
    registers(2, 1),
    registers(3, 2),
    *(changes(each, each - 1, fenced=-1) for each in (1, 2, 3)),
]
TOPIC = [TopicRecord(name="t", topic_id=A), partition()]
MOVE = [change(replicas=(1, 2, 3), adding_replicas=(3,))]

SOUND = {
    "a member leaves": [[change(isr=(1,))]],
    "the leader leaves, another leads": [[change(isr=(2,), leader=2)]],
    "a new incarnation is out of all ISRs first": [[change(isr=(1,)), registers(2, 9, B)]],
    "a broker asks again for the same epoch": [[registers(2, 1, fenced=False)]],
    "a deleted topic comes back": [
        [RemoveTopicRecord(topic_id=A)], [TopicRecord(name="t", topic_id=B), partition(topic=B)],
    ],
    "a transaction of two batches": [
        [BeginTransactionRecord(name=None), TopicRecord(name="u", topic_id=B)],
        [partition(topic=B), EndTransactionRecord()],
    ],
    "what was aborted never was": [
        [BeginTransactionRecord(name=None), TopicRecord(name="u", topic_id=B)], [AbortTransactionRecord(reason=None)],
        [TopicRecord(name="u", topic_id=B), partition(topic=B)],
    ],
    "ELR is kept and cleared": [
        [change(isr=(1,), eligible_leader_replicas=(2,))], [ClearElrRecord(topic_name="t")], [change(isr=(1,))],
    ],
    "blocks of producer ids": [
        [ProducerIdsRecord(broker_id=1, next_producer_id=1000), ProducerIdsRecord(broker_id=1, next_producer_id=2000)],
    ],
}  # fmt: skip

WRONG = {
    "C06 a fenced broker leads": [[changes(1, 0, fenced=1)]],
    "C06 a fenced broker is in sync with others": [[change(leader=1), changes(2, 1, fenced=1)]],
    "C06 a broker that leaves is elected": [[changes(2, 1, in_controlled_shutdown=1)], [change(isr=(2,), leader=2)]],
    "C06 a broker is let in that has read nothing": [[registers(4, 8, B)], [changes(4, 8, fenced=-1)]],
    "C07 a member without a replica": [[TopicRecord(name="u", topic_id=B), partition(topic=B, replicas=(1,))]],
    "C07 the leader is not in sync": [[change(isr=(2,))]],
    "C07 nobody is left": [[change(isr=(), leader=-1)]],
    "C07 nobody is left eligible": [
        [
            FeatureLevelRecord(name="metadata.version", feature_level=25), MIN_ISR,
            FeatureLevelRecord(name=ELR, feature_level=1),
        ],
        [change(isr=(), leader=-1, last_known_elr=(1,))],
    ],
    "C06 a new partition has one in sync that leaves": [
        [changes(2, 1, in_controlled_shutdown=1)], [TopicRecord(name="u", topic_id=B), partition(topic=B)],
    ],
    "C07 a replica stays eligible after the minimum changed": [
        [
            FeatureLevelRecord(name="metadata.version", feature_level=25), MIN_ISR,
            FeatureLevelRecord(name=ELR, feature_level=1),
        ],
        [change(isr=(1,), eligible_leader_replicas=(2,))],
        [ConfigRecord(resource_type=2, resource_name="t", name="min.insync.replicas", value="1")],
    ],
    "C07 in sync and eligible": [[change(eligible_leader_replicas=(2,))]],
    "C09 an epoch comes back": [[change(isr=(1,)), registers(2, 2, B)]],
    "C09 an epoch of the future": [[change(isr=(1,)), registers(2, 99, B)]],
    "C09 one incarnation gets two epochs": [[registers(2, 8, fenced=False)]],
    "C10 a broker changes in a former epoch": [[change(isr=(1,)), registers(2, 9, B)], [changes(2, 1, fenced=1)]],
    "C11 a move ends before all are in sync": [MOVE, [change(replicas=(1, 2, 3), adding_replicas=())]],
    "C11 a reassignment that ends at once keeps replicas that are not in sync": [[change(replicas=(3, 1), isr=(1,))]],
    "C11 a move ends elsewhere": [MOVE, [change(replicas=(1,), isr=(1,), adding_replicas=())]],
    "C12 a block is given twice": [
        [ProducerIdsRecord(broker_id=1, next_producer_id=1000)],
        [ProducerIdsRecord(broker_id=2, next_producer_id=1999)],
    ],
    "C13 a topic without partitions": [[TopicRecord(name="u", topic_id=B)]],
    "C13 a hole in the partitions": [[partition(index=2)]],
    "C13 configs of no topic": [[ConfigRecord(resource_type=2, resource_name="u", name="x", value="1")]],
    "C14 a replica that was not in sync leads": [[change(isr=(1,))], [change(leader=2)]],
    "C15 a name is taken twice": [[TopicRecord(name="t", topic_id=B), partition(topic=B)]],
    "C15 an id comes back": [[RemoveTopicRecord(topic_id=A)], [TopicRecord(name="u", topic_id=A), partition()]],
    "C15 a partition of no topic": [[change(topic=B, isr=(1,))]],
    "C16 a member that no leader asked for": [[change(isr=(1,))], [change(isr=(1, 2))]],
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_a_log_that_keeps_the_rules_passes(name):
    log_rules = prepared()

    feed(log_rules, SOUND[name])

    assert log_rules.image.end_offset > 8


@pytest.mark.parametrize("name", WRONG)
def test_a_log_that_breaks_a_rule_is_detected(name):
    log_rules = prepared()

    with pytest.raises(Violation) as seen:
        feed(log_rules, WRONG[name])

    assert seen.value.property_id == name[:3]


def test_an_isr_grows_only_by_a_request_of_its_leader_in_that_epoch():
    log_rules = prepared()
    log_rules.on_isr_requested((A, 0), 1, {(1, 0), (2, 1)})

    feed(log_rules, [[change(isr=(1,))], [change(isr=(1, 2))]])

    assert log_rules.image.partitions[A, 0].isr == (1, 2)


def test_an_isr_does_not_grow_by_a_former_incarnation():
    log_rules = prepared()
    log_rules.on_isr_requested((A, 0), 1, {(1, 0), (2, 0)})

    with pytest.raises(Violation, match="C16"):
        feed(log_rules, [[change(isr=(1,))], [change(isr=(1, 2))]])


def test_a_broker_that_shuts_down_does_not_join_an_isr():
    log_rules = prepared()
    log_rules.on_isr_requested((A, 0), 1, {(1, 0), (2, 1)})

    with pytest.raises(Violation, match="C06"):
        feed(log_rules, [[change(isr=(1,)), changes(2, 1, in_controlled_shutdown=1)], [change(isr=(1, 2))]])


def test_a_reassignment_may_complete_in_an_unclean_election():
    log_rules = prepared()
    log_rules.on_unclean_election_requested("t", 0)
    feed(log_rules, [[change(isr=(2,), leader=-1, adding_replicas=(2,))]])

    feed(log_rules, [[change(isr=(1,), leader=1, leader_recovery_state=1, adding_replicas=())]])

    assert log_rules.image.partitions[A, 0].isr == (1,)


@pytest.mark.parametrize("epoch_of_new", [2, 0])
def test_a_reassignment_may_complete_by_the_isr_that_the_leader_asks_for_in_an_unclean_election(epoch_of_new):
    """The added replica is in sync, of its present epoch, but its directory has failed: a former one is elected."""
    log_rules = prepared()
    log_rules.on_unclean_election_requested("t", 0)
    feed(log_rules, [[change(isr=(2,), leader=2, replicas=(3, 1, 2), adding_replicas=(3,), removing_replicas=(2,))]])
    log_rules.on_isr_requested((A, 0), 1, {(2, 1), (3, epoch_of_new)})
    end = [
        change(isr=(1,), leader=1, replicas=(3, 1), adding_replicas=(), removing_replicas=(), leader_recovery_state=1)
    ]

    if epoch_of_new == 2:
        feed(log_rules, [end])
        assert log_rules.image.partitions[A, 0].replicas == (3, 1)
    else:
        with pytest.raises(Violation, match="C11"):
            feed(log_rules, [end])


@pytest.mark.parametrize(("adding", "may_lead"), [((2,), True), ((3,), False)])
def test_a_former_replica_leads_without_recovery_when_all_in_sync_were_added_ones(adding, may_lead):
    log_rules = prepared()
    log_rules.on_unclean_election_requested("t", 0)
    feed(log_rules, [[change(isr=(2,), leader=2, replicas=(1, 2, 3), adding_replicas=adding)]])

    left = tuple(each for each in (1, 2, 3) if each not in adding)
    cancel = [[change(replicas=left, isr=(1,), leader=1, adding_replicas=())]]
    if may_lead:
        feed(log_rules, cancel)
        assert log_rules.image.partitions[A, 0].isr == (1,)
    else:
        with pytest.raises(Violation, match=r"C14: .*not RECOVERING"):
            feed(log_rules, cancel)


@pytest.mark.parametrize(("isr", "is_sound"), [((1,), True), ((3,), False)])
def test_the_first_replica_is_in_sync_where_a_move_is_cancelled_with_nobody_in_sync(isr, is_sound):
    log_rules = prepared()
    log_rules.on_unclean_election_requested("t", 0)
    left = change(isr=(), leader=-1, removing_replicas=(2, 3), last_known_elr=(2,))
    feed(log_rules, [[left], [UnregisterBrokerRecord(broker_id=1, broker_epoch=0)]])

    cancel = [[change(isr=isr, removing_replicas=())]]
    if is_sound:
        feed(log_rules, cancel)
        assert log_rules.image.partitions[A, 0].isr == isr
    else:
        with pytest.raises(Violation, match="C16"):
            feed(log_rules, cancel)


@pytest.mark.parametrize(("leader", "may_lead"), [(1, True), (2, False)])
def test_the_first_replica_leads_without_recovery_where_a_move_is_cancelled_with_nobody_in_sync(leader, may_lead):
    log_rules = prepared()
    log_rules.on_unclean_election_requested("t", 0)
    feed(log_rules, [[change(isr=(), leader=-1, removing_replicas=(2,), last_known_elr=(3,))]])

    cancel = [[change(isr=(leader,), leader=leader, removing_replicas=())]]
    if may_lead:
        feed(log_rules, cancel)
        assert log_rules.image.partitions[A, 0].leader == leader
    else:
        with pytest.raises(Violation, match=r"C14|C16"):
            feed(log_rules, cancel)


def test_an_offset_within_a_transaction_is_not_settled():
    log_rules = prepared()
    begin = log_rules.image.end_offset

    feed(log_rules, [[BeginTransactionRecord(name=None), TopicRecord(name="u", topic_id=B)]])
    within = log_rules.last_settled_offset(begin + 2)
    feed(log_rules, [[partition(topic=B), EndTransactionRecord()]])

    assert within == begin
    assert [log_rules.last_settled_offset(begin + count) for count in (1, 3, 4, 9)] == [
        begin,
        begin,
        begin + 4,
        begin + 4,
    ]


def test_a_reassignment_ends_with_the_requested_replicas():
    log_rules = prepared()
    log_rules.on_reassignment_requested("t", 0, {3})
    log_rules.on_isr_requested((A, 0), 1, {(1, 0), (2, 1), (3, 2)})

    feed(log_rules, [
        [change(replicas=(3, 1, 2), adding_replicas=(3,), removing_replicas=(1, 2))],
        [change(replicas=(3,), isr=(3,), leader=3, adding_replicas=(), removing_replicas=())],
    ])  # fmt: skip

    assert log_rules.image.partitions[A, 0].replicas == (3,)


def test_a_broker_without_a_clean_shutdown_is_not_eligible_any_more():
    log_rules = prepared()
    log_rules.on_registration_requested(B, -1)
    feed(log_rules, [[FeatureLevelRecord(name="metadata.version", feature_level=25), MIN_ISR]])
    feed(log_rules, [[FeatureLevelRecord(name=ELR, feature_level=1)]])

    with pytest.raises(Violation, match="C16"):
        feed(log_rules, [[change(isr=(1,), eligible_leader_replicas=(2,))], [registers(2, 12, B)]])


@pytest.mark.parametrize("former_epoch", [-1, 1])
def test_a_broker_that_was_unregistered_is_not_eligible_any_more(former_epoch):
    log_rules = prepared()
    log_rules.on_registration_requested(B, former_epoch)
    feed(log_rules, [[FeatureLevelRecord(name="metadata.version", feature_level=25), MIN_ISR]])
    feed(log_rules, [[FeatureLevelRecord(name=ELR, feature_level=1)]])
    unregister = UnregisterBrokerRecord(broker_id=2, broker_epoch=1)
    feed(log_rules, [[change(isr=(1,), eligible_leader_replicas=(2,))], [unregister]])

    with pytest.raises(Violation, match="C16"):
        feed(log_rules, [[registers(2, 13, B)]])


def prepared():
    log_rules = LogRules()
    for broker in (1, 2, 3):
        log_rules.on_heartbeat(broker, broker - 1, broker - 1)
    feed(log_rules, [BROKERS, TOPIC])
    return log_rules


def feed(log_rules, batches):
    offset = log_rules.image.end_offset
    for records in batches:
        values = [encode_record(record, type(record).__schema__.versions[1]) for record in records]
        data = build_batch(values, base_offset=offset, leader_epoch=1, timestamp_ms=0)
        offset += len(records)
        log_rules.on_committed(data, offset)
