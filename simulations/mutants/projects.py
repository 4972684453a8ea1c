"""Bugs that Kafka and other projects once had in their logs and elections, put into ours, where no other row is the
same.
"""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

MUTANTS = (
    Mutant(
        "H01", "a leader stops at a fetch offset that falls", "replication", "KAFKA-12181", ("ASSERT",),
        (Edit(
            "raft.state.leader_state", "Progress.on_fetched",
            "self.end_offset = offset",
            'assert offset >= self.end_offset, "non-monotonic"\nself.end_offset = offset',
        ),),
    ),
    Mutant(
        "H02", "the LeaderChange record is written at the high watermark, not at the log end", "replication", "KAFKA-12331", ("ASSERT",),
        (Edit("raft.append", "start_epoch", "base_offset = replica.log.end", "base_offset = replica.log.committed"),),
    ),
    Mutant(
        "H04", "a leader whose answer has no records is asked again at once", "progress", "KAFKA-17751", ("L11",),
        (Edit("raft.discovery", "take_answer", "replica.role is not role or is_impatient", "True"),),
    ),
    Mutant(
        "H05", "batches that were fetched are not checked by their CRC", "replication", "KAFKA-18723",
        ("S04", "S06", "S18"),
        (Edit("raft.fetch_response", "check_fetched", "not is_intact(data, batch)", "False"),),
    ),
    Mutant(
        "H06", "a start does not check the CRC of a batch", "persistence", "KAFKA-14104", ("S18", "S04", "S06"),
        (Edit("raft.storage.walk", "Walker._take", "crc32c(...) != head.crc", "False"),),
    ),
    Mutant(
        "H07", "BeginQuorumEpoch is sent once and not repeated", "progress", "KAFKA-16536", ("L13", "L01", "L07"),
        (Edit("raft.epoch", "send_begin_requests", "now_ms + interval_ms", "1 << 62"),),
    ),
    Mutant(
        "H08", "followers do not notify their state machines of commits", "watermark", "KAFKA-10632", ("L07", "S18"),
        (Edit(
            "raft.state.replica", "Replica.set_high_watermark",
            "offset > self.notified_offset",
            "offset > self.notified_offset and isinstance(self.role, Leader)",
        ),),
    ),
    Mutant(
        "H09", "a leader votes for another of its epoch", "votes", "DaosRaft #70", ("S02", "S01"),
        (Edit(
            "raft.vote", "can_grant",
            "if not isinstance(role, (Unattached, Prospective)):\n    ...",
            "if isinstance(role, Leader):\n"
            "    return True\n"
            "if not isinstance(role, (Unattached, Prospective)):\n"
            "    ...",
        ),),
    ),
    Mutant(
        "H10", "snapshots before the log's start are kept", "snapshots", "KAFKA-12205", ("S28",),
        (Edit(
            "raft.state.log_view", "LogView.forget_snapshots_before",
            "(snapshot.epoch, snapshot.end_offset)", "(0, snapshot.end_offset)",
        ),),
    ),
    Mutant(
        "H11", "a leader that resigns does not notify its state machine", "watermark", "KAFKA-17333", ("S24", "ASSERT", "S06", "L01"),
        (Edit("raft.state.replica", "Replica.notify_leader", "leader_id = None", "return"),),
    ),
    Mutant(
        "H13", "fetches of other clusters are served", "identity", "KAFKA-10817", ("S20",),
        (Edit("raft.fetch_request", "on_request", "not is_our_cluster(replica, request.cluster_id)", "False"),),
    ),
    Mutant(
        "H14", "Votes and BeginQuorumEpochs of other clusters are accepted", "identity", "KAFKA-12440", ("S20",),
        (
            Edit("raft.vote", "on_request", "not is_our_cluster(replica, request.cluster_id)", "False"),
            Edit("raft.epoch", "_take", "not is_our_cluster(replica, request.cluster_id)", "False"),
        ),
    ),
    Mutant(
        "H15", "what a leader has flushed does not count before a voter fetches", "watermark", "RaftOS #30", ("L02", "L01"),
        (Edit(
            "raft.step", "_on_flushed",
            "if isinstance(replica.role, Leader):\n"
            "    fetch_request.update_high_watermark(replica, replica.role, now_ms)",
            "",
        ),),
    ),
    Mutant(
        "H16", "a voter that knows no leader does not look for one", "progress", "KAFKA-17030", ("L07", "L01", "S24"),
        (Edit(
            "raft.poll", "_poll_unattached",
            "send_fetch(replica, role, now_ms)\nreturn role.election_deadline_ms",
            "return role.election_deadline_ms",
        ),),
    ),
    Mutant(
        "H17", "a new state machine is not notified of the leader", "progress", "KAFKA-16286", ("S24", "L01", "L02"),
        (Edit(
            "raft.state.replica", "Replica.__init__",
            "self._notified_leader: tuple[int, int | None] = (0, None)",
            "self._notified_leader = (0, None) if recovered.election is None else (recovered.election.epoch, recovered.election.leader_id)",
            names="LogView(recovered)",
        ),),
    ),
)  # fmt: skip
