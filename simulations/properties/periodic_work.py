"""Periodic work: repeated requests have pauses; and a leader's first record says how it was elected.

L14 (no peer gets a request at once after a failure, nor repeated notices of the leader; no node wakes for nothing), S27
FirstRecord (the leader's first batch names it, the voters, and those that elected it, at the right time).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface import effects as do
from raft.interface.inputs import Answered, Failed, Saved, Ticked, WallClock
from raft.state.roles import Leader
from records.batch import batches
from records.control_batch import LEADER_CHANGE, control_records_of
from records.errors import Error
from records.messages.elections import BeginQuorumEpochRequest
from records.messages.versions import ApiVersionsResponse
from records.messages.voters import (
    AddRaftVoterResponse,
    RemoveRaftVoterResponse,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from simulations.world.violation import Violation
from simulations.world.world import SECOND

if TYPE_CHECKING:
    from raft.state.roles import Role
    from simulations.properties.elections import Elections
    from simulations.world.ledger import Ledger
    from simulations.world.process import Process
    from simulations.world.world import World

IDLE_MAX = 200
"""So often may a node wake within a second with nothing to do: now and then something came in time after all."""

# Errors that a peer should not send: the next request to it is sent only after a pause.
_UNEXPECTED = (Error.INVALID_REQUEST, Error.UNKNOWN_SERVER_ERROR, Error.BROKER_NOT_AVAILABLE)

# Answers whose error is that of the whole.
_WITHOUT_PARTITION = (
    UpdateRaftVoterResponse, AddRaftVoterResponse, RemoveRaftVoterResponse, ApiVersionsResponse,
)  # fmt: skip

# Answers to a voter that joins by itself: it asks again a fetch timeout later, and fetches meanwhile.
_LATER = (Error.REQUEST_TIMED_OUT, Error.DUPLICATE_VOTER, Error.VOTER_NOT_FOUND)

# In place of the number of a request that waited for the disk.
HELD = -1


class PeriodicWork:
    """Checks how often peers are sent requests, and the first records of leaders."""

    def __init__(self, ledger: Ledger, world: World, elections: Elections) -> None:
        self._ledger = ledger
        self._world = world
        self._elections = elections
        self._sent: dict[int, dict[int, tuple[int, int]]] = {}  # node id: by peer, number and when
        self._failed: dict[int, dict[int, int]] = {}  # node id: by peer, when
        self._updates: dict[int, int] = {}  # node id: the number of its last request, where that updates its voter
        self._released: dict[int, int] = {}  # node id: when what waited for the disk last left, by the world's time
        self._wall: dict[int, int] = {}  # node id: how far its wall clock is ahead, as it was informed
        self._idle: dict[int, tuple[int, int]] = {}  # node id: a second, and how often it woke in it for nothing
        self._became_ms: dict[int, int] = {}  # node id: when it took its role, by its wall clock
        self._begun: set[tuple[int, int, int]] = set()  # node, life, epoch
        self._begin_sent: dict[
            tuple[int, int, int], dict[int, tuple[int, int]]
        ] = {}  # node, life, epoch: by peer, when
        self.performs: dict[type, Any] = {do.Send: self._sends, do.Append: self._appends}
        self.inputs: dict[type, Any] = {Failed: self._has_failed, Answered: self._was_answered, Saved: self._on_saved}
        self.inputs |= {WallClock: self._took_wall_clock, Ticked: self._has_ticked}

    def on_started(self, process: Process) -> None:
        self._wall.pop(process.node.id, None)
        self._idle[process.node.id] = (0, 0)
        self._forget(process.node.id)

    def became(self, process: Process, _was: Role | None, _role: Role) -> None:
        """In another role the requests are others, and are sent at once."""
        self._forget(process.node.id)
        # Until then it uses the offset that it was started with.
        offset_ms = self._wall.get(process.node.id, process.replica.wall_offset_ms)
        self._became_ms[process.node.id] = process.now_ms() + offset_ms

    def _forget(self, node_id: int) -> None:
        self._sent[node_id] = {}
        self._failed[node_id] = {}

    def is_held(self, process: Process) -> bool:
        """Whether a message that is sent now waited for the disk, and is older than it looks."""
        return self._released.get(process.node.id) == self._world.now

    # Pauses

    def _sends(self, process: Process, effect: do.Send) -> None:
        node_id, peer, now_ms = process.node.id, effect.peer, process.now_ms()
        config = process.replica.config
        failed_ms = self._failed[node_id].pop(peer, None)
        is_held = self.is_held(process)
        if failed_ms is not None and not is_held and now_ms < failed_ms + config.retry_backoff_ms:
            what = type(effect.request).__name__
            text = f"node {node_id} sends node {peer} a {what} {now_ms - failed_ms} ms after the last one failed"
            raise Violation("L14", f"{text}, not {config.retry_backoff_ms}")
        # What waited may have been asked in a role that is over: how it fares says nothing of this one.
        self._sent[node_id][peer] = (HELD if is_held else effect.number, now_ms)
        self._updates[node_id] = effect.number if type(effect.request) is UpdateRaftVoterRequest else HELD
        if type(effect.request) is BeginQuorumEpochRequest and not is_held:
            begin_sent = self._begin_sent.setdefault((node_id, process.life, process.replica.epoch), {})
            every_ms = config.fetch_timeout_ms // 2
            last, before = begin_sent.get(peer, (-every_ms, -every_ms))
            if now_ms < before + every_ms:  # the first one may have waited for the disk
                text = f"node {node_id} sends node {peer} three BeginQuorumEpochs within {now_ms - before} ms"
                raise Violation("L14", f"{text}, not {every_ms}")
            begin_sent[peer] = (now_ms, last)

    def _on_saved(self, process: Process, _event: Saved, _effects: list[Any]) -> None:
        self._released[process.node.id] = self._world.now

    def _took_wall_clock(self, process: Process, event: WallClock, _effects: list[Any]) -> None:
        self._wall[process.node.id] = event.offset_ms

    def _has_ticked(self, process: Process, _event: Ticked, effects: list[Any]) -> None:
        """A node that wakes and does nothing should not have woken."""
        if effects:
            return
        node_id = process.node.id
        second, count = self._idle[node_id]
        now = self._world.now // SECOND
        self._idle[node_id] = (now, count + 1 if now == second else 1)
        if self._idle[node_id][1] > IDLE_MAX:
            raise Violation("L14", f"node {node_id} woke {IDLE_MAX} times within a second without work")

    def _has_failed(self, process: Process, event: Failed, _effects: list[Any]) -> None:
        # An UpdateRaftVoter without an answer is due again a fetch timeout later; the Fetch after it is sent at once.
        if event.number != self._updates.get(process.node.id):
            self._note_failure(process, event.peer, event.number)

    def _was_answered(self, process: Process, event: Answered, _effects: list[Any]) -> None:
        response = event.response
        if response.error_code == Error.NONE and isinstance(response, _WITHOUT_PARTITION):
            return
        if isinstance(response, (AddRaftVoterResponse, RemoveRaftVoterResponse)) and response.error_code in _LATER:
            return
        if response.error_code == Error.NONE:
            topics = response.responses if hasattr(response, "responses") else response.topics
            part = topics[0].partitions[0]
            if part.error_code not in _UNEXPECTED or not _is_no_news(process, getattr(part, "current_leader", part)):
                return
        self._note_failure(process, event.peer, event.number)

    def _note_failure(self, process: Process, peer: int, number: int) -> None:
        """A failed request that is still pending, in the same role."""
        sent = self._sent[process.node.id].get(peer)
        now_ms = process.now_ms()
        if sent is not None and sent[0] == number and now_ms < sent[1] + process.replica.config.request_timeout_ms:
            self._failed[process.node.id][peer] = now_ms

    # First records

    def _writes_voters(self, process: Process, base_offset: int) -> bool:
        """Whether the log had no voter set before its leader's first batch, or another address of the leader."""
        sets = self._ledger.voter_sets
        prefix = self._ledger.shadow(process).at(base_offset)
        assert prefix is not None, "the batch begins where another one ends"
        if not sets.level(prefix):
            return False
        before = sets.at(prefix)
        entry = dict(zip(before.ids, before.hosts, strict=True)).get(process.node.id)
        if entry is None:
            return False  # it was removed, and leads only to commit that
        return before.offset < 0 or entry != process.node.endpoints()[0].host

    def _appends(self, process: Process, effect: do.Append) -> None:
        replica = process.replica
        role = replica.role
        if not isinstance(role, Leader) or effect.epoch != role.epoch:
            return
        batch = next(batches(effect.data))
        if not batch.is_control:
            return
        node_id, epoch = process.node.id, effect.epoch
        (_, kind, said), *more = control_records_of(effect.data, batch)
        if kind != LEADER_CHANGE and (node_id, process.life, epoch) in self._begun:
            return  # a voter set, or a level of kraft.version
        self._begun.add((node_id, process.life, epoch))
        voters = sorted(voter.key.id for voter in replica.voters)
        granting = [each.voter_id for each in said.granting_voters] if kind == LEADER_CHANGE else []
        voted = self._elections.votes_for.get((epoch, node_id), set()) | {node_id}
        if (
            kind != LEADER_CHANGE
            or said.leader_id != node_id
            or [each.voter_id for each in said.voters] != voters
            or not set(granting) <= voted
            or len(granting) < self._ledger.voters(process).majority
        ):
            raise Violation("S27", f"node {node_id} leads epoch {epoch} by votes of {sorted(voted)}, but writes {said}")
        if (len(more) == 2) != self._writes_voters(process, effect.base_offset) or len(more) not in {0, 2}:
            raise Violation("S27", f"node {node_id} begins epoch {epoch} with {len(more)} records of voters")
        wall_ms = self._became_ms[node_id]
        if (batch.base_timestamp, batch.max_timestamp) != (wall_ms, wall_ms):
            raise Violation(
                "S27", f"node {node_id} led from {wall_ms} ms on, but writes the timestamp {batch.base_timestamp}"
            )


def _is_no_news(process: Process, leader: Any) -> bool:
    """Whether an answer's epoch and leader are known already."""
    role = process.replica.role
    return leader.leader_epoch == role.epoch and leader.leader_id in {-1, role.leader_id}
