"""Promptness: a candidate sends Vote to all voters at once, a leader that resigns notifies all at once, an answer takes
effect at once.

L15 (the requests of a new role do not wait for answers to the requests of the former; an observer whose leader is
silent asks another node), L16 (a node that a peer denies ends), S24 LeaderHeard (by an answer).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface import effects as do
from raft.interface.inputs import Answered, Saved
from raft.state.roles import Candidate, Follower, Leader, Prospective, Resigned, Unattached
from records.errors import Error
from records.messages.elections import EndQuorumEpochRequest, VoteRequest
from simulations.properties.periodic_work import HELD
from simulations.spec.forms import is_of_log
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from raft.state.roles import Role
    from simulations.properties.periodic_work import PeriodicWork
    from simulations.world.ledger import Ledger
    from simulations.world.process import Process
    from simulations.world.world import World

# A step may wait for the one before it, or for the disk; then it is looked at again.
AT_ONCE_US = 5 * MS
# How often a time that a node takes is waited for: it may have been paused, and clocks run at other speeds.
WAITS = 3

# The roles that send a request, where only these do.
SENT_BY: dict[type, tuple[type[Role], ...]] = {
    VoteRequest: (Prospective, Candidate),
    EndQuorumEpochRequest: (Resigned,),
}


class Promptness:
    """Checks the requests of a node at the start of a role."""

    def __init__(self, ledger: Ledger, world: World, periodic_work: PeriodicWork) -> None:
        self._ledger = ledger
        self._world = world
        self._duties = periodic_work
        self._sent: dict[int, dict[int, tuple[int, int]]] = {}  # node id: by peer, what this role asked last, and when
        self._saving: dict[int, tuple[int, int]] = {}  # node id: life and number of the save that all waits for
        self._notified: dict[int, tuple[int, int | None]] = {}  # node id: epoch and leader, as its state machine knows
        self._asked_others_ms: dict[int, int] = {}  # node id: when it last asked a node that is not its leader
        self.performs: dict[type, Any] = {
            do.Send: self._sends, do.SaveElection: self._saves, do.LeaderChanged: self._leader_changes,
        }  # fmt: skip
        self.inputs: dict[type, Any] = {Answered: self._took_answer, Saved: self._on_saved}

    def on_started(self, process: Process) -> None:
        self._sent[process.node.id] = {}
        self._saving.pop(process.node.id, None)
        self._notified[process.node.id] = (0, None)
        self._asked_others_ms.pop(process.node.id, None)

    def became(self, process: Process, was: Role | None, role: Role) -> None:
        """Requests of another role no longer count; but granting a vote changes nothing."""
        is_other = type(was) is not type(role) or was.epoch != role.epoch
        # It lost its pre-vote and asked again within one step.
        is_next = isinstance(role, Prospective) and isinstance(was, Prospective) and was.voted == role.voted
        if is_other or is_next or not isinstance(role, (Prospective, Unattached)):
            self._sent[process.node.id] = {}
        if not isinstance(role, Leader):
            self._world.after(AT_ONCE_US, self._look, process, role)
        if isinstance(role, Follower):
            self._look_for_silence(process, role)

    def _sends(self, process: Process, effect: do.Send) -> None:
        role = SENT_BY.get(type(effect.request))
        if role is not None and not isinstance(process.replica.role, role):
            return  # it waited for a save, or left with what ended its role: the role in which it was sent is over
        # Of others that waited the role is not known, so their answers are not looked at.
        number = HELD if self._duties.is_held(process) else effect.number
        self._sent[process.node.id][effect.peer] = (number, process.clock.ms(self._world.now))
        if effect.peer != process.replica.leader_id:
            self._asked_others_ms[process.node.id] = process.clock.ms(self._world.now)

    def _leader_changes(self, process: Process, effect: do.LeaderChanged) -> None:
        self._notified[process.node.id] = (effect.epoch, effect.leader_id)

    def _saves(self, process: Process, effect: do.SaveElection) -> None:
        self._saving[process.node.id] = (process.life, effect.number)

    def _on_saved(self, process: Process, event: Saved, _effects: list[Any]) -> None:
        if self._saving.get(process.node.id) == (process.life, event.number):
            del self._saving[process.node.id]

    def is_saving(self, process: Process) -> bool:
        """Whether all effects of the process wait for a save."""
        return self._saving.get(process.node.id, (0, 0))[0] == process.life

    def _look(self, process: Process, role: Role, waits: int = 0) -> None:
        """Whether all requests of the present role were sent. waits: how often its quiet time was waited for."""
        if process.is_dead or process.has_failed or process.replica.role is not role:
            return
        if not process.is_awake or process.clock.frozen or self.is_saving(process):
            self._world.after(AT_ONCE_US, self._look, process, role, waits)
            return
        quiet_ms = process.replica.config.election_quiet_ms
        if isinstance(role, Unattached) and quiet_ms and waits < WAITS:
            # A voter that gave its vote does not look for the leader meanwhile.
            self._world.after(2 * quiet_ms * MS + AT_ONCE_US, self._look, process, role, waits + 1)
            return
        self._has_asked(process, role)
        self._check_notified(process, role)

    def _look_for_silence(self, process: Process, role: Follower, waits: int = 0) -> None:
        """Whether an observer whose leader is silent looks for another one. A voter stands then. waits: how often no
        other node was asked for the time of a request.
        """
        replica = process.replica
        if process.is_dead or process.has_failed or replica.role is not role or replica.stopped:
            return
        now_ms, silent_ms = process.clock.ms(self._world.now), role.state.fetch_deadline_ms
        is_writing = not replica.log.is_flushed or replica.freezing is not None or _writes_part(role)
        may_ask = not is_writing and _has_bootstrap_servers(process)
        is_held = self.is_saving(process) or not process.is_awake or process.clock.frozen or not may_ask
        asked_ms = self._asked_others_ms.get(process.node.id, silent_ms - 1)
        is_late = now_ms >= silent_ms > asked_ms and not self._ledger.may_stand(process)
        waits = waits + 1 if is_late and not is_held else 0
        if waits > WAITS:
            text = f"node {process.node.id} is {role}, an observer that hears nothing of its leader"
            raise Violation("L15", f"{text} for a fetch timeout and more, and asks no other node for the leader")
        wait_us = max(replica.config.request_timeout_ms, 1) * MS
        self._world.after(wait_us, self._look_for_silence, process, role, waits)

    def _has_asked(self, process: Process, role: Role) -> None:
        sent = self._sent[process.node.id]
        if isinstance(role, Unattached):
            log = process.replica.log
            is_leaving = process.replica.handover is not None
            if (
                not sent
                and not is_leaving
                and log.is_flushed
                and process.replica.freezing is None
                and process.replica.peers.bootstrap
            ):
                raise Violation("L15", f"node {process.node.id} is {role}, and sends no request to find the leader")
        elif not isinstance(role, Follower) and (
            left := [each for each in self._due(process, role) if each not in sent]
        ):
            raise Violation("L15", f"node {process.node.id} is {role}, and has sent no request to nodes {left}")

    def _check_notified(self, process: Process, role: Role) -> None:
        """A replica that learns the leader, or that it leads no more, notifies its state machine."""
        notified = self._notified[process.node.id]
        is_right = (
            notified == (role.epoch, role.leader_id) if isinstance(role, Follower) else notified[1] != process.node.id
        )
        if not is_right:
            raise Violation(
                "S24", f"node {process.node.id} is {role}, but has notified its state machine of {notified}"
            )

    def _due(self, process: Process, role: Any) -> list[int]:
        """The peers to which a role has to send requests at once."""
        if isinstance(role, Resigned):
            return list(role.unacked)
        tally = role.tally
        majority = self._ledger.voters(process).majority
        may_win = len(tally.granting) < majority <= len(tally.granting) + len(tally.silent_voters)
        return list(tally.silent_voters) if may_win and tally.held_until_ms is None else []

    def _took_answer(self, process: Process, event: Answered, effects: list[Any]) -> None:
        """A node that an answer informs of the leader of its epoch knows that leader; one that is denied ends."""
        response = event.response
        number, sent_ms = self._sent[process.node.id].get(event.peer, (0, 0))
        waited_ms = process.clock.ms(self._world.now) - sent_ms
        if number != event.number or waited_ms >= process.replica.config.request_timeout_ms:
            return  # it was given up, or asked in a role that is over
        if response.error_code == Error.CLUSTER_AUTHORIZATION_FAILED:
            if not any(type(effect) is do.Denied for effect in effects):
                raise Violation(
                    "L16", f"node {process.node.id} continues, although node {event.peer} excludes it from the quorum"
                )
            return
        if response.error_code != Error.NONE:
            return
        part = _partition(response)
        role = process.replica.role
        if part is None or part.error_code == Error.UNKNOWN_LEADER_EPOCH or role.leader_id is not None:
            return
        leader = getattr(part, "current_leader", part)
        is_named = any(node.node_id == leader.leader_id for node in response.node_endpoints)
        if leader.leader_epoch == role.epoch and is_named and leader.leader_id != process.node.id:
            text = f"node {process.node.id} was answered that node {leader.leader_id} leads epoch {role.epoch}"
            raise Violation("S24", f"{text}, but is {role}")


def _has_bootstrap_servers(process: Process) -> bool:
    """Whether it has any: in their place it asks the static voters, also the leader."""
    return any(peer < 0 for peer, _ in process.replica.peers.bootstrap)


def _partition(response: Any) -> Any:
    """That of the metadata log, None where an answer is of another."""
    if not is_of_log(response):
        return None
    topics = response.responses if hasattr(response, "responses") else response.topics
    return topics[0].partitions[0]


def _writes_part(role: Follower) -> bool:
    """Whether a part of a snapshot is being written."""
    download = role.state.download
    return download is not None and download.writing > 0
