"""What a controller does of itself: fencing, periodic tasks, its own registration, asking whether it still leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.core.serving import write_result
from controller.handlers.heartbeats import fence_expired
from controller.interface.effects import ConfirmLeadership, Noted

if TYPE_CHECKING:
    from controller.core.controller import Controller
    from controller.interface.inputs import SendAnswered, SnapshotGivenUp, SnapshotWritten, Ticked, WallClock


def on_ticked(controller: Controller, _event: Ticked) -> None:
    """One thing of each sort, so that a step stays short: what is left is due at once again.

    Only here, and not after other inputs: heartbeats that came while this node was held up are taken in before it is
    judged who has not sent any.
    """
    if controller.tasks is None:
        return
    state, env = controller.state, controller.env
    result = fence_expired(state, env)
    if result is not None:
        write_result(controller, result)
    task = controller.tasks.due(env.now_ms)
    if task is not None:
        result = task.run(state, env)
        write_result(controller, result)
        controller.tasks.ran(task, env.now_ms, again=result.again)


def do_what_is_due(controller: Controller) -> None:
    """After any input: ask for what the answers that came to wait need, and send our registration when it is time."""
    env = controller.env
    if controller.is_active:
        number = controller.waiting.question()
        if number:
            controller.effects.append(ConfirmLeadership(number))
    if controller.registration is not None:
        controller.effects += controller.registration.due(controller.state, env.leader_id, env.now_ms)


def next_due_ms(controller: Controller) -> int | None:
    """When something will be due; None where only an input can bring that about."""
    due = []
    if controller.tasks is not None:
        due.append(controller.tasks.next_due_ms())
    if controller.env.sessions is not None:
        due.append(controller.env.sessions.next_expiry_ms())
    if controller.registration is not None:
        due.append(controller.registration.next_due_ms(controller.state, controller.env.leader_id))
    return min((moment_ms for moment_ms in due if moment_ms is not None), default=None)


def on_wall_clock(controller: Controller, event: WallClock) -> None:
    controller.wall_offset_ms = event.offset_ms
    controller.env.wall_ms = controller.env.now_ms + event.offset_ms


def on_send_answered(controller: Controller, event: SendAnswered) -> None:
    """The active controller has our registration, or it came to nothing."""
    if controller.registration is not None:
        controller.effects += controller.registration.answered(event.number, event.response, controller.env.now_ms)


def on_snapshot_written(controller: Controller, event: SnapshotWritten) -> None:
    controller.snapshots.done(event.id)
    controller.metrics.snapshot_bytes, controller.metrics.snapshot_ms = event.size, controller.env.now_ms
    fields = {"end_offset": event.id.end_offset, "epoch": event.id.epoch, "size": event.size}
    controller.effects.append(Noted("snapshot_written", fields))


def on_snapshot_given_up(controller: Controller, event: SnapshotGivenUp) -> None:
    """The next one is due when as much was written again."""
    controller.snapshots.done(event.id)
    fields = {"end_offset": event.id.end_offset, "epoch": event.id.epoch, "reason": event.reason}
    controller.effects.append(Noted("snapshot_given_up", fields))
