"""A voter at SIGTERM: which requests it sends before it leaves the voter set, and when it stops as a voter."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from controller.config.keys.own import AUTOPILOT_PAUSED
from controller.node.autopilot_task import AutopilotTask
from controller.node.leave_task import ANSWER_S, APART_MS, LEAVE_CONNECTION, LEAVE_S_MAX, LOOK_S, RETRY_S, Leave
from controller.state.tables.configs import BROKER
from raft.interface.inputs import Answered, Failed, Requested
from records.errors import Error
from records.messages.quorum import DescribeQuorumRequest, DescribeQuorumResponse
from records.messages.voters import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from tests.raft.building import Bench, fetch_request, key
from tests.raft.changing import leading, with_voters

if TYPE_CHECKING:
    from collections.abc import Callable

Partition = DescribeQuorumResponse.TopicData.PartitionData
LEADER = 2


class Timer:
    """A timer of `Loop`."""

    def __init__(self, due_s: float, act: Callable[[], None]) -> None:
        self.due_s, self.act, self.is_cancelled = due_s, act, False

    def cancel(self) -> None:
        self.is_cancelled = True


class Loop:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.timers: list[Timer] = []

    def call_soon(self, act: Callable[[], None]) -> Timer:
        return self.call_later(0, act)

    def call_later(self, wait_s: float, act: Callable[[], None]) -> Timer:
        self.timers.append(Timer(self.now_s + wait_s, act))
        return self.timers[-1]

    def run(self, seconds: float = 0) -> None:
        end_s = self.now_s + seconds
        while due := [each for each in self.timers if not each.is_cancelled and each.due_s <= end_s]:
            first = min(due, key=lambda each: each.due_s)
            self.timers.remove(first)
            self.now_s = max(self.now_s, first.due_s)
            first.act()
        self.now_s = end_s


class Setting:
    """Voter 1, which leads or follows voter LEADER, with the key set."""

    def __init__(self, *ids: int, leads: bool = False, is_enabled: bool = True) -> None:
        self.bench = leading(*ids) if leads else Bench(recovered=with_voters(*ids))
        self.ids, self.loop, self.ended = ids, Loop(), 0
        self.configs: dict[Any, Any] = {}
        config = SimpleNamespace(
            flag=lambda _key: is_enabled, number=lambda _key: 1, list=lambda _key: (),
        )  # fmt: skip
        self.env = env = SimpleNamespace(config=config, leader_id=1 if leads else LEADER)
        controller: Any = SimpleNamespace(
            state=SimpleNamespace(configs=self.configs), env=env, is_active=leads
        )  # fmt: skip
        self.to_itself: list[Requested] = []
        self.sent: list[Any] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        log: Any = lambda name, **fields: self.events.append((name, fields))  # noqa: E731
        autopilot = AutopilotTask(
            self.bench.replica, controller, SimpleNamespace(audit=None), log=log,  # type: ignore[arg-type]
            now_ms=lambda: self.bench.now, to_raft=self.to_itself.append, to_controller=self.to_itself.append,  # type: ignore[arg-type]
        )  # fmt: skip
        channels: Any = SimpleNamespace(send=self.sent.append)
        loop: Any = self.loop
        self.leave = Leave(loop, self.bench.replica, controller, autopilot, channels, log)

    def begin(self) -> None:
        self.leave.begin(self._end)
        self.loop.run(APART_MS / 1000 * (len(self.ids) - 1))

    def _end(self) -> None:
        self.ended += 1

    def serve(self) -> Any:
        """Serve the newest request of the node to itself; returns the request."""
        requested = self.to_itself[-1]
        assert requested.source.connection == LEAVE_CONNECTION
        effects = self.bench.tell(requested)
        for reply in effects:
            if getattr(reply, "source", None) == requested.source:
                self.leave.on_answer(reply.source, reply.response)
        return requested.request

    def answer(self, response: Any) -> Any:
        """The leader answers the newest request; returns that."""
        send = self.sent[-1]
        assert send.peer == -1 - LEADER
        assert self.leave.on_input(Answered(send.peer, send.number, response))
        return send.request

    def described(self, *silent: int, without: tuple[int, ...] = (), error: int = 0) -> DescribeQuorumResponse:
        voters = tuple(
            Partition.ReplicaState(
                replica_id=each, replica_directory_id=key(each).directory_id, log_end_offset=9,
                last_fetch_timestamp=-1 if each in silent else 1000, last_caught_up_timestamp=1000,
            )
            for each in self.ids if each not in without
        )  # fmt: skip
        partition = Partition(
            partition_index=0, error_code=error, error_message=None, leader_id=LEADER, leader_epoch=2,
            high_watermark=9, current_voters=voters, observers=(),
        )  # fmt: skip
        topic = DescribeQuorumResponse.TopicData(topic_name="__cluster_metadata", partitions=(partition,))
        return DescribeQuorumResponse(error_code=0, topics=(topic,), nodes=())

    @property
    def reasons(self) -> list[str]:
        return [fields["reason"] for name, fields in self.events if name == "voter_stays"]


def removed(error: int = 0) -> RemoveRaftVoterResponse:
    return RemoveRaftVoterResponse(throttle_time_ms=0, error_code=error, error_message=None)


def test_a_leader_removes_itself_when_the_others_are_healthy() -> None:
    setting = Setting(1, 2, 3, 4, leads=True)
    for node in (2, 3, 4):
        setting.bench.ask(fetch_request(2, node, setting.bench.replica.log.end, 2, max_wait_ms=0))

    setting.begin()
    assert isinstance(setting.serve(), DescribeQuorumRequest)
    asked = setting.to_itself[-1].request
    assert (asked.voter_id, asked.voter_directory_id) == key(1)
    setting.leave.on_answer(setting.to_itself[-1].source, removed())
    assert setting.ended == 0, "the stop begins in a step of its own"
    setting.loop.run(2 * LEAVE_S_MAX)

    assert setting.ended == 1
    assert [name for name, _ in setting.events] == ["voter_left"]


def test_a_follower_asks_the_leader_on_channels_of_its_own_and_again_until_the_removal_is_committed() -> None:
    setting = Setting(1, 2, 3, 4)

    setting.begin()
    assert isinstance(setting.answer(setting.described()), DescribeQuorumRequest)
    removal = setting.answer(removed(Error.REQUEST_TIMED_OUT))
    assert isinstance(removal, RemoveRaftVoterRequest)
    setting.loop.run(RETRY_S)
    # It was appended, and is not committed. One that is no voter is not refused for the state of the others.
    setting.answer(setting.described(3, 4, without=(1,)))
    setting.answer(removed(Error.VOTER_NOT_FOUND))
    setting.loop.run()

    assert len(setting.sent) == 4
    assert (setting.ended, setting.reasons) == (1, [])
    assert not setting.leave.on_input(Failed(LEADER, 1, Error.BROKER_NOT_AVAILABLE)), "not one of its requests"


@pytest.mark.parametrize(
    ("ids", "configs", "reason"),
    [
        ((1, 2, 3), {}, "of 3 voters none leaves by itself"),
        ((1, 2, 3, 4), {AUTOPILOT_PAUSED: "true"}, "the autopilot is paused"),
    ],
)
def test_where_it_must_stay_it_stops_at_once_and_asks_nobody(
    ids: tuple[int, ...], configs: dict[str, str], reason: str
) -> None:
    setting = Setting(*ids)
    setting.configs[(BROKER, "")] = configs

    setting.leave.begin(setting._end)
    setting.loop.run()

    assert (setting.ended, setting.sent, setting.to_itself) == (1, [], [])
    (text,) = setting.reasons
    assert text.startswith(reason)


def test_static_voters_and_a_node_without_the_key_stop_as_before() -> None:
    static, off = Setting(1, 2, 3, 4), Setting(1, 2, 3, 4, is_enabled=False)
    static.bench = Bench()
    static.leave._replica = static.bench.replica

    for setting in (static, off):
        setting.begin()
        setting.loop.run()

    assert [(each.ended, each.sent) for each in (static, off)] == [(1, []), (1, [])]
    assert static.reasons == ["the voters are static (kraft.version is 0)"]
    assert off.events == []


def test_one_that_does_not_know_yet_that_others_have_left_stays() -> None:
    setting = Setting(1, 2, 3, 4)

    setting.begin()
    setting.answer(setting.described(without=(4,)))
    setting.loop.run()

    assert (setting.ended, len(setting.sent)) == (1, 1)
    assert setting.reasons[0].startswith("of 3 voters none leaves by itself")


def test_those_that_stop_at_the_same_time_ask_one_after_the_other() -> None:
    setting = Setting(1, 2, 3, 4)

    setting.leave.begin(lambda: None)
    setting.loop.run(3 * APART_MS / 1000 - 0.01)
    before = len(setting.sent)
    setting.loop.run(0.02)

    assert (before, len(setting.sent)) == (0, 1)


def test_those_that_waited_for_a_leader_ask_it_one_after_the_other() -> None:
    setting = Setting(1, 2, 3, 4)
    setting.env.leader_id = -1

    setting.leave.begin(lambda: None)
    setting.loop.run(2)
    assert setting.sent == []
    setting.env.leader_id = LEADER
    setting.loop.run(3 * APART_MS / 1000 - 0.01)
    before = len(setting.sent)
    setting.loop.run(LOOK_S + 0.02)

    assert (before, len(setting.sent)) == (0, 1)


def test_it_asks_again_while_others_are_not_healthy_and_stops_in_time() -> None:
    setting = Setting(1, 2, 3, 4)

    setting.begin()
    setting.answer(setting.described(3))
    setting.loop.run(RETRY_S)
    assert len(setting.sent) == 2, "a moment later it asks again"
    setting.loop.run(ANSWER_S)
    assert len(setting.sent) == 3, "and so it does where no answer comes"
    setting.leave.on_input(Failed(-1 - LEADER, setting.sent[-1].number, Error.BROKER_NOT_AVAILABLE))
    setting.loop.run(LOOK_S)
    setting.answer(setting.described(3))
    setting.loop.run(LEAVE_S_MAX)

    assert setting.ended == 1
    assert setting.reasons == [f"not within {LEAVE_S_MAX:g} s: the leader does not answer"]
    late = len(setting.sent)
    setting.answer(setting.described())
    setting.loop.run(LEAVE_S_MAX)
    assert (len(setting.sent), setting.ended) == (late, 1)


def test_a_leader_asks_itself_again_a_moment_later_and_tells_what_kept_it() -> None:
    setting = Setting(1, 2, 3, 4, leads=True)

    def serve_at_once(event: Any) -> None:
        setting.to_itself.append(event)
        setting.serve()

    setting.leave._autopilot._to_raft = serve_at_once  # as the node does
    setting.leave._autopilot.rules = setting.leave._autopilot.rules._replace(live_ms=0)
    setting.bench.now += 1

    setting.begin()
    before = len(setting.to_itself)
    setting.loop.run(RETRY_S)
    assert (before, len(setting.to_itself)) == (1, 2)
    setting.loop.run(LEAVE_S_MAX)

    (reason,) = setting.reasons
    assert reason.endswith("a majority must be healthy without it: of 4 voters these are: 1")


def test_an_answer_that_lacks_the_partition_is_asked_for_again() -> None:
    setting = Setting(1, 2, 3, 4)
    topic = DescribeQuorumResponse.TopicData(topic_name="__cluster_metadata", partitions=())

    setting.begin()
    for topics in ((), (topic,)):
        before = len(setting.sent)
        setting.answer(DescribeQuorumResponse(error_code=0, topics=topics, nodes=()))
        setting.loop.run(RETRY_S)
        assert len(setting.sent) == before + 1
    setting.answer(setting.described())
    setting.answer(removed())
    setting.loop.run()

    assert (setting.ended, setting.reasons) == (1, [])


def test_a_refusal_for_good_and_a_second_signal_end_it() -> None:
    refused, told = Setting(1, 2, 3, 4), Setting(1, 2, 3, 4)

    refused.begin()
    refused.answer(refused.described(error=Error.CLUSTER_AUTHORIZATION_FAILED))
    told.begin()
    told.begin()
    for setting in (refused, told):
        setting.loop.run()

    assert (refused.ended, told.ended) == (1, 1)
    assert refused.reasons == ["DescribeQuorum failed: CLUSTER_AUTHORIZATION_FAILED"]
    assert told.reasons == ["the node was told again to stop"]
    told.begin()  # once more, for the snapshot that the stop writes then
    assert told.ended == 2
