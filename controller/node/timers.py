"""The timers of a node: steps of the cores at their deadlines, and the work of every second."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from controller.core.steps import deadline_ms
from controller.interface import inputs
from raft.interface import inputs as raft_inputs
from raft.storage.errors import DiskFailed

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from controller.core.controller import Controller
    from raft.network.election_preparation import ElectionPreparation
    from raft.state.replica import Replica
    from raft.storage.storage import Storage

UPKEEP_S = 1.0


class Timers:
    """The timers of a node, on its loop.

    now_ms: the monotonic clock; wall_ms: the wall clock. queue: queues an input for each core, None for none; drain:
    steps the cores with the queued inputs. between_steps_ms: the pause between two steps of a broker that leaves its
    partitions, beside that in which the loop takes what its sockets have.
    """

    between_steps_ms = 0

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        replica: Replica,
        controller: Controller,
        storage: Storage,
        preparation: ElectionPreparation,
        *,
        now_ms: Callable[[], int],
        wall_ms: Callable[[], int],
        queue: Callable[[raft_inputs.Input | None, inputs.Input | None], None],
        drain: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._replica = replica
        self._controller = controller
        self._storage = storage
        self._preparation = preparation
        self._now_ms = now_ms
        self._wall_ms = wall_ms
        self._queue = queue
        self._drain = drain
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._upkeep: asyncio.TimerHandle | None = None

    def arm(self) -> None:
        """Set the timer to the earlier deadline of the two cores."""
        due_ms = self._replica.deadline_ms
        controller_due_ms = deadline_ms(self._controller)
        if controller_due_ms is not None and controller_due_ms < due_ms:
            due_ms = controller_due_ms
        if self._timer is not None:
            if self._timer_ms <= due_ms:
                return  # it fires early enough, and is set again then
            self._timer.cancel()
        self._timer_ms = due_ms
        # Otherwise never at once: by the clock of whole milliseconds the deadline may still be ahead.
        sessions = self._controller.env.sessions
        least_ms = self.between_steps_ms if sessions is not None and sessions.has_steps else 1
        self._timer = self._loop.call_later(max(due_ms - self._now_ms(), least_ms) / 1000, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now_ms = self._now_ms()
        raft_is_due = self._replica.deadline_ms <= now_ms
        due_ms = deadline_ms(self._controller)
        controller_is_due = due_ms is not None and due_ms <= now_ms
        self._queue(raft_inputs.Ticked() if raft_is_due else None, inputs.Ticked() if controller_is_due else None)
        self._drain()

    def start(self) -> None:
        """Start the work that is repeated."""
        self._preparation.start()
        self._keep_up()

    def _keep_up(self) -> None:
        """Every second, give the cores the offset of the wall clock, and the storage the time for its own work."""
        self.queue_wall_clock()
        with suppress(DiskFailed):  # which the storage reports by itself
            self._storage.tick(self._now_ms())
        self._upkeep = self._loop.call_later(UPKEEP_S, self._keep_up)

    def queue_wall_clock(self) -> None:
        """Queue the offset of the wall clock for both cores."""
        offset_ms = self._wall_ms() - self._now_ms()
        self._queue(raft_inputs.WallClock(offset_ms), inputs.WallClock(offset_ms))

    def close(self) -> None:
        """Cancel all timers."""
        self._preparation.close()
        for timer in (self._timer, self._upkeep):
            if timer is not None:
                timer.cancel()
