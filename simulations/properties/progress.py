"""Progress: leaders without followers step down, no node loops, every request is answered.

L03 (an isolated leader steps down), L05 (each request is answered), L11 (no busy loop),
L13 (a leader notifies all voters). L01, L02, L04 and L07 are checked in the recovery phase at the end of a run:
`simulations/raft/recovery_phase.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface import effects as do
from raft.state.roles import Follower, Leader
from records.messages.elections import BeginQuorumEpochRequest
from records.messages.voters import UpdateRaftVoterResponse
from simulations.properties.expected_answers import predict_answer
from simulations.world.violation import Violation
from simulations.world.world import MS, SECOND

if TYPE_CHECKING:
    from raft.interface.inputs import Requested
    from raft.state.roles import Role
    from records.messages.fetch import FetchRequest
    from simulations.world.ledger import Ledger
    from simulations.world.messages import Frame
    from simulations.world.process import Process
    from simulations.world.voter_sets import Voters
    from simulations.world.world import World

# A leader that is cut off may notice a moment late: its timer is in whole milliseconds.
SLACK_MS = 5

# Steps of one node in a second that mean a busy loop: far more than any load here needs.
STEPS_MAX = 6000

# How often in a second a node may repeat a request to a peer without news: each failure has its pause.
ASKS_MAX = 100

ANSWER_SLACK_MS = 1000


class Leadership:
    """One leadership, on its node's clock. until_ms: by its clock, when it must end unless a majority fetches.

    known: voters that fetched from it, or that it notified, since the last check; steady: the keys that have been
    voters since that check. is_alone: whether it is the only voter.
    """

    __slots__ = ("contacted", "epoch", "is_alone", "known", "process", "steady", "until_ms")

    def __init__(self, process: Process, epoch: int, until_ms: int, voters: Voters) -> None:
        self.steady = set(voters.keys)
        self.is_alone = voters.ids == (process.node.id,)
        self.process = process
        self.epoch = epoch
        self.contacted: set[int] = set()
        self.known: set[int] = {process.node.id}
        self.until_ms = until_ms


class Progress:
    """Checks for leaders without followers, requests without an answer, and timers that loop."""

    def __init__(self, ledger: Ledger, world: World) -> None:
        self._ledger = ledger
        self._world = world
        self._leaderships: dict[int, Leadership] = {}  # by node id
        self._counted: dict[int, tuple[int, int]] = {}  # by node id: its life, and the steps of that until a second ago
        self._asks: dict[int, tuple[tuple[Any, ...], int]] = {}  # by node id: what it knew and asked, and how often
        self.performs: dict[type, Any] = {do.Send: self._sends, do.Append: self._appends, do.Reply: self._replies}
        self.took = {
            "Fetch": self._took_fetch, "FetchSnapshot": self._took_fetch, "UpdateVoter": self._took_update,
        }  # fmt: skip
        world.after(SECOND, self._count_steps)

    def on_started(self, process: Process) -> None:
        self._leaderships.pop(process.node.id, None)

    def became(self, process: Process, _was: Role | None, role: Role) -> None:
        node_id = process.node.id
        if not isinstance(role, Leader):
            self._leaderships.pop(node_id, None)
            return
        leadership = self._leaderships.get(node_id)
        if leadership is None or leadership.epoch != role.epoch:
            leadership = self._leaderships[node_id] = Leadership(
                process, role.epoch, self._limit_ms(process), self._ledger.voters(process)
            )  # fmt: skip
            self._look_later(leadership)
            self._know_later(leadership)

    def _know_later(self, leadership: Leadership) -> None:
        process, config = leadership.process, leadership.process.replica.config
        notified_ms = process.clock.ms(self._world.now) + 2 * config.request_timeout_ms + config.fetch_timeout_ms
        self._world.at(process.clock.when(notified_ms), self._is_known, leadership)

    def _sends(self, process: Process, effect: do.Send) -> None:
        replica = process.replica
        following = replica.role.state if isinstance(replica.role, Follower) else None
        position = following.download.position if following is not None and following.download is not None else -1
        asks = (
            effect.peer, type(effect.request), id(replica.role), replica.log.end, replica.high_watermark, position,
            self._confirmations(process),
        )  # fmt: skip
        before, count = self._asks.get(process.node.id, ((), 0))
        self._asks[process.node.id] = asks, count + 1 if asks == before else 1
        if count > ASKS_MAX:
            name = type(effect.request).__name__
            text = f"node {process.node.id} sent node {effect.peer} {count} times a {name} within a second"
            raise Violation("L11", f"{text}, and learned nothing new")
        leadership = self._leaderships.get(process.node.id)
        if leadership is not None and type(effect.request) is BeginQuorumEpochRequest:
            leadership.known.add(effect.peer)

    def _confirmations(self, process: Process) -> int:
        """How many of its own leader's reads a follower has helped to confirm: each takes a Fetch of its own."""
        following = process.replica.role
        if not isinstance(following, Follower):
            return 0
        for other in self._ledger.running():
            role = other.replica.role
            if other.node.id == following.leader_id and isinstance(role, Leader) and role.epoch == following.epoch:
                return role.state.rounds.asked
        return 0

    def _appends(self, process: Process, _effect: do.Append) -> None:
        """A voter that joins the only one has as long as any to fetch."""
        leadership = self._leaderships.get(process.node.id)
        if leadership is None:
            return
        voters = self._ledger.voters(process)
        leadership.steady &= set(voters.keys)
        is_alone = voters.ids == (process.node.id,)
        if leadership.is_alone and not is_alone:
            leadership.until_ms = self._limit_ms(process)
        leadership.is_alone = is_alone

    def _is_known(self, leadership: Leadership) -> None:
        """It leads for long enough to have notified every voter that does not fetch, in spite of timeouts."""
        process = leadership.process
        if self._leaderships.get(process.node.id) is not leadership or not process.is_awake or process.clock.frozen:
            return
        voters = self._ledger.voters(process)
        # A voter that was added since the last check has until the next one.
        unknown = sorted(key[0] for key in leadership.steady & set(voters.keys) if key[0] not in leadership.known)
        leadership.steady = set(voters.keys)
        if unknown:
            raise Violation(
                "L13",
                f"node {process.node.id} leads epoch {leadership.epoch}, without a BeginQuorumEpoch to nodes {unknown}",
            )
        leadership.known = {process.node.id}
        self._know_later(leadership)

    def _took_fetch(self, process: Process, frame: Frame, requested: Requested) -> None:
        """A voter fetches in the epoch of the leader."""
        leadership = self._leaderships.get(process.node.id)
        if leadership is None or frame.gist[0] != leadership.epoch:
            return
        request = requested.request
        sender = request.replica_state.replica_id if frame.name == "Fetch" else request.replica_id
        if sender != process.node.id and self._ledger.voters(process).holds((sender, _directory(request))):
            leadership.known.add(sender)
            if frame.name == "Fetch" and _has_parted(process, request):
                return  # it learns where to truncate; its next Fetch counts
            self._record_contact(process, leadership, sender)

    def _took_update(self, process: Process, frame: Frame, _requested: Requested) -> None:
        """A voter sends UpdateRaftVoter: it counts as a fetch, unless the leader cannot take it yet, or asks first."""
        leadership = self._leaderships.get(process.node.id)
        if process.replica.config.asks_new_endpoints:
            return
        if leadership is not None and frame.gist[0] == leadership.epoch and process.replica.high_watermark is not None:
            self._record_contact(process, leadership, frame.gist[1])

    def _replies(self, process: Process, effect: do.Reply) -> None:
        """A leader that asked a voter at its new address takes its update."""
        leadership, response = self._leaderships.get(process.node.id), effect.response
        connection = process.connections.get(effect.source.connection)
        if leadership is None or connection is None or not process.replica.config.asks_new_endpoints:
            return
        if isinstance(response, UpdateRaftVoterResponse) and not response.error_code:
            self._record_contact(process, leadership, connection.client.node.id)

    def _record_contact(self, process: Process, leadership: Leadership, sender: int) -> None:
        voters = self._ledger.voters(process)
        leadership.contacted.add(sender)
        counted = [voter_id for voter_id in voters.ids if voter_id in leadership.contacted]
        if len(counted) >= voters.majority - voters.holds(process.node.key):
            leadership.contacted.clear()
            leadership.until_ms = self._limit_ms(process)

    def find_unanswered(self, process: Process, now: int) -> str | None:
        """A request that waits for its answer for too long; None if there is none."""
        for connection in process.connections.values():
            asked = connection.asked
            if asked is None:
                continue
            waited_ms = (now - connection.asked_at) // MS
            if waited_ms > process.replica.config.fetch_wait_max_ms + ANSWER_SLACK_MS:
                sender = connection.client.node.id
                return f"node {process.node.id} has not answered the {asked.name} of node {sender} for {waited_ms} ms"
        return None

    def _limit_ms(self, process: Process) -> int:
        return process.clock.ms(self._world.now) + process.replica.config.fetch_timeout_ms * 3 // 2

    def _look_later(self, leadership: Leadership) -> None:
        when = leadership.process.clock.when(leadership.until_ms + SLACK_MS)
        self._world.at(max(when, self._world.now + SLACK_MS * MS), self._look, leadership)

    def _look(self, leadership: Leadership) -> None:
        process = leadership.process
        if self._leaderships.get(process.node.id) is not leadership or process.is_dead:
            return
        if leadership.is_alone:
            leadership.until_ms = self._limit_ms(process)
        now_ms = process.clock.ms(self._world.now)
        if now_ms >= leadership.until_ms + SLACK_MS and process.is_awake:
            text = f"node {process.node.id} still leads epoch {leadership.epoch}; no majority fetches, and since"
            raise Violation("L03", f"{text} {now_ms - leadership.until_ms} ms it should have stepped down")
        self._look_later(leadership)

    def _count_steps(self) -> None:
        for process in self._ledger.running():
            life, steps = self._counted.get(process.node.id, (0, 0))
            count = process.steps - (steps if life == process.life else 0)
            if count > STEPS_MAX:
                raise Violation("L11", f"node {process.node.id} took {count} steps within a second")
            self._counted[process.node.id] = (process.life, process.steps)
        self._asks.clear()
        self._world.after(SECOND, self._count_steps)


def _directory(request: Any) -> bytes:
    """The directory id of the sender of a Fetch or a FetchSnapshot."""
    directory: bytes = request.topics[0].partitions[0].replica_directory_id
    return directory


def _has_parted(process: Process, request: FetchRequest) -> bool:
    """Whether the sender's log diverges from the leader's, or it needs a snapshot."""
    log = process.replica.log
    part = request.topics[0].partitions[0]
    if (part.fetch_offset, part.last_fetched_epoch) == (log.end, log.last_epoch):
        return False
    return predict_answer(process, request).detail is not None
