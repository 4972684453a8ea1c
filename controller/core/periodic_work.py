"""The work of a controller that no request starts: fencing, periodic tasks, its registration, confirming its
leadership.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.core.serving import write_result
from controller.handlers.heartbeats import fence_expired, leave_isrs
from controller.interface.effects import ConfirmLeadership

if TYPE_CHECKING:
    from controller.core.controller import Controller
    from controller.interface.inputs import SendAnswered, Ticked, WallClock


def on_ticked(controller: Controller, _event: Ticked) -> None:
    """Take a step of at most one broker and run at most one task, so that a step stays short; the rest is due again at
    once.

    Brokers are fenced after no other input: after a pause, a node first takes the heartbeats that arrived meanwhile,
    and then checks which sessions have expired.
    """
    if controller.tasks is None:
        return
    state, env = controller.state, controller.env
    result = fence_expired(state, env) or leave_isrs(state, env)
    if result is not None:
        write_result(controller, result)
    task = controller.tasks.due(env.now_ms)
    if task is not None:
        result = task.run(state, env)
        write_result(controller, result)
        controller.tasks.ran(task, env.now_ms, again=result.again)


def do_what_is_due(controller: Controller) -> None:
    """After each input: ask for the confirmation that answers wait for, and send the registration when it is due."""
    env = controller.env
    number = controller.waiting.question()  # on a standby nothing waits
    if number:
        controller.effects.append(ConfirmLeadership(number))
    if controller.registration is not None:
        controller.effects += controller.registration.due(controller.state, env.leader_id, env.now_ms)


def on_wall_clock(controller: Controller, event: WallClock) -> None:
    controller.wall_offset_ms = event.offset_ms
    controller.env.wall_ms = controller.env.now_ms + event.offset_ms


def on_send_answered(controller: Controller, event: SendAnswered) -> None:
    """The active controller answered our registration, or could not be reached."""
    if controller.registration is not None:
        controller.effects += controller.registration.on_answer(event.number, event.response, controller.env.now_ms)
