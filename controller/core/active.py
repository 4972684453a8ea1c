"""Becoming the active controller, commits while active, and becoming a standby again (KIP-595, KIP-631)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.core.activation import activation_records
from controller.core.authorization import on_loaded
from controller.core.periodic_tasks import Tasks
from controller.core.serving import leave_offsets, refuse_or_repeat, serve_parked, write_result
from controller.core.snapshots import take_snapshot_if_due
from controller.interface.effects import Noted, OffsetsReserved, Resign
from controller.interface.results import Result
from controller.interface.sessions import Sessions

if TYPE_CHECKING:
    from controller.core.controller import Controller
    from controller.interface.env import Env
    from controller.interface.inputs import (
        AppendRefused,
        HighWatermark,
        LeaderChanged,
        LeadershipConfirmed,
        ReserveOffsets,
        ShutDown,
    )
    from controller.state.state import State


def on_leader_changed(controller: Controller, event: LeaderChanged) -> None:
    """The quorum has another leader, none, or this node as its leader."""
    env = controller.env
    leader_id = -1 if event.leader_id is None else event.leader_id
    if leader_id >= 0:
        controller.metrics.new_active_controllers += 1
        if leader_id != env.leader_id and controller.registration is not None:
            controller.registration.on_leader_changed(env.now_ms)
    env.leader_id = leader_id
    env.last_leader_id = leader_id if leader_id >= 0 else env.last_leader_id
    is_ours = leader_id == env.node_id and not controller.is_shut_down
    if controller.is_active and not is_ours:
        renounce(controller, "the quorum has another leader, or none")
    if is_ours:
        claim(controller, event.epoch, event.end_offset)


def claim(controller: Controller, epoch: int, end_offset: int) -> None:
    """Become the active controller: everything below `end_offset` is committed, and the next record has that offset.

    A controller that is active already keeps its state: it has every record that it wrote before.
    """
    state, env = controller.state, controller.env
    assert not controller.is_partial, "all that is committed was replayed"
    # What it has applied so far is not in the log, and one that began on a standby must not hold the writes.
    controller.long.abandon()
    if controller.is_active:
        state.revert(env.next_offset)
    assert state.end_offset <= end_offset, (state.end_offset, end_offset)
    # The offsets between are of control records, which change nothing in the state.
    state.end_offset = end_offset
    commit(controller, end_offset)
    was_active = controller.is_active
    env.epoch, env.next_offset = epoch, end_offset
    controller.effects.append(Noted("controller_active", {"epoch": epoch, "next_offset": end_offset}))
    if was_active:
        give_reservation(controller)
        return
    write_result(controller, Result(None, activation_records(state, env, controller.bootstrap)))
    give_reservation(controller)
    # Not earlier: the activation records may abort a transaction that changed registrations.
    env.sessions = sessions_of(state, env)
    controller.tasks = Tasks(env.settings, env.now_ms)
    controller.is_catching_up = False
    on_loaded(controller)
    serve_parked(controller)


def on_reserve_offsets(controller: Controller, event: ReserveOffsets) -> None:
    """Leave offsets to a control batch of the quorum; it may come before this node has become active."""
    if controller.env.epoch != event.epoch:
        controller.reservation = event
        return
    controller.reservation = None
    controller.effects.append(OffsetsReserved(event.epoch, leave_offsets(controller, event.count)))


def give_reservation(controller: Controller) -> None:
    """Leave the offsets that the quorum asked for before this node became active."""
    if controller.reservation is not None:
        on_reserve_offsets(controller, controller.reservation)


def sessions_of(state: State, env: Env) -> Sessions:
    """The sessions of a controller that becomes active: every unfenced broker starts with a full session timeout."""
    sessions = Sessions(env.settings.broker_session_timeout_ms)
    for broker_id, broker in sorted(state.brokers.items()):
        sessions.register(broker_id, fenced=broker.fenced)
        if not broker.fenced:
            sessions.record_contact(broker_id, broker.epoch, env.now_ms)
    return sessions


def renounce(controller: Controller, reason: str) -> None:
    """Become a standby: revert uncommitted changes and answer waiting requests, whose outcome is unknown here."""
    state, env = controller.state, controller.env
    lost = state.end_offset - state.committed_end_offset
    controller.effects.append(Noted("controller_renounced", {"epoch": env.epoch, "reason": reason, "reverted": lost}))
    env.epoch = -1
    env.sessions = None
    controller.tasks = None
    controller.long.abandon()
    state.revert()
    assert state.end_offset <= env.next_offset, (state.end_offset, env.next_offset)
    env.next_offset = state.end_offset
    controller.snapshots.on_leadership_lost()
    for context, request in controller.waiting.clear():
        refuse_or_repeat(controller, context, request)


def on_append_refused(controller: Controller, event: AppendRefused) -> None:
    """Resign: records that are already in the state were not appended to the log, so this node cannot stay leader."""
    if controller.env.epoch == event.epoch:
        controller.effects.append(Resign(event.epoch, "the quorum refused an append"))
        renounce(controller, "the quorum refused an append")


def on_leadership_confirmed(controller: Controller, event: LeadershipConfirmed) -> None:
    if controller.env.epoch == event.epoch:
        controller.waiting.on_confirmed(event.number)


def on_high_watermark(controller: Controller, event: HighWatermark) -> None:
    """The quorum has committed what this controller wrote."""
    assert controller.is_active, "a standby is given the batches themselves"
    assert event.offset <= controller.env.next_offset, (event.offset, controller.env.next_offset)
    commit(controller, event.offset)
    take_snapshot_if_due(controller)


def commit(controller: Controller, end_offset: int) -> None:
    """Mark all records below `end_offset` as committed, and send the responses that waited for them.

    Records of a metadata transaction count only when its end is committed: until then another leader may abort it.
    """
    controller.state.commit(end_offset)
    controller.snapshots.on_committed(end_offset)
    controller.waiting.on_committed(controller.state.stable_end_offset)


def on_shut_down(controller: Controller, _event: ShutDown) -> None:
    """Answer the waiting requests with NOT_CONTROLLER, and write nothing more."""
    if controller.is_active:
        renounce(controller, "shutting down")
    controller.is_shut_down = True
