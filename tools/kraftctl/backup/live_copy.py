"""Saving what the leader of a live quorum sends: its newest snapshot, and the committed batches after it."""

from __future__ import annotations

from raft.storage.files import OsFiles
from raft.storage.names import LOG, segment_name, snapshot_name
from records.batch import batches
from records.metadata_log import PARTITION_DIRECTORY
from tools.client.live_quorum import LiveQuorum
from tools.offline.backups import Manifest, begin_backup, end_backup
from tools.offline.saved_copy import write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address


class Saving(LiveQuorum):
    """A reader that writes what it reads to the partition's directory of a backup; a context manager."""

    def __init__(
        self, directory: str, addresses: list[Address], wait_s: float, security: ClientSecurity | None = None
    ) -> None:
        super().__init__(addresses, "kraftctl-backup", wait_s, security)
        self._directory = directory
        self._files = OsFiles()
        self._handle: int | None = None
        self._size = 0

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._close()

    def sync(self) -> None:
        """Make all that was read durable."""
        if self._handle is None:
            self._begin(self.position.end_offset)
        assert self._handle is not None, "begun above"
        self._files.sync(self._handle)
        self._close()

    def on_snapshot(self, data: bytes, end_offset: int, epoch: int) -> None:
        self.on_reset()
        write_file(f"{self._directory}/{snapshot_name(end_offset, epoch)}", data)
        self._begin(end_offset)

    def on_batches(self, data: bytes, offset: int) -> None:
        if self._handle is None:
            self._begin(offset)
        assert self._handle is not None, "begun above"
        start = next(batch.position for batch in batches(data) if batch.base_offset == offset)
        self._files.write(self._handle, self._size, data[start:])
        self._size += len(data) - start

    def on_reset(self) -> None:
        self._close()
        for name in self._files.list(self._directory):
            self._files.remove(f"{self._directory}/{name}")

    def _begin(self, base_offset: int) -> None:
        path = f"{self._directory}/{segment_name(base_offset, LOG)}"
        self._handle = self._files.open(path, create=True, mode=0o600)
        self._size = 0

    def _close(self) -> None:
        if self._handle is not None:
            self._files.close(self._handle)
            self._handle = None


def save_live(
    target: str, addresses: list[Address], wait_s: float, security: ClientSecurity | None, made_ms: int
) -> Manifest:
    """Back up a live quorum up to its high watermark. Raises NoLeader, CopyExists, BadBackup, OSError."""
    part = begin_backup(target)
    with Saving(f"{part}/{PARTITION_DIRECTORY}", addresses, wait_s, security) as quorum:
        quorum.update()
        quorum.sync()
        leader, end_offset = quorum.leader, quorum.position.end_offset
    return end_backup(
        part, target, cluster_id=quorum.cluster_id, source=leader, made_ms=made_ms, committed=end_offset
    )  # fmt: skip
