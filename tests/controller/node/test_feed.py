"""Committed batches reach the controller in order, and it is notified when it has caught up after a start."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from controller.interface.inputs import CaughtUp, Committed, CommittedPart, SnapshotClosed, SnapshotOpened, SnapshotPart
from controller.interface.inputs import LeaderChanged as NewLeader
from controller.node.feed import StateFeed
from raft.interface.config import SnapshotId
from raft.interface.effects import LeaderChanged
from raft.state.follower_state import FollowerState
from raft.state.roles import Follower, Unattached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Standby:
    """A controller that follows, and its storage: every batch is one record."""

    def __init__(self) -> None:
        self.state = self
        self.is_active = False
        self.env = SimpleNamespace(node_id=1)
        self.end_offset = 0
        self.is_catching_up = True
        self.log = self
        self.end = 0  # of the log
        self.role: Any = Follower(1, 2, (), None, FollowerState(0, 0))
        self.taken: list[Any] = []
        self.whole = 2  # the bytes that are read at a time
        self.replay: Any = None
        self.snapshot: list[bytes] = []
        self.loaded: int | None = None  # the records that are left of a batch, one byte each
        self.parts: list[bytes] = []
        self.leaders: list[tuple[int, int | None, int]] = []  # epoch, leader, and the state's end offset

    def step(self, event: Any) -> None:
        self.taken.append(type(event))
        if isinstance(event, SnapshotOpened):
            self.end_offset = event.id.end_offset
            self.loaded = None
        elif isinstance(event, SnapshotPart):
            left = len(event.data) if self.loaded is None else self.loaded
            self.loaded = left - 1 if left > 1 else None
            self.parts.append(event.data)
        elif isinstance(event, CommittedPart):
            left = len(event.data) if self.replay is None else self.replay.left
            self.replay = SimpleNamespace(left=left - 1, is_at_end=left == 1)
        elif isinstance(event, Committed):
            self.replay = None
            self.end_offset += len(event.data)
        elif isinstance(event, CaughtUp):
            self.is_catching_up = False
        elif isinstance(event, NewLeader):
            self.leaders.append((event.epoch, event.leader_id, self.end_offset))
            self.is_active = event.leader_id == self.env.node_id

    def read(self, offset: int, end_offset: int, _bytes_max: int) -> bytes:
        return b"x" * min(end_offset - offset, self.whole)

    def snapshot_batches(self, _id: SnapshotId) -> Iterator[Any]:
        return iter([(data, SimpleNamespace(position=0, size=len(data))) for data in self.snapshot])

    def fetched(self, end: int, leader_high_watermark: int) -> int:
        """An answer to a Fetch: the log ends at `end`. Returns the high watermark of this replica."""
        self.end = end
        self.role.state.leader_high_watermark = leader_high_watermark
        return min(end, leader_high_watermark)


class Iterations:
    """The later iterations of a loop."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

        self.paused: list[Callable[[], None]] = []

    def later(self, action: Callable[[], None], wait_s: float) -> None:
        (self.paused if wait_s else self.waiting).append(action)

    def run(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()

    def pass_pauses(self) -> None:
        self.waiting += self.paused
        self.paused.clear()
        self.run()


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


def test_a_large_batch_of_a_snapshot_is_loaded_in_parts_between_which_others_act() -> None:
    standby, feed, iterations = fed()
    standby.snapshot = [b"a", b"bbb", b"c"]
    feed.load(SnapshotId(3, 1))

    loaded = []
    while iterations.waiting:
        iterations.waiting.pop(0)()
        loaded.append(b"".join(standby.parts))
        standby.parts.clear()

    # Small batches are in one iteration; what is left of a larger one waits for the next.
    assert loaded == [b"", b"abbb", b"bbb", b"bbbc", b""]
    assert standby.taken == [SnapshotOpened, *[SnapshotPart] * 5, SnapshotClosed]


def test_another_snapshot_replaces_one_of_which_a_batch_is_half_loaded() -> None:
    standby, feed, iterations = fed()
    standby.snapshot = [b"aaa"]
    feed.load(SnapshotId(3, 1))
    for _ in range(2):
        iterations.waiting.pop(0)()

    standby.snapshot = [b"b"]
    feed.load(SnapshotId(6, 1))
    iterations.run()

    assert standby.parts == [b"aaa", b"b"]
    assert standby.taken == [SnapshotOpened, SnapshotPart, SnapshotOpened, SnapshotPart, SnapshotClosed]


def test_catching_up_to_the_high_watermark_is_notified_once() -> None:
    standby, feed, iterations = fed()
    feed.load(SnapshotId(3, 1))

    feed.high_watermark(standby.fetched(6, 6))
    iterations.run()
    feed.high_watermark(standby.fetched(7, 7))
    iterations.run()

    assert standby.taken == [SnapshotOpened, SnapshotClosed, Committed, Committed, CaughtUp, Committed]


def test_the_first_part_of_a_long_log_does_not_mean_caught_up() -> None:
    standby, feed, iterations = fed()

    for end in (2, 4):
        feed.high_watermark(standby.fetched(end, 6))
        iterations.run()
    assert CaughtUp not in standby.taken

    feed.high_watermark(standby.fetched(6, 6))
    iterations.run()
    assert standby.taken == [Committed, Committed, Committed, CaughtUp]


def test_a_new_leader_first_names_its_high_watermark() -> None:
    standby, feed, iterations = fed()
    feed.high_watermark(standby.fetched(2, 6))
    iterations.run()

    standby.role = Follower(2, 3, (), None, FollowerState(0, 0))
    for _ in range(3):
        feed.on_leader_changed(LeaderChanged(2, 3, 0))
        iterations.run()
        iterations.pass_pauses()
    assert CaughtUp not in standby.taken
    assert len(iterations.paused) == 1

    standby.fetched(2, 2)
    iterations.pass_pauses()
    assert standby.taken == [Committed, *[NewLeader] * 3, CaughtUp]
    assert not iterations.paused


def test_a_replica_without_a_leader_is_not_caught_up() -> None:
    standby, feed, iterations = fed()
    standby.role = Unattached(1, None, None, 0)

    feed.high_watermark(2)
    iterations.pass_pauses()
    iterations.pass_pauses()

    assert standby.taken == [Committed]


def test_a_node_that_leads_is_active_once_it_has_all_committed_records() -> None:
    standby, feed, iterations = fed()
    feed.high_watermark(standby.fetched(6, 6))

    feed.on_leader_changed(LeaderChanged(4, 1, 6))
    assert standby.leaders == []
    iterations.run()

    assert (standby.taken, standby.leaders) == ([Committed, Committed, Committed, NewLeader], [(4, 1, 6)])


def test_a_claim_that_waits_for_records_ends_when_another_node_leads() -> None:
    standby, feed, iterations = fed()
    feed.high_watermark(standby.fetched(6, 6))
    feed.on_leader_changed(LeaderChanged(4, 1, 6))

    feed.on_leader_changed(LeaderChanged(5, 2, 6))
    iterations.run()
    iterations.pass_pauses()

    assert (standby.leaders, standby.end_offset) == ([(5, 2, 0)], 6)
    assert not standby.is_active


def test_a_claim_that_waits_for_records_is_replaced_by_that_of_a_later_epoch() -> None:
    standby, feed, iterations = fed()
    feed.high_watermark(standby.fetched(6, 6))
    feed.on_leader_changed(LeaderChanged(4, 1, 6))

    feed.on_leader_changed(LeaderChanged(5, 2, 6))
    feed.on_leader_changed(LeaderChanged(6, 1, 6))
    iterations.run()

    assert standby.leaders == [(5, 2, 0), (6, 1, 6)]


def fed_with_large(size: int = 3) -> tuple[Standby, StateFeed, Iterations]:
    """A feed to which a batch of more than two bytes is large; a part is one byte."""
    standby, feed, iterations = fed()
    standby.whole = size
    feed.whole_bytes_max = 2
    return standby, feed, iterations


def test_a_large_batch_is_fed_in_parts_with_other_work_between_and_then_whole() -> None:
    standby, feed, iterations = fed_with_large()

    feed.high_watermark(standby.fetched(3, 3))
    taken = []
    while iterations.waiting:
        iterations.waiting.pop(0)()
        taken.append(len(standby.taken))

    assert standby.taken == [CommittedPart, CommittedPart, CommittedPart, Committed, CaughtUp]
    assert max(after - before for before, after in pairwise([0, *taken])) <= 2
    assert standby.end_offset == 3


def test_a_claim_waits_for_the_end_of_a_large_batch() -> None:
    standby, feed, iterations = fed_with_large()
    feed.high_watermark(standby.fetched(3, 3))
    for _ in range(2):
        iterations.waiting.pop(0)()
    standby.end_offset = 3  # whatever the state says of a batch under way

    feed.on_leader_changed(LeaderChanged(4, 1, 3))
    is_level = feed.is_level
    standby.end_offset = 0
    iterations.run()

    assert not is_level
    assert standby.leaders == [(4, 1, 3)]


def test_a_snapshot_drops_a_large_batch() -> None:
    standby, feed, iterations = fed_with_large()
    feed.high_watermark(standby.fetched(3, 3))
    for _ in range(2):
        iterations.waiting.pop(0)()

    feed.load(SnapshotId(3, 1))
    iterations.run()

    assert standby.taken == [CommittedPart, SnapshotOpened, SnapshotClosed, CaughtUp]
