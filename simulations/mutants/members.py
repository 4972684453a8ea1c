"""Mutants of voter changes (KIP-853): which are made, when they count, when they end, and who may lead."""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

STAGES, ADD, APPEND, LEADER = "raft.change_stages", "raft.add_voter", "raft.append", "raft.state.leader_state"
REPLICA, VOTERS, UPGRADE, POLL = "raft.state.replica", "raft.interface.voters", "raft.kraft_upgrade", "raft.poll"
UPDATE, JOIN, COMMIT, VOTE = "raft.update_voter", "raft.auto_join", "raft.state.commit", "raft.vote"


def _row(
    number: str, name: str, origin: str, expected: tuple[str, ...], *edits: Edit, ci: bool = False, seeds: int = 200
) -> Mutant:
    return Mutant(number, name, "voters", origin, expected, edits, ci=ci, seeds=seeds, level="members")


MUTANTS = (
    _row(
        "M01",
        "a second change begins before the first is committed",
        "redpanda #17675",
        ("S19", "S30"),
        Edit(
            STAGES,
            "refusal_before_change",
            "role.state.change is not None",
            "role.state.change is not None and role.state.change.offset == UNKNOWN",
        ),
        Edit(
            STAGES,
            "uncommitted_voters",
            "last is not None and last[0] < replica.high_watermark",
            "last is not None",
        ),
        ci=True,
    ),
    _row(
        "M02",
        "a leader changes voters before it has committed a record of its epoch",
        "Raft's single-server bug",
        ("S19",),
        Edit(STAGES, "refusal_before_change", "replica.high_watermark is None", "replica.log.end == 0"),
        Edit(STAGES, "uncommitted_voters", "assert replica.high_watermark is not None, ...", ""),
        Edit(
            STAGES,
            "uncommitted_voters",
            "last is not None and last[0] < replica.high_watermark",
            "last is not None",
        ),
        ci=True,
    ),
    _row(
        "M04",
        "a voter set whose record is truncated counts on",
        "KIP-853",
        ("S30", "ASSERT"),
        Edit(REPLICA, "Replica._truncate_control", "self.voter_sets.truncate(self.log.end)", ""),
        ci=True,
    ),
    _row(
        "M05",
        "check-quorum counts a leader that is no voter",
        "KAFKA-16531",
        ("L03",),
        Edit(
            LEADER,
            "LeaderState.record_contact",
            "len(self.voters) // 2 + 1 - (self.own_id in self.voters)",
            "len(self.voters) // 2",
        ),
    ),
    _row(
        "M05b",
        "the high watermark counts a leader that is no voter",
        "KAFKA-16530",
        ("S07", "S09", "S05"),
        Edit(
            COMMIT,
            "high_watermark",
            "(end_offsets.get(voter_id, UNKNOWN) for voter_id in voters.ids)",
            "end_offsets.values()",
        ),
        Edit("raft.fetch_request", "update_high_watermark", "state.own_id in ends", "True"),
    ),
    _row(
        "M06",
        "a removed leader resigns before its removal is committed",
        "KIP-853",
        ("L06", "S30", "L01"),
        Edit(STAGES, "on_high_watermark", "watermark > last[0]", "watermark >= last[0]"),
    ),
    _row(
        "M07",
        "a voter is added before it has caught up",
        "KIP-853",
        ("S19", "L02"),
        Edit(
            ADD,
            "is_caught_up",
            "seen is not None and seen.caught_up_ms != UNKNOWN and seen.fetched_ms > now_ms - FETCHED_WITHIN_MS",
            "seen is not None",
        ),
    ),
    _row(
        "M09",
        "a removal does not look at the directory id",
        "KAFKA-17426",
        ("S19", "S30"),
        Edit(VOTERS, "VoterSet.without", "... or voter.key != key or ...", "... or ..."),
    ),
    _row(
        "M10",
        "a leader leads on after its removal",
        "KAFKA-17608",
        ("L06",),
        Edit(POLL, "_leader", "... or state.is_removed or ...", "... or ..."),
        ci=True,
    ),
    _row(
        "M11",
        "an update of a voter loses it",
        "KAFKA-16533",
        ("S19", "S30", "ASSERT"),
        Edit(
            VOTERS,
            "VoterSet.replace",
            "[*(other for other in self if other.key.id != voter.key.id), voter]",
            "(other for other in self if other.key.id != voter.key.id)",
        ),
    ),
    _row(
        "M12",
        "a voter set counts from the next role on, and not from its append",
        "etcd, before joint consensus",
        ("S30", "S07"),
        Edit(REPLICA, "Replica.take_control", "self._voters_may_differ()", ""),
        ci=True,
    ),
    _row(
        "M13",
        "a snapshot is loaded without its voters",
        "KIP-853",
        ("S30",),
        Edit(
            REPLICA,
            "Replica.reset_log",
            "self.voter_sets.restart(snapshot.end_offset - 1, voters)",
            "self.voter_sets.restart(snapshot.end_offset - 1, self.voters)",
        ),
    ),
    _row(
        "M14",
        "a change is acknowledged before it is committed",
        "own",
        ("S30",),
        Edit(STAGES, "on_high_watermark", "watermark > change.offset", "watermark >= change.offset"),
    ),
    _row(
        "M15",
        "a change is not answered when leadership is lost",
        "own",
        ("L06",),
        Edit(STAGES, "fail_change", "_answer(replica, state.change, Error.NOT_LEADER_OR_FOLLOWER)", ""),
    ),
    _row(
        "M16",
        "a change that takes too long is not answered",
        "own",
        ("L06",),
        Edit(
            STAGES,
            "expire",
            "if now_ms < change.deadline_ms:\n    return change.deadline_ms\nchange.deadline_ms = NEVER",
            "if now_ms >= 0:\n    return NEVER",
        ),
    ),
    _row(
        "M17",
        "a removed leader never stands again, though its removal is not committed",
        "Raft 4.2.2",
        ("L01",),
        Edit(REPLICA, "Replica.may_stand", "sets[place - 1][1].holds(self.key)", "False"),
    ),
    _row(
        "M18",
        "kraft.version is raised before all voters have told their directories",
        "own",
        ("S19",),
        Edit(UPGRADE, "_report_support", "reported.supports(DYNAMIC)", "reported"),
        Edit(
            UPGRADE,
            "on_upgrade",
            "... or not state.reported_voters.supports(upgrade.level) or ...",
            "... or ...",
        ),
    ),
    _row(
        "M19",
        "a voter that has moved does not tell its leader",
        "own",
        ("L06",),
        Edit(
            UPDATE,
            "send_if_due",
            "not replica.voters.has_current(replica.own_voter()) if replica.kraft_version else not state.has_updated",
            "not replica.kraft_version and not state.has_updated",
        ),
    ),
    _row(
        "M30",
        "a leader takes a voter's new address without an answer from there",
        "KAFKA-20661",
        ("T01",),
        Edit(UPDATE, "on_request", "replica.config.asks_new_endpoints and voter.key.id != replica.key.id", "False"),
    ),
    _row(
        "M20",
        "a node that is to join does not ask for it",
        "own",
        ("L06",),
        Edit(JOIN, "send_if_due", "not may_join(replica)", "may_join(replica)"),
    ),
    _row(
        "M21",
        "a leader that moved does not write its address",
        "own",
        ("S27",),
        Edit(APPEND, "start_epoch", "offset == -1 or not voters.has_current(own)", "offset == -1"),
    ),
    _row(
        "M22",
        "a leader that was elected after it was removed does not resign",
        "own",
        ("L06",),
        Edit(
            STAGES,
            "on_high_watermark",
            "... and not replica.is_voter and ...",
            "... and change is not None and not replica.is_voter and ...",
            names="change.offset != UNKNOWN",
        ),
    ),
    _row(
        "M23",
        "parked Fetches are answered without records before a voter set is appended",
        "own",
        ("S25",),
        Edit(
            APPEND,
            "drain",
            "if proposals:\n    answer_parked(replica, role, now_ms)",
            "answer_parked(replica, role, now_ms)",
        ),
    ),
    _row(
        "M24",
        "an observer whose leader is silent refuses pre-votes",
        "own",
        ("L01",),
        Edit(
            VOTE,
            "_has_lost_leader",
            "now_ms >= role.state.fetch_deadline_ms",
            "now_ms < role.state.fetch_deadline_ms - 1_000_000",
        ),
    ),
    _row(
        "M25",
        "a snapshot that ends where an uncommitted voter set begins forgets the set before",
        "Kafka's TreeMapLogHistory",
        ("T01",),
        Edit(
            VOTERS,
            "History.forget_before",
            "self.entries[1][0] < end_offset",
            "self.entries[1][0] <= end_offset",
        ),
    ),
    _row(
        "M26",
        "a confirmation of leadership is not looked at again when the voters change",
        "own",
        ("L05",),
        Edit(APPEND, "append_control", "emit_confirmed(replica, role)", ""),
    ),
    _row(
        "M27",
        "an observer that joins by itself never leaves a silent leader",
        "own",
        ("L15",),
        Edit(JOIN, "send_if_due", "... or state.has_asked or ...", "... or ..."),
    ),
    _row(
        "M28",
        "a leader that is being removed stops without handing over",
        "own",
        ("L16",),
        Edit(
            "raft.handover",
            "is_over",
            "handover is None or replica.is_only_voter",
            "handover is None or not replica.is_voter or replica.is_only_voter",
        ),
    ),
    _row(
        "M31",
        "a node at another address grants its own vote in place of the voter's that was named",
        "own",
        ("S20", "S21", "S01", "S02"),
        Edit(
            VOTE,
            "on_request",
            "not is_for_this_voter(replica, request.voter_id, asked.voter_directory_id)",
            "False",
        ),
    ),
    _row(
        "M32",
        "voters whose names have all changed are not searched for",
        "KIP-1347",
        ("L01",),
        Edit("raft.voter_search", "search", "not replica.addresses.places or tally.is_won", "True"),
    ),
)
