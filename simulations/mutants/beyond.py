"""Mutants that no world can tell from the code as it is, or whose harm lies beyond what is simulated; each with the reason.

BOUNDARY.md lists them; `mutants --surviving` looks whether one is caught by now.
"""

from __future__ import annotations

from typing import NamedTuple

from simulations.mutants.row import Edit, Mutant


class Survivor(NamedTuple):
    """is_equivalent: nothing that the code promises breaks; else it is a bug, and what would show it is not simulated."""

    mutant: Mutant
    is_equivalent: bool
    why: str


SURVIVORS = (
    Survivor(
        Mutant(
            "X01", "a vote is given where a leader is known", "votes", "KIP-595", ("ASSERT", "S02", "S14", "S18"),
            (Edit("raft.vote", "    return role.leader_id is None and is_up_to_date", "    return is_up_to_date"),),
        ),
        is_equivalent=True,
        why="Who leads an epoch was elected by a majority, and each of these votes is on disk and stays. So nobody else"
        " can have a majority in that epoch, whatever those say who have not voted: one vote more elects nobody, and is"
        " given once, as before.",
    ),
    Survivor(
        Mutant(
            "D06", "a snapshot that was fetched is not checked", "snapshots", "KIP-630", ("S17", "ASSERT"),
            (
                Edit("raft.storage.snapshots", "                head = check_snapshot(self.files, path)", "                head = read_head(self.files, path)"),
                Edit("raft.storage.snapshots", "import SnapshotBytes, check_snapshot,", "import SnapshotBytes, read_head,"),
                Edit("raft.fetch_snapshot", "        or end > data.size\n", "        or end > data.size + 1_000_000\n"),
            ),
        ),
        is_equivalent=False,
        why="What passes TCP is not damaged here, and a leader's snapshot that rots is found when its file is opened. Unit"
        " tests hand damaged parts over.",
    ),
    Survivor(
        Mutant(
            "R42", "writes while it leads no more", "replication", "Raft 5.3", ("ASSERT", "S04", "S12"),
            (Edit("raft.append", "        or proposal.epoch != role.epoch\n", ""),),
        ),
        is_equivalent=False,
        why="A state machine that is told that it leads no more writes nothing. What it wrote before would have to be on"
        " its way for as long as an election takes, while the log was cut and came to the same length again, as each epoch"
        " begins with a record; nothing here is on its way for so long.",
    ),
    Survivor(
        Mutant(
            "R40", "a flush of what was cut counts for what was appended since", "watermark", "own",
            ("S07", "S22", "ASSERT", "S10"),
            (Edit(
                "raft.log_view", "        self._pending = deque((number, min(end, end_offset)) for number, end in self._pending)\n        self.durable_end", "        self.durable_end",
            ),),
        ),
        is_equivalent=True,
        why="Nothing is cut while a flush is under way: a follower fetches when all that it has is on disk, and only "
        "what it is answered cuts its log. Without that guard, D01, the two are caught together.",
    ),
    Survivor(
        Mutant(
            "D18", "a snapshot is taken for the log's end though it is behind", "snapshots", "own",
            ("S11", "S06", "ASSERT", "S09"),
            (
                Edit("raft.snapshots", "    if not is_newer or snapshot.end_offset < log.committed or not isinstance", "    if not isinstance"),
                Edit("raft.fetch_snapshot", "    if not is_possible or not is_newer or log.snapshot", "    if not is_possible or log.snapshot"),
            ),
        ),
        is_equivalent=False,
        why="A snapshot is fetched when the leader's log begins behind what is asked for, and what a snapshot holds "
        "is committed. So it is newer than the log of who asks, which grows no more until it is there. It would "
        "take a leader that lies.",
    ),
    Survivor(
        Mutant(
            "D21", "a truncation is not on disk before what is appended next", "truncation", "own", ("S18", "S22", "S07"),
            (Edit("raft.storage.segment", "        self.files.truncate(self.handle, position)\n        self.files.sync(self.handle)\n", "        self.files.truncate(self.handle, position)\n"),),
        ),
        is_equivalent=True,
        why="What is cut is on disk before anything is appended, if not at once: a follower fetches when all is "
        "flushed, and who comes to lead has saved its vote behind the flush of the cut, by the same thread.",
    ),
    Survivor(
        Mutant(
            "H18", "a snapshot ends where no batch does", "snapshots", "KAFKA-17713", ("S17", "ASSERT"),
            (Edit("raft.snapshots", "    if snapshot.end_offset < log.start or log.snapshot(snapshot) is not None:", "    if log.snapshot(snapshot) is not None:"),),
        ),
        is_equivalent=True,
        why="Who takes a snapshot takes it of what it has applied, and that is never less than where its log begins: "
        "a log that starts over is loaded before anything else is applied.",
    ),
    Survivor(
        Mutant(
            "H12", "the offset index of a segment must be there at a start", "persistence", "KAFKA-13603", ("S18", "ASSERT"),
            (Edit("raft.storage.recovery", "            except FileNotFoundError:\n                return None\n            try:", "            except FileNotFoundError:\n                raise StorageError('no index') from None\n            try:"),),
        ),
        is_equivalent=False,
        why="An index is named on disk before the committed prefix that speaks of it, by the same sync of the "
        "directory. So it takes somebody who removes the file; unit tests do.",
    ),
)  # fmt: skip
