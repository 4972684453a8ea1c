"""The log and the state of one replica, for a comparison: the leader's, a node's by its HTTP port, a directory's."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from raft.storage.directory import list_contents
from raft.storage.names import LOG, segment_name, segment_offset
from tools.client.quorum import NoLeader
from tools.kraftctl.nodes.http_page import OK
from tools.kraftctl.points.past_quorum import PastQuorum
from tools.kraftctl.points.points import NoPoint, PastDirectory, Point, Reading
from tools.offline.examined import ReadOnlyFiles
from tools.offline.log_file import DamagedLog, LogFile

# pathlib costs 10 ms
# ruff: noqa: PTH208

TYPE_CHECKING = False
if TYPE_CHECKING:
    from raft.network.security import ClientSecurity
    from tools.client.quorum import Address
    from tools.kraftctl.nodes.http_page import HttpPage
    from tools.kraftctl.points.noting_image import NotingImage
    from tools.offline.log_file import StoredBatch


class Sum(NamedTuple):
    """What identifies the bytes of a batch."""

    base_offset: int
    last_offset: int
    epoch: int
    crc: int


class ReplicaLog(NamedTuple):
    """A replica below an offset. sums: of its batches, by their last offsets, ascending, from `start_offset` on.

    image: the state there; None of a node, and where `note` says why. fault: why the log cannot be read, else empty.
    partition: the directory, empty of the others.
    """

    name: str
    start_offset: int
    end_offset: int
    sums: dict[int, Sum]
    image: NotingImage | None = None
    fault: str = ""
    note: str = ""
    partition: str = ""


class _Summing(PastQuorum):
    """A live quorum whose batches are noted too."""

    sums: dict[int, Sum]
    start_offset = 0
    wanted = -1
    batch: StoredBatch | None = None

    def on_snapshot(self, data: bytes, end_offset: int, epoch: int) -> None:
        super().on_snapshot(data, end_offset, epoch)
        self.sums, self.start_offset = {}, end_offset

    def admits(self, batch: StoredBatch) -> bool:
        is_admitted = super().admits(batch)
        if is_admitted:
            self.sums[batch.last_offset] = sum_of(batch)
            if batch.last_offset == self.wanted:
                self.batch = batch
        return is_admitted

    def on_reset(self) -> None:
        self.sums, self.start_offset = {}, 0


def sum_of(batch: StoredBatch) -> Sum:
    return Sum(batch.base_offset, batch.last_offset, batch.leader_epoch, batch.crc)


def leader_log(
    addresses: list[Address], client_id: str, end_offset: int, security: ClientSecurity | None
) -> ReplicaLog:
    """The leader's log below an offset, read as an observer. Raises NoPoint."""
    reading = Reading(Point(offset=end_offset))
    with _Summing(addresses, client_id, reading, security) as quorum:
        quorum.sums = {}
        try:
            image = quorum.update()
        except NoLeader as error:
            raise NoPoint(str(error)) from None
        return ReplicaLog(f"leader {quorum.leader}", quorum.start_offset, reading.end_offset, quorum.sums, image)


def leader_batch(
    addresses: list[Address], client_id: str, last_offset: int, security: ClientSecurity | None
) -> StoredBatch | None:
    """The leader's batch with this last offset, read again; None if its log no longer has it. Raises NoPoint."""
    with _Summing(addresses, client_id, Reading(Point(offset=last_offset + 1)), security) as quorum:
        quorum.sums, quorum.wanted = {}, last_offset
        try:
            quorum.update()
        except NoLeader as error:
            raise NoPoint(str(error)) from None
        return quorum.batch


def directory_log(directory: str, name: str, end_offset: int) -> ReplicaLog:
    """A directory of any replica, also of a running node, below an offset. Raises NoMetadata, OSError."""
    past = PastDirectory(directory, Reading(Point(offset=end_offset)))
    sums, fault = _sums_in(past.directory, end_offset)
    start = min((each.base_offset for each in sums.values()), default=end_offset)
    image, note = None, ""
    try:
        image = past.update()
    except NoPoint as error:
        note = f"its state is not known: {error}"
    except DamagedLog as error:
        fault = fault or str(error)
    if image is not None and image.problems:
        fault = fault or f"a record of its log cannot be applied: {image.problems[0]}"
    return ReplicaLog(name, start, end_offset, sums, image, fault, note, past.directory)


def end_of_directory(directory: str) -> int:
    """The end of the log in a directory, whatever of it is committed. Raises NoMetadata, OSError."""
    past = PastDirectory(directory, Reading())
    sums, _ = _sums_in(past.directory, 1 << 62, last_only=True)
    checkpoints = list_contents(ReadOnlyFiles(), past.directory).snapshots
    return max([*(last + 1 for last in sums), *(end_offset for end_offset, _ in checkpoints)], default=0)


def batch_of(replica: ReplicaLog, offset: int) -> StoredBatch | None:
    """The batch of a directory that holds an offset; None without one. Raises DamagedLog, OSError."""
    for base in reversed(_segments(replica.partition)):
        if base <= offset:
            with LogFile(f"{replica.partition}/{segment_name(base, LOG)}") as log:
                return next((batch for batch in log.batches() if batch.last_offset >= offset), None)
    return None


def _segments(partition: str) -> list[int]:
    """The base offsets of the segments, ascending."""
    return sorted(base for each in os.listdir(partition) if (base := segment_offset(each, LOG)) is not None)


def _sums_in(partition: str, end_offset: int, *, last_only: bool = False) -> tuple[dict[int, Sum], str]:
    """The batches below an offset in a partition's segments, and the first fault. last_only: of the last segment."""
    bases = _segments(partition)
    sums: dict[int, Sum] = {}
    for base in bases[-1:] if last_only else bases:
        if base >= end_offset:
            break
        name = segment_name(base, LOG)
        with LogFile(f"{partition}/{name}") as log:
            try:
                for batch in log.batches():
                    if batch.last_offset >= end_offset:
                        break
                    if not batch.is_intact():
                        return (
                            sums,
                            f"{name}, byte {batch.position}: the CRC of the batch at {batch.base_offset} is wrong",
                        )
                    sums[batch.last_offset] = sum_of(batch)
            except DamagedLog as error:
                return sums, f"{name}: {error}"
    return sums, ""


class NodeLog:
    """The log of a node of ours, by its HTTP port. node_id, start_offset, end_offset: of its committed log."""

    def __init__(self, name: str, page: HttpPage) -> None:
        """Read the first piece. Raises OSError, also for an answer that is none, and ConfigError."""
        self.name = name
        self._page = page
        self.node_id, self.start_offset, self.end_offset, _, _ = self._piece(0)

    def end_now(self) -> int:
        """The end of its committed log now. Raises as the constructor."""
        _, self.start_offset, self.end_offset, _, _ = self._piece(0)
        return self.end_offset

    def below(self, end_offset: int, start_offset: int) -> ReplicaLog:
        """Its batches between two offsets, asked for piece by piece. Raises as the constructor."""
        start = max(start_offset, self.start_offset)
        sums: dict[int, Sum] = {}
        offset, fault = start, ""
        while offset < end_offset and not fault:
            _, log_start, _, batches, fault = self._piece(offset)
            for each in batches:
                if each.last_offset < end_offset:
                    sums[each.last_offset] = each
            reached = max((each.last_offset + 1 for each in batches), default=offset)
            if reached <= offset and not fault:
                fault = f"it returns no batch at offset {offset}; its log starts at {log_start}"
            offset = reached
        # The first piece begins with the batch that holds the offset.
        start = min((each.base_offset for each in sums.values()), default=start)
        return ReplicaLog(self.name, start, min(offset, end_offset), sums, None, fault)

    def _piece(self, offset: int) -> tuple[int, int, int, list[Sum], str]:
        path = f"/log/{offset}"
        status, text = self._page.get(path)
        if status != OK:
            raise OSError(f"{path} answers {status}: {text.strip()}")
        try:
            answer = json.loads(text)
            sums = [Sum(*map(int, each)) for each in answer["batches"]]
            numbers = (int(answer[name]) for name in ("node_id", "start_offset", "end_offset"))
            return *numbers, sums, str(answer["fault"] or "")  # type: ignore[return-value]
        except (ValueError, LookupError, TypeError) as error:
            raise OSError(f"{path}: {error!r}") from None
