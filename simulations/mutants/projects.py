"""Bugs that Kafka and other projects once had in their logs and elections, put into ours, where no other row is the
same.
"""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

MUTANTS = (
    Mutant(
        "H01", "a leader stops at a fetch offset that falls", "replication", "KAFKA-12181", ("ASSERT",),
        (Edit("raft.leader_state", "        self.end_offset = offset\n", "        assert offset >= self.end_offset, 'non-monotonic'\n        self.end_offset = offset\n"),),
    ),
    Mutant(
        "H02", "the LeaderChange record is written at the high watermark, not at the log end", "replication", "KAFKA-12331", ("ASSERT",),
        (Edit("raft.append", "    base_offset = replica.log.end\n    records", "    base_offset = replica.log.committed\n    records"),),
    ),
    Mutant(
        "H04", "a leader whose answer has no records is asked again at once", "progress", "KAFKA-17751", ("L11",),
        (Edit("raft.discovery", "        return replica.role is not role or is_impatient  #", "        return True  #"),),
    ),
    Mutant(
        "H05", "batches that were fetched are not checked by their CRC", "replication", "KAFKA-18723",
        ("S04", "S06", "S18"),
        (Edit("raft.fetch_response", "    if not is_intact(data, batch):", "    if False:"),),
    ),
    Mutant(
        "H06", "a start does not check the CRC of a batch", "persistence", "KAFKA-14104", ("S18", "S04", "S06"),
        (Edit("raft.storage.walk", "            if crc32c(view[at + CRC_FROM : stop]) != head.crc:", "            if False:"),),
    ),
    Mutant(
        "H07", "BeginQuorumEpoch is sent once and not repeated", "progress", "KAFKA-16536", ("L13", "L01", "L07"),
        (Edit("raft.epoch", "    role.state.begin_deadline_ms = now_ms + interval_ms", "    role.state.begin_deadline_ms = 1 << 62"),),
    ),
    Mutant(
        "H08", "followers do not notify their state machines of commits", "watermark", "KAFKA-10632", ("L07", "S18"),
        (Edit("raft.replica", "        if offset > self.notified_offset:\n", "        if offset > self.notified_offset and isinstance(self.role, Leader):\n"),),
    ),
    Mutant(
        "H09", "a leader votes for another of its epoch", "votes", "DaosRaft #70", ("S02", "S01"),
        (Edit(
            "raft.vote", "    if not isinstance(role, (Unattached, Prospective)):\n        return False",
            "    if isinstance(role, Leader):\n        return True  # no log is as long as its own\n    if not isinstance(role, (Unattached, Prospective)):\n        return False",
        ),),
    ),
    Mutant(
        "H10", "snapshots before the log's start are kept", "snapshots", "KAFKA-12205", ("S28",),
        (Edit(
            "raft.log_view",
            "        older = [stored.id for stored in self.snapshots if order(stored) < (snapshot.epoch, snapshot.end_offset)]",
            "        older = [stored.id for stored in self.snapshots if order(stored) < (0, snapshot.end_offset)]",
        ),),
    ),
    Mutant(
        "H11", "a leader that resigns does not notify its state machine", "watermark", "KAFKA-17333", ("S24", "ASSERT", "S06", "L01"),
        (Edit("raft.replica", "                return\n            leader_id = None\n", "                return\n            return\n"),),
    ),
    Mutant(
        "H13", "fetches of other clusters are served", "identity", "KAFKA-10817", ("S20",),
        (Edit("raft.fetch_request", "    if not is_our_cluster(replica, request.cluster_id):", "    if False:"),),
    ),
    Mutant(
        "H14", "Votes and BeginQuorumEpochs of other clusters are accepted", "identity", "KAFKA-12440", ("S20",),
        (
            Edit("raft.vote", "    if not is_our_cluster(replica, request.cluster_id):", "    if False:"),
            Edit("raft.epoch", "    if not is_our_cluster(replica, request.cluster_id):", "    if False:"),
        ),
    ),
    Mutant(
        "H15", "what a leader has flushed does not count before a voter fetches", "watermark", "RaftOS #30", ("L02", "L01"),
        (Edit(
            "raft.step", "    if isinstance(replica.role, Leader):\n        fetch_request.update_high_watermark(replica, replica.role, now_ms)\n", "",
        ),),
    ),
    Mutant(
        "H16", "a voter that knows no leader does not look for one", "progress", "KAFKA-17030", ("L07", "L01", "S24"),
        (Edit("raft.poll", "    send_fetch(replica, role, now_ms)\n    return role.election_deadline_ms", "    return role.election_deadline_ms"),),
    ),
    Mutant(
        "H17", "a new state machine is not notified of the leader", "progress", "KAFKA-16286", ("S24", "L01", "L02"),
        (Edit("raft.replica", "        self._notified_leader: tuple[int, int | None] = (0, None)", "        self._notified_leader = (0, None) if recovered.election is None else (recovered.election.epoch, recovered.election.leader_id)"),),
    ),
)  # fmt: skip
