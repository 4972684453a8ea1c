"""Responses that are sent too early, too late or never are detected."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from controller.interface import effects, inputs
from controller.interface.inputs import RequestContext
from raft.interface.inputs import Source
from records.messages.brokers import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from records.messages.cluster import DescribeClusterRequest, DescribeClusterResponse
from records.messages.topics import CreateTopicsRequest
from simulations.cluster.answering import Answering
from simulations.world.violation import Violation

SOURCE = Source(7, 1)
CREATE = CreateTopicsRequest(topics=(), timeout_ms=1)
LOOK = DescribeClusterRequest(include_cluster_authorized_operations=False)
ANSWER = DescribeClusterResponse(
    throttle_time_ms=0, error_code=0, error_message=None, cluster_id="", brokers=(), cluster_authorized_operations=0
)

NO_PARTITIONS = SimpleNamespace(
    rows_led_by=lambda _broker: (), in_isr=lambda _broker: np.array([], int), count=7
)  # fmt: skip


class World:
    """An active controller with a log, which is committed up to a given offset."""

    def __init__(self, log_end=10, committed=10, settled=10):
        self.history = SimpleNamespace(end=committed, chain_at={})
        chain = SimpleNamespace(at=lambda _offset: None)
        self.brokers = {}
        self.state = SimpleNamespace(
            end_offset=log_end, brokers=self.brokers, partitions=NO_PARTITIONS,
            transaction_start=-1, registration_offsets={},
        )  # fmt: skip
        env = SimpleNamespace(epoch=3, partitions_at_once=5_000)
        self.controller = SimpleNamespace(is_active=True, state=self.state, env=env, replay=None)
        replica = SimpleNamespace(log=SimpleNamespace(end=log_end))
        self.process = SimpleNamespace(
            node=SimpleNamespace(id=1), life=1, controller=self.controller, replica=replica, connections={7: None}
        )
        log_rules = SimpleNamespace(last_settled_offset=lambda offset: min(offset, settled))
        self.shown = -1
        ledger = SimpleNamespace(shadow=lambda _process: chain)
        self.answering = Answering(ledger, self.history, log_rules)
        self.answering.rests_on = lambda _node_id, request: self.shown + 1 if isinstance(request, type(LOOK)) else 0

    def asks(self, request, done=()):
        self.answering.on_asked(self.process, SOURCE)
        context = RequestContext(SOURCE, type(request).__schema__.api_key, 0, "CONTROLLER")
        self.answering.on_stepped(self.process, inputs.Requested(context, request), list(done))

    def leads_no_more(self, done=()):
        self.controller.is_active = False
        self.answering.on_stepped(self.process, inputs.LeaderChanged(2, 4, 10), list(done))

    def beats(self, broker, read, *, leaves=False):
        request = BrokerHeartbeatRequest(
            broker_id=broker, broker_epoch=broker, current_metadata_offset=read, want_fence=False,
            want_shut_down=leaves,
        )  # fmt: skip
        response = BrokerHeartbeatResponse(
            throttle_time_ms=0, error_code=0, is_caught_up=True, is_fenced=False, should_shut_down=False
        )
        self.answering.heartbeat(self.process, request, response)


def test_waiting_requests_are_answered_when_leadership_ends():
    world = World()
    world.asks(CREATE)

    world.leads_no_more([effects.Reply(SOURCE, None, RequestContext(SOURCE, 19, 0, "CONTROLLER"))])


def test_a_waiting_request_that_is_not_answered_is_a_violation():
    world = World()
    world.asks(CREATE)

    with pytest.raises(Violation, match="L05"):
        world.leads_no_more()


def test_a_read_may_wait_for_the_state_of_a_standby():
    world = World()
    world.asks(LOOK)
    world.state.transaction_start = 7

    world.leads_no_more()


def test_a_read_is_answered_when_a_standby_has_the_state():
    world = World()
    world.asks(LOOK)

    with pytest.raises(Violation, match="L05"):
        world.leads_no_more()


def test_records_of_an_open_transaction_are_not_shown():
    world = World(settled=8)
    world.shown = 8
    world.asks(LOOK)

    with pytest.raises(Violation, match="C03"):
        world.answering.replies(world.process, SOURCE, LOOK, ANSWER)


def test_a_standby_that_answers_a_read_from_a_part_of_a_batch_is_a_violation():
    world = World()
    world.leads_no_more()
    world.controller.replay = "a batch"
    context = RequestContext(SOURCE, 60, 0, "CONTROLLER", request=LOOK)

    world.asks(CREATE)
    with pytest.raises(Violation, match="from a part of a batch"):
        world.asks(LOOK, [effects.Reply(SOURCE, ANSWER, context)])


def test_a_standby_shows_nothing_older_than_it_has_shown_before():
    world = World()
    world.controller.is_active = False
    world.answering.replies(world.process, SOURCE, LOOK, ANSWER)
    world.process.life = 2  # it has started again
    world.state.end_offset = 9

    with pytest.raises(Violation, match=r"C05.*answers DescribeClusterResponse from its state at 9"):
        world.answering.replies(world.process, SOURCE, LOOK, ANSWER)


def test_a_leader_that_commits_what_came_after_a_read_has_to_answer_it():
    world = World()
    world.asks(LOOK)

    def commits(end):
        world.process.replica.log.end = end + 1
        world.answering.on_stepped(world.process, inputs.HighWatermark(end), [])

    for end in (10, 12, 14, 16):
        commits(end)
    with pytest.raises(Violation, match=r"L05.*since before 4 rounds of commits"):
        commits(18)


def test_a_response_shows_records_committed_before_the_request():
    world = World(log_end=10, committed=12)
    world.asks(LOOK)

    with pytest.raises(Violation, match="C05"):
        world.answering.replies(world.process, SOURCE, LOOK, ANSWER)


def test_a_response_need_not_show_records_committed_after_the_request():
    world = World(log_end=10, committed=10)
    world.asks(LOOK)
    world.history.end = 12

    world.answering.replies(world.process, SOURCE, LOOK, ANSWER)


@pytest.mark.parametrize(("at_once", "has_steps"), [(7, False), (6, True)])
def test_a_broker_may_stop_when_all_active_brokers_know_that(at_once, has_steps):
    world = World(log_end=10)
    world.controller.env.partitions_at_once = at_once
    world.brokers[2] = SimpleNamespace(broker_id=2, epoch=2, is_active=True)
    world.beats(1, 9, leaves=True)
    world.beats(2, 9)
    world.state.end_offset = 11
    world.beats(1, 9, leaves=True)

    world.beats(2, 10)

    if has_steps:  # the last step may be left
        world.beats(1, 9, leaves=True)
    else:
        # One that has registered again has read nothing, as far as the controller knows.
        world.state.registration_offsets[2] = 5
        world.beats(1, 9, leaves=True)
        world.state.registration_offsets.clear()
        with pytest.raises(Violation, match="L08"):
            world.beats(1, 9, leaves=True)
