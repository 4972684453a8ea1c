"""The controller: one input in, the state changed, and effects out (KIP-631).

What each input does is in `controller.core.steps`, a table of functions; this is what they share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.metrics import Metrics
from controller.core.periodic_work import do_what_is_due, next_due_ms
from controller.core.snapshot_schedule import SnapshotSchedule
from controller.core.steps import STEPS
from controller.core.waiting import Waiting
from controller.interface.effects import Reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.core.own_registration import OwnRegistration
    from controller.core.periodic_tasks import Tasks
    from controller.interface.effects import Effect
    from controller.interface.env import Env
    from controller.interface.inputs import Input, RequestContext
    from controller.state.state import State
    from raft.config import SnapshotId


class Controller:
    """One controller, active or standby.

    state: all metadata. env: the node and the moment; `env.epoch` is that of its leadership, -1 on a standby.
    bootstrap: the records, with their versions, that begin an empty log. registration: of this node, None for none.
    waiting: answers that wait. parked: requests to a standby whose state is not stable. tasks: None on a standby.
    loading: the snapshot that is being loaded. is_catching_up: a standby that must not tell of its state before
    `CaughtUp`. effects: of the step under way.
    """

    __slots__ = (
        "bootstrap", "effects", "env", "is_catching_up", "is_shut_down", "loading", "metrics", "parked",
        "registration", "snapshots", "state", "tasks", "waiting", "wall_offset_ms",
    )  # fmt: skip

    def __init__(
        self,
        state: State,
        env: Env,
        *,
        bootstrap: Sequence[tuple[Any, int]] = (),
        registration: OwnRegistration | None = None,
        is_catching_up: bool = False,
    ) -> None:
        self.state = state
        self.env = env
        self.bootstrap = bootstrap
        self.registration = registration
        self.metrics = Metrics()
        self.waiting = Waiting(self.answer)
        self.snapshots = SnapshotSchedule(env.settings, env.now_ms)
        self.tasks: Tasks | None = None
        self.loading: SnapshotId | None = None
        self.parked: list[tuple[RequestContext, Any]] = []
        self.wall_offset_ms = 0
        self.is_shut_down = False
        self.is_catching_up = is_catching_up
        self.effects: list[Effect] = []

    def step(self, event: Input, now_ms: int) -> list[Effect]:
        """Take one input in; the effects are to be started in order. now_ms: monotonic, never less than before.

        Raises ReplayError, DecodeError, CorruptBatch, ActivationError or AssertionError where the log or we are wrong:
        then the node must stop.
        """
        env = self.env
        env.now_ms = now_ms
        env.wall_ms = now_ms + self.wall_offset_ms
        STEPS[type(event)](self, event)
        if not self.is_shut_down:
            do_what_is_due(self)
        effects, self.effects = self.effects, []
        return effects

    @property
    def is_active(self) -> bool:
        """Whether this is the active controller; a standby is given what is committed, from `state.end_offset` on."""
        return self.env.is_active

    @property
    def deadline_ms(self) -> int | None:
        """When `step` wants to be called with `Ticked` at the latest; None where nothing is ever due."""
        return None if self.is_shut_down else next_due_ms(self)

    def answer(self, context: RequestContext, response: Any) -> None:
        self.metrics.processing_ms.add(self.env.now_ms - context.arrived_ms)
        self.effects.append(Reply(context.source, response))
