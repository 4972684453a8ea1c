"""Mutants that are equivalent to the code, or whose effects are not simulated; each with the reason.

BOUNDARY.md lists them; `mutants --surviving` checks whether one is caught by now.
"""

from __future__ import annotations

from typing import NamedTuple

from simulations.mutants.row import Edit, Mutant


class Survivor(NamedTuple):
    """is_equivalent: the mutant violates nothing that the code guarantees; else it is a bug with effects that are not simulated."""

    mutant: Mutant
    is_equivalent: bool
    why: str


SURVIVORS = (
    Survivor(
        Mutant(
            "X01", "a vote is given where a leader is known", "votes", "KIP-595", ("ASSERT", "S02", "S14", "S18"),
            (Edit("raft.vote", "can_grant", "role.leader_id is None and is_up_to_date", "is_up_to_date"),),
        ),
        is_equivalent=True,
        why="The leader of an epoch was elected by a majority, and each of these votes is on disk and stays. So no "
        "other candidate can have a majority in that epoch, even with all remaining votes: the additional vote "
        "elects nobody, and is given once, as before.",
    ),
    Survivor(
        Mutant(
            "D06", "a snapshot that was fetched is not checked", "snapshots", "KIP-630", ("S17", "ASSERT"),
            (
                Edit(
                    "raft.storage.snapshots", "",
                    "from raft.storage.snapshot_file import SnapshotBytes, check_snapshot, snapshot_batches",
                    "from raft.storage.snapshot_file import SnapshotBytes, read_head, snapshot_batches",
                ),
                Edit(
                    "raft.storage.snapshots", "SnapshotStore.freeze",
                    "check_snapshot(self.files, path)", "read_head(self.files, path)",
                ),
                Edit("raft.fetch_snapshot", "_take_part", "end > data.size", "end > data.size + 1_000_000"),
            ),
        ),
        is_equivalent=False,
        why="Bytes on a TCP connection are not damaged here, and a leader's damaged snapshot is detected when its "
        "file is opened. Unit tests deliver damaged parts.",
    ),
    Survivor(
        Mutant(
            "R42", "writes while it leads no more", "replication", "Raft 5.3", ("ASSERT", "S04", "S12"),
            (Edit("raft.append", "on_propose", "... or proposal.epoch != role.epoch or ...", "... or ..."),),
        ),
        is_equivalent=False,
        why="A state machine that learns that it leads no more writes nothing. A write from before would have to be "
        "delayed for as long as an election takes, while the log was truncated and grew to the same length "
        "again, since each epoch begins with a record; nothing here is delayed for so long.",
    ),
    Survivor(
        Mutant(
            "R40", "a flush of what was cut counts for what was appended since", "watermark", "own",
            ("S07", "S22", "ASSERT", "S10"),
            (Edit(
                "raft.state.log_view", "LogView._cut",
                "self._pending = deque((number, min(end, end_offset)) for number, end in self._pending)", "",
            ),),
        ),
        is_equivalent=True,
        why="The log is not truncated while a flush is under way: a follower fetches when all its records are on "
        "disk, and only an answer makes it truncate. Without that rule, D01, the two are caught together.",
    ),
    Survivor(
        Mutant(
            "D18", "a snapshot is taken for the log's end though it is behind", "snapshots", "own",
            ("S11", "S06", "ASSERT", "S09"),
            (
                Edit(
                    "raft.snapshots", "on_stored",
                    "not is_newer or snapshot.end_offset < log.committed or not isinstance(role, (Follower, Unattached))",
                    "not isinstance(role, (Follower, Unattached))",
                ),
                Edit(
                    "raft.fetch_snapshot", "begin_download",
                    "not is_possible or not is_newer or log.snapshot(snapshot) is not None",
                    "not is_possible or log.snapshot(snapshot) is not None",
                ),
            ),
        ),
        is_equivalent=False,
        why="A snapshot is fetched if the leader's log starts after the fetch offset, and a snapshot has only "
        "committed records. So it is newer than the log of the follower, which does not grow until the snapshot "
        "is there. Only a faulty leader could send another.",
    ),
    Survivor(
        Mutant(
            "D21", "a truncation is not on disk before what is appended next", "truncation", "own", ("S18", "S22", "S07"),
            (Edit("raft.storage.segment", "Segment.truncate", "self.files.sync(self.handle)", ""),),
        ),
        is_equivalent=True,
        why="A truncation is on disk before anything is appended, if not at once: a follower fetches when all is "
        "flushed, and a new leader has saved its vote after the flush of the truncation, on the same thread.",
    ),
    Survivor(
        Mutant(
            "H18", "a snapshot ends where no batch does", "snapshots", "KAFKA-17713", ("S17", "ASSERT"),
            (Edit(
                "raft.snapshots", "may_take",
                "snapshot.end_offset < log.start or log.snapshot(snapshot) is not None",
                "log.snapshot(snapshot) is not None",
            ),),
        ),
        is_equivalent=True,
        why="A node takes a snapshot of the records that it has applied, and never below the start of its log: a log "
        "that was reset is loaded before any other record is applied.",
    ),
    Survivor(
        Mutant(
            "H12", "the offset index of a segment must be there at a start", "persistence", "KAFKA-13603", ("S18", "ASSERT"),
            (Edit(
                "raft.storage.recovery", "LogRecovery._read_indexes",
                "try:\n"
                "    ...\n"
                "except FileNotFoundError:\n"
                "    return None",
                "try:\n"
                "    ...\n"
                "except FileNotFoundError:\n"
                '    raise StorageError("no index") from None',
            ),),
        ),
        is_equivalent=False,
        why="The name of an index is on disk before the committed prefix that refers to it, by the same sync of the "
        "directory. So an operator would have to remove the file; unit tests do.",
    ),
    Survivor(
        Mutant(
            "M29", "a removed replica stands only where its removal is the newest voter set", "voters", "own", ("T01", "L01"),
            (Edit(
                "raft.state.replica", "Replica.may_stand",
                "range(len(sets) - 1, 0, -1)", "range(len(sets) - 1, 0, -1)[:1]",
            ),),
            level="members",
        ),
        is_equivalent=False,
        why="A leader has to remove itself, another voter to be elected at a new address by that set, and the former "
        "leader to fetch the second set from it before either is committed. A former leader that stands asks for "
        "votes at the addresses of its own log and learns of that leader only from a voter, with which it could "
        "commit: neither 120 seeds nor plans by hand come there. The specification has the rule; unit tests do.",
    ),
    Survivor(
        Mutant(
            "X28", "a replica that lost its place among the voters becomes candidate", "votes", "own", ("ASSERT",),
            (Edit("raft.poll", "_prospective", "not replica.may_stand", "False"),),
        ),
        is_equivalent=False,
        why="Only a faulty leader orders a truncation within a batch, and peers do not lie here within a well-formed "
        "message. Unit tests do.",
    ),
    Survivor(
        Mutant(
            "Q90", "brokers are fenced between two slices of a long write", "slices", "own", ("ASSERT",),
            (Edit(
                "controller.core.long_steps", "_waits",
                "inputs.Ticked | inputs.ReserveOffsets", "inputs.ReserveOffsets",
            ),),
            seeds=200, level="controller",
        ),
        is_equivalent=False,
        why="A broker has to fall silent so that its session ends within the few ms of a long write, and the tick of that "
        "moment has to come between two of its slices: none of 450 seeds came there. Unit tests do.",
    ),
    Survivor(
        Mutant(
            "Q93", "a standby answers a read from a part of a batch", "slices", "own", ("C03", "C05"),
            (Edit(
                "controller.core.controller", "Controller.is_partial",
                "self.loading is not None or self.replay is not None", "self.loading is not None",
            ),),
            seeds=200, level="controller",
        ),
        is_equivalent=False,
        why="The parts of a batch are replayed in iterations of the loop that follow each other at once, and a read has to "
        "come from the network between two of them: none of 80 seeds had one, 20 of them with the check of C03. Unit "
        "tests do.",
    ),
)  # fmt: skip
