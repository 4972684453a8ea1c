"""Mutants of elections: votes, epochs, roles, and what is saved of them before a message leaves."""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

MUTANTS = (
    Mutant(
        "R01", "a second vote is granted in an epoch", "votes", "classic", ("S02", "S01"),
        (Edit("raft.vote", "can_grant", "role.voted.matches(key)", "is_up_to_date", names="return is_up_to_date"),),
        ci=True,
    ),
    Mutant(
        "R02", "a vote is answered before it is on disk", "persistence", "Raft 5.1", ("S02", "S03"),
        (Edit("raft.state.replica", "Replica.emit", "self._saved < self._saves", "self._saved < self._saves - 1"),),
        ci=True,
    ),
    Mutant(
        "R02b", "a vote is never written to disk", "persistence", "Raft 5.1", ("S02", "S18"),
        (Edit("raft.storage.quorum_state", "quorum_state_text", "-1 if voted is None else voted.id", "-1"),),
    ),
    Mutant(
        "R04", "an epoch learned from others is not saved", "persistence", "classic", ("S03",),
        (
            Edit("raft.state.replica", "Replica._save", "form == self._saved_as", "form[1:] == self._saved_as[1:]"),
            Edit(
                "raft.state.replica", "Replica.become",
                'assert self._saved_as[:3] == (role.epoch, role.leader_id, role.voted), f"{role}, and {self._saved_as} is saved"',
                "",
            ),
        ),
        ci=True,
    ),
    Mutant(
        "R05", "the leader is not written to disk", "persistence", "KAFKA-10527", ("S18", "S01"),
        (Edit("raft.storage.quorum_state", "quorum_state_text", "-1 if leader_id is None else leader_id", "-1"),),
    ),
    Mutant(
        "R05b", "a leader continues in its epoch after a restart", "persistence", "KAFKA-10527",
        ("S05", "ASSERT", "S12", "S04", "S01"),
        (
            Edit(
                "raft.transitions", "first_role",
                "Resigned(epoch, leader_id, replica.config.endpoints, deadline_ms, (), _others(replica))",
                "Candidate(epoch, replica.key, deadline_ms, Tally(replica.voters, replica.key.id))",
            ),
        ),
    ),
    Mutant(
        "R07", "a vote ignores the candidate's log", "votes", "classic", ("S13", "S05"),
        (Edit(
            "raft.state.log_view", "LogView.is_up_to_date",
            "(epoch, end_offset) >= (self.last_epoch, self.end)", "True",
        ),),
        ci=True,
    ),
    Mutant(
        "R08", "a vote compares offsets alone", "votes", "classic", ("S13", "S05"),
        (Edit(
            "raft.state.log_view", "LogView.is_up_to_date",
            "(epoch, end_offset) >= (self.last_epoch, self.end)", "end_offset >= self.end",
        ),),
    ),
    Mutant(
        "R08b", "a vote compares epochs alone", "votes", "classic", ("S13", "S05"),
        (Edit(
            "raft.state.log_view", "LogView.is_up_to_date",
            "(epoch, end_offset) >= (self.last_epoch, self.end)", "epoch >= self.last_epoch",
        ),),
    ),
    Mutant(
        "R08c", "a candidate with an equal log gets no vote", "votes", "classic", ("L01",),
        (Edit(
            "raft.state.log_view", "LogView.is_up_to_date",
            "(epoch, end_offset) >= (self.last_epoch, self.end)",
            "(epoch, end_offset) > (self.last_epoch, self.end)",
        ),),
    ),
    Mutant(
        "R10", "answers to earlier requests are counted", "votes", "classic", ("S01", "S21"),
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
        "R11", "refusals are counted as votes", "votes", "classic", ("S21", "S01"),
        (Edit("raft.state.tally", "Tally.is_won", "len(self.granting)", "len(self._votes)"),),
    ),
    Mutant(
        "R12", "half of the voters suffice to elect a leader", "votes", "classic", ("S21", "S01"),
        (Edit(
            "raft.state.tally", "Tally.is_won",
            "len(self.granting) >= self.majority", "len(self.granting) >= (len(self.ids) + 1) // 2",
        ),),
    ),
    Mutant(
        "R13", "a candidate does not follow the leader of its epoch", "progress", "classic", ("S24", "L01", "L07", "L04"),
        (Edit(
            "raft.discovery", "learn",
            "... and leader_id != replica.key.id and ...",
            '... and type(role).__name__ != "Candidate" and leader_id != replica.key.id and ...',
            names="epoch > role.epoch",
        ),),
    ),
    Mutant(
        "R31", "check-quorum fires on a sole voter", "progress", "KAFKA-16144", ("L04", "L01", "L02", "ASSERT"),
        (Edit(
            "raft.poll", "_leader",
            "needs_others and now_ms >= state.quorum_deadline_ms", "now_ms >= state.quorum_deadline_ms",
        ),),
    ),
    Mutant(
        "R31b", "no check-quorum", "progress", "KAFKA-15489", ("L03",),
        (Edit("raft.poll", "_leader", "needs_others and now_ms >= state.quorum_deadline_ms", "False"),),
    ),
    Mutant(
        "R31c", "observers count for check-quorum", "progress", "KAFKA-15489", ("L03",),
        (Edit("raft.state.leader_state", "LeaderState.record_contact", "if self.voter(key) is None:\n    return", ""),),
    ),
    Mutant(
        "R32", "answers do not prolong the fetch timeout", "progress", "classic", ("L04", "L11"),
        (Edit("raft.state.follower_state", "FollowerState.on_fetched", "self.fetch_deadline_ms = now_ms + timeout_ms", ""),),
    ),
    Mutant(
        "R33", "a follower never gives up its leader", "progress", "classic", ("L01", "L02", "L07"),
        (Edit("raft.poll", "_follower", "now_ms >= state.fetch_deadline_ms", "now_ms < 0"),),
    ),
    Mutant(
        "R35", "a pre-vote is kept as a vote", "votes", "KIP-996", ("S21", "ASSERT"),
        (Edit(
            "raft.vote", "_decide",
            "if asked.pre_vote:\n"
            "    ...\n"
            "else:\n"
            "    ...",
            "if asked.pre_vote and not isinstance(role, Unattached):\n"
            "    ...\n"
            "else:\n"
            "    ...",
            names="role.voted is None",
        ),),
    ),
    Mutant(
        "R35b", "a pre-vote is granted while the leader is alive", "progress", "KIP-996", ("L04",),
        (Edit(
            "raft.vote", "can_grant",
            "isinstance(role, Follower) and role.state.has_fetched",
            "isinstance(role, Follower) and role.leader_id == key.id",
            names="role.voted.matches(key)",
        ),),
    ),
    Mutant(
        "R36", "becomes a candidate without a pre-vote", "progress", "KIP-996", ("S21", "L04"),
        (Edit("raft.poll", "_prospective", "... and tally.is_won and ...", "... and ..."),),
    ),
    Mutant(
        "R37", "election timeouts are not random", "progress", "classic", ("L01",),
        (
            Edit("raft.state.replica", "Replica.election_timeout", "timeout + self.rng.randrange(timeout)", "timeout"),
            Edit("raft.transitions", "_first_timeout", "timeout + replica.rng.randrange(timeout)", "timeout"),
        ),
    ),
    Mutant(
        "X02", "a leader that resigns sends no EndQuorumEpoch and forgets that it led", "votes", "own",
        ("S14", "S15", "ASSERT", "S01", "S02"),
        (Edit(
            "raft.poll", "_poll_resigned",
            "to_unattached(replica, role.epoch + 1, None, now_ms)", "to_prospective(replica, now_ms)",
        ),),
    ),
    Mutant(
        "X03", "a Vote for another voter is accepted", "identity", "KAFKA-17426", ("S20",),
        (Edit(
            "raft.checks", "is_for_this_voter",
            "voter_id < 0 or ReplicaKey(voter_id, directory_id).matches(replica.key)", "True",
        ),),
    ),
    Mutant(
        "X04", "requests of other clusters are served", "identity", "KAFKA-12440", ("S20",),
        (Edit("raft.checks", "is_our_cluster", "cluster_id in {None, replica.config.cluster_id}", "True"),),
    ),
    Mutant(
        "M08", "a voter with an emptied directory keeps voting", "identity", "KAFKA-17426", ("S20", "S02", "S05", "S01"),
        (Edit("raft.interface.voters", "VoterSet.holds", "voter is not None and voter.key.matches(key)", "voter is not None"),),
    ),
    Mutant(
        "X05", "epochs of answers are not learned", "progress", "own", ("L01", "L07", "L02"),
        (Edit(
            "raft.discovery", "take_answer",
            "learn(replica, leader_id, epoch, endpoints, now_ms)\n"
            "return replica.role is not role or is_impatient",
            "return replica.role is not role or is_impatient",
        ),),
    ),
    Mutant(
        "X06", "a new leader sends no BeginQuorumEpoch", "progress", "KIP-595", ("L13", "L01", "L07", "L02"),
        (Edit("raft.poll", "_leader", "send_begin_requests(replica, role, now_ms)", ""),),
    ),
    Mutant(
        "X07", "a second change of the election within a step is not saved", "persistence", "own", ("S03", "S02", "S18"),
        (Edit(
            "raft.state.replica", "Replica._save",
            "self._effects[self._saving] = SaveElection(self._saves, *form)", "pass",
        ),),
    ),
    Mutant(
        "X08", "a node with another voter key is asked again at once", "progress", "own", ("L11",),
        (Edit(
            "raft.discovery", "take_answer",
            'if peer >= 0:\n    replica.note("peer_has_other_key", peer=peer)\nreturn is_impatient',
            'if peer >= 0:\n    replica.note("peer_has_other_key", peer=peer)\nreturn True',
        ),),
    ),
    Mutant(
        "X09", "a wall clock may not go back", "progress", "own", ("ASSERT",),
        (Edit(
            "raft.step", "_on_wall_clock",
            "replica.wall_offset_ms = event.offset_ms",
            'assert event.offset_ms >= replica.wall_offset_ms, "a wall clock that goes back"\n'
            "replica.wall_offset_ms = event.offset_ms",
        ),),
    ),
    Mutant(
        "X10", "a candidate that has lost forgets that it voted for itself", "votes", "own", ("S14", "S15", "S02"),
        (
            Edit("raft.state.replica", "Replica.become", "check_change(old, role)", ""),
            Edit(
                "raft.poll", "_candidate",
                "to_prospective(replica, now_ms)", "to_unattached(replica, role.epoch, None, now_ms)",
                names="return role.election_deadline_ms",
            ),
        ),
    ),
    Mutant(
        "X11", "a leader describes its own log by what is committed", "answers", "KIP-836", ("S26",),
        (Edit(
            "raft.describe", "replica_state",
            "(replica.log.end, now_ms, now_ms)", "(replica.log.committed, now_ms, now_ms)",
        ),),
    ),
    Mutant(
        "X12", "a candidate says that its log is longer than it is", "votes", "own", ("S05", "S06", "S01"),
        (Edit(
            "raft.vote", "_build",
            "Partition(**..., last_offset=replica.log.end, **...)",
            "Partition(**..., last_offset=replica.log.end + 1000, **...)",
        ),),
    ),
    Mutant(
        "X13", "the LeaderChange record names all voters as granting", "votes", "KIP-595", ("S27",),
        (Edit("raft.append", "leader_change", "sorted(state.granting)", "sorted(state.voters)"),),
    ),
    Mutant(
        "X15", "the LeaderChange record has an offset that is one too high", "replication", "own", ("S12",),
        (Edit(
            "raft.append", "start_epoch",
            "build_control_batch(..., base_offset=base_offset, **...)",
            "build_control_batch(..., base_offset=base_offset + 1, **...)",
        ),),
    ),
    Mutant(
        "X14", "a shutdown waits though there is no leadership to hand over", "progress", "KIP-595", ("L16",),
        (Edit(
            "raft.handover", "begin",
            "replica.handover is None and isinstance(replica.role, (Leader, Resigned))",
            "replica.handover is None",
        ),),
    ),
    Mutant(
        "X17", "a leader that shuts down waits for another leader without end", "progress", "own", ("L16",),
        (Edit("raft.handover", "is_over", "... or now_ms >= handover.deadline_ms or ...", "... or ..."),),
    ),
    Mutant(
        "X19", "a leader that shuts down resigns before the voters have its log", "progress", "own", ("L16",),
        (Edit(
            "raft.handover", "may_resign",
            "not state.proposals.waiting and all(progress.end_offset >= end_offset for progress in fetching)",
            "not state.proposals.waiting or all(progress.end_offset >= end_offset for progress in fetching)",
        ),),
    ),
    Mutant(
        "X20", "a leader that shuts down waits without end for a voter that lacks records", "progress", "own", ("L16",),
        (Edit(
            "raft.handover", "may_resign",
            "handover is None or now_ms >= handover.resign_ms", "handover is None",
        ),),
    ),
    Mutant(
        "X21", "a leader that shuts down ends before another one has committed a record", "progress", "own", ("L16",),
        (Edit(
            "raft.handover", "is_over",
            "isinstance(role, Follower) and _has_committed(replica, role.epoch)",
            "isinstance(role, Follower)",
        ),),
    ),
    Mutant(
        "X18", "a voter that gave its vote never looks for the leader again", "progress", "own", ("L15",),
        (Edit("raft.vote", "_give_vote", "now_ms + replica.config.election_quiet_ms", "now_ms + 3_600_000"),),
    ),
    Mutant(
        "X16", "a node that a peer excludes from the quorum continues", "progress", "KafkaRaftClient", ("L16",),
        (Edit("raft.discovery", "note_refusal", "replica.emit(Denied(peer))", 'replica.note("denied", peer=peer)'),),
    ),
    Mutant(
        "X22", "a candidate stands with records that are not on its disk", "persistence", "own", ("T01",),
        (
            Edit("raft.poll", "_prospective", "... and replica.log.is_flushed and ...", "... and ..."),
            Edit("raft.transitions", "to_candidate", "replica.log.is_flushed", "True"),
        ),
    ),
    Mutant(
        "X23", "a voter without a connection may be the first successor", "progress", "own", ("L16",),
        (Edit("raft.state.leader_state", "LeaderState.successors", "(..., other.connection is None, ...)", "(..., ...)"),),
    ),
    Mutant(
        "X24", "an answer that is late undoes the leader's resignation", "progress", "own", ("T01",),
        (Edit("raft.state.follower_state", "FollowerState.on_fetched", "if self.has_resigned:\n    return", ""),),
    ),
    Mutant(
        "X25", "a repeated EndQuorumEpoch begins the wait of a successor again", "progress", "own", ("T01",),
        (Edit(
            "raft.state.follower_state", "FollowerState.on_resigned",
            "min(deadline_ms, self.fetch_deadline_ms) if self.has_resigned else deadline_ms", "deadline_ms",
        ),),
    ),
    Mutant(
        "X26", "a former leader leaves when its second successor stands", "progress", "own", ("L16",),
        (Edit(
            "raft.handover", "stay_ms",
            "config.handover_ms + min(config.handover_ms, config.election_backoff_max_ms // 2)",
            "config.handover_ms",
        ),),
    ),
    Mutant(
        "X27", "a former leader takes a voter that runs again for gone", "progress", "own", ("L16",),
        (Edit("raft.handover", "on_peer_heard", "replica.handover.gone.discard(peer)", "pass"),),
    ),
)  # fmt: skip
