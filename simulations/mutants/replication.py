"""Mutants of replication: high watermark, divergence, what counts as replicated, which requests are answered."""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

MUTANTS = (
    Mutant(
        "R14", "records of earlier epochs are committed by counting", "watermark", "Raft 5.4.2; PySyncObj #169", ("S08",),
        (Edit("raft.state.commit", "high_watermark", "held if held > epoch_start else None", "max(held, 0)"),),
        ci=True,
    ),
    Mutant(
        "R16", "a new leader writes no LeaderChange record", "progress", "KIP-595", ("L01", "L02", "S08"),
        (Edit(
            "raft.transitions", "to_leader",
            "start_epoch(replica, state, now_ms)", "replica.assign_epoch(replica.epoch)",
        ),),
    ),
    Mutant(
        "R17", "half of the voters commit", "watermark", "classic", ("S07",),
        (Edit("raft.state.commit", "high_watermark", "len(ends) // 2", "max(len(ends) // 2 - 1, 0)"),),
        ci=True,
    ),
    Mutant(
        "R17b", "a commit needs one voter more than a majority", "watermark", "classic", ("L02", "L01"),
        (Edit("raft.state.commit", "high_watermark", "len(ends) // 2", "min(len(ends) // 2 + 1, len(ends) - 1)"),),
    ),
    Mutant(
        "R18", "a voter that has not fetched counts as caught up", "watermark", "own", ("S07",),
        (Edit(
            "raft.state.commit", "high_watermark",
            "(end_offsets.get(voter_id, UNKNOWN) for voter_id in voters.ids)",
            "(e for e in end_offsets.values() if e >= 0)",
        ),),
    ),
    Mutant(
        "R19", "the leader's high watermark falls", "watermark", "PySyncObj #166", ("S09", "S10"),
        (Edit(
            "raft.fetch_request", "update_high_watermark",
            "held <= replica.high_watermark", "held == replica.high_watermark",
        ),),
    ),
    Mutant(
        "R20", "a follower's high watermark falls", "watermark", "PySyncObj #166", ("S09",),
        (
            Edit("raft.fetch_response", "update_high_watermark", "reached < replica.log.committed", "reached < 0"),
            Edit(
                "raft.fetch_response", "update_high_watermark",
                "reached > replica.high_watermark", "reached != replica.high_watermark",
            ),
            # A leader of ours that knows none says so; one that said less would be harmless, but for the guard above.
            Edit(
                "raft.fetch_request", "_answer",
                "NOTHING if replica.high_watermark is None else replica.high_watermark",
                "0 if replica.high_watermark is None else replica.high_watermark",
            ),
        ),
    ),
    Mutant(
        "R21", "a follower takes a high watermark beyond its log end", "watermark", "KAFKA-12619", ("ASSERT", "S10"),
        (Edit("raft.fetch_response", "update_high_watermark", "min(offset, replica.log.end)", "offset"),),
    ),
    Mutant(
        "R22", "a leader serves fetches of any epoch", "replication", "classic", ("S22", "S14", "L03"),
        (
            Edit(
                "raft.checks", "refusal_of_non_leader",
                "if epoch < role.epoch:\n"
                "    return Error.FENCED_LEADER_EPOCH\n"
                "if epoch > role.epoch:\n"
                "    return Error.UNKNOWN_LEADER_EPOCH",
                "",
            ),
        ),
    ),
    Mutant(
        "R23", "answers of any node to earlier requests are accepted", "replication", "RaftOS #25", ("S04", "S06", "ASSERT", "S12", "S01"),
        (
            Edit("raft.state.peers", "Peers.take", "entry.number != number", "entry.number == 0"),
            Edit(
                "raft.discovery", "take_answer",
                "epoch < role.epoch or error == Error.UNKNOWN_LEADER_EPOCH",
                "error == Error.UNKNOWN_LEADER_EPOCH",
            ),
            Edit("raft.discovery", "take_answer", "... or epoch > role.epoch or ...", "... or ..."),
        ),
    ),
    Mutant(
        "R25", "truncation to the leader's end of an epoch, not to the common end", "truncation", "KIP-279",
        ("S04", "ASSERT", "L07"),
        (Edit(
            "raft.state.log_view", "LogView.truncation",
            "return own.end_offset", "return min(self.end, diverging.end_offset)",
            names="self.end_of_epoch(diverging.epoch)",
        ),),
    ),
    Mutant(
        "R25b", "truncation to the follower's own end of an epoch", "truncation", "KIP-279", ("L07", "L11", "S04", "L02"),
        (Edit("raft.state.log_view", "LogView.truncation", "min(own.end_offset, diverging.end_offset)", "own.end_offset"),),
        ci=True,
    ),
    Mutant(
        "R25c", "a missing epoch ends where the next epoch ends", "truncation", "KIP-101",
        ("L01", "L07", "S04", "ASSERT", "S22", "L02", "S06"),
        (Edit(
            "raft.state.log_view", "LogView.end_of_epoch",
            "EpochEnd(self.epochs[place][1], self.epochs[place - 1][0] if place else epoch)",
            "EpochEnd(self.end, self.epochs[place][0])",
        ),),
    ),
    Mutant(
        "R26", "committed records are truncated", "truncation", "KAFKA-12460", ("S11", "S06"),
        (
            Edit(
                "raft.fetch_response", "_truncate",
                "if target < replica.log.committed_end:\n"
                "    note_data_lost(replica, diverging.end_offset)\n"
                "    return False",
                "target = replica.log.start\n"
                "if target < 0:\n"
                "    note_data_lost(replica, diverging.end_offset)\n"
                "    return False",
            ),
            Edit(
                "raft.state.log_view", "LogView.truncate",
                "assert self.committed <= end_offset <= self.end, ...",
                "self.committed = min(self.committed, end_offset)",
            ),
        ),
        ci=True,
    ),
    Mutant(
        "R27", "a diverging follower does not truncate", "truncation", "classic", ("L07", "L02", "L01", "L11"),
        (Edit("raft.fetch_response", "_truncate", "replica.truncate(target)", ""),),
    ),
    Mutant(
        "R27b", "a diverging fetch is served", "truncation", "KIP-595",
        ("S22", "S04", "ASSERT", "L07", "S06"),
        (Edit(
            "raft.state.log_view", "LogView.validate",
            "end.epoch != epoch or end.end_offset < offset", "end.end_offset < offset",
        ),),
    ),
    Mutant(
        "R27c", "a fetch from beyond the leader's end is served", "truncation", "KIP-595",
        ("S22", "S04", "ASSERT", "L07", "S06"),
        (Edit(
            "raft.state.log_view", "LogView.validate",
            "end.epoch != epoch or end.end_offset < offset", "end.epoch != epoch",
        ),),
    ),
    Mutant(
        "R29", "a follower appends records without checking their offset", "replication", "RaftOS #26",
        ("ASSERT", "S12", "S06"),
        (
            Edit(
                "raft.fetch_response", "check_fetched",
                "batch.base_offset != end_offset", "batch.base_offset > end_offset",
            ),
            # An old answer is known by its number, too.
            Edit(
                "raft.state.peers", "Peers.take",
                "entry.number != number",
                'entry.number != number and type(entry.request).__name__ != "FetchRequest"',
            ),
        ),
    ),
    Mutant(
        "R34", "waiting fetches get no answer when leadership ends", "progress", "KAFKA-15100", ("L05",),
        (Edit("raft.transitions", "_leave", "fail_parked(replica, old.state)", ""),),
    ),
    Mutant(
        "R34b", "waiting fetches get no answer when the high watermark advances", "progress", "KIP-1166", ("L05", "L07", "L02"),
        (Edit("raft.fetch_request", "update_high_watermark", "list(state.parked)", "()"),),
    ),
    Mutant(
        "R38", "fetches count before they are checked", "watermark", "KIP-595", ("S22", "S07"),
        (Edit(
            "raft.fetch_request", "on_request",
            "_validate(replica, partition) is None and not _record_progress(replica, role, key, parked, now_ms)",
            "not _record_progress(replica, role, key, parked, now_ms)",
        ),),
    ),
    Mutant(
        "R39", "the durable end stays when the log is cut", "watermark", "own", ("S07", "S22", "ASSERT", "S10"),
        (
            Edit("raft.state.log_view", "LogView._cut", "self.durable_end = min(self.durable_end, end_offset)", ""),
            Edit(
                "raft.state.log_view", "LogView._cut",
                'assert self.durable_end <= self.end, f"{self.durable_end} is on disk of a log that was cut at {self.end}"',
                "",
            ),
        ),
    ),
    Mutant(
        "R41", "all pending appends count as flushed with the first", "watermark", "own", ("S22", "S07"),
        (Edit(
            "raft.state.log_view", "LogView.on_flushed",
            "self._pending and self._pending[0][0] <= number", "self._pending",
        ),),
    ),
    Mutant(
        "R43", "the state machine is notified of leadership before all committed records are applied", "watermark", "KAFKA-15345, 17333",
        ("ASSERT", "S06"),
        (Edit(
            "raft.state.replica", "Replica.notify_leader",
            "if self.high_watermark is None or self.high_watermark < self.log.end:\n    return", "",
        ),),
    ),
    Mutant(
        "R44", "a leader confirms its leadership without a majority", "reads", "Raft 6.4", ("S23",),
        (Edit("raft.state.rounds", "Rounds.take_confirmed", "len(rounds) // 2", "0"),),
    ),
    Mutant(
        "R45", "a fetch sent before the request confirms leadership", "reads", "Raft 6.4", ("S23",),
        (Edit(
            "raft.state.rounds", "Rounds.record_fetch",
            "max(self._seen.get(voter_id, 0), self._answered.get(connection, 0))", "self.asked",
        ),),
    ),
    Mutant(
        "R46", "a stale epoch cache: an epoch starts one offset late", "truncation", "KAFKA-10511",
        ("S16", "L07", "ASSERT"),
        (Edit("raft.state.log_view", "LogView.assign", "(epoch, self.end)", "(epoch, self.end + 1)"),),
    ),
    Mutant(
        "R47", "truncation leaves the epochs of what it cut", "truncation", "KAFKA-10511", ("S16", "ASSERT"),
        (Edit(
            "raft.state.log_view", "LogView._cut",
            "while self.epochs and self.epochs[-1][1] >= end_offset:\n    self.epochs.pop()", "",
        ),),
    ),
    Mutant(
        "D20", "what was written counts as committed after a restart", "watermark", "own", ("S09", "S10", "ASSERT"),
        (Edit(
            "raft.step", "start",
            "if replica.is_only_voter and not isinstance(replica.role, Candidate):\n    ...",
            "if replica.log.end:\n"
            "    replica.set_high_watermark(replica.log.end)\n"
            "if replica.is_only_voter and not isinstance(replica.role, Candidate):\n"
            "    ...",
        ),),
    ),
)  # fmt: skip
