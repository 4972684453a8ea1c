"""Mutants of what is on disk: what is reported before it is durable, what a start takes for true, snapshots and their
files.
"""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

_FLUSH = "        for handle in handles:\n            self._files.sync_data(handle)\n"

MUTANTS = (
    Mutant(
        "D01", "a follower fetches before it has flushed", "persistence", "KAFKA-10533", ("S22",),
        (Edit("raft.fetch_response", "    if not replica.log.is_flushed or replica.freezing", "    if replica.freezing"),),
        ci=True,
    ),
    Mutant(
        "D02", "a leader counts what it has not flushed", "watermark", "KAFKA-10533", ("S07",),
        (Edit("raft.fetch_request", "        ends[state.own_id] = replica.log.durable_end", "        ends[state.own_id] = replica.log.end"),),
        ci=True,
    ),
    Mutant(
        "D03", "a flush does not sync", "persistence", "KAFKA-10533", ("S22", "S07", "S18"),
        (Edit("raft.storage.disk_queue", _FLUSH, ""),),
    ),
    Mutant(
        "D03b", "a flush also counts records that were written while it ran", "persistence", "own", ("S22", "S07", "S18"),
        (Edit(
            "raft.storage.disk_queue", _FLUSH,
            _FLUSH + "        while self._waiting:\n            last = self._waiting.popleft()\n",
        ),),
    ),
    Mutant(
        "D03c", "the name of a new segment is not synced", "persistence", "own", ("S22", "S07", "S18"),
        (Edit(
            "raft.storage.disk_queue", "        if names_changed:\n            self._files.sync_directory(self._directory)\n", "",
        ),),
    ),
    Mutant(
        "D03d", "a roll leaves the old segment unsynced", "persistence", "own", ("S22", "S07", "S18"),
        (Edit("raft.storage.log", "        self.files.sync_data(active.handle)\n        if self.flushed", "        if self.flushed"),),
    ),
    Mutant(
        "D03e", "of two new segments only the second may survive a crash", "persistence", "own", ("S18",),
        (Edit("raft.storage.log", "        if self.flushed < self._made_by:\n            self.files.sync_directory(self.directory)\n", ""),),
    ),
    Mutant(
        "D04", "quorum-state is written in place", "persistence", "KAFKA-15312", ("S18", "S02", "S03"),
        (
            Edit("raft.storage.files", '    temporary = f"{path}.tmp"', "    temporary = path"),
            Edit("raft.storage.files", "    files.rename(temporary, path)\n", ""),
        ),
    ),
    Mutant(
        "D04b", "quorum-state is renamed before its bytes are on disk", "persistence", "KAFKA-14273",
        ("S18", "S02", "S03"),
        (Edit("raft.storage.files", "        files.write(handle, 0, data)\n        files.sync(handle)\n", "        files.write(handle, 0, data)\n"),),
    ),
    Mutant(
        "D04c", "the new name of quorum-state is not synced", "persistence", "KAFKA-14273", ("S18", "S02", "S03"),
        (Edit("raft.storage.files", '    files.sync_directory(path.rpartition("/")[0])\n', ""),),
    ),
    Mutant(
        "D04d", "an election is reported as saved before it is", "persistence", "own", ("S03", "S02", "S18"),
        (Edit(
            "raft.storage.storage",
            "            write_quorum_state(self.files, self.directory, text)\n            self._on_input(Saved(number))\n",
            "            self._on_input(Saved(number))\n            write_quorum_state(self.files, self.directory, text)\n",
        ),),
    ),
    Mutant(
        "D05", "a snapshot is renamed before its bytes are on disk", "snapshots", "KAFKA-15312", ("S17", "S18"),
        (Edit("raft.storage.snapshots", "        self.files.sync(handle)\n        self.files.close(handle)\n", "        self.files.close(handle)\n"),),
        ci=True,
    ),
    Mutant(
        "D05b", "the name of a snapshot is not synced", "snapshots", "KAFKA-15312", ("S17", "S18"),
        (Edit("raft.storage.snapshots", "        self.files.sync_directory(self.directory)\n", ""),),
    ),
    Mutant(
        "D07", "a start cuts the last batch though it is whole", "persistence", "own", ("S18",),
        (Edit("raft.storage.walk", "            if position + stop > end:", "            if position + stop >= end:"),),
    ),
    Mutant(
        "D07b", "a start cuts the log at any error", "persistence", "etcd #14370's kin", ("S18",),
        (Edit("raft.storage.walk", "    if fault.is_short:\n        # The", "    if fault:\n        return True\n    if fault.is_short:\n        # The"),),
    ),
    Mutant(
        "D07c", "a start does not sync what it has found", "persistence", "own", ("S18",),
        (Edit("raft.storage.recovery", "        self.files.sync(handle)\n        self.files.drop_clean(handle)\n", "        self.files.drop_clean(handle)\n"),),
    ),
    Mutant(
        "D08", "a failed fsync is ignored", "persistence", "fsyncgate", ("S07", "S22", "S18"),
        (Edit(
            "raft.storage.disk_queue", _FLUSH,
            "        for handle in handles:\n            try:\n                self._files.sync_data(handle)\n            except OSError:\n                pass\n",
        ),),
    ),
    Mutant(
        "D08b", "after a failed fsync the disk is used again", "persistence", "fsyncgate", ("S07", "S22", "S18"),
        (
            Edit("raft.storage.disk_queue", "                except Exception as error:  # whatever it is, the node ends\n                    self.fail(operation, error)", "                except OSError:\n                    job()"),
            Edit("raft.storage.disk_queue", "        for handle in handles:\n            self._files.sync_data(handle)\n", "        self._handles = handles = handles or getattr(self, '_handles', [])\n        for handle in handles:\n            self._files.sync_data(handle)\n"),
            Edit("raft.storage.disk_queue", "        if last is None:\n            return\n", "        last = last or getattr(self, '_last', None)\n        if last is None:\n            return\n        self._last = last\n"),
        ),
    ),
    Mutant(
        "D09", "a start takes the page cache that a failed fsync left for durable", "persistence", "fsyncgate", ("S18",),
        (Edit("raft.storage.recovery", "        self.files.sync(handle)\n        self.files.drop_clean(handle)\n", "        self.files.sync(handle)\n"),),
    ),
    Mutant(
        "D10", "an unreadable quorum-state counts as absent", "persistence", "KAFKA-15412", ("S18", "S02", "S03"),
        (Edit("raft.storage.quorum_state", '        raise StorageError(f"{path}: {error}") from None', "        return None if error else None"),),
    ),
    Mutant(
        "D11", "a node starts with a log that begins after 0 and no snapshot", "snapshots", "KAFKA-14240", ("S17", "ASSERT"),
        (Edit("raft.storage.recovery", "        if first > 0 and (self.snapshot is None", "        if first < 0 and (self.snapshot is None"),),
    ),
    Mutant(
        "D12", "a start keeps a log that ends before the snapshot", "snapshots", "KAFKA-14238", ("S18", "ASSERT", "S17"),
        (Edit("raft.storage.recovery", "        return epoch > self.epoch or (epoch == self.epoch and end_offset > self.end_offset)", "        return False"),),
    ),
    Mutant(
        "D13", "a log that starts from a snapshot begins one offset late", "snapshots", "KAFKA-14618",
        ("S10", "S12", "ASSERT", "S17"),
        (Edit(
            "raft.log_view", "        self.start = self.end = self.committed = snapshot.end_offset",
            "        self.start = self.end = self.committed = snapshot.end_offset + 1",
        ),),
    ),
    Mutant(
        "D15", "cleaning deletes the log up to the newest snapshot and that snapshot", "snapshots", "KAFKA-14238",
        ("S17", "ASSERT"),
        (Edit(
            "raft.log_view", "        older = [stored.id for stored in self.snapshots if order(stored) < (snapshot.epoch, snapshot.end_offset)]",
            "        older = [stored.id for stored in self.snapshots if order(stored) <= (snapshot.epoch, snapshot.end_offset)]",
        ),),
        ci=True,
    ),
    Mutant(
        "D15b", "cleaning deletes the log after the snapshot", "snapshots", "KAFKA-14238", ("S17", "S10", "ASSERT"),
        (Edit(
            "raft.storage.log", "        while len(self.segments) > 1 and self.segments[1].base_offset <= start_offset:",
            "        while len(self.segments) > 1 and self.segments[0].base_offset <= start_offset:",
        ),),
    ),
    Mutant(
        "D17", "a part of a snapshot is read at a wrong position", "snapshots", "KIP-630", ("L07", "S17"),
        (Edit(
            "raft.fetch_snapshot", "    replica.emit(ReplySnapshot(requested.source, _response(replica, requested, data), wanted, asked.position, length))",
            "    replica.emit(ReplySnapshot(requested.source, _response(replica, requested, data), wanted, 0, length))",
        ),),
    ),
    Mutant(
        "D17b", "a download continues into another snapshot", "snapshots", "KIP-630", ("S17", "L07", "ASSERT"),
        (
            Edit("raft.fetch_snapshot", "    role.state.download = Download(snapshot)\n", "    was = role.state.download\n    role.state.download = Download(snapshot)\n    if was is not None:\n        role.state.download.position = was.position\n"),
            Edit("raft.transitions", "        replica.emit(DropSnapshotPart(state.download.id))\n        state.download = None", "        replica.emit(DropSnapshotPart(state.download.id))"),
        ),
    ),
    Mutant(
        "D22", "truncated records are still served from memory", "truncation", "own", ("ASSERT", "S04", "S06", "S12"),
        (Edit("raft.storage.log", "        self.cache.truncate(self.end_offset)\n", "        self.cache.end_offset = self.end_offset\n"),),
    ),
    Mutant(
        "D23", "the stored committed offset is beyond what is committed", "truncation", "own", ("T01", "L07", "S29", "S18"),
        (Edit("raft.storage.prefix_keeper", "            mark = segment.mark_before(self.high_watermark)", "            mark = segment.mark_before(1 << 60)"),),
    ),
    Mutant(
        "D23b", "the committed prefix is not written again while the log grows slowly", "truncation", "own", ("S18",),
        (Edit("raft.storage.storage", "        if self._prefix.is_overdue(now_ms):", "        if self._prefix.is_overdue(now_ms) and self._prefix.is_due():"),),
    ),
    Mutant(
        "D25", "an offset that was never written is reported as damage", "persistence", "own", ("S18",),
        (Edit("raft.storage.walk", '            if share >= LENGTH_BEFORE or any(fault.offset.to_bytes(_OFFSET_BYTES, "big")[:share]):', "            if share >= LENGTH_BEFORE:"),),
    ),
    Mutant(
        "D24", "segments are dropped oldest first when the log is cut", "truncation", "own", ("S18", "ASSERT"),
        (Edit("raft.storage.log", "        while self.segments[-1].base_offset > end_offset:\n            self._remove_last()\n", "        while self.segments[-1].base_offset > end_offset:\n            at = next(at for at, each in enumerate(self.segments) if each.base_offset > end_offset)\n            self._remove(self.segments.pop(at))\n            self.files.sync_directory(self.directory)\n"),),
    ),
    Mutant(
        "D26", "a reset of the log syncs the removals of its segments together", "truncation", "own", ("S18",),
        (Edit("raft.storage.log", "        while self.segments:\n            self._remove_last()\n", "        while self.segments:\n            self._remove(self.segments.pop())\n        self.files.sync_directory(self.directory)\n"),),
    ),
    Mutant(
        "D27", "a start reads quorum-state and no copy of it, as a stock voter's does", "votes", "Strimzi", ("S18", "S02", "S01"),
        (Edit("raft.storage.opening", "for name in (QUORUM_STATE, KEPT_QUORUM_STATE))", "for name in (QUORUM_STATE, QUORUM_STATE))"),),
    ),
)  # fmt: skip
