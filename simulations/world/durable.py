"""The durable state of a node, read from the simulated disk itself and not from the node's reports."""

from __future__ import annotations

import json
from bisect import insort
from typing import TYPE_CHECKING, NamedTuple

from raft.interface.config import SnapshotId
from raft.storage.names import KEPT_QUORUM_STATE, LOG, QUORUM_STATE, segment_offset, snapshot_id
from simulations.world.chains import UNKNOWN, ChainedLog, Chains, parts
from simulations.world.disk import DIRECTORY

if TYPE_CHECKING:
    from simulations.world.disk import Disk, Inode
    from simulations.world.history import History

_PREFIX = f"{DIRECTORY}/"
_ELECTIONS = (QUORUM_STATE, KEPT_QUORUM_STATE)


class DurableElection(NamedTuple):
    """The content of quorum-state on disk, of the newer of its two names; -1 for no node."""

    epoch: int = 0
    leader_id: int = -1
    voted_id: int = -1

    @property
    def age(self) -> tuple[int, bool, bool]:
        """The place of an election in time: in an epoch a vote comes before the leader is known."""
        return self.epoch, self.leader_id != -1, self.voted_id != -1


NOTHING_READABLE = DurableElection(-1)
"""Stands for a quorum-state that cannot be read: no promise about epochs is durable then."""


def _parse_election(text: bytes) -> DurableElection:
    try:
        state = json.loads(text.split(b"\n", 1)[0])
        return DurableElection(state["leaderEpoch"], state["leaderId"], state["votedId"])
    except (ValueError, KeyError, TypeError):
        return NOTHING_READABLE


class _Segment:
    """The known part of one file of the log. version: of the inode when it was read; stops: byte position after each
    batch.
    """

    def __init__(self, inode: Inode, base_offset: int, chains: Chains) -> None:
        self.inode = inode
        self.base_offset = base_offset
        self.log = ChainedLog(chains, base_offset, UNKNOWN)
        self.stops: list[int] = []
        self.version = -1

    def refresh(self, base: int) -> None:
        """Read what is new; everything if the earlier bytes have changed."""
        inode, log = self.inode, self.log
        if inode.version == self.version and log.base == base:
            return
        if log.base != base:
            log.reset(self.base_offset, base)
            self.stops.clear()
        while self.stops and self.stops[-1] > inode.stable:
            self.stops.pop()
            log.truncate(log.ends[-2] if len(log.ends) > 1 else log.start)
        data = inode.synced
        for part in parts(data, self.stops[-1] if self.stops else 0):
            if part.base_offset != log.end:
                break
            log.add(part.base_offset, part.end_offset, part.epoch, bytes(data[part.start : part.stop]))
            self.stops.append(part.stop)
        self.version = inode.version
        inode.stable = len(data)


class DurableView:
    """The durable state of one disk, updated as the disk changes."""

    def __init__(self, disk: Disk, chains: Chains, history: History) -> None:
        self._disk = disk
        self._chains = chains
        self._history = history
        self._generation = -1
        self._named = 0
        self._settled = -1
        self._segments: list[_Segment] = []
        self._snapshots: set[SnapshotId] = set()
        self._elections: dict[str, Inode] = {}  # by name of the file
        self._election_versions: tuple[int, ...] = ()
        self._election = DurableElection()

    @property
    def snapshots(self) -> set[SnapshotId]:
        """Ids of the snapshots whose file names are durable."""
        self._look_at_names()
        return self._snapshots

    @property
    def election(self) -> DurableElection:
        self._look_at_names()
        versions = tuple(inode.version for inode in self._elections.values())
        if versions != self._election_versions:
            self._election_versions = versions
            elections = [_parse_election(bytes(inode.synced)) for inode in self._elections.values()]
            # A start refuses a file that it cannot read, whatever the other holds.
            self._election = (
                NOTHING_READABLE if NOTHING_READABLE in elections else max(elections, key=lambda each: each.age)
            )
        return self._election

    def at(self, offset: int) -> int | None:
        """The number of the durable prefix that ends at an offset; None where it is not on disk."""
        for segment in reversed(self._refresh()):
            if segment.base_offset <= offset:
                number = segment.log.at(offset)
                if number is not None or segment.base_offset < offset:
                    return number
        return None

    def covers(self, offset: int) -> bool:
        """Whether a snapshot on this disk holds everything below an offset."""
        return any(snapshot.end_offset >= offset for snapshot in self.snapshots)

    def segments_end(self) -> int:
        """The end of the last segment; 0 where there is none."""
        segments = self._refresh()
        return segments[-1].log.end if segments else 0

    def _refresh(self) -> list[_Segment]:
        self._look_at_names()
        if self._disk.settled.count != self._settled:
            self._settled = self._disk.settled.count
            base = end = 0
            for segment in self._segments:
                if segment.base_offset != end:
                    base = self._history.chain_at.get(segment.base_offset, UNKNOWN)
                segment.refresh(base)
                base, end = segment.log.last, segment.log.end
        return self._segments

    def _look_at_names(self) -> None:
        disk = self._disk
        if disk.generation != self._generation or len(disk.named) != self._named:
            self._refresh_names(disk)

    def _refresh_names(self, disk: Disk) -> None:
        if disk.generation != self._generation:
            self._generation = disk.generation
            self._named = 0
            self._segments = []
            self._snapshots = set()
            self._elections = {}
            self._set_elections()
            for path, inode in disk.durable.items():
                self._add_name(path, inode)
        else:
            for change in disk.named[self._named :]:
                if change.old is not None:
                    self._drop_name(change.old, change.inode)
                if change.new is not None:
                    self._add_name(change.new, change.inode)
            self._named = len(disk.named)
        self._settled = -1

    def _add_name(self, path: str, inode: Inode) -> None:
        name = path[len(_PREFIX) :] if path.startswith(_PREFIX) else ""
        base_offset = segment_offset(name, LOG)
        if base_offset is not None:
            self._segments = [segment for segment in self._segments if segment.base_offset != base_offset]
            inode.stable = 0
            insort(self._segments, _Segment(inode, base_offset, self._chains), key=_base_offset)
        elif name in _ELECTIONS:
            self._elections[name] = inode
            self._set_elections()
        elif (snapshot := snapshot_id(name)) is not None:
            self._snapshots.add(SnapshotId(*snapshot))

    def _drop_name(self, path: str, inode: Inode) -> None:
        name = path[len(_PREFIX) :] if path.startswith(_PREFIX) else ""
        if segment_offset(name, LOG) is not None:
            self._segments = [segment for segment in self._segments if segment.inode is not inode]
        elif self._elections.get(name) is inode:
            del self._elections[name]
            self._set_elections()
        elif (snapshot := snapshot_id(name)) is not None:
            self._snapshots.discard(SnapshotId(*snapshot))

    def _set_elections(self) -> None:
        self._election_versions = ()
        self._election = DurableElection()


def _base_offset(segment: _Segment) -> int:
    return segment.base_offset
