"""A snapshot of the state, from the view to the file, in time slices."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import pytest

from controller.interface.effects import TakeSnapshot
from controller.node.snapshot_task import SnapshotTask
from controller.state.state import State
from controller.state.view import stable_view
from raft.interface.config import SnapshotId
from raft.interface.effects import Append
from raft.interface.inputs import SnapshotTaken
from raft.storage.flusher import AtOnce
from raft.storage.snapshot_file import check_snapshot
from raft.storage.snapshots import control_state
from raft.storage.storage import Storage
from records.metadata.configs import FeatureLevelRecord
from tests.raft.building import dynamic_voters, fetch_response, follower, log
from tests.raft.storage.batches import run
from tests.raft.storage.disk import Disk, unexpected

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.state.view import View


class Desk:
    """A storage in memory, a task that writes to it, and its results."""

    def __init__(self) -> None:
        self.disk = Disk()
        self.inputs: list[object] = []
        self.given_up: list[tuple[SnapshotId, str]] = []
        self.iterations: deque[Callable[[], None]] = deque()
        self.storage = Storage(
            self.disk, "log", AtOnce(), on_input=self.inputs.append, on_failure=unexpected, on_note=lambda *_: None
        )
        self.storage.perform(Append(1, 0, 9, 1, run(0, 9)))
        self.inputs.clear()
        self.task = SnapshotTask(
            self.storage,
            lambda action, _rest_s: self.iterations.append(action),
            lambda: 77,
            lambda id_, why: self.given_up.append((id_, why)),
        )

    def begin(self, view: View, end_offset: int = 9) -> bool:
        return self.task.begin(SnapshotId(end_offset, 1), 5, view, 0, None)

    def go_on(self) -> None:
        while self.iterations:
            self.iterations.popleft()()

    def names(self) -> list[str]:
        return sorted(path for path in self.disk.files if "checkpoint" in path or ".part" in path)


def view_at(level: int | None) -> View:
    state = State()
    if level is not None:
        state.replay(FeatureLevelRecord(name="metadata.version", feature_level=level), 0)
        state.commit(1)
    return stable_view(state)


def test_a_snapshot_is_written_in_later_time_slices_and_notified_when_stored() -> None:
    desk = Desk()

    assert desk.begin(view_at(30))
    assert desk.inputs == []
    desk.go_on()

    assert [(type(event), event.id) for event in desk.inputs if isinstance(event, SnapshotTaken)] == [
        (SnapshotTaken, SnapshotId(9, 1))
    ]
    assert desk.given_up == []
    assert not desk.begin(view_at(30))


def test_a_snapshot_is_under_way_until_it_is_on_disk() -> None:
    desk = Desk()
    over: list[str] = []
    desk.begin(view_at(30))
    desk.task.when_over(lambda: over.append("over"))
    desk.go_on()
    assert (desk.task.is_under_way, over) == (True, [])

    desk.task.on_stored(SnapshotId(8, 1))
    assert (desk.task.is_under_way, over) == (True, [])
    desk.task.on_stored(SnapshotId(9, 1))
    desk.task.on_stored(SnapshotId(9, 1))

    assert (desk.task.is_under_way, over) == (False, ["over"])


@pytest.mark.parametrize("ends", ["drop", "give_up", "unwritable"])
def test_a_snapshot_that_is_dropped_or_given_up_is_over(ends: str) -> None:
    desk = Desk()
    over: list[int] = []
    desk.begin(view_at(None if ends == "unwritable" else 30))
    desk.task.when_over(lambda: over.append(len(desk.given_up)))

    if ends == "drop":
        desk.task.drop()
    elif ends == "give_up":
        desk.task.give_up("it is late")
    desk.go_on()

    assert not desk.task.is_under_way
    assert over == [0 if ends == "drop" else 1]
    assert desk.given_up == ([(SnapshotId(9, 1), "it is late")] if ends == "give_up" else desk.given_up)


def test_a_written_snapshot_that_is_given_up_before_it_is_on_disk_is_stored_all_the_same() -> None:
    desk = Desk()
    desk.begin(view_at(30))
    desk.go_on()

    desk.task.give_up("it is late")

    assert not desk.task.is_under_way
    assert desk.given_up == []
    assert [path for path in desk.names() if path.endswith(".checkpoint")] == [
        "log/00000000000000000009-0000000001.checkpoint"
    ]


def test_a_snapshot_that_cannot_be_written_is_abandoned_without_a_file() -> None:
    desk = Desk()
    before = desk.names()
    desk.begin(view_at(None))

    desk.go_on()

    assert [id_ for id_, _ in desk.given_up] == [SnapshotId(9, 1)]
    assert "metadata version" in desk.given_up[0][1]
    assert (desk.inputs, desk.names()) == ([], before)
    assert desk.begin(view_at(30))


def test_a_dropped_snapshot_leaves_no_file_and_the_next_can_start() -> None:
    desk = Desk()
    before = desk.names()
    desk.begin(view_at(30))

    desk.task.drop()
    desk.go_on()

    assert (desk.inputs, desk.given_up, desk.names()) == ([], [], before)
    assert desk.begin(view_at(30), 8)


def test_a_snapshot_has_the_voters_of_its_end_and_not_those_of_now() -> None:
    desk = Desk()
    recovered = log(20, (1, 0))
    recovered.voter_sets = ((3, dynamic_voters(1)), (9, dynamic_voters(1, 2)))
    recovered.kraft_versions = ((2, 1),)
    bench = follower(leader=2, epoch=1, recovered=recovered)
    bench.answer(bench.last_send(), fetch_response(1, 2, high_watermark=20))
    replica = bench.replica

    desk.task.take(TakeSnapshot(SnapshotId(9, 1), 5, view_at(30)), replica)
    desk.go_on()

    path = "log/00000000000000000009-0000000001.checkpoint"
    assert control_state(check_snapshot(desk.disk, path), path) == (1, dynamic_voters(1))
    assert replica.control_state_at(20) == (1, dynamic_voters(1, 2))
