"""One controller as data: its state, its environment, and the requests that wait in it (KIP-631).

`controller.core.steps` calls the function that handles an input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import Kind
from controller.core.long_steps import LongSteps
from controller.core.metrics import Metrics
from controller.core.snapshot_schedule import SnapshotSchedule
from controller.core.waiting import Waiting
from controller.interface.effects import Reply
from controller.rules.mutation_quotas import with_throttle
from controller.rules.permissions import note_omitted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from controller.core.apis import Api
    from controller.core.own_registration import OwnRegistration
    from controller.core.periodic_tasks import Tasks
    from controller.interface.effects import Effect
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext, ReserveOffsets
    from controller.state.partitions.bulk_batches import BatchReplay
    from controller.state.state import State
    from raft.interface.config import SnapshotId


class Controller:
    """One controller, active or standby.

    state: all metadata. env: the node and the current time; `env.epoch` is that of its leadership, -1 on a standby.
    bootstrap: the records, with their versions, that the first leader writes to an empty log. registration: of this
    node; None where the node does not register. waiting: answers that wait for a commit or for confirmed leadership.
    parked: requests to a standby whose state is not stable. tasks: the periodic tasks; None on a standby. loading: the
    snapshot that is being loaded. loaded: the records of its batch that are left; None for none. replay: of a large
    batch, some of whose records are in the state; None for none. reservation: the offsets that the quorum asked for
    before this node became active, None for none. is_catching_up: whether a standby answers no reads until `CaughtUp`.
    effects: of the step under way. long: the long step, of which at most one is under way beside it.
    """

    __slots__ = (
        "bootstrap", "effects", "env", "is_catching_up", "is_shut_down", "loaded", "loading", "long", "metrics",
        "parked", "registration", "replay", "reservation", "snapshots", "state", "tasks", "waiting", "wall_offset_ms",
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
        self.loaded: Iterator[int] | None = None
        self.replay: BatchReplay | None = None
        self.reservation: ReserveOffsets | None = None
        self.parked: list[tuple[RequestContext, Any]] = []
        self.wall_offset_ms = 0
        self.is_shut_down = False
        self.is_catching_up = is_catching_up
        self.effects: list[Effect] = []
        self.long = LongSteps(state, self.set_time, self.must_park)
        env.slices = self.long
        if env.access is not None and not is_catching_up:
            env.access.is_ready = True

    @property
    def is_active(self) -> bool:
        """Whether this is the active controller; a standby gets what is committed, from `state.end_offset` on."""
        return self.env.epoch >= 0

    def set_time(self, now_ms: int) -> None:
        """The time of the step under way."""
        self.env.now_ms = now_ms
        self.env.wall_ms = now_ms + self.wall_offset_ms

    def must_park(self, api: Api) -> bool:
        """Whether a standby cannot answer from its state now: a metadata transaction is open, which may yet be aborted,
        a part of a batch is in the state, or the state is older than the state that this node answered from before it
        was restarted.
        """
        if self.is_active or api.kind is not Kind.READ:
            return False
        return self.is_catching_up or self.is_partial or self.state.transaction_start >= 0

    @property
    def is_partial(self) -> bool:
        """Whether the state of this standby is between two offsets: in a snapshot, or in a large batch."""
        return self.loading is not None or self.replay is not None

    def answer(self, context: RequestContext, response: Any) -> None:
        """Send the answer of one request with the effects of this step."""
        self.metrics.processing_ms.add(self.env.now_ms - context.arrived_ms)
        if context.throttled_until_ms:
            response = with_throttle(context, response, self.env.now_ms)
        if context.denials:
            note_omitted(context, self.env)
        self.effects.append(Reply(context.source, response, context))
