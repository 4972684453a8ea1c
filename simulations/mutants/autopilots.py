"""Mutants of the autopilot (`raft/autopilot`): whom it removes and adds, when, and how many at a time."""

from __future__ import annotations

from simulations.mutants.row import Edit, Mutant

LEAVE = "raft.autopilot.leave_rules"
RULES, AUTOPILOT, VIEW = "raft.autopilot.rules", "raft.autopilot.autopilot", "raft.autopilot.view"


def _row(number: str, name: str, origin: str, *edits: Edit, expected: tuple[str, ...] = ("S31",)) -> Mutant:
    return Mutant(number, name, "autopilot", origin, expected, edits, seeds=1000, level="members")


MUTANTS = (
    _row(
        "P01",
        "a voter is removed though no majority is healthy among those that stay",
        "KubeBlocks #3219",
        Edit(RULES, "may_remove", "len(staying) >= _majority(len(voters) - 1)", "len(staying) >= 1"),
        Edit(RULES, "may_remove", "len(healthy) >= _majority(len(voters))", "len(healthy) >= 1"),
    ),
    _row(
        "P02",
        "a voter that only fetches counts as healthy, whatever it lacks",
        "own",
        Edit(
            VIEW,
            "is_level",
            "has_caught_up and is_live(member, rules, now_ms)",
            "is_live(member, rules, now_ms)",
        ),
    ),
    _row(
        "P03",
        "a voter is dead as soon as it is silent",
        "koperator #337",
        Edit(
            AUTOPILOT,
            "Autopilot._is_dead",
            "now_ms - silent_since_ms >= max(dead_after_ms, self._rules.live_ms)",
            "now_ms - silent_since_ms >= self._rules.live_ms",
        ),
    ),
    _row(
        "P04",
        "silence counts from before the leader began",
        "own",
        Edit(AUTOPILOT, "Autopilot._state", "max(member.fetched_ms, self._begin_ms)", "member.fetched_ms"),
    ),
    _row(
        "P05",
        "an observer becomes a voter at once",
        "KIP-1186's automatic join",
        Edit(
            AUTOPILOT,
            "Autopilot._candidate",
            "node.since_ms + self._rules.stabilization_ms * times",
            "node.since_ms",
        ),
    ),
    _row(
        "P06",
        "a second step begins while the first is under way",
        "own",
        Edit(AUTOPILOT, "Autopilot._obstacle", "self._pending is not None", "False"),
        Edit(AUTOPILOT, "Autopilot.begin", "assert self._pending is None, ...", ""),
        Edit(AUTOPILOT, "Autopilot._obstacle", "return view.refusal", 'return ""'),
    ),
    _row(
        "P07",
        "a node that was removed as dead is added again as any other",
        "own",
        Edit(AUTOPILOT, "Autopilot._candidate", "1 << min(self._deaths.get(node.key.id, 0), DOUBLINGS_MAX)", "1"),
    ),
    _row(
        "P08",
        "an even number of voters is good enough",
        "own",
        Edit(RULES, "_grow", "goal -= 1 - goal % 2", ""),
    ),
    _row(
        "P09",
        "a zone has as many voters as there are nodes",
        "own",
        Edit(RULES, "_of_free_zones", "zone is None or zone not in taken", "True"),
    ),
    _row(
        "P10",
        "a node that is back with another disk does not get its place",
        "Stackable's sidecar",
        Edit(RULES, "_replace", "candidate.key.id != voter.key.id", "True"),
        expected=("L06",),
    ),
    _row(
        "P11",
        "a voter of three leaves when it is stopped",
        "KubeBlocks #3219",
        Edit(LEAVE, "keep_reason", "count > STAYING_MIN", "count > 1"),
    ),
    _row(
        "P12",
        "a voter leaves whatever the state of the others is",
        "koperator #337",
        Edit(LEAVE, "wait_reason", "may_remove(voters, own)", "True"),
    ),
    _row(
        "P13",
        "a voter that was removed is added again at once, as it was level before",
        "own",
        Edit(
            AUTOPILOT,
            "Autopilot._state",
            "(seen.health, seen.is_voter) == (health, member.is_voter)",
            "seen.health is health",
        ),
    ),
    _row(
        "P14",
        "a leader counts itself as healthy, whatever its disk lacks",
        "seed 1000697",
        Edit(AUTOPILOT, "Autopilot.look", "member.key == view.leader", "False"),
    ),
    _row(
        "P15",
        "a voter that left before the look after its addition is added again at once",
        "the life of a quorum",
        Edit(AUTOPILOT, "Autopilot.end", "step.kind is Kind.ADD", "False"),
    ),
    _row(
        "P16",
        "a directory becomes a voter though its node fetches with another one by now",
        "seed 3001849",
        Edit(AUTOPILOT, "Autopilot._candidate", "node.key.id in twice", "False"),
    ),
)
