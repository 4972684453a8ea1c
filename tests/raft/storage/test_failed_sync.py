"""A start after a failed fsync, on a real file system: ext4 on a device that takes no more bytes.

The kernel reports the failed writeback once, and marks the pages as clean. The bytes are in the page cache only, and no
later fsync writes them or fails.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from raft.interface.effects import Append
from raft.interface.inputs import Flushed
from raft.storage.errors import DiskFailed
from tests.mounts import fill, mounted, run_or_skip, small_file_system
from tests.raft.storage.batches import batch
from tests.raft.storage.test_storage import Node

if TYPE_CHECKING:
    from pathlib import Path

DEVICE_BYTES = 64 << 20
MEMORY_KIB = 24 << 10
BLOCK_BYTES = 4096
APPENDS = 3


def block(offset: int) -> bytes:
    """A batch that fills two blocks: a loop device reports a write of which it wrote a part as complete."""
    data = batch(offset, size=2 * BLOCK_BYTES - 70)
    assert len(data) == 2 * BLOCK_BYTES
    return data


def allocate_journal(disk: Path) -> None:
    """Write the whole journal once, so that its blocks have room: without it the file system becomes read-only."""
    for size in range(600):
        path = disk / "empty"
        with path.open("wb") as file:
            file.truncate(size)
            os.fsync(file.fileno())
        path.unlink()


def append_until_it_fails(node: Node, base_offset: int) -> int:
    """Append batches; returns the end of those that were reported as durable."""
    durable = base_offset
    for offset in range(base_offset, base_offset + APPENDS):
        try:
            node.storage.perform(Append(offset + 1, offset, offset + 1, 1, block(offset)))
        except DiskFailed:
            break
        if node.failures:
            break
        reported = node.inputs[-1]
        assert isinstance(reported, Flushed)
        durable = reported.end_offset
    assert node.failures, "the disk did not fail"
    return durable


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system")
def test_records_whose_fsync_failed_are_not_taken_for_durable_after_a_restart(tmp_path: Path) -> None:
    with small_file_system(tmp_path / "memory", MEMORY_KIB) as memory:
        device = memory / "device"
        device.touch()
        os.truncate(device, DEVICE_BYTES)
        run_or_skip("mkfs.ext4", "-q", "-F", "-b", str(BLOCK_BYTES), "-J", "size=4", str(device))
        with mounted(tmp_path / "disk", "-o", "loop", str(device)) as disk:
            node = Node(disk / "log")
            node.perform(Append(1, 0, 1, 1, block(0)))
            allocate_journal(disk)
            filler = fill(memory)

            durable = append_until_it_fails(node, 1)
            node.storage.close()
            filler.unlink()
            restarted = Node(disk / "log")
            found = restarted.storage.recovered.log_end
            restarted.storage.close()

        assert durable == 1
        with mounted(tmp_path / "disk", "-o", "loop", str(device)) as disk:
            after_power_loss = Node(disk / "log")
            kept = after_power_loss.storage.recovered.log_end
            after_power_loss.storage.close()

    assert (found, kept) == (durable, durable)
