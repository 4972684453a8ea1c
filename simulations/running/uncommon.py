"""Plans for uncommon events: each theme keeps nodes for long in a state that few worlds reach, under all kinds of
faults.

They are not seeds of the swarm, and draw from streams of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.faults.table import make_isolation, often
from simulations.plans.plan import Fault, Load, Plan, RecoveryPlan, to_json
from simulations.running.tasks import Task
from simulations.world.streams import between, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

CHAOS_MS = 12_000
PLANS_EACH = 5
# The rarest event needs twice as many plans.
PLANS_OF = {"held-up": 10}

QUICK = {
    "election_timeout_ms": 200, "fetch_timeout_ms": 400, "request_timeout_ms": 400, "fetch_wait_max_ms": 100,
    "election_backoff_max_ms": 200, "first_election_timeout_ms": 30,
}  # fmt: skip
SNAPSHOTS = {
    "fetch_snapshot_bytes_max": 100, "clean_interval_ms": 100, "retention_bytes_max": 500, "fetch_bytes_max": 400,
}  # fmt: skip


def _confuse(rng: Random, plan: Plan) -> None:
    """Every second answer is wrong, while leaders change."""
    plan.faults.append(Fault("odd_answers", {"whom": 0, "of_100": 40, "for_ms": CHAOS_MS}))
    plan.faults += _often(rng, 250, lambda: Fault("resign", {"whom": "leader"}))
    plan.faults += _often(rng, 1500, lambda: make_isolation(rng, "leader", 200, 900))
    plan.faults += _often(rng, 1500, lambda: Fault("kill", {"whom": "follower", "down_ms": 600}))


def _leaderless(rng: Random, plan: Plan) -> None:
    """There is no majority for most of the time, and rogue clients send requests to nodes in every role."""
    plan.load.rogue_ms = 3
    plan.releases = {2: "3.9"} if rng.random() < 0.5 else {}
    plan.faults += _often(rng, 1_200, lambda: Fault("split", {"groups": [[1], [2], [3]], "for_ms": 900}))
    plan.faults += _often(rng, 2_500, lambda: Fault("resign", {"whom": "leader"}))


def _late(rng: Random, plan: Plan) -> None:
    """Answers, among them parts of snapshots, arrive after the requester changed its role."""
    plan.late_answers = True
    plan.latency = [500, 20_000, 0.05, 600_000]
    plan.releases = {2: "3.9"} if rng.random() < 0.5 else {}
    plan.faults += _often(rng, 300, lambda: Fault("resign", {"whom": "leader"}))
    plan.faults += _often(rng, 1_500, lambda: make_isolation(rng, "leader", 100, 500))
    plan.faults += _often(rng, 800, lambda: make_isolation(rng, "follower", 300, 900))
    plan.faults += _often(rng, 1_200, lambda: Fault("wipe", {"whom": "follower", "down_ms": 20}))
    plan.faults += _often(rng, 100, lambda: Fault("hold", _draw_hold(rng)))


def _hold_up(rng: Random, plan: Plan) -> None:
    """A part of a snapshot arrives after the requester has become leader and resigned."""
    plan.late_answers = True
    plan.config["request_timeout_ms"] = 3_000
    plan.config |= SNAPSHOTS
    plan.releases = {2: "3.9"}
    plan.faults += _often(rng, 200, lambda: Fault("resign", {"whom": "leader"}))
    plan.faults += _often(rng, 900, lambda: Fault("wipe", {"whom": "follower", "down_ms": 20}))
    every_ms = 900 if rng.random() < 0.5 else 150
    plan.faults += _often(rng, every_ms, lambda: Fault("hold", {
        "name": "FetchSnapshotAnswer", "sender": 0, "for_ms": between(rng, 200, 2_500),
    }))  # fmt: skip


def _depose_candidate(rng: Random, plan: Plan) -> None:
    """A node without pre-votes is cut off from its leader alone, and becomes candidate. A node that granted it a vote
    whose answer is lost asks that leader, which knows nothing of the election, for a pre-vote of a later epoch.
    """
    plan.voters, plan.releases = 3, {2: "3.9"}
    plan.recovery = RecoveryPlan(plan.voter_ids)
    plan.load = Load(every_ms=0)  # so that the candidate's log is as up to date as its leader's
    plan.faults += _often(rng, 3_000, lambda: Fault("resign", {"whom": "leader"}))
    plan.faults += _often(rng, 1_800, lambda: Fault("part", {
        "whom": 2, "other": "leader", "direction": "both", "for_ms": between(rng, 700, 1_200),
    }))  # fmt: skip
    for voter in (1, 3):
        plan.faults.append(Fault("drop", {
            "name": "VoteAnswer", "sender": voter, "for_ms": CHAOS_MS, "share": 0.6, "number": voter,
        }, at_ms=800))  # fmt: skip


def _split(rng: Random, plan: Plan) -> None:
    """Several candidates at once on slow links, and a winner whose requests reach the wrong node."""
    plan.voters = 3
    plan.recovery = RecoveryPlan(plan.voter_ids)
    plan.latency = [20_000, 5_000, 0.0, 0]
    plan.releases = {2: "3.9"}
    plan.faults += _often(rng, 700, lambda: Fault("everybody", {"how": "kill", "down_ms": [10, 10, 10]}))
    for whom, other, third in ((1, 2, 3), (1, 3, 2), (3, 2, 1), (3, 1, 2)):
        args = {"whom": whom, "other": other, "third": third, "for_ms": 300}
        for fault in _often(rng, 700, lambda args=args: Fault("cross", args)):  # type: ignore[misc]
            fault.on, fault.node, fault.role = "input:Saved", whom, "Leader"
            plan.faults.append(fault)


def _deaf(rng: Random, plan: Plan) -> None:
    """The leader writes on and its messages are lost; it learns of the next epoch but not its leader, and therefore
    asks other nodes.
    """
    plan.faults += _often(rng, 900, lambda: make_isolation(rng, "leader", 400, 800, "out"))
    plan.faults += _often(rng, 100, lambda: Fault("hold", {"name": "Begin", "sender": 0, "for_ms": 500}))
    plan.faults.append(Fault("odd_answers", {"whom": 0, "of_100": 50, "for_ms": CHAOS_MS}))


def _cross_requests(rng: Random, plan: Plan) -> None:
    """Requests reach the wrong node, or are of another cluster, during elections.

    A node without pre-votes makes the others hold elections without them.
    """
    plan.releases = {between(rng, 1, 3): "3.9"}
    ways = [(1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 3, 2), (2, 1, 3), (3, 2, 1)]
    for whom, other, third in ways:
        args = {"whom": whom, "other": other, "third": third, "for_ms": between(rng, 50, 1_000)}
        plan.faults += _often(rng, 1_500, lambda args=args: Fault("cross", args))  # type: ignore[misc]
    for whom in plan.voter_ids:
        for what in ("cluster", "voter"):
            stray = {"whom": whom, "what": what, "for_ms": between(rng, 100, 600)}
            plan.faults += _often(rng, 2_000, lambda stray=stray: Fault("stray", stray))  # type: ignore[misc]
    plan.faults += _often(rng, 500, lambda: make_isolation(rng, "leader", 100, 900))
    plan.faults += _often(rng, 900, lambda: Fault("resign", {"whom": "leader"}))


def _leaving(rng: Random, plan: Plan) -> None:
    """Leaders shut down cleanly while followers fetch snapshots and fall behind again."""
    plan.faults += _often(rng, 900, lambda: Fault("shut_down", {"whom": "leader", "down_ms": between(rng, 1, 300)}))
    plan.faults += _often(rng, 800, lambda: make_isolation(rng, "follower", 300, 900))
    plan.faults += _often(rng, 600, lambda: Fault("reset", {"whom": "follower"}))
    plan.faults += _often(rng, 2_000, lambda: Fault("slow", {
        "whom": "leader", "direction": "out", "extra_ms": between(rng, 50, 250), "for_ms": 700,
    }))  # fmt: skip


def _handover(rng: Random, plan: Plan) -> None:
    """A leader that was cut off is reconnected before it notices, and first learns of the next leader by its
    resignation.

    Nodes that granted their vote find the leader by asking others, since the resigned one cannot name it.
    """
    if rng.random() < 0.5:
        plan.faults += _often(rng, 2_500, lambda: Fault("succession", {"times": 3, "for_ms": 300}))
    plan.faults += _often(rng, 1_500, lambda: Fault("churn", {
        "direction": "both", "on_ms": between(rng, 350, 560), "off_ms": between(rng, 100, 400), "times": 2,
    }))  # fmt: skip
    plan.faults += _often(rng, 90, lambda: Fault("hold", {"name": "Begin", "sender": 0, "for_ms": 700}))
    plan.faults += _often(rng, 120, lambda: Fault("resign", {"whom": "leader"}, on="input:Answered", role="Leader"))
    plan.faults += _often(rng, 1_200, lambda: Fault(
        "kill", {"whom": "struck", "down_ms": 700}, on="after:SaveElection", role="Candidate",
    ))  # fmt: skip


def _onlookers(rng: Random, plan: Plan) -> None:
    """Observers restart again and again, and know only the configured addresses."""
    plan.observers, plan.kraft_version, plan.snapshot_every = 2, 1, 0
    plan.load.every_ms = 150
    plan.faults.append(Fault("odd_answers", {"whom": 0, "of_100": 15, "for_ms": CHAOS_MS}))
    plan.faults += _often(rng, 400, lambda: Fault("kill", {"whom": plan.ids[-1], "down_ms": between(rng, 1, 100)}))
    plan.faults += _often(rng, 400, lambda: Fault("kill", {"whom": plan.ids[-2], "down_ms": between(rng, 1, 100)}))
    plan.faults += _often(rng, 1_500, lambda: make_isolation(rng, "leader", 300, 900))


def _rotten(rng: Random, plan: Plan) -> None:
    """Bits flip in snapshots on the leader while followers reset their logs to them."""
    plan.faults += _often(rng, 1_000, lambda: Fault("wipe", {"whom": "follower", "down_ms": 20}))
    plan.faults += _often(rng, 700, lambda: Fault("rot", {
        "file": "snapshot", "whom": "leader", "place": between(rng, 0, 999), "bit": 3,
    }))  # fmt: skip


def _alone(rng: Random, plan: Plan) -> None:
    """The only voter shuts down while observers wait for its answers; it is slow, and restarts."""
    plan.voters, plan.observers = 1, 2
    plan.recovery = RecoveryPlan([1])
    plan.faults += _often(rng, 1_500, lambda: Fault("sluggish", {
        "whom": 1, "step_us": between(rng, 2_000, 20_000), "for_ms": 900,
    }))  # fmt: skip
    plan.faults += _often(rng, 700, lambda: Fault("shut_down", {"whom": 1, "down_ms": between(rng, 1, 300)}))
    plan.faults += _often(rng, 800, lambda: Fault("wipe", {"whom": 2, "down_ms": 50}))


def _slow_disks(rng: Random, plan: Plan) -> None:
    """Everything happens while elections, records and snapshots are being saved, and nodes restart."""
    plan.pace = [20_000, 150_000, 0.0, 0]
    plan.config |= SNAPSHOTS
    plan.faults += _often(rng, 900, lambda: Fault("wipe", {"whom": "follower", "down_ms": 20}))
    plan.load.rogue_ms = 4
    plan.faults += _often(rng, 400, lambda: Fault("kill", {
        "whom": between(rng, 1, plan.voters), "down_ms": between(rng, 1, 200),
    }))  # fmt: skip
    plan.faults += _often(rng, 900, lambda: Fault("resign", {"whom": "leader"}))
    plan.faults += _often(rng, 900, lambda: make_isolation(rng, "leader", 100, 600))


THEMES: dict[str, Callable[[Random, Plan], None]] = {
    "confused": _confuse,
    "leaderless": _leaderless,
    "late": _late,
    "held-up": _hold_up,
    "outdated": _depose_candidate,
    "split": _split,
    "deaf": _deaf,
    "crossed": _cross_requests,
    "leaving": _leaving,
    "handover": _handover,
    "onlookers": _onlookers,
    "rotten": _rotten,
    "alone": _alone,
    "slow-disks": _slow_disks,
}


def plans() -> Iterator[tuple[str, Plan]]:
    """All plans, with their names."""
    for theme, draw in THEMES.items():
        for number in range(1, PLANS_OF.get(theme, PLANS_EACH) + 1):
            rng = stream(number, "rare", theme)
            plan = Plan(number, voters=5 if number % 4 == 0 and theme != "crossed" else 3, chaos_ms=CHAOS_MS)
            plan.config = {**QUICK, **(SNAPSHOTS if number % 2 else {})}
            plan.snapshot_every, plan.snapshot_padding = 10, 300
            plan.kraft_version = int(number % 3 == 0)
            plan.load = Load(every_ms=20, asks=10, rogue_ms=10)
            plan.recovery = RecoveryPlan(plan.voter_ids)
            draw(rng, plan)
            yield f"{theme} {number}", plan


def tasks_of() -> list[Task]:
    """A task for each plan."""
    return [Task((), plans=(to_json(plan),), names=(name,)) for name, plan in plans()]


def _often(rng: Random, every_ms: int, fault: Callable[[], Fault]) -> list[Fault]:
    """Faults at this interval for the whole length of a plan."""
    return often(rng, CHAOS_MS, every_ms, fault)


def _draw_hold(rng: Random) -> dict[str, object]:
    names = (
        "Vote",
        "VoteAnswer",
        "BeginAnswer",
        "EndAnswer",
        "FetchAnswer",
        "FetchSnapshotAnswer",
        "FetchSnapshotAnswer",
    )
    return {"name": names[int(rng.random() * len(names))], "sender": 0, "for_ms": between(rng, 50, 500)}
