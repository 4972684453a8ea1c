"""Random requests to a controller that sometimes loses its uncommitted records: the state stays consistent.

After each step the state of the active controller equals a fresh replay of its log, and when leadership is lost a
replay of the committed log; no partition is led by a broker that must not lead; every request gets a response.
"""

import contextlib
from contextlib import suppress
from random import Random

import pytest

from controller.core.apis import APIS
from controller.interface.inputs import Committed, LeaderChanged, Ticked
from controller.state.partitions.partition import NO_LEADER
from controller.state.state import State
from records.batch import batches, records_of
from records.errors import ApiError
from records.frame import decode_record
from records.messages.brokers import UnregisterBrokerRequest
from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from tests.controller.handlers.test_directories import assignment
from tests.controller.rig import Rig, directory, new_topic, registration, set_config

BROKERS = range(5)
NAMES = ("foo", "bar", "a.b", "a_b", "x")
Reassignable = AlterPartitionReassignmentsRequest.ReassignableTopic


class Life:
    """A rig, and the rng that drives it."""

    def __init__(self, seed, **settings):
        self.random = Random(seed)
        self.rig = Rig(
            elr=self.random.random() < 0.7,
            seed=seed,
            auto=False,
            unclean_leader_election_enable=self.random.random() < 0.2,
            leader_imbalance_check_interval_seconds=20,
            unclean_leader_election_interval_ms=25_000,
            metadata_max_batch_size_in_bytes=self.random.choice((8_388_608, 300)),
            **settings,
        ).lead()
        self.rig.commit()
        self.sent = []

    def pick(self, items):
        return self.random.choice(list(items))

    def brokers(self):
        return self.random.sample(BROKERS, self.random.randint(1, 4))

    def partition(self):
        """A topic and a partition, which may exist."""
        name = self.pick(self.rig.state.topic_ids or NAMES)
        return name, self.random.randint(0, 2)

    def send(self, request, version=None, **context):
        self.sent.append(self.rig.send(request, version, **context))

    # What may happen.

    def register(self):
        broker = self.pick(BROKERS)
        dirs = tuple(directory(broker, number) for number in range(self.random.randint(1, 2)))
        self.send(registration(broker, self.random.randint(1, 3), log_dirs=dirs, rack=self.pick((None, "a", "b"))), 4)

    def heartbeat(self):
        registered = sorted(self.rig.state.brokers)
        if not registered:
            return self.register()
        broker = self.pick(registered)
        fields = {}
        if self.random.random() < 0.15:
            fields["want_fence"] = True
        if self.random.random() < 0.1:
            fields["want_shut_down"] = True
        if self.random.random() < 0.1:
            fields["offline_log_dirs"] = (directory(broker, 1),)
        if self.random.random() < 0.1:
            fields["cordoned_log_dirs"] = self.pick(((), (directory(broker),)))
        fields["current_metadata_offset"] = self.rig.end_offset - self.random.randint(0, 3)
        self.sent.append(self.rig.heartbeat_unanswered(broker, **fields))
        return None

    def create(self):
        assignments = [tuple(self.brokers()) for _ in range(self.random.randint(1, 3))]
        configs = {"min_insync_replicas": str(self.random.randint(1, 3))} if self.random.random() < 0.5 else {}
        if self.random.random() < 0.3:
            configs["unclean_leader_election_enable"] = "true"
        size = len(assignments[0])
        topic = new_topic(self.pick(NAMES), *[a for a in assignments if len(a) == size], **configs)
        self.send(CreateTopicsRequest(topics=(topic,), validate_only=self.random.random() < 0.1))

    def delete(self):
        state = DeleteTopicsRequest.DeleteTopicState(name=self.pick(NAMES))
        self.send(DeleteTopicsRequest(topics=(state,), timeout_ms=1000))

    def grow(self):
        name, count = self.partition()
        topic = CreatePartitionsRequest.CreatePartitionsTopic(name=name, count=count + 2, assignments=None)
        self.send(CreatePartitionsRequest(topics=(topic,), timeout_ms=1000, validate_only=False))

    def alter(self):
        name, index = self.partition()
        found = self.rig.state.partitions.find(self.rig.state.topic(name), index)
        if found is None or found.leader == NO_LEADER:
            return
        isr = self.random.sample(found.replicas, self.random.randint(1, len(found.replicas)))
        if self.random.random() < 0.8 and found.leader not in isr:
            isr.append(found.leader)
        recovery = 0 if self.random.random() < 0.5 else found.recovery_state
        rig = self.rig
        before = rig.correlation
        with suppress(KeyError):  # it may wait
            rig.alter(name, isr, partition_id=index, leader_recovery_state=recovery, version=self.pick((2, 3)))
        assert rig.correlation == before + 1
        self.sent.append(rig.correlation)

    def reassign(self):
        name, index = self.partition()
        replicas = None if self.random.random() < 0.3 else tuple(self.brokers())
        part = Reassignable.ReassignablePartition(partition_index=index, replicas=replicas)
        parts = (part, part) if self.random.random() < 0.1 else (part,)
        self.send(AlterPartitionReassignmentsRequest(topics=(Reassignable(name=name, partitions=parts),)))
        self.send(ListPartitionReassignmentsRequest())

    def assign(self):
        registered = sorted(self.rig.state.brokers)
        if registered and self.rig.state.topic_ids:
            broker = self.pick(registered)
            target = directory(broker, self.random.randint(0, 2))
            self.send(assignment(self.rig, broker, {target: [self.partition()]}))

    def elect(self):
        self.send(ElectLeadersRequest(election_type=self.random.randint(0, 1), topic_partitions=None))

    def unregister(self):
        self.send(UnregisterBrokerRequest(broker_id=self.pick(BROKERS)))

    def configure(self):
        if self.rig.state.topic_ids:
            name = self.pick(self.rig.state.topic_ids)
            set_config(self.rig, 2, name, "unclean.leader.election.enable", self.pick(("true", "false")))

    def wait(self):
        for _ in range(self.random.randint(1, 5)):
            self.rig.now_ms += self.random.randint(1, 4000)
            self.rig.step(Ticked())

    def commit(self):
        ends = [next(batches(data)).last_offset + 1 for data in self.rig.log]
        committed = self.rig.state.committed_end_offset
        later = [end for end in ends if end > committed]
        if later:
            self.rig.commit(self.pick(later))

    def lose(self):
        """Another controller leads for a while: it has all committed records, and maybe more of those written here."""
        rig = self.rig
        log = [(next(batches(data)), data) for data in rig.log]
        committed = rig.state.committed_end_offset
        kept = self.random.randint(0, 3)
        rig.epoch += 1
        rig.step(LeaderChanged(rig.epoch, 7))
        assert rig.state.contents() == replayed(rig.log, committed).contents()
        uncommitted = [data for batch, data in log if batch.base_offset >= committed]
        for data in uncommitted[:kept]:
            rig.step(Committed(data))
        rig.end_offset = rig.state.end_offset
        rig.log = [data for batch, data in log if batch.last_offset < rig.end_offset]
        rig.lead()
        rig.commit()


WEIGHTS = {
    "register": 6, "heartbeat": 30, "create": 8, "delete": 2, "grow": 3, "alter": 14, "reassign": 8, "assign": 5,
    "elect": 3, "unregister": 1, "configure": 2, "wait": 3, "commit": 12, "lose": 3,
}  # fmt: skip


def replayed(log, end_offset):
    """The state of a fresh node that has replayed a log up to an offset."""
    state = State()
    for data in log:
        for batch in batches(data):
            if batch.last_offset < end_offset:
                state.commit(batch.base_offset)
                if not batch.is_control:
                    for record in records_of(data, batch):
                        state.replay(decode_record(record.value)[0], record.offset)
                state.end_offset = batch.last_offset + 1
    state.commit(end_offset)
    return state


def check(rig):
    """The invariants of an active controller's state."""
    state = rig.state
    for topic, index, partition in state.partitions:
        where = (topic.name, index, partition)
        assert len(set(partition.replicas)) == len(partition.replicas) == len(partition.directories), where
        assert set(partition.isr) <= set(partition.replicas), where
        assert not set(partition.isr) & set(partition.elr), where
        assert set(partition.adding) <= set(partition.replicas), where
        assert partition.isr or state.is_elr_enabled, where
        if partition.leader != NO_LEADER:
            assert partition.leader in partition.isr, where
            # A broker that was in controlled shutdown, was fenced and comes back without registering anew, as none of
            # Kafka's does, may lead again.
            assert not state.brokers[partition.leader].fenced, where
            for member in partition.isr:
                assert member in state.brokers, where
    for session in rig.controller.env.sessions:
        assert session.fenced == state.brokers[session.broker_id].fenced
    assert len(list(rig.controller.env.sessions)) == len(state.brokers)


@pytest.mark.parametrize("seed", range(40))
def test_random_requests_keep_the_state_consistent_and_all_are_answered(seed):
    life = Life(seed)
    rig = life.rig
    kinds = [kind for kind, weight in WEIGHTS.items() for _ in range(weight)]

    for number in range(250):
        getattr(life, life.pick(kinds))()
        check(rig)
        if number % 25 == 0:
            assert rig.state.contents() == replayed(rig.log, rig.end_offset).contents()

    rig.commit()
    assert [number for number in life.sent if number not in rig.replies] == []
    assert rig.state.contents() == replayed(rig.log, rig.end_offset).contents()


@pytest.mark.parametrize("seed", range(10))
def test_a_handler_leaves_the_state_as_it_was(seed):
    life = Life(seed)
    rig = life.rig
    kinds = [kind for kind, weight in WEIGHTS.items() for _ in range(weight) if kind != "lose"]
    asked = []
    step = rig.step

    def spying(event):
        if hasattr(event, "request"):
            asked.append(event)
            before = rig.state.contents()
            api = APIS[event.context.api_key]
            with contextlib.suppress(ApiError):
                api.handler(rig.state, event.context, event.request, rig.controller.env)
            assert rig.state.contents() == before
        return step(event)

    rig.step = spying
    for _ in range(60):
        getattr(life, life.pick(kinds))()
    assert len(asked) > 20
