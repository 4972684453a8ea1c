from __future__ import annotations

from random import Random

import numpy as np
import pytest

from controller.interface.env import Env
from controller.interface.settings import Settings
from controller.rules.bulk_elections import leader_and_isr_changes, members
from controller.rules.partition_change import Election
from controller.state.state import State
from records.batch import build_batch, seal
from records.bulk.rows import batch_body
from records.frame import encode_record
from records.metadata.brokers import RegisterBrokerRecord
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.topics import PartitionRecord, TopicRecord
from records.schema import default_of, replace
from records.uuids import LOST_DIRECTORY, MIGRATING_DIRECTORY
from tests.controller.lives import BROKERS, first_records, live
from tests.controller.one_by_one import leader_and_isr_changes as one_by_one
from tests.controller.state.tables.replaying import state_of


def env(**settings):
    return Env(cluster_id="c", node_id=3000, random=Random(0), settings=Settings(**settings))


def cluster(seed):
    """A random state with registered brokers and partitions of many kinds."""
    random = Random(seed)
    state = State()
    live(random, 250, state, metadata_version=random.choice((7, 17, 23, 30, 30, 30)))
    if random.random() < 0.3:
        state.replay(FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=0), state.end_offset)
        state.commit(state.end_offset)
    return random, state


def by_partition(record):
    return record.topic_id, record.partition_id


@pytest.mark.parametrize("seed", range(150))
def test_the_bulk_and_the_single_election_give_the_same_partitions(seed):
    random, state = cluster(seed)
    nearby = env(min_insync_replicas=random.randint(1, 3), unclean_leader_election_enable=random.random() < 0.4)
    broker = random.choice(BROKERS)
    partitions = state.partitions
    rows, why = random.choice(
        (
            (partitions.in_isr(broker), {"removed": broker}),
            (partitions.leaderless(), {"added": broker}),
            (partitions.in_isr(broker), {"lost_data": broker}),
            (partitions.in_elr(broker), {"lost_data": broker}),
            (partitions.with_replica(broker), {"removed": broker}),
            (partitions.imbalanced_rows(), {"election": Election.PREFERRED}),
            (partitions.leaderless(), {"election": Election.UNCLEAN}),
            (partitions.with_replica(broker), {"election": random.choice(list(Election))}),
        )
    )

    changes = leader_and_isr_changes(state, nearby, rows, **why)

    records = list(changes.records(partitions))
    expected = one_by_one(state, nearby, rows.tolist(), **why)
    assert sorted(records, key=by_partition) == sorted((record for record, _ in expected), key=by_partition)
    assert len(changes) == len(expected)
    if records:
        values = [encode_record(record, 2) for record in records]
        body, count = batch_body(changes.parts(partitions, 2))
        one = build_batch(values, base_offset=7, leader_epoch=1, timestamp_ms=2)
        assert seal(body, count, 7, 1, 2) == one


@pytest.mark.parametrize("seed", range(150))
def test_bulk_replay_equals_single_replay_and_can_be_undone(seed):
    random, state = cluster(seed)
    _, other = cluster(seed)
    before = state.contents()
    broker = random.choice(BROKERS)
    changes = leader_and_isr_changes(
        state, env(min_insync_replicas=random.randint(1, 3)), state.partitions.in_isr(broker), removed=broker
    )
    base = state.end_offset

    state.replay_changes(changes, base)
    for record in changes.records(other.partitions):
        other.replay(record, other.end_offset)

    assert state.contents() == other.contents()
    assert state.partitions.counts() == other.partitions.counts()
    assert state.end_offset == other.end_offset
    for group in changes.groups:
        for row in group.rows.tolist():
            assert base <= other.partitions.change_offset(row) <= state.partitions.change_offset(row) < state.end_offset
    state.revert()
    assert state.contents() == before
    assert state.partitions.last_change() == -1


def registered(*broker_ids):
    """Registrations of unfenced brokers, without directories."""
    for broker_id in broker_ids:
        yield replace(default_of(RegisterBrokerRecord), broker_id=broker_id, fenced=False)


def topic(name, **fields):
    """A topic of one partition, on the brokers 1, 2 and 3 unless others are given."""
    topic_id = name.encode().ljust(16, b"-")
    given = {"topic_id": topic_id, "replicas": (1, 2, 3), "isr": (1, 2, 3), "leader": 1, **fields}
    yield TopicRecord(name=name, topic_id=topic_id)
    yield replace(default_of(PartitionRecord), **given)


def changed(state, rows, **why):
    """The changes of these rows, which are the same whether made in bulk or one by one, by the first letter of their
    topic.
    """
    changes = list(leader_and_isr_changes(state, env(), rows, **why).records(state.partitions))
    single = [record for record, _ in one_by_one(state, env(), rows.tolist(), **why)]
    assert sorted(changes, key=by_partition) == single
    return {chr(record.topic_id[0]): record for record in changes}


def test_a_replica_in_a_lost_directory_cannot_lead_even_on_a_broker_without_directories():
    lost = {"directories": (MIGRATING_DIRECTORY, LOST_DIRECTORY, MIGRATING_DIRECTORY)}
    state = state_of(*first_records(), *registered(1, 2, 3), *topic("a", **lost), *topic("b"))

    found = changed(state, state.partitions.in_isr(1), removed=1)

    assert {name: record.leader for name, record in found.items()} == {"a": 3, "b": 2}


def test_equal_partitions_in_reassignment_change_by_the_min_isr_of_their_own_topic():
    config = ConfigRecord(resource_type=2, resource_name="b", name="min.insync.replicas", value="3")
    topics = [*topic("a", adding_replicas=(3,), isr=(1, 2)), *topic("b", adding_replicas=(3,), isr=(1, 2))]
    state = state_of(*first_records(), *registered(1, 2, 3), *topics, config)

    found = changed(state, state.partitions.in_isr(1), removed=1)

    assert {name: record.isr for name, record in found.items()} == {"a": (2,), "b": (2,)}
    assert {name: record.eligible_leader_replicas for name, record in found.items()} == {"a": None, "b": (1,)}


def test_equal_partitions_in_reassignment_elect_as_their_own_topic_allows():
    config = ConfigRecord(resource_type=2, resource_name="b", name="unclean.leader.election.enable", value="true")
    topics = [*topic("a", adding_replicas=(3,), isr=(1,)), *topic("b", adding_replicas=(3,), isr=(1,))]
    state = state_of(first_records()[0], *registered(1, 2, 3), *topics, config)

    found = changed(state, state.partitions.in_isr(1), removed=1)

    assert {name: (record.leader, record.isr) for name, record in found.items()} == {"a": (-1, None), "b": (2, (2,))}


def test_a_new_leader_ends_what_is_known_of_former_ones_however_many_they_are():
    alone = {"isr": (3,), "leader": -1}
    topics = [
        *topic("a", last_known_elr=(1, 2), **alone),
        *topic("b", last_known_elr=(1,), **alone),
        *topic("c", **alone),
    ]
    state = state_of(*first_records(), *registered(1, 2, 3), *topics)

    found = changed(state, state.partitions.leaderless(), added=3)

    assert {name: record.leader for name, record in found.items()} == {"a": 3, "b": 3, "c": 3}
    assert {name: record.last_known_elr for name, record in found.items()} == {"a": (), "b": (), "c": None}


@pytest.mark.parametrize("ids", [(), (0,), (3, 7), (3, 100_000), (-1, 4)])
def test_membership_is_correct_for_any_broker_ids(ids):
    values = [-1, 0, 3, 4, 5, 7, 8, 99_999, 100_000, 2**31 - 1]

    found = members(ids)(np.array(values, np.int32))

    assert found.tolist() == [value in ids and value >= 0 for value in values]
