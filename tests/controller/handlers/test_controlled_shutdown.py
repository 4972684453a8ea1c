"""Controlled shutdown of a broker in very many ISRs: so many partitions in each step."""

from random import Random

import pytest

from controller.interface.inputs import Ticked
from records.messages.brokers import UnregisterBrokerRequest
from records.metadata.brokers import BrokerRegistrationChangeRecord
from records.metadata.topics import PartitionChangeRecord
from tests.controller.handlers.test_directories import assignment
from tests.controller.rig import Rig, directory

PARTITIONS = 8


def cluster(*broker_ids, at_once=3, **fields):
    """A cluster whose active controller does nothing by itself but fencing and the steps of a shutdown."""
    rig = Rig(metadata_max_idle_interval_ms=0).lead().brokers(*broker_ids, **fields)
    rig.controller.env.partitions_at_once = at_once
    return rig


def leaders(rig):
    return [rig.partition("foo", number).leader for number in range(PARTITIONS)]


def isrs(rig):
    return [rig.partition("foo", number).isr for number in range(PARTITIONS)]


def go_on(rig):
    """Take all steps that are due now; returns how many records each had."""
    sizes = []
    while rig.controller.env.sessions.has_steps:
        assert rig.deadline_ms == rig.now_ms
        before = rig.end_offset
        rig.step(Ticked())
        sizes.append(rig.end_offset - before)
    return sizes


def ask_to_stop(rig, broker_id):
    """The broker wants to shut down; returns whether it may."""
    return rig.heartbeat(broker_id, want_shut_down=True).should_shut_down


def test_it_goes_on_without_a_further_heartbeat_and_ends_when_the_others_have_read_its_last_record():
    rig = cluster(0, 1, 2)
    rig.create("foo", *[(0, 1, 2)] * PARTITIONS)
    for other in (1, 2):
        rig.heartbeat(other)
    before = rig.end_offset

    assert not ask_to_stop(rig, 0)
    assert [type(record) for record, _ in rig.records(before)] == [
        BrokerRegistrationChangeRecord, *[PartitionChangeRecord] * 3
    ]  # fmt: skip
    assert not ask_to_stop(rig, 0)
    assert go_on(rig) == [3, 2]

    assert (leaders(rig), isrs(rig)) == ([1] * PARTITIONS, [(1, 2)] * PARTITIONS)
    last_offset = rig.controller.env.sessions.get(0).shutdown_offset
    assert last_offset == rig.end_offset - 1
    for offset, may_stop in ((last_offset - 1, False), (last_offset, True)):
        for other in (1, 2):
            rig.heartbeat(other, current_metadata_offset=offset)
        assert ask_to_stop(rig, 0) is may_stop


def test_a_heartbeat_that_changes_a_registration_does_not_yet_say_what_its_broker_has_read():
    """As in stock, where the replay of the change makes the offset unknown again."""
    rig = cluster(0, 1, at_once=PARTITIONS)
    rig.create("foo", (0, 1))
    ask_to_stop(rig, 0)

    rig.heartbeat(1, cordoned_log_dirs=(directory(1),))
    assert not ask_to_stop(rig, 0)
    rig.heartbeat(1, cordoned_log_dirs=(directory(1),))

    assert ask_to_stop(rig, 0)


def test_other_requests_are_served_between_its_steps():
    rig = cluster(0, 1)
    rig.create("foo", *[(0, 1)] * PARTITIONS)
    ask_to_stop(rig, 0)

    rig.create("bar", (1,))
    assert rig.alter("foo", (0,), partition_id=7).error_code != 0

    assert go_on(rig) == [3, 2]
    assert isrs(rig) == [(1,)] * PARTITIONS


def test_a_broker_in_very_many_isrs_that_leads_nothing_leaves_them_before_it_may_stop():
    rig = cluster(0, 1)
    rig.create("foo", *[(1, 0)] * PARTITIONS)

    assert not ask_to_stop(rig, 0)
    assert rig.state.brokers[0].in_controlled_shutdown
    go_on(rig)
    rig.heartbeat(1)

    assert isrs(rig) == [(1,)] * PARTITIONS
    assert ask_to_stop(rig, 0)


def test_a_broker_that_leads_nothing_may_stop_at_once_where_one_step_takes_it_from_all_isrs():
    rig = cluster(0, 1, at_once=PARTITIONS)
    rig.create("foo", *[(1, 0)] * PARTITIONS)

    assert ask_to_stop(rig, 0)
    assert isrs(rig) == [(1,)] * PARTITIONS


def test_a_broker_that_leaves_isrs_while_no_other_broker_is_active_may_not_stop_before_its_last_step():
    rig = cluster(0, 1)
    rig.create("foo", *[(1, 0)] * PARTITIONS)
    ask_to_stop(rig, 0)
    ask_to_stop(rig, 1)

    assert not ask_to_stop(rig, 0)
    go_on(rig)

    assert ask_to_stop(rig, 0)
    assert (leaders(rig), isrs(rig)) == ([-1] * PARTITIONS, [(1,)] * PARTITIONS)


def test_a_broker_that_is_alone_in_very_many_isrs_may_stop_though_it_stays_in_them():
    rig = cluster(0, 1)
    rig.create("foo", *[(0,)] * PARTITIONS)

    assert not ask_to_stop(rig, 0)
    go_on(rig)
    rig.heartbeat(1)

    assert (leaders(rig), isrs(rig)) == ([-1] * PARTITIONS, [(0,)] * PARTITIONS)
    assert ask_to_stop(rig, 0)


def test_replicas_in_a_directory_that_is_reported_offline_with_it_leave_in_the_first_step():
    rig = cluster(1)
    rig.brokers(0, log_dirs=(directory(0), directory(0, 1)))
    rig.create("foo", *[(0, 1)] * PARTITIONS)
    rig.ask(assignment(rig, 0, {directory(0, 1): [("foo", 2), ("foo", 7)]}))
    before = rig.end_offset

    rig.heartbeat(0, want_shut_down=True, offline_log_dirs=(directory(0, 1),))

    changes = [record for record, _ in rig.records(before) if isinstance(record, PartitionChangeRecord)]
    assert [(record.partition_id, record.isr, record.leader) for record in changes] == [
        (number, (1,), 1) for number in (0, 1, 2, 7)
    ]  # fmt: skip
    assert go_on(rig) == [3, 1]
    assert isrs(rig) == [(1,)] * PARTITIONS


def test_a_broker_that_is_unregistered_meanwhile_has_no_further_steps():
    rig = cluster(0, 1)
    rig.create("foo", *[(0, 1)] * PARTITIONS)
    ask_to_stop(rig, 0)

    rig.ask(UnregisterBrokerRequest(broker_id=0))

    assert go_on(rig) == []
    assert isrs(rig) == [(1,)] * PARTITIONS


def test_it_begins_with_what_is_left_when_the_broker_is_heard_after_it_registers_again_meanwhile():
    rig = cluster(0, 1)
    rig.create("foo", *[(0, 1)] * PARTITIONS)
    ask_to_stop(rig, 0)

    assert rig.register(0).error_code == 0
    assert rig.state.brokers[0].in_controlled_shutdown
    assert go_on(rig) == []
    assert not ask_to_stop(rig, 0)

    assert go_on(rig) == [2]
    assert isrs(rig) == [(1,)] * PARTITIONS


def test_a_broker_whose_session_expires_meanwhile_is_fenced():
    rig = cluster(0, 1)
    rig.create("foo", *[(0, 1)] * PARTITIONS)
    ask_to_stop(rig, 0)
    rig.now_ms += 9001
    rig.heartbeat(1)

    assert go_on(rig) == [3, 3]
    assert rig.state.brokers[0].fenced
    assert isrs(rig) == [(1,)] * PARTITIONS


def test_it_begins_with_what_is_left_when_the_broker_is_heard_by_the_next_leader():
    rig = cluster(0, 1)
    rig.create("foo", *[(0, 1)] * PARTITIONS)
    ask_to_stop(rig, 0)
    rig.follow()
    rig.lead()
    before = rig.end_offset

    assert go_on(rig) == []
    assert not ask_to_stop(rig, 0)
    assert go_on(rig) == [2]

    assert [type(record) for record, _ in rig.records(before)] == [PartitionChangeRecord] * 5
    rig.heartbeat(1)
    assert ask_to_stop(rig, 0)
    assert (leaders(rig), isrs(rig)) == ([1] * PARTITIONS, [(1,)] * PARTITIONS)


def test_the_next_leader_fences_a_broker_that_it_does_not_hear_and_that_leaves_nothing_behind():
    rig = cluster(0, 1)
    rig.create("foo", *[(0, 1)] * PARTITIONS)
    ask_to_stop(rig, 0)
    rig.follow()
    rig.lead()
    rig.tick(8000)
    rig.heartbeat(1)
    rig.tick(1001)

    assert rig.state.brokers[0].fenced
    assert isrs(rig) == [(1,)] * PARTITIONS


class Pair:
    """Two controllers that get the same requests. The second takes brokers from their ISRs in steps, and leads anew
    between two of them now and then.
    """

    def __init__(self, seed):
        self.rng = rng = Random(seed)
        self.rigs = [Rig(metadata_max_idle_interval_ms=0, elr=seed % 2 == 1).lead() for _ in range(2)]
        self.brokers = dict.fromkeys(range(4), 1)  # id -> incarnation
        for rig in self.rigs:
            rig.brokers(*self.brokers)
        for name, replicas in (("foo", 2), ("bar", 3), ("baz", 1)):
            assignments = [tuple(rng.sample(range(4), replicas)) for _ in range(rng.randint(1, 5))]
            is_unclean = rng.choice(("true", "false"))
            for rig in self.rigs:
                rig.create(name, *assignments, min_insync_replicas="2", unclean_leader_election_enable=is_unclean)
        self.rigs[1].controller.env.partitions_at_once = rng.randint(1, 3)

    def act(self):
        """The same change of a random broker on both sides."""
        brokers = self.rigs[0].state.brokers
        broker_id = self.rng.choice(sorted(brokers))
        if brokers[broker_id].fenced:
            self.brokers[broker_id] += 1
            self.expire(broker_id)
            for rig in self.rigs:
                rig.brokers(broker_id, incarnation=self.brokers[broker_id])
            return
        what = self.rng.choice((self.stop, self.stop, self.expire, self.fence, self.join, self.join))
        what(broker_id)

    def stop(self, broker_id):
        """The broker wants to shut down until it may; the others read all metadata in between."""
        for rig in self.rigs:
            while not ask_to_stop(rig, broker_id):
                for _ in range(self.rng.randint(0, 4) if rig is self.rigs[1] else 0):
                    rig.step(Ticked())
                if rig is self.rigs[1] and self.rng.random() < 0.2:
                    rig.follow()
                    rig.lead()
                self.hear_all_but(rig, broker_id)

    def expire(self, broker_id):
        for rig in self.rigs:
            rig.now_ms += 9001
            self.hear_all_but(rig, broker_id)
            rig.tick()

    def fence(self, broker_id):
        for rig in self.rigs:
            rig.fence(broker_id)

    def join(self, broker_id):
        """The leaders of partitions add the broker to their ISRs."""
        found = [
            (topic.name, number, partition)
            for topic, number, partition in self.rigs[0].state.partitions
            if partition.leader >= 0 and broker_id in set(partition.replicas) - set(partition.isr)
        ]
        for name, number, partition in found:
            isr = (*partition.isr, broker_id)
            for rig in self.rigs:
                assert rig.alter(name, isr, partition_id=number, leader_recovery_state=0).error_code == 0

    def hear_all_but(self, rig, broker_id):
        for other, broker in rig.state.brokers.items():
            if other != broker_id and not broker.fenced:
                rig.heartbeat(other)

    def states(self):
        return [
            (
                [(topic.name, number, partition) for topic, number, partition in rig.state.partitions],
                {broker_id: broker.fenced for broker_id, broker in rig.state.brokers.items()},
            )
            for rig in self.rigs
        ]


@pytest.mark.parametrize("seed", range(40))
def test_in_steps_and_under_several_leaders_it_ends_like_one_whole_step(seed):
    pair = Pair(seed)

    for _ in range(15):
        pair.act()

        whole, in_steps = pair.states()
        assert in_steps == whole
