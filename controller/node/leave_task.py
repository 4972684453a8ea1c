"""A voter leaves the voter set at SIGTERM, before it stops, if enough healthy voters stay.

With `kraft.autopilot.leave.on.stop` it asks the leader, which may be this node or a stock one, for the state of the
voters, and then to remove it: both are ordinary requests (KIP-853). A leader that has removed itself resigns, and the
others elect one of themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.keys.own import LEAVE_ON_STOP
from raft.autopilot.leave_rules import Distance, keep_reason, wait_reason
from raft.autopilot.report import Kind, Step
from raft.autopilot.requests import request_of
from raft.interface import effects as raft_effects
from raft.interface import inputs as raft_inputs
from records.errors import Error, error_name
from records.messages.quorum import DescribeQuorumRequest, DescribeQuorumResponse
from records.metadata_log import METADATA_TOPIC

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from controller.core.controller import Controller
    from controller.node.autopilot_task import AutopilotTask
    from controller.node.logging.logs import Log
    from raft.interface.inputs import Source
    from raft.network.channels import Channels
    from raft.state.replica import Replica

# The longest time for it. With controller.server.start.SHUTDOWN_S_MAX it fits into what service managers give.
LEAVE_S_MAX = 8.0
# Until it looks again for a leader; and until a request is made again that was refused for now.
LOOK_S = 0.2
RETRY_S = 1.0
ANSWER_S = 1.5
# Of several that are stopped at a time, each asks so much later for each voter with a higher id. In a RETRY_S, eight of
# them ask at eight different moments.
APART_MS = 125
# Errors after which the same request may succeed, at this leader or the next.
PASSING = frozenset(
    {Error.NOT_LEADER_OR_FOLLOWER, Error.NOT_CONTROLLER, Error.REQUEST_TIMED_OUT, Error.BROKER_NOT_AVAILABLE}
)
# The connection number in the source of its requests to this node, besides AUTOPILOT_CONNECTION.
LEAVE_CONNECTION = -2
NO_LEADER = "no leader is known"
Topic = DescribeQuorumRequest.TopicData


class Leave:
    """channels: those of this node's own requests. Its channels there have negative numbers: the others are busy."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        replica: Replica,
        controller: Controller,
        autopilot: AutopilotTask,
        channels: Channels,
        log: Log,
    ) -> None:
        config = controller.env.config
        self._is_enabled = config is not None and config.flag(LEAVE_ON_STOP)
        self._loop, self._replica, self._controller = loop, replica, controller
        self._autopilot, self._channels, self._log = autopilot, channels, log
        self._go_on: tuple[Callable[[], Any], ...] = ()
        self._is_over = False
        self._number = 0
        self._reason = NO_LEADER
        self._distance = Distance(replica.key.id, APART_MS)
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def begin(self, *go_on: Callable[[], Any]) -> None:
        """Leave, then call these, after LEAVE_S_MAX at the latest; where this was called before, wait no longer."""
        if self._go_on:
            self._stay("the node was told again to stop")
        elif self._is_enabled and self._replica.is_voter and not self._is_over:
            self._go_on = go_on
            if reason := self._keep_reason():
                self._stay(reason)
                return
            self._timers["end"] = self._loop.call_later(LEAVE_S_MAX, self._give_up)
            self._ask_state()
        else:
            for act in go_on:
                act()

    def close(self) -> None:
        """The node ends: do nothing more."""
        self._go_on, self._is_over = (), True
        for timer in self._timers.values():
            timer.cancel()

    def on_input(self, event: raft_inputs.Input) -> bool:
        """A channel got an answer, or failed; whether it is one of these."""
        if not isinstance(event, raft_inputs.Answered | raft_inputs.Failed | raft_inputs.Refused) or event.peer >= 0:
            return False
        if isinstance(event, raft_inputs.Answered):
            self._take(event.number, event.response)
        elif isinstance(event, raft_inputs.Failed) and event.number == self._number:
            self._after(LOOK_S, f"the leader does not answer: {error_name(event.error)}")
        return True

    def on_answer(self, source: Source, response: Any) -> None:
        """The node itself, which leads, answered."""
        self._take(source.correlation, response)

    def _keep_reason(self) -> str:
        """Why this one stays, as far as it is known here; empty where it is not."""
        replica = self._replica
        if replica.kraft_version < 1:
            return "the voters are static (kraft.version is 0)"
        if self._autopilot.is_paused:
            return "the autopilot is paused"
        # One that is no voter was removed by an earlier request, whose answer says whether that is committed.
        return keep_reason(len(replica.voters.ids)) if replica.is_voter else ""

    def _ask_state(self) -> None:
        """Ask for the state of the voters, unless it is known here that this one stays."""
        if reason := self._keep_reason():
            self._stay(reason)
            return
        leader = self._controller.env.leader_id, self._replica.epoch
        if leader[0] != self._replica.key.id and self._replica.endpoint_of(leader[0]) is None:
            self._after(LOOK_S, NO_LEADER)
            return
        if wait_ms := self._distance.wait_ms(leader, self._replica.voters.ids):
            self._after(wait_ms / 1000, "it has not asked yet")
            return
        partition = Topic.PartitionData(partition_index=0)
        self._ask(DescribeQuorumRequest(topics=(Topic(topic_name=METADATA_TOPIC, partitions=(partition,)),)))

    def _ask(self, request: Any) -> None:
        self._number += 1
        # Before it is sent: the node itself may answer at once, and that may call for another wait.
        self._after(ANSWER_S, "the leader does not answer")
        leader_id = self._controller.env.leader_id
        endpoint = self._replica.endpoint_of(leader_id)
        if leader_id == self._replica.key.id:
            self._autopilot.ask_itself(LEAVE_CONNECTION, self._number, request)
        elif endpoint is not None:
            self._channels.send(raft_effects.Send(-1 - leader_id, self._number, endpoint, request))
        else:
            self._after(LOOK_S, NO_LEADER)

    def _take(self, number: int, response: Any) -> None:
        if not self._go_on or number != self._number:
            return
        if not isinstance(response, DescribeQuorumResponse):
            self._on_removed(response)
            return
        error_code = response.error_code
        partition = next((each for topic in response.topics for each in topic.partitions), None)
        if partition is not None:
            error_code = error_code or partition.error_code
        if error_code:
            self._refuse(error_code, "DescribeQuorum")
            return
        if partition is None:  # no leader answers so
            self._wait("the leader's answer to DescribeQuorum is empty")
            return
        # One that is no voter there asks, too: the answer says whether that is committed.
        if any(each.replica_id == self._replica.key.id for each in partition.current_voters):
            if reason := keep_reason(len(partition.current_voters)):  # others have left, which is not known here yet
                self._stay(reason)
                return
            if reason := wait_reason(partition, self._replica.key, self._autopilot.rules.live_ms):
                self._wait(reason)
                return
        step = Step(Kind.REMOVE, self._replica.key, "")
        self._ask(request_of(step, self._replica.config.cluster_id, 0))

    def _on_removed(self, response: Any) -> None:
        if response.error_code in {Error.NONE, Error.VOTER_NOT_FOUND}:
            self._log("voter_left", node=self._replica.key.id)
            self._end()
        else:
            self._refuse(response.error_code, "RemoveRaftVoter")

    def _refuse(self, error_code: int, request: str) -> None:
        reason = f"{request} failed: {error_name(error_code)}"
        if error_code in PASSING:
            self._wait(reason)
        else:
            self._stay(reason)

    def _wait(self, reason: str) -> None:
        self._after(RETRY_S, reason)

    def _after(self, wait_s: float, reason: str) -> None:
        """Begin again after a while, and with a request under way: unless it is answered before."""
        if self._go_on:
            self._reason = reason
            if "retry" in self._timers:
                self._timers["retry"].cancel()
            self._timers["retry"] = self._loop.call_later(wait_s, self._ask_state)

    def _give_up(self) -> None:
        self._stay(f"not within {LEAVE_S_MAX:g} s: {self._reason}")

    def _stay(self, reason: str) -> None:
        self._log("voter_stays", node=self._replica.key.id, reason=reason)
        self._end()

    def _end(self) -> None:
        go_on = self._go_on
        self.close()
        assert go_on, "the node leaves"
        for act in go_on:  # each in a step of its own: this may be within one of the replica
            self._loop.call_soon(act)
