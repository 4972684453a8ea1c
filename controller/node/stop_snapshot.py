"""The stop of a node: a snapshot where a restart would have much to replay, then the shutdown of both cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.interface import inputs
from raft.interface import inputs as raft_inputs

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from controller.node.snapshot_task import SnapshotTask
    from raft.state.replica import Replica

# The longest wait for the snapshot. The rest of controller.server.start.SHUTDOWN_S_MAX is for the handover.
STOP_SNAPSHOT_S_MAX = 1.0
# With a last snapshot larger than this, none is begun: it would take as long to write, and to load, as that one.
SNAPSHOT_BYTES_MAX = 16 << 20


class Stop:
    """Waits until no snapshot is under way, at most STOP_SNAPSHOT_S_MAX, then shuts the cores down.

    to_controller, to_raft: step a core with an input, at once.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        replica: Replica,
        snapshot: SnapshotTask,
        to_controller: Callable[[inputs.Input], None],
        to_raft: Callable[[raft_inputs.Input], None],
    ) -> None:
        self._loop = loop
        self._replica = replica
        self._snapshot = snapshot
        self._to_controller = to_controller
        self._to_raft = to_raft
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    def begin(self) -> None:
        """Stop; where this was called before, wait no longer."""
        if self._timer is not None:
            self._snapshot.give_up("the node was told again to stop")
        elif not self._is_over:
            latest = self._replica.log.latest_snapshot
            if latest is None or latest.size <= SNAPSHOT_BYTES_MAX:
                self._to_controller(inputs.Stopping())
            self._wait()

    def close(self) -> None:
        """The node ends: do nothing more."""
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        if not self._snapshot.is_under_way:
            self._go_on()
        elif not self._is_over:
            reason = f"the node stops, and it was not written within {STOP_SNAPSHOT_S_MAX:g} s"
            self._timer = self._loop.call_later(STOP_SNAPSHOT_S_MAX, self._snapshot.give_up, reason)
            self._snapshot.when_over(self._go_on)

    def _go_on(self) -> None:
        if not self._is_over:
            self.close()
            self._to_controller(inputs.ShutDown())
            self._to_raft(raft_inputs.ShutDown())
