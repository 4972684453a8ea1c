"""Mutants of voter changes (KIP-853): which are made, when they count, when they end, and who may lead."""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

STAGES, ADD, APPEND, LEADER = "raft.change_stages", "raft.add_voter", "raft.append", "raft.leader_state"
REPLICA, VOTERS, UPGRADE, POLL = "raft.replica", "raft.voters", "raft.kraft_upgrade", "raft.poll"
UPDATE, JOIN, COMMIT, VOTE = "raft.update_voter", "raft.auto_join", "raft.commit", "raft.vote"


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
            "    if role.state.change is not None:\n",
            "    if role.state.change is not None and role.state.change.offset == UNKNOWN:\n",
        ),
        Edit(STAGES, "    if last is not None and last[0] < replica.high_watermark:\n", "    if last is not None:\n"),
        ci=True,
    ),
    _row(
        "M02",
        "a leader changes voters before it has committed a record of its epoch",
        "Raft's single-server bug",
        ("S19",),
        Edit(
            STAGES,
            "    if replica.high_watermark is None:\n        return (\n",
            "    if replica.log.end == 0:\n        return (\n",
        ),
        Edit(
            STAGES,
            '    assert replica.high_watermark is not None, "a leader without a high watermark refuses changes before"\n    if last is not None and last[0] < replica.high_watermark:\n',
            "    if last is not None:\n",
        ),
        ci=True,
    ),
    _row(
        "M04",
        "a voter set whose record is truncated counts on",
        "KIP-853",
        ("S30", "ASSERT"),
        Edit(REPLICA, "        self.voter_sets.truncate(self.log.end)\n", ""),
        ci=True,
    ),
    _row(
        "M05",
        "check-quorum counts a leader that is no voter",
        "KAFKA-16531",
        ("L03",),
        Edit(
            LEADER,
            "        needed = len(self.voters) // 2 + 1 - (self.own_id in self.voters)\n",
            "        needed = len(self.voters) // 2\n",
        ),
    ),
    _row(
        "M05b",
        "the high watermark counts a leader that is no voter",
        "KAFKA-16530",
        ("S07", "S09", "S05"),
        Edit(
            COMMIT,
            "    ends = sorted((end_offsets.get(voter_id, UNKNOWN) for voter_id in voters.ids), reverse=True)\n",
            "    ends = sorted(end_offsets.values(), reverse=True)\n",
        ),
        Edit("raft.fetch_request", "    if state.own_id in ends:\n        ends[", "    if True:\n        ends["),
    ),
    _row(
        "M06",
        "a removed leader resigns before its removal is committed",
        "KIP-853",
        ("L06", "S30", "L01"),
        Edit(
            STAGES,
            "last is not None and watermark > last[0] and not",
            "last is not None and watermark >= last[0] and not",
        ),
    ),
    _row(
        "M07",
        "a voter is added before it has caught up",
        "KIP-853",
        ("S19", "L02"),
        Edit(
            ADD,
            "    return seen is not None and seen.caught_up_ms != UNKNOWN and seen.fetched_ms > now_ms - FETCHED_WITHIN_MS\n",
            "    return seen is not None\n",
        ),
    ),
    _row(
        "M09",
        "a removal does not look at the directory id",
        "KAFKA-17426",
        ("S19", "S30"),
        Edit(
            VOTERS,
            "        if voter is None or voter.key != key or len(self.ids) == 1:\n",
            "        if voter is None or len(self.ids) == 1:\n",
        ),
    ),
    _row(
        "M10",
        "a leader leads on after its removal",
        "KAFKA-17608",
        ("L06",),
        Edit(
            POLL,
            " or state.is_removed:\n",
            ":\n",
        ),
        ci=True,
    ),
    _row(
        "M11",
        "an update of a voter loses it",
        "KAFKA-16533",
        ("S19", "S30", "ASSERT"),
        Edit(
            VOTERS,
            "        return VoterSet([*(other for other in self if other.key.id != voter.key.id), voter])\n",
            "        return VoterSet(other for other in self if other.key.id != voter.key.id)\n",
        ),
    ),
    _row(
        "M12",
        "a voter set counts from the next role on, and not from its append",
        "etcd, before joint consensus",
        ("S30", "S07"),
        Edit(
            REPLICA,
            "                self.kraft_versions.add(offset, value)\n        self._voters_may_differ()\n",
            "                self.kraft_versions.add(offset, value)\n",
        ),
        ci=True,
    ),
    _row(
        "M13",
        "a snapshot is loaded without its voters",
        "KIP-853",
        ("S30",),
        Edit(
            REPLICA,
            "        self.voter_sets.restart(snapshot.end_offset - 1, voters)\n",
            "        self.voter_sets.restart(snapshot.end_offset - 1, self.voters)\n",
        ),
    ),
    _row(
        "M14",
        "a change is acknowledged before it is committed",
        "own",
        ("S30",),
        Edit(
            STAGES,
            "change.offset != UNKNOWN and watermark > change.offset:\n",
            "change.offset != UNKNOWN and watermark >= change.offset:\n",
        ),
    ),
    _row(
        "M15",
        "a change is not answered when leadership is lost",
        "own",
        ("L06",),
        Edit(STAGES, "        _answer(replica, state.change, Error.NOT_LEADER_OR_FOLLOWER)\n", ""),
    ),
    _row(
        "M16",
        "a change that takes too long is not answered",
        "own",
        ("L06",),
        Edit(
            STAGES,
            "    if now_ms < change.deadline_ms:\n        return change.deadline_ms\n    change.deadline_ms = NEVER\n",
            "    if now_ms >= 0:\n        return NEVER\n",
        ),
    ),
    _row(
        "M17",
        "a removed leader never stands again, though its removal is not committed",
        "Raft 4.2.2",
        ("L01",),
        Edit(REPLICA, "            if sets[place - 1][1].holds(self.key):\n", "            if False:\n"),
    ),
    _row(
        "M18",
        "kraft.version is raised before all voters have told their directories",
        "own",
        ("S19",),
        Edit(
            UPGRADE,
            "    replica.emit(KraftVersionSupport(role.epoch, DYNAMIC if reported.supports(DYNAMIC) else 0))\n",
            "    replica.emit(KraftVersionSupport(role.epoch, DYNAMIC if reported else 0))\n",
        ),
        Edit(UPGRADE, "        or not state.reported_voters.supports(upgrade.level)\n", ""),
    ),
    _row(
        "M19",
        "a voter that has moved does not tell its leader",
        "own",
        ("L06",),
        Edit(
            UPDATE,
            "    is_needed = not replica.voters.has_current(replica.own_voter()) if replica.kraft_version else not state.has_updated\n",
            "    is_needed = not replica.kraft_version and not state.has_updated\n",
        ),
    ),
    _row(
        "M20",
        "a node that is to join does not ask for it",
        "own",
        ("L06",),
        Edit(
            JOIN,
            "    if not may_join(replica) or state",
            "    if may_join(replica) or state",
        ),
    ),
    _row(
        "M21",
        "a leader that moved does not write its address",
        "own",
        ("S27",),
        Edit(APPEND, "(offset == -1 or not voters.has_current(own)):\n", "offset == -1:\n"),
    ),
    _row(
        "M22",
        "a leader that was elected after it was removed does not resign",
        "own",
        ("L06",),
        Edit(
            STAGES,
            "    if not replica.is_voter and last is not None and watermark > last[0] and not role.state.is_removed:\n",
            "    if change is not None and not replica.is_voter and last is not None and watermark > last[0] and not role.state.is_removed:\n",
        ),
    ),
    _row(
        "M23",
        "parked Fetches are answered without records before a voter set is appended",
        "own",
        ("S25",),
        Edit(
            APPEND,
            "    if proposals:\n        answer_parked(replica, role, now_ms)\n",
            "    answer_parked(replica, role, now_ms)\n",
        ),
    ),
    _row(
        "M24",
        "an observer whose leader is silent refuses pre-votes",
        "own",
        ("L01",),
        Edit(
            VOTE,
            "        and now_ms >= role.state.fetch_deadline_ms\n",
            "        and now_ms < role.state.fetch_deadline_ms - 1_000_000\n",
        ),
    ),
    _row(
        "M25",
        "a snapshot that ends where an uncommitted voter set begins forgets the set before",
        "Kafka's TreeMapLogHistory",
        ("T01",),
        Edit(VOTERS, "self.entries[1][0] < end_offset:\n", "self.entries[1][0] <= end_offset:\n"),
    ),
    _row(
        "M26",
        "a confirmation of leadership is not looked at again when the voters change",
        "own",
        ("L05",),
        Edit(APPEND, "    emit_confirmed(replica, role)\n", ""),
    ),
    _row(
        "M27",
        "an observer that joins by itself never leaves a silent leader",
        "own",
        ("L15",),
        Edit(
            JOIN,
            " or state.has_asked or",
            " or",
        ),
    ),
    _row(
        "M28",
        "a leader that is being removed stops without handing over",
        "own",
        ("L16",),
        Edit(
            "raft.handover",
            "    if handover is None or replica.voters",
            "    if handover is None or not replica.is_voter or replica.voters",
        ),
    ),
)
