"""Effects in, inputs out: the whole storage on real files, with its thread."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from raft.interface.config import ReplicaKey, SnapshotId
from raft.interface.effects import (
    AdvanceLogStart,
    Append,
    DeleteSnapshot,
    DropSnapshotPart,
    FreezeSnapshot,
    HighWatermark,
    Noted,
    ResetLog,
    SaveElection,
    SaveEpochs,
    Truncate,
    WriteSnapshotPart,
)
from raft.interface.inputs import Flushed, PartWritten, Saved, SnapshotStored, SnapshotTaken
from raft.interface.recovered import Election, Recovered, StoredSnapshot
from raft.interface.voters import VoterSet
from raft.storage.epoch_checkpoint import epochs_text, parse_epochs
from raft.storage.errors import DiskFailed, StorageError
from raft.storage.files import OsFiles, replace_file
from raft.storage.flusher import AtOnce, FlushThread
from raft.storage.log import LogLimits
from raft.storage.quorum_state import quorum_state_text
from raft.storage.snapshot_file import SnapshotBytes
from raft.storage.storage import Storage
from tests.raft.storage.batches import batch, leader_change, run
from tests.raft.storage.disk import Disk, unexpected
from tests.raft.storage.golden import DIRECTORIES, LOG, copied, partition
from tests.raft.storage.test_disk_queue import Held

if TYPE_CHECKING:
    from collections.abc import Iterator


class Node:
    """A storage, and its reports."""

    def __init__(self, directory: str | Path, files: Any = None, executor: Any = None, **limits: int) -> None:
        self.inputs: list[Any] = []
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.failures: list[DiskFailed] = []
        self.storage = Storage(
            files or OsFiles(),
            str(directory),
            executor or AtOnce(),
            on_input=self.inputs.append,
            on_failure=self.failures.append,
            on_note=lambda name, fields: self.notes.append((name, fields)),
            limits=LogLimits(**limits),
        )

    def perform(self, *effects: Any) -> list[Any]:
        """The inputs that these effects caused."""
        before = len(self.inputs)
        for effect in effects:
            self.storage.perform(effect)
        return self.inputs[before:]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    made = Node(tmp_path / "log")
    yield made
    made.storage.close()
    assert made.failures == []


def downloaded(end_offset: int, epoch: int) -> bytes:
    source = SnapshotBytes(epoch, 7)
    return source.header(1234) + source.data([b"state"] * 3) + source.footer()


def test_an_empty_directory_starts_empty(node: Node, tmp_path: Path) -> None:
    assert node.storage.recovered == Recovered()
    assert sorted(path.name for path in (tmp_path / "log").iterdir()) == [LOG, "partition.metadata"]


def test_an_append_is_reported_when_it_is_flushed(node: Node) -> None:
    inputs = node.perform(Append(1, 0, 1, 1, leader_change(0, 1)), Append(2, 1, 4, 1, run(1, 4)))

    size = len(leader_change(0, 1))
    assert inputs == [Flushed(1, 1, size), Flushed(2, 4, size + len(run(1, 4)))]


def test_every_log_operation_is_reported_with_its_number_and_the_log_end(node: Node) -> None:
    node.perform(Append(1, 0, 4, 1, run(0, 2) + batch(2, count=2)))

    inputs = node.perform(Truncate(2, 3), AdvanceLogStart(3, 0), ResetLog(4, SnapshotId(9, 2)))

    size = len(run(0, 2))
    assert inputs == [Flushed(2, 2, size), Flushed(3, 2, size), Flushed(4, 9, 0)]


def test_the_next_start_finds_the_saved_election(node: Node, tmp_path: Path) -> None:
    key = ReplicaKey(3, bytes(15) + b"\5")

    inputs = node.perform(SaveElection(7, 4, 2, key, 1, ()))

    assert inputs == [Saved(7)]
    node.storage.close()
    assert Node(tmp_path / "log").storage.recovered.election == Election(4, 2, key)


def test_a_start_without_quorum_state_restores_it_and_says_so(node: Node, tmp_path: Path) -> None:
    """As under Strimzi, whose script removes the file at each start."""
    node.perform(SaveElection(1, 4, None, ReplicaKey(2), 0, (1, 2, 3)))
    node.storage.close()
    text = (tmp_path / "log" / "quorum-state").read_bytes()
    (tmp_path / "log" / "quorum-state").unlink()

    again = Node(tmp_path / "log")
    third = Node(tmp_path / "log")

    assert again.storage.recovered.election == Election(4, None, ReplicaKey(2))
    assert again.storage.notes == [
        ("quorum_state_restored",
         {"file": f"{tmp_path}/log/quorum-state", "epoch": 4, "leader_id": None, "voted": 2}),
    ]  # fmt: skip
    assert (tmp_path / "log" / "quorum-state").read_bytes() == text
    assert (third.storage.recovered.election, third.storage.notes) == (Election(4, None, ReplicaKey(2)), [])


def test_a_start_keeps_a_copy_of_the_quorum_state_that_another_node_wrote(node: Node, tmp_path: Path) -> None:
    """As after an upgrade, or where a stock node had the directory meanwhile: it knows the first name alone."""
    node.perform(SaveElection(1, 4, None, ReplicaKey(2), 0, (1, 2, 3)))
    node.storage.close()
    newer = quorum_state_text(5, 3, None, 0, (1, 2, 3))
    replace_file(OsFiles(), f"{tmp_path}/log/quorum-state", newer)

    again = Node(tmp_path / "log")

    assert (again.storage.recovered.election, again.storage.notes) == (Election(5, 3, None), [])
    assert (tmp_path / "log" / "quorum-state-kept").read_bytes() == newer


@pytest.mark.parametrize("name", ["quorum-state", "quorum-state-kept"])
def test_a_damaged_election_is_refused_under_either_name(node: Node, tmp_path: Path, name: str) -> None:
    node.perform(SaveElection(1, 4, None, ReplicaKey(2), 0, (1, 2, 3)))
    node.storage.close()
    replace_file(OsFiles(), f"{tmp_path}/log/{name}", b"{")
    before = {path.name: path.read_bytes() for path in (tmp_path / "log").iterdir()}

    with pytest.raises(StorageError, match=f"/{name}: "):
        Node(tmp_path / "log")

    assert {path.name: path.read_bytes() for path in (tmp_path / "log").iterdir()} == before


def test_of_pending_epoch_checkpoints_only_the_newest_is_written(tmp_path: Path) -> None:
    executor = Held()
    node = Node(tmp_path / "log", executor=executor)

    node.perform(SaveEpochs(((1, 0),)), SaveEpochs(((1, 0), (2, 5))))

    assert len(executor.jobs) == 1
    executor.close()
    assert (tmp_path / "log" / "leader-epoch-checkpoint").read_text() == "0\n2\n1 0\n2 5\n"


def test_a_download_becomes_a_snapshot(node: Node, tmp_path: Path) -> None:
    data = downloaded(30, 4)
    snapshot = SnapshotId(30, 4)

    inputs = node.perform(
        WriteSnapshotPart(1, snapshot, 0, data[:50]),
        WriteSnapshotPart(2, snapshot, 50, data[50:]),
        FreezeSnapshot(3, snapshot),
    )

    path = tmp_path / "log" / "00000000000000000030-0000000004.checkpoint"
    assert inputs == [PartWritten(1), PartWritten(2), SnapshotStored(3, len(data), 1234)]
    assert path.read_bytes() == data
    assert path.stat().st_mode & 0o777 == 0o400
    assert node.storage.read_snapshot(snapshot, 10, 20) == data[10:30]
    assert node.storage.read_snapshot(snapshot, len(data) - 5, 20) == data[-5:]


def test_a_download_restarts_at_position_0(node: Node, tmp_path: Path) -> None:
    data = downloaded(30, 4)
    snapshot = SnapshotId(30, 4)
    node.perform(WriteSnapshotPart(1, snapshot, 0, b"x" * 5000))

    inputs = node.perform(WriteSnapshotPart(2, snapshot, 0, data), FreezeSnapshot(3, snapshot))

    assert inputs == [PartWritten(2), SnapshotStored(3, len(data), 1234)]
    assert list((tmp_path / "log").glob("*.part")) == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (downloaded(30, 4)[:-10], "bytes"),
        (downloaded(30, 4)[:-75], "footer"),
        (downloaded(30, 5), "it is of epoch 5, not 4"),
        (downloaded(30, 3), "it is of epoch 3, not 4"),
        (b"", "empty"),
    ],
)
def test_a_download_that_is_no_snapshot_is_refused_and_removed(
    node: Node, tmp_path: Path, data: bytes, reason: str
) -> None:
    snapshot = SnapshotId(30, 4)

    inputs = node.perform(WriteSnapshotPart(1, snapshot, 0, data), FreezeSnapshot(2, snapshot))

    assert inputs == [PartWritten(1), SnapshotStored(2, 0, refused=True)]
    assert [name for name, _ in node.notes] == ["snapshot_refused"]
    assert reason in node.notes[0][1]["reason"]
    assert list((tmp_path / "log").glob("*checkpoint*")) == []


def test_a_dropped_download_leaves_no_file(node: Node, tmp_path: Path) -> None:
    snapshot = SnapshotId(30, 4)

    node.perform(WriteSnapshotPart(1, snapshot, 0, b"x"), DropSnapshotPart(snapshot), DropSnapshotPart(snapshot))

    assert list((tmp_path / "log").glob("*.part")) == []


def test_a_snapshot_of_the_state_machine_is_reported_when_it_is_stored(node: Node, tmp_path: Path) -> None:
    node.perform(Append(1, 0, 5, 1, run(0, 5)))
    snapshot = SnapshotId(5, 1)
    writer = node.storage.new_snapshot(snapshot, 1234, 5678)
    assert writer is not None

    for _ in range(4):
        writer.append([b"x" * 1000] * 100)
    writer.freeze()

    size = (tmp_path / "log" / "00000000000000000005-0000000001.checkpoint").stat().st_size
    assert node.inputs[1:] == [SnapshotTaken(snapshot, size, 1234)]
    assert size > 400_000
    assert [batch.record_count for _, batch in node.storage.snapshot_batches(snapshot)] == [1, 100, 100, 100, 100, 1]
    assert node.storage.new_snapshot(snapshot, 1, 1) is None
    node.storage.close()
    assert Node(tmp_path / "log").storage.recovered.snapshots == (StoredSnapshot(snapshot, size, 1234),)


def test_a_snapshot_has_voters_only_from_kraft_version_1_on(node: Node) -> None:
    for end_offset, kraft_version, expected in ((1, 0, ((), ())), (2, 1, ((1,), (1,)))):
        snapshot = SnapshotId(end_offset, 1)
        writer = node.storage.new_snapshot(snapshot, 0, 0, kraft_version=kraft_version, voters=VoterSet())
        assert writer is not None
        writer.append([b"x"])
        writer.freeze()
        first = next(iter(node.storage.snapshot_batches(snapshot)))[1]
        assert first.record_count == 1 + 2 * len(expected[0])


def test_a_dropped_snapshot_leaves_nothing(node: Node, tmp_path: Path) -> None:
    writer = node.storage.new_snapshot(SnapshotId(5, 1), 1, 1)
    assert writer is not None
    writer.append([b"x"])

    writer.drop()

    assert list((tmp_path / "log").glob("*checkpoint*")) == []


def test_deleted_files_are_renamed_at_once_and_unlinked_a_minute_later(tmp_path: Path) -> None:
    node = Node(tmp_path / "log", segment_bytes_max=100)
    for offset in range(3):
        node.perform(Append(offset, offset, offset + 1, 1, batch(offset)))
    writer = node.storage.new_snapshot(SnapshotId(2, 1), 1, 1)
    assert writer is not None
    writer.freeze()
    node.perform(AdvanceLogStart(9, 2), DeleteSnapshot(SnapshotId(2, 1)))
    deleted = sorted(path.name for path in (tmp_path / "log").glob("*.deleted"))

    node.storage.tick(1_000)
    node.storage.tick(60_999)
    before = sorted(path.name for path in (tmp_path / "log").glob("*.deleted"))
    node.storage.tick(61_000)
    after = list((tmp_path / "log").glob("*.deleted"))

    assert "00000000000000000000.log.deleted" in deleted
    assert "00000000000000000002-0000000001.checkpoint.deleted" in deleted
    assert before == deleted
    assert after == []
    assert not (tmp_path / "log" / "00000000000000000002-0000000001.checkpoint").exists()


def test_reads_come_from_memory_and_from_the_disk_alike(tmp_path: Path) -> None:
    node = Node(tmp_path / "log", cache_bytes_max=2000, segment_bytes_max=3000)
    for offset in range(0, 100, 2):
        node.perform(Append(offset, offset, offset + 2, 1, run(offset, offset + 2)))

    for offset in range(100):
        assert node.storage.read(offset, 100, 1) == batch(offset)
        assert node.storage.read(offset, offset + 1, 1 << 20) == batch(offset)
    assert node.storage.read(100, 100, 100) == b""


def test_the_storage_knows_its_effects(node: Node) -> None:
    assert node.storage.performs(HighWatermark(0))
    assert not node.storage.performs(Noted("x", {}))


def test_the_inputs_come_from_the_flush_thread(tmp_path: Path) -> None:
    names = []
    done = threading.Event()

    def on_input(_: object) -> None:
        names.append(threading.current_thread().name)
        done.set()

    storage = Storage(
        OsFiles(), str(tmp_path / "log"), FlushThread("flush-1"), on_input=on_input, on_failure=unexpected
    )
    storage.perform(Append(1, 0, 1, 1, batch(0)))
    assert done.wait(10)
    storage.close()

    assert names == ["flush-1"]


def test_a_full_disk_is_reported_once_and_ends_all_work() -> None:
    disk = Disk()
    disk.directories.add("node")
    node = Node("node/log", files=disk)
    node.perform(Append(1, 0, 1, 1, batch(0)))
    disk.fail_at, disk.fail_with = len(disk.operations) + 1, 28

    for number in (2, 3):
        with pytest.raises(DiskFailed, match=r"Append: \[Errno 28\] write was made to fail: 'node/log/0+\.log'"):
            node.perform(Append(number, 1, 2, 1, batch(1)))

    assert len(node.failures) == 1
    assert node.inputs == [Flushed(1, 1, len(batch(0)))]
    node.storage.tick(10**9)
    with pytest.raises(DiskFailed):
        node.storage.new_snapshot(SnapshotId(1, 1), 1, 1)
    operations = len(disk.operations)
    node.storage.close()
    assert len(disk.operations) == operations
    assert disk.handles == {}


def test_a_close_flushes_pending_writes(tmp_path: Path) -> None:
    node = Node(tmp_path / "log", executor=FlushThread())
    for offset in range(100):
        node.perform(Append(offset, offset, offset + 1, 1, batch(offset)))

    node.storage.close()
    node.storage.close()

    assert node.inputs[-1] == Flushed(99, 100, 100 * len(batch(0)))


# Directories of stock nodes.


@pytest.mark.parametrize(("quorum", "name"), DIRECTORIES)
def test_opening_and_closing_a_stock_directory_changes_nothing(quorum: str, name: str, tmp_path: Path) -> None:
    directory = copied(quorum, name, tmp_path)

    node = Node(directory)
    recovered = node.storage.recovered
    node.storage.close()

    stock = {path.name: path.read_bytes() for path in partition(quorum, name).iterdir()}
    ours = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert node.storage.notes == []
    assert recovered.log_bytes == len(stock[LOG])
    assert len(recovered.snapshots) == sum(file.endswith(".checkpoint") for file in stock)
    for file, data in stock.items():
        if file.endswith((".log", ".checkpoint", "quorum-state", "partition.metadata")):
            assert ours[file] == data, file
    assert ours["leader-epoch-checkpoint"] == epochs_text(recovered.epochs)
    kept = [entry for entry in parse_epochs(stock["leader-epoch-checkpoint"]) if entry[1] < recovered.log_end]
    assert list(recovered.epochs) == kept
    # A node that was restarted began to count anew for its offset index; ours is the one that a start rebuilds.
    assert abs(len(ours["00000000000000000000.index"]) - len(stock.get("00000000000000000000.index", ours[
        "00000000000000000000.index"]))) <= 8  # fmt: skip
    assert f"{recovered.log_end:020d}.snapshot" in ours


@pytest.mark.parametrize(("quorum", "name"), DIRECTORIES)
def test_a_stock_directory_is_appended_to(quorum: str, name: str, tmp_path: Path) -> None:
    directory = copied(quorum, name, tmp_path)
    stock = (directory / LOG).read_bytes()
    node = Node(directory)
    end = node.storage.recovered.log_end
    epoch = node.storage.recovered.epochs[-1][0] + 1

    inputs = node.perform(Append(1, end, end + 1, epoch, leader_change(end, epoch)), HighWatermark(end + 1))
    node.storage.close()
    again = Node(directory).storage.recovered

    assert inputs == [Flushed(1, end + 1, len(stock) + len(leader_change(end, epoch)))]
    assert (directory / LOG).read_bytes() == stock + leader_change(end, epoch)
    assert (again.log_end, again.epochs[-1]) == (end + 1, (epoch, end))


def test_the_voters_of_a_dynamic_quorum_are_found() -> None:
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        target = Path(temporary) / "log"
        shutil.copytree(partition("4.3-dynamic", "node-1"), target)
        recovered = Node(target).storage.recovered

    assert [(offset, voters.ids) for offset, voters in recovered.voter_sets][-1][1] == (1, 3)
    assert recovered.voter_sets[0][0] == -1
    assert recovered.kraft_versions[0] == (-1, 1)
