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
            "H05", "batches that were fetched are not checked by their CRC", "replication", "KAFKA-18723",
            ("S04", "S06", "S18"),
            (Edit("raft.fetch_response", "    if not is_intact(data, batch):", "    if False:"),),
        ),
        is_equivalent=False,
        why="As D06: no batch is damaged on its way, and one that rots on the leader's disk is refused by the leader's"
        " next start, before it is sent. Unit tests hand damaged batches over.",
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
)  # fmt: skip
