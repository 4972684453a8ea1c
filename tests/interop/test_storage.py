"""Stock Kafka on a directory that our storage wrote: its tools read it, its server starts from it, and ours again."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from raft.interface.config import SnapshotId
from raft.interface.effects import AdvanceLogStart, Append, HighWatermark, SaveElection, SaveEpochs
from raft.storage.files import OsFiles
from raft.storage.flusher import AtOnce
from raft.storage.log import LogLimits
from raft.storage.storage import Storage
from records.batch import batches, records_of
from tests.interop.stock import WITH_SHELL

if TYPE_CHECKING:
    from tests.interop.stock import Stock

STOCK = Path(__file__).parents[1] / "data" / "golden" / "4.3-static" / "node-1"
PARTITION = "__cluster_metadata-0"


def open_storage(directory: Path) -> Storage:
    def fail(failure: Exception) -> None:
        raise AssertionError(failure)

    limits = LogLimits(segment_bytes_max=30_000)
    return Storage(
        OsFiles(), str(directory / PARTITION), AtOnce(), on_input=lambda _: None, on_failure=fail, limits=limits
    )  # fmt: skip


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """The data of a stock node as our storage writes it: a snapshot, and several segments without the first ones."""
    for name in ("meta.properties", "bootstrap.checkpoint"):
        shutil.copy(STOCK / name, tmp_path)
    log = (STOCK / PARTITION / "00000000000000000000.log").read_bytes()
    snapshot = (STOCK / PARTITION / "00000000000000000712-0000000002.checkpoint").read_bytes()
    storage = open_storage(tmp_path)
    number = end = 0
    for number, batch in enumerate(batches(log), start=1):
        end = batch.last_offset + 1
        data = log[batch.position : batch.position + batch.size]
        storage.perform(Append(number, batch.base_offset, end, batch.leader_epoch, data))
    storage.perform(SaveEpochs(((1, 0), (2, 330))))
    storage.perform(SaveElection(1, 2, 2, None, 0, (1, 2, 3)))
    storage.perform(HighWatermark(end))
    writer = storage.new_snapshot(SnapshotId(712, 2), 1_795_236_953_737, 1_795_236_953_999)
    assert writer is not None
    for batch in batches(snapshot):
        if not batch.is_control:
            writer.append([record.value or b"" for record in records_of(snapshot, batch)])
    writer.freeze()
    storage.perform(AdvanceLogStart(number + 1, 712))
    storage.close()
    return tmp_path


@pytest.mark.parametrize("stock", [WITH_SHELL], indirect=True)
def test_stock_tools_read_every_file(directory: Path, stock: Stock) -> None:
    partition = directory / PARTITION

    def dump(*files: Path, flags: tuple[str, ...] = ()) -> str:
        found = stock.tool("dump-log", *flags, "--files", ",".join(map(str, files)))
        # Stock prints this for the first batch of each segment except the segment at offset 0.
        faults = [line for line in found.stderr.splitlines() if "-1 is followed by" not in line]
        assert all(line.startswith("Non-consecutive offsets in") for line in faults)
        assert len(faults) == found.stderr.count("-1 is followed by")
        assert found.returncode == 0
        return found.stdout

    log = dump(*sorted(partition.glob("*.log")), flags=("--cluster-metadata-decoder",))
    indexes = dump(*sorted(partition.glob("*.index")), flags=("--index-sanity-check",))
    checked = dump(*sorted(partition.glob("*.index")), *sorted(partition.glob("*.timeindex")))
    snapshot = dump(*partition.glob("*.checkpoint"), flags=("--cluster-metadata-decoder",))
    dump(*partition.glob("*.snapshot"))
    shell = stock.tool("metadata-shell", "--snapshot", str(next(partition.glob("*.checkpoint"))), "ls", "/image/topics")

    assert "lastOffset: 1038" in log
    assert indexes.count("passed sanity check.") == 2
    assert "offset: 622 position: 5012" in checked
    assert "Index position" not in checked  # the beginning of a reported mismatch
    assert "SnapshotFooter" in snapshot
    assert (shell.returncode, "byId" in shell.stdout) == (0, True)


def test_a_stock_node_starts_from_our_directory_and_ours_from_the_result(
    directory: Path, tmp_path: Path, stock: Stock
) -> None:
    before = open_storage(directory)
    before.close()
    text = (STOCK.parent / "node-1.properties").read_text().replace("DIR/node-1", str(directory))
    properties = tmp_path / "node.properties"
    properties.write_text(text.replace("2309", "3309"))

    with (tmp_path / "server.log").open("wb") as output:
        server = stock.server(properties, output)
        try:
            for _ in range(300):
                said = (tmp_path / "server.log").read_text()
                if "the leader is" in said or server.poll() is not None:
                    break
                time.sleep(0.1)
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
    after = open_storage(directory)
    after.close()

    assert "Initialized snapshots with IDs [OffsetAndEpoch[offset=712, epoch=2]]" in said
    assert "truncat" not in said.lower()
    assert after.notes == []
    assert (after.recovered.log_start, after.recovered.log_end) == (
        before.recovered.log_start, before.recovered.log_end,
    )  # fmt: skip
    assert after.recovered.snapshots == before.recovered.snapshots
