"""Committed batches reach the controller in order, and it is notified when it has caught up after a start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from controller.interface.inputs import CaughtUp, Committed, SnapshotClosed, SnapshotOpened
from controller.node.feed import StateFeed
from raft.config import SnapshotId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Standby:
    """A controller that follows, and its storage: every batch is one record."""

    def __init__(self) -> None:
        self.state = self
        self.is_active = False
        self.end_offset = 0
        self.is_catching_up = True
        self.role = None
        self.taken: list[Any] = []

    def step(self, event: Any) -> None:
        self.taken.append(type(event))
        if isinstance(event, SnapshotOpened):
            self.end_offset = event.id.end_offset
        elif isinstance(event, Committed):
            self.end_offset += len(event.data)
        elif isinstance(event, CaughtUp):
            self.is_catching_up = False

    def read(self, offset: int, end_offset: int, _bytes_max: int) -> bytes:
        return b"x" * min(end_offset - offset, 2)

    def snapshot_batches(self, _id: SnapshotId) -> Iterator[Any]:
        return iter(())


class Iterations:
    """The later iterations of a loop."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def later(self, action: Callable[[], None], _wait_s: float) -> None:
        self.waiting.append(action)

    def run(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


def fed() -> tuple[Standby, StateFeed, Iterations]:
    standby, iterations = Standby(), Iterations()
    return (
        standby,
        StateFeed(cast("Any", standby), cast("Any", standby), cast("Any", standby), standby.step, iterations.later),
        iterations,
    )


def test_a_snapshot_alone_does_not_mean_caught_up() -> None:
    standby, feed, iterations = fed()

    feed.load(SnapshotId(3, 1))
    iterations.run()

    assert standby.taken == [SnapshotOpened, SnapshotClosed]


def test_catching_up_to_the_high_watermark_is_notified_once() -> None:
    standby, feed, iterations = fed()
    feed.load(SnapshotId(3, 1))

    feed.high_watermark(6)
    iterations.run()
    feed.high_watermark(7)
    iterations.run()

    assert standby.taken == [SnapshotOpened, SnapshotClosed, Committed, Committed, CaughtUp, Committed]
