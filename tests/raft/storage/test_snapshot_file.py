"""Snapshots equal, byte for byte, those of Kafka's own writer, and an incomplete one is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from raft.storage.bootstrap import snapshot_values
from raft.storage.errors import CorruptSnapshot
from raft.storage.files import OsFiles
from raft.storage.snapshot_file import SnapshotBytes, check_snapshot, read_head, snapshot_batches
from raft.storage.snapshots import control_state
from records.batch import build_batch, records_of
from records.control import VotersRecord
from records.frame import decode_record
from records.uuids import parse_uuid
from tests.raft.storage.disk import Disk, Inode
from tests.raft.storage.golden import DIRECTORIES, GOLDEN, partition, vectors

if TYPE_CHECKING:
    from pathlib import Path

TIME_MS = 1_700_000_000_000
PATHS = sorted(GOLDEN.glob("*/node-*/__cluster_metadata-0/*.checkpoint")) + sorted(
    GOLDEN.glob("*/node-*/bootstrap.checkpoint")
)


def disk_with(data: bytes) -> Disk:
    disk = Disk()
    disk.files["a.checkpoint"] = Inode(bytearray(data))
    return disk


def small(values: int = 3) -> bytes:
    source = SnapshotBytes(3, TIME_MS)
    return source.header(5) + source.data([b"a" * 100] * values) + source.data([b"b"]) + source.footer()


@pytest.mark.parametrize(
    ("name", "epoch"),
    [("file 00000000000000000000-0000000000.checkpoint", 0), ("file 00000000000000000100-0000000004.checkpoint", 4)],
)
def test_the_bytes_are_those_of_kafkas_writer(name: str, epoch: int) -> None:
    expected = bytes.fromhex(vectors()[name])
    disk = disk_with(expected)
    head = read_head(disk, "a.checkpoint")
    kraft_version, voters = control_state(head, "")
    source = SnapshotBytes(epoch, TIME_MS)
    record = VotersRecord(
        version=0,
        voters=(
            VotersRecord.Voter(
                voter_id=1,
                voter_directory_id=parse_uuid("J8aAPcfLQt2bqs1JT_rMgQ"),
                endpoints=(VotersRecord.Voter.Endpoint(name="CONTROLLER", host="localhost", port=9093),),
                kraft_version_feature=VotersRecord.Voter.KRaftVersionFeature(
                    min_supported_version=0, max_supported_version=1
                ),
            ),
        ),
    )

    made = source.header(TIME_MS, 1, record)
    for data, batch in snapshot_batches(disk, "a.checkpoint"):
        if not batch.is_control:
            made += source.data([record.value or b"" for record in records_of(data, batch)])
    made += source.footer()

    assert made == expected
    assert (head.timestamp_ms, kraft_version) == (TIME_MS, 1)
    assert voters is not None
    assert voters.ids == (1,)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: "/".join(path.parts[-3:]))
def test_snapshots_of_stock_nodes_are_valid_and_rebuilt_to_the_same_bytes(path: Path) -> None:
    files = OsFiles()

    check_snapshot(files, str(path))
    made = b""
    for data, batch in snapshot_batches(files, str(path)):
        source = SnapshotBytes(batch.leader_epoch, batch.base_timestamp)
        source._offset = batch.base_offset
        values = [record.value or b"" for record in records_of(data, batch)]
        if batch.is_control:
            made += data[batch.position : batch.position + batch.size]
        else:
            made += source.data(values)

    assert made == path.read_bytes()
    for value in snapshot_values(files, str(path)):
        decode_record(value)


def test_golden_snapshots_exist() -> None:
    assert len(PATHS) > 20


def test_an_encoded_body_is_stamped_as_records_are() -> None:
    values = [b"one", b"two"]
    plain, encoded = SnapshotBytes(3, TIME_MS), SnapshotBytes(3, TIME_MS)
    body = build_batch(values, base_offset=0, leader_epoch=0, timestamp_ms=0)[61:]

    assert plain.header(5) + plain.data(values) == encoded.header(5) + encoded.body(body, 2)


def test_a_batch_larger_than_a_window_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raft.storage.snapshot_file.WINDOW_BYTES", 200)
    disk = disk_with(small(values=50))

    assert [batch.base_offset for _, batch in snapshot_batches(disk, "a.checkpoint")] == [0, 1, 51, 52]
    check_snapshot(disk, "a.checkpoint")


@pytest.mark.parametrize("missing", [1, 5, 75, 76, 100])
def test_a_snapshot_whose_end_is_missing_is_refused(missing: int) -> None:
    with pytest.raises(CorruptSnapshot):
        check_snapshot(disk_with(small()[:-missing]), "a.checkpoint")


def test_every_flipped_bit_is_detected() -> None:
    data = small()

    for at in range(len(data)):
        with pytest.raises(CorruptSnapshot):
            check_snapshot(disk_with(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]), "a.checkpoint")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"x" * 10, "10 are left"),
        (SnapshotBytes(1, 2).data([b"v"]), "the first record is no snapshot header"),
        (SnapshotBytes(1, 2).footer(), "the first record is no snapshot header"),
        (SnapshotBytes(1, 2).header(3) + SnapshotBytes(1, 2).data([b"v"]), "the batch there has offset 0, not 1"),
    ],
)
def test_a_file_that_is_not_a_snapshot_is_refused_with_the_position(data: bytes, reason: str) -> None:
    with pytest.raises(CorruptSnapshot, match=rf"^a.checkpoint, byte \d+: .*{reason}"):
        check_snapshot(disk_with(data), "a.checkpoint")


def test_a_length_beyond_the_file_allocates_no_memory() -> None:
    data = bytearray(small())
    data[8:12] = (0x7FFFFFFF).to_bytes(4, "big")

    with pytest.raises(CorruptSnapshot, match="byte 0"):
        check_snapshot(disk_with(bytes(data)), "a.checkpoint")


@pytest.mark.parametrize(("quorum", "node"), DIRECTORIES)
def test_stock_directories_have_snapshots_of_the_names_we_give(quorum: str, node: str) -> None:
    from raft.storage.names import snapshot_id, snapshot_name

    for path in partition(quorum, node).glob("*.checkpoint"):
        found = snapshot_id(path.name)
        assert found is not None
        assert snapshot_name(*found) == path.name
