"""The one way into a controller: which function takes which input, and what follows each input (KIP-631)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core import active, periodic_work, serving, snapshots, standby
from controller.core.periodic_work import do_what_is_due
from controller.interface import inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.core.controller import Controller
    from controller.interface.effects import Effect
    from controller.interface.inputs import Input


def step(controller: Controller, event: Input, now_ms: int) -> list[Effect]:
    """Take one input, do what is due, and return the effects, which are to be started in order.

    now_ms: of a clock that does not go back. Raises ReplayError, DecodeError, CorruptBatch, ActivationError or
    AssertionError where the log or this code is wrong: then the node must stop.
    """
    env = controller.env
    controller.set_time(now_ms)
    if not controller.long.must_wait(event):
        STEPS[type(event)](controller, event)
    if not controller.is_shut_down:
        do_what_is_due(controller)
    effects, controller.effects = controller.effects, []
    if env.access is not None and env.access.notes:
        effects += env.access.drain()
    return effects


def deadline_ms(controller: Controller) -> int | None:
    """When `step` must be called with `Ticked` at the latest; None where nothing is due until another input comes."""
    if controller.is_shut_down:
        return None
    due_ms: int | None = None
    is_held = controller.long.holds_writes  # fencing and the periodic tasks, which may write
    if controller.tasks is not None and not is_held:
        due_ms = controller.tasks.next_due_ms
    sessions = controller.env.sessions
    if sessions is not None and not is_held:
        due_ms = earlier(due_ms, controller.env.now_ms if sessions.has_steps else sessions.next_expiry_ms())
    if controller.registration is not None:
        due_ms = earlier(due_ms, controller.registration.next_due_ms(controller.state, controller.env.leader_id))
    return due_ms


def earlier(one_ms: int | None, other_ms: int | None) -> int | None:
    """The earlier of two moments; None stands for never."""
    if one_ms is None or (other_ms is not None and other_ms < one_ms):
        return other_ms
    return one_ms


STEPS: dict[type[Input], Callable[[Controller, Any], None]] = {
    inputs.Requested: serving.on_requested,
    inputs.Disconnected: serving.on_disconnected,
    inputs.LeaderChanged: active.on_leader_changed,
    inputs.HighWatermark: active.on_high_watermark,
    inputs.AppendRefused: active.on_append_refused,
    inputs.LeadershipConfirmed: active.on_leadership_confirmed,
    inputs.ShutDown: active.on_shut_down,
    inputs.Committed: standby.on_committed,
    inputs.CommittedPart: standby.on_committed_part,
    inputs.SnapshotOpened: standby.on_snapshot_opened,
    inputs.SnapshotPart: standby.on_snapshot_part,
    inputs.SnapshotClosed: standby.on_snapshot_closed,
    inputs.CaughtUp: standby.on_caught_up,
    inputs.KraftVersion: standby.on_kraft_version,
    inputs.KraftVersionSupport: standby.on_kraft_version_support,
    inputs.ReserveOffsets: active.on_reserve_offsets,
    inputs.Ticked: periodic_work.on_ticked,
    inputs.WallClock: periodic_work.on_wall_clock,
    inputs.SendAnswered: periodic_work.on_send_answered,
    inputs.SnapshotWritten: snapshots.on_snapshot_written,
    inputs.SnapshotGivenUp: snapshots.on_snapshot_given_up,
    inputs.Stopping: snapshots.on_stopping,
}
