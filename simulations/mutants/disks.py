"""Mutants of what is on disk: what is reported before it is durable, what a start takes for true, snapshots and their
files.
"""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

MUTANTS = (
    Mutant(
        "D01", "a follower fetches before it has flushed", "persistence", "KAFKA-10533", ("S22",),
        (Edit(
            "raft.fetch_response", "send_fetch",
            "not replica.log.is_flushed or replica.freezing is not None", "replica.freezing is not None",
        ),),
        ci=True,
    ),
    Mutant(
        "D02", "a leader counts what it has not flushed", "watermark", "KAFKA-10533", ("S07",),
        (Edit(
            "raft.fetch_request", "update_high_watermark",
            "ends[state.own_id] = replica.log.durable_end", "ends[state.own_id] = replica.log.end",
        ),),
        ci=True,
    ),
    Mutant(
        "D03", "a flush does not sync", "persistence", "KAFKA-10533", ("S22", "S07", "S18"),
        (Edit(
            "raft.storage.disk_queue", "GroupCommit._flush",
            "for handle in handles:\n    self._files.sync_data(handle)", "",
        ),),
    ),
    Mutant(
        "D03b", "a flush also counts records that were written while it ran", "persistence", "own", ("S22", "S07", "S18"),
        (Edit(
            "raft.storage.disk_queue", "GroupCommit._flush",
            "if names_changed:\n    ...",
            "while self._waiting:\n"
            "    last = self._waiting.popleft()\n"
            "if names_changed:\n"
            "    ...",
            names="self._on_flushed(last)",
        ),),
    ),
    Mutant(
        "D03c", "the name of a new segment is not synced", "persistence", "own", ("S22", "S07", "S18"),
        (Edit(
            "raft.storage.disk_queue", "GroupCommit._flush",
            "if names_changed:\n    self._files.sync_directory(self._directory)", "",
        ),),
    ),
    Mutant(
        "D03d", "a roll leaves the old segment unsynced", "persistence", "own", ("S22", "S07", "S18"),
        (Edit("raft.storage.log", "MetadataLog._roll", "self.files.sync_data(active.handle)", ""),),
    ),
    Mutant(
        "D03e", "of two new segments only the second may survive a crash", "persistence", "own", ("S18",),
        (Edit(
            "raft.storage.log", "MetadataLog._roll",
            "if self.flushed < self._made_by:\n    self.files.sync_directory(self.directory)", "",
        ),),
    ),
    Mutant(
        "D04", "quorum-state is written in place", "persistence", "KAFKA-15312", ("S18", "S02", "S03"),
        (
            Edit("raft.storage.files", "replace_file", 'f"{path}.tmp"', "path"),
            Edit("raft.storage.files", "replace_file", "files.rename(temporary, path)", ""),
        ),
    ),
    Mutant(
        "D04b", "quorum-state is renamed before its bytes are on disk", "persistence", "KAFKA-14273",
        ("S18", "S02", "S03"),
        (Edit("raft.storage.files", "replace_file", "files.sync(handle)", ""),),
    ),
    Mutant(
        "D04c", "the new name of quorum-state is not synced", "persistence", "KAFKA-14273", ("S18", "S02", "S03"),
        (Edit("raft.storage.files", "replace_file", 'files.sync_directory(path.rpartition("/")[0])', ""),),
    ),
    Mutant(
        "D04d", "an election is reported as saved before it is", "persistence", "own", ("S03", "S02", "S18"),
        (Edit(
            "raft.storage.storage", "Storage._save_election",
            "write_quorum_state(self.files, self.directory, text)\n"
            "self._on_input(Saved(number))",
            "self._on_input(Saved(number))\n"
            "write_quorum_state(self.files, self.directory, text)",
        ),),
    ),
    Mutant(
        "D05", "a snapshot is renamed before its bytes are on disk", "snapshots", "KAFKA-15312", ("S17", "S18"),
        (Edit("raft.storage.snapshots", "SnapshotStore.store", "self.files.sync(handle)", ""),),
        ci=True,
    ),
    Mutant(
        "D05b", "the name of a snapshot is not synced", "snapshots", "KAFKA-15312", ("S17", "S18"),
        (Edit("raft.storage.snapshots", "SnapshotStore.store", "self.files.sync_directory(self.directory)", ""),),
    ),
    Mutant(
        "D07", "a start cuts the last batch though it is whole", "persistence", "own", ("S18",),
        (Edit("raft.storage.walk", "Walker._take", "position + stop > end", "position + stop >= end"),),
    ),
    Mutant(
        "D07b", "a start cuts the log at any error", "persistence", "etcd #14370's kin", ("S18",),
        (Edit(
            "raft.storage.walk", "is_torn",
            "if fault.is_short:\n    ...",
            "if fault:\n"
            "    return True\n"
            "if fault.is_short:\n"
            "    ...",
        ),),
    ),
    Mutant(
        "D07c", "a start does not sync what it has found", "persistence", "own", ("S18",),
        (Edit("raft.storage.recovery", "LogRecovery._read_from_disk", "self.files.sync(handle)", ""),),
    ),
    Mutant(
        "D08", "a failed fsync is ignored", "persistence", "fsyncgate", ("S07", "S22", "S18"),
        (Edit(
            "raft.storage.disk_queue", "GroupCommit._flush",
            "self._files.sync_data(handle)",
            "try:\n"
            "    self._files.sync_data(handle)\n"
            "except OSError:\n"
            "    pass",
        ),),
    ),
    Mutant(
        "D08b", "after a failed fsync the disk is used again", "persistence", "fsyncgate", ("S07", "S22", "S18"),
        (
            Edit(
                "raft.storage.disk_queue", "DiskQueue.submit",
                "try:\n"
                "    job()\n"
                "except Exception as error:\n"
                "    self.fail(operation, error)",
                "try:\n"
                "    job()\n"
                "except OSError:\n"
                "    job()",
            ),
            Edit(
                "raft.storage.disk_queue", "GroupCommit._flush",
                "for handle in handles:\n    ...",
                'self._handles = handles = handles or getattr(self, "_handles", [])\n'
                "for handle in handles:\n"
                "    ...",
                names="self._on_flushed(last)",
            ),
            Edit(
                "raft.storage.disk_queue", "GroupCommit._flush",
                "if last is None:\n    return",
                'last = last or getattr(self, "_last", None)\n'
                "if last is None:\n"
                "    return\n"
                "self._last = last",
                names="self._on_flushed(last)",
            ),
        ),
    ),
    Mutant(
        "D09", "a start takes the page cache that a failed fsync left for durable", "persistence", "fsyncgate", ("S18",),
        (Edit("raft.storage.recovery", "LogRecovery._read_from_disk", "self.files.drop_clean(handle)", ""),),
    ),
    Mutant(
        "D10", "an unreadable quorum-state counts as absent", "persistence", "KAFKA-15412", ("S18", "S02", "S03"),
        (Edit(
            "raft.storage.quorum_state", "read_quorum_state",
            'raise StorageError(f"{path}: {error}") from None', "return None if error else None",
        ),),
    ),
    Mutant(
        "D11", "a node starts with a log that begins after 0 and no snapshot", "snapshots", "KAFKA-14240", ("S17", "ASSERT"),
        (Edit("raft.storage.recovery", "LogRecovery._check_bounds", "first > 0", "first < 0"),),
    ),
    Mutant(
        "D12", "a start keeps a log that ends before the snapshot", "snapshots", "KAFKA-14238", ("S18", "ASSERT", "S17"),
        (Edit(
            "raft.storage.recovery", "LogRecovery._is_behind_snapshot",
            "epoch > self.epoch or (epoch == self.epoch and end_offset > self.end_offset)", "False",
        ),),
    ),
    Mutant(
        "D13", "a log that starts from a snapshot begins one offset late", "snapshots", "KAFKA-14618",
        ("S10", "S12", "ASSERT", "S17"),
        (Edit(
            "raft.state.log_view", "LogView.reset",
            "self.start = self.end = self.committed = snapshot.end_offset",
            "self.start = self.end = self.committed = snapshot.end_offset + 1",
        ),),
    ),
    Mutant(
        "D15", "cleaning deletes the log up to the newest snapshot and that snapshot", "snapshots", "KAFKA-14238",
        ("S17", "ASSERT"),
        (Edit(
            "raft.state.log_view", "LogView.forget_snapshots_before",
            "order(stored) < (snapshot.epoch, snapshot.end_offset)",
            "order(stored) <= (snapshot.epoch, snapshot.end_offset)",
        ),),
        ci=True,
    ),
    Mutant(
        "D15b", "cleaning deletes the log after the snapshot", "snapshots", "KAFKA-14238", ("S17", "S10", "ASSERT"),
        (Edit("raft.storage.log", "MetadataLog.advance_start", "self.segments[1]", "self.segments[0]"),),
    ),
    Mutant(
        "D17", "a part of a snapshot is read at a wrong position", "snapshots", "KIP-630", ("L07", "S17"),
        (Edit(
            "raft.fetch_snapshot", "on_request",
            "ReplySnapshot(..., asked.position, ...)", "ReplySnapshot(..., 0, ...)",
        ),),
    ),
    Mutant(
        "D17b", "a download continues into another snapshot", "snapshots", "KIP-630", ("S17", "L07", "ASSERT"),
        (
            Edit(
                "raft.fetch_snapshot", "begin_download",
                "role.state.download = Download(snapshot)",
                "was = role.state.download\n"
                "role.state.download = Download(snapshot)\n"
                "if was is not None:\n"
                "    role.state.download.position = was.position",
            ),
            Edit("raft.transitions", "drop_download", "state.download = None", ""),
        ),
    ),
    Mutant(
        "D22", "truncated records are still served from memory", "truncation", "own", ("ASSERT", "S04", "S06", "S12"),
        (Edit(
            "raft.storage.log", "MetadataLog.truncate",
            "self.cache.truncate(self.end_offset)", "self.cache.end_offset = self.end_offset",
        ),),
    ),
    Mutant(
        "D23", "the stored committed offset is beyond what is committed", "truncation", "own", ("T01", "L07", "S29", "S18"),
        (Edit(
            "raft.storage.prefix_keeper", "PrefixKeeper._capture",
            "segment.mark_before(self.high_watermark)", "segment.mark_before(1 << 60)",
        ),),
    ),
    Mutant(
        "D23b", "the committed prefix is not written again while the log grows slowly", "truncation", "own", ("S18",),
        (Edit(
            "raft.storage.storage", "Storage.tick",
            "self._prefix.is_overdue(now_ms)", "self._prefix.is_overdue(now_ms) and self._prefix.is_due()",
        ),),
    ),
    Mutant(
        "D25", "an offset that was never written is reported as damage", "persistence", "own", ("S18",),
        (Edit(
            "raft.storage.walk", "is_torn",
            'share >= LENGTH_BEFORE or any(fault.offset.to_bytes(_OFFSET_BYTES, "big")[:share])',
            "share >= LENGTH_BEFORE",
        ),),
    ),
    Mutant(
        "D24", "segments are dropped oldest first when the log is cut", "truncation", "own", ("S18", "ASSERT"),
        (Edit(
            "raft.storage.log", "MetadataLog.truncate",
            "self._remove_last()",
            "at = next(at for at, each in enumerate(self.segments) if each.base_offset > end_offset)\n"
            "self._remove(self.segments.pop(at))\n"
            "self.files.sync_directory(self.directory)",
            names="end_offset >= self.end_offset",
        ),),
    ),
    Mutant(
        "D26", "a reset of the log syncs the removals of its segments together", "truncation", "own", ("S18",),
        (Edit(
            "raft.storage.log", "MetadataLog.reset",
            "while self.segments:\n    self._remove_last()",
            "while self.segments:\n"
            "    self._remove(self.segments.pop())\n"
            "self.files.sync_directory(self.directory)",
        ),),
    ),
    Mutant(
        "D27", "a start reads quorum-state and no copy of it, as a stock voter's does", "votes", "Strimzi", ("S18", "S02", "S01"),
        (Edit(
            "raft.storage.opening", "open_partition",
            "(QUORUM_STATE, KEPT_QUORUM_STATE)", "(QUORUM_STATE, QUORUM_STATE)",
        ),),
    ),
)  # fmt: skip
