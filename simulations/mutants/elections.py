"""Mutants of elections: votes, epochs, roles, and what is saved of them before a message leaves."""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

MUTANTS = (
    Mutant(
        "R01", "a second vote is granted in an epoch", "votes", "classic", ("S02", "S01"),
        (Edit("raft.vote", "        return role.voted.matches(key)  #", "        return is_up_to_date  #"),),
        ci=True,
    ),
    Mutant(
        "R02", "a vote is answered before it is on disk", "persistence", "Raft 5.1", ("S02", "S03"),
        (Edit("raft.replica", "        if self._saved < self._saves:\n", "        if self._saved < self._saves - 1:\n"),),
        ci=True,
    ),
    Mutant(
        "R02b", "a vote is never written to disk", "persistence", "Raft 5.1", ("S02", "S18"),
        (Edit("raft.storage.quorum_state", "    vote = -1 if voted is None else voted.id", "    vote = -1"),),
    ),
    Mutant(
        "R04", "an epoch learned from others is not saved", "persistence", "classic", ("S03",),
        (Edit("raft.replica", "        if form == self._saved_as:", "        if form[1:] == self._saved_as[1:]:"),),
        ci=True,
    ),
    Mutant(
        "R05", "the leader is not written to disk", "persistence", "KAFKA-10527", ("S18", "S01"),
        (Edit(
            "raft.storage.quorum_state", "    leader = -1 if leader_id is None else leader_id", "    leader = -1",
        ),),
    ),
    Mutant(
        "R05b", "a leader continues in its epoch after a restart", "persistence", "KAFKA-10527",
        ("S05", "ASSERT", "S12", "S04", "S01"),
        (Edit(
            "raft.transitions",
            "        return Resigned(epoch, leader_id, replica.config.endpoints, deadline_ms, (), _others(replica))",
            "        return Candidate(epoch, replica.key, deadline_ms, Tally(replica.voters, replica.key.id))",
        ),),
    ),
    Mutant(
        "R07", "a vote ignores the candidate's log", "votes", "classic", ("S13", "S05"),
        (Edit(
            "raft.log_view", "        return (epoch, end_offset) >= (self.last_epoch, self.end)", "        return True",
        ),),
        ci=True,
    ),
    Mutant(
        "R08", "a vote compares offsets alone", "votes", "classic", ("S13", "S05"),
        (Edit(
            "raft.log_view", "        return (epoch, end_offset) >= (self.last_epoch, self.end)",
            "        return end_offset >= self.end",
        ),),
    ),
    Mutant(
        "R08b", "a vote compares epochs alone", "votes", "classic", ("S13", "S05"),
        (Edit(
            "raft.log_view", "        return (epoch, end_offset) >= (self.last_epoch, self.end)",
            "        return epoch >= self.last_epoch",
        ),),
    ),
    Mutant(
        "R08c", "a candidate with an equal log gets no vote", "votes", "classic", ("L01",),
        (Edit(
            "raft.log_view", "        return (epoch, end_offset) >= (self.last_epoch, self.end)",
            "        return (epoch, end_offset) > (self.last_epoch, self.end)",
        ),),
    ),
    Mutant(
        "R10", "answers to earlier requests are counted", "votes", "classic", ("S01", "S21"),
        (
            Edit(
                "raft.peers", "entry.number != number or now_ms >= entry.until_ms",
                "entry.number == 0 or now_ms >= entry.until_ms",
            ),
            Edit(
                "raft.discovery", "    if epoch < role.epoch or error == Error.UNKNOWN_LEADER_EPOCH:",
                "    if error == Error.UNKNOWN_LEADER_EPOCH:",
            ),
            Edit("raft.discovery", "        epoch > role.epoch\n        or error in", "        error in"),
        ),
    ),
    Mutant(
        "R11", "refusals are counted as votes", "votes", "classic", ("S21", "S01"),
        (Edit(
            "raft.tally", "        return len(self.granting) >= self.majority", "        return len(self._votes) >= self.majority",
        ),),
    ),
    Mutant(
        "R12", "half of the voters suffice to elect a leader", "votes", "classic", ("S21", "S01"),
        (Edit(
            "raft.tally", "        return len(self.granting) >= self.majority",
            "        return len(self.granting) >= (len(self.ids) + 1) // 2",
        ),),
    ),
    Mutant(
        "R13", "a candidate does not follow the leader of its epoch", "progress", "classic", ("S24", "L01", "L07", "L04"),
        (Edit(
            "raft.discovery", "        leader_id is not None\n        and leader_id != replica.key.id\n",
            "        leader_id is not None\n        and type(role).__name__ != 'Candidate'\n        and leader_id != replica.key.id\n",
        ),),
    ),
    Mutant(
        "R31", "check-quorum fires on a sole voter", "progress", "KAFKA-16144", ("L04", "L01", "L02", "ASSERT"),
        (Edit(
            "raft.poll", "    is_cut_off = needs_others and now_ms", "    is_cut_off = now_ms",
        ),),
    ),
    Mutant(
        "R31b", "no check-quorum", "progress", "KAFKA-15489", ("L03",),
        (Edit(
            "raft.poll", "    is_cut_off = needs_others and now_ms >= state.quorum_deadline_ms",
            "    is_cut_off = False",
        ),),
    ),
    Mutant(
        "R31c", "observers count for check-quorum", "progress", "KAFKA-15489", ("L03",),
        (Edit("raft.leader_state", "        if self.voter(key) is None:\n            return\n", ""),),
    ),
    Mutant(
        "R32", "answers do not prolong the fetch timeout", "progress", "classic", ("L04", "L11"),
        (Edit("raft.follower_state", "        self.fetch_deadline_ms = now_ms + timeout_ms\n        self.has", "        self.has"),),
    ),
    Mutant(
        "R33", "a follower never gives up its leader", "progress", "classic", ("L01", "L02", "L07"),
        (Edit("raft.poll", "    if may_stand and now_ms >= state.fetch_deadline_ms:", "    if may_stand and now_ms < 0:"),),
    ),
    Mutant(
        "R35", "a pre-vote is kept as a vote", "votes", "KIP-996", ("S21", "ASSERT"),
        (Edit(
            "raft.vote", "    if asked.pre_vote:\n        if isinstance(role, Prospective)",
            "    if asked.pre_vote and not isinstance(role, Unattached):\n        if isinstance(role, Prospective)",
        ),),
    ),
    Mutant(
        "R35b", "a pre-vote is granted while the leader is alive", "progress", "KIP-996", ("L04",),
        (Edit(
            "raft.vote", "(isinstance(role, Follower) and role.state.has_fetched):",
            "(isinstance(role, Follower) and role.leader_id == key.id):",
        ),),
    ),
    Mutant(
        "R36", "becomes a candidate without a pre-vote", "progress", "KIP-996", ("S21", "L04"),
        (Edit("raft.poll", "    if tally.is_won and now_ms >= held", "    if now_ms >= held"),),
    ),
    Mutant(
        "R37", "election timeouts are not random", "progress", "classic", ("L01",),
        (
            Edit("raft.replica", "        return timeout + self.rng.randrange(timeout)", "        return timeout"),
            Edit("raft.transitions", "    return timeout + replica.rng.randrange(timeout)", "    return timeout"),
        ),
    ),
    Mutant(
        "X02", "a leader that resigns sends no EndQuorumEpoch and forgets that it led", "votes", "own",
        ("S14", "S15", "ASSERT", "S01", "S02"),
        (Edit(
            "raft.poll", "        to_unattached(replica, role.epoch + 1, None, now_ms)\n",
            "        to_prospective(replica, now_ms)\n",
        ),),
    ),
    Mutant(
        "X03", "a Vote for another voter is accepted", "identity", "KAFKA-17426", ("S20",),
        (Edit(
            "raft.checks", "    return voter_id < 0 or ReplicaKey(voter_id, directory_id).matches(replica.key)",
            "    return True",
        ),),
    ),
    Mutant(
        "X04", "requests of other clusters are served", "identity", "KAFKA-12440", ("S20",),
        (Edit("raft.checks", "    if cluster_id in {None, replica.config.cluster_id}:", "    if True:"),),
    ),
    Mutant(
        "M08", "a voter with an emptied directory keeps voting", "identity", "KAFKA-17426", ("S20", "S02", "S05", "S01"),
        (Edit(
            "raft.voters", "        return voter is not None and voter.key.matches(key)", "        return voter is not None",
        ),),
    ),
    Mutant(
        "X05", "epochs of answers are not learned", "progress", "own", ("L01", "L07", "L02"),
        (Edit(
            "raft.discovery",
            "        learn(replica, leader_id, epoch, endpoints, now_ms)\n        return replica.role is not role",
            "        return replica.role is not role",
        ),),
    ),
    Mutant(
        "X06", "a new leader sends no BeginQuorumEpoch", "progress", "KIP-595", ("L13", "L01", "L07", "L02"),
        (Edit("raft.poll", "    send_begin_requests(replica, role, now_ms)\n", ""),),
    ),
    Mutant(
        "X07", "a second change of the election within a step is not saved", "persistence", "own", ("S03", "S02", "S18"),
        (Edit(
            "raft.replica", "            self._effects[self._saving] = SaveElection(self._saves, *form)", "            pass",
        ),),
    ),
    Mutant(
        "X08", "a node with another voter key is asked again at once", "progress", "own", ("L11",),
        (Edit("raft.discovery", "        return is_impatient  # it would answer the same again", "        return True  # it would answer the same again"),),
    ),
    Mutant(
        "X09", "a wall clock may not go back", "progress", "own", ("ASSERT",),
        (Edit("raft.step", "    replica.wall_offset_ms = event.offset_ms\n", "    assert event.offset_ms >= replica.wall_offset_ms, 'a wall clock that goes back'\n    replica.wall_offset_ms = event.offset_ms\n"),),
    ),
    Mutant(
        "X10", "a candidate that has lost forgets that it voted for itself", "votes", "own", ("S14", "S15", "S02"),
        (
            Edit("raft.replica", "        check_change(old, role)\n", ""),
            Edit(
                "raft.poll", "    elif now_ms >= role.election_deadline_ms:\n        to_prospective(replica, now_ms)\n    else:\n        # A candidate",
                "    elif now_ms >= role.election_deadline_ms:\n        to_unattached(replica, role.epoch, None, now_ms)\n    else:\n        # A candidate",
            ),
        ),
    ),
    Mutant(
        "X11", "a leader describes its own log by what is committed", "answers", "KIP-836", ("S26",),
        (Edit(
            "raft.describe", "        end_offset, fetched_ms, caught_up_ms = replica.log.end, now_ms, now_ms",
            "        end_offset, fetched_ms, caught_up_ms = replica.log.committed, now_ms, now_ms",
        ),),
    ),
    Mutant(
        "X12", "a candidate says that its log is longer than it is", "votes", "own", ("S05", "S06", "S01"),
        (Edit("raft.vote", "        last_offset=replica.log.end,", "        last_offset=replica.log.end + 1000,"),),
    ),
    Mutant(
        "X13", "the LeaderChange record names all voters as granting", "votes", "KIP-595", ("S27",),
        (Edit(
            "raft.append", "for voter_id in sorted(state.granting)),", "for voter_id in sorted(state.voters)),",
        ),),
    ),
    Mutant(
        "X15", "the LeaderChange record has an offset that is one too high", "replication", "own", ("S12",),
        (Edit("raft.append", "records, base_offset=base_offset, leader_epoch=epoch,", "records, base_offset=base_offset + 1, leader_epoch=epoch,"),),
    ),
    Mutant(
        "X14", "a shutdown waits though there is no leadership to hand over", "progress", "KIP-595", ("L16",),
        (Edit(
            "raft.handover", "    if replica.handover is None and isinstance(replica.role, (Leader, Resigned)):",
            "    if replica.handover is None:",
        ),),
    ),
    Mutant(
        "X17", "a leader that shuts down waits for another leader without end", "progress", "own", ("L16",),
        (Edit("raft.handover", " or now_ms >= handover.deadline_ms or ", " or "),),
    ),
    Mutant(
        "X19", "a leader that shuts down resigns before the voters have its log", "progress", "own", ("L16",),
        (Edit("raft.handover", "    return not state.proposals.waiting and all(", "    return not state.proposals.waiting or all("),),
    ),
    Mutant(
        "X20", "a leader that shuts down waits without end for a voter that lacks records", "progress", "own", ("L16",),
        (Edit("raft.handover", "    if handover is None or now_ms >= handover.resign_ms:", "    if handover is None:"),),
    ),
    Mutant(
        "X21", "a leader that shuts down ends before another one has committed a record", "progress", "own", ("L16",),
        (Edit(
            "raft.handover", "isinstance(role, Follower) and _has_committed(replica, role.epoch)",
            "isinstance(role, Follower)",
        ),),
    ),
    Mutant(
        "X18", "a voter that gave its vote never looks for the leader again", "progress", "own", ("L15",),
        (Edit(
            "raft.vote", "        replica.peers.quiet_until_ms = now_ms + replica.config.election_quiet_ms",
            "        replica.peers.quiet_until_ms = now_ms + 3600_000",
        ),),
    ),
    Mutant(
        "X16", "a node that a peer excludes from the quorum continues", "progress", "KafkaRaftClient", ("L16",),
        (Edit("raft.discovery", "        replica.emit(Denied(peer))", "        replica.note(\"denied\", peer=peer)"),),
    ),
    Mutant(
        "X22", "a candidate stands with records that are not on its disk", "persistence", "own", ("T01",),
        (
            Edit("raft.poll", "now_ms >= held_until_ms and replica.log.is_flushed:", "now_ms >= held_until_ms:"),
            Edit("raft.transitions", "    assert replica.log.is_flushed, ", "    assert True, "),
        ),
    ),
    Mutant(
        "X23", "a voter without a connection may be the first successor", "progress", "own", ("L16",),
        (Edit("raft.leader_state", "(-other.end_offset, other.connection is None, other.since_ms,", "(-other.end_offset, other.since_ms,"),),
    ),
    Mutant(
        "X24", "an answer that is late undoes the leader's resignation", "progress", "own", ("T01",),
        (Edit("raft.follower_state", "        if self.has_resigned:\n            return\n", ""),),
    ),
    Mutant(
        "X25", "a repeated EndQuorumEpoch begins the wait of a successor again", "progress", "own", ("T01",),
        (Edit("raft.follower_state", " = min(deadline_ms, self.fetch_deadline_ms) if self.has_resigned else deadline_ms", " = deadline_ms"),),
    ),
    Mutant(
        "X26", "a former leader leaves when its second successor stands", "progress", "own", ("L16",),
        (Edit("raft.handover", "    return config.handover_ms + min(config.handover_ms, config.election_backoff_max_ms // 2)", "    return config.handover_ms"),),
    ),
    Mutant(
        "X27", "a former leader takes a voter that runs again for gone", "progress", "own", ("L16",),
        (Edit("raft.handover", "        replica.handover.gone.discard(peer)", "        pass"),),
    ),
)  # fmt: skip
