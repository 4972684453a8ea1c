"""Guided plans are of worlds that there may be, and come the same way each time."""

from __future__ import annotations

from random import Random

from simulations.levels import raft as raft_level
from simulations.plans.plan import Calm, Fault, Plan, from_json, to_json
from simulations.plans.swarm import draw
from simulations.running.guidance import FAULTS_MAX, Features, Guide, changed

AMID = Calm(skipped=True)
SMALL = Plan(3, chaos_ms=400, calm=AMID, faults=[Fault("power", {"whom": "leader", "down_ms": 100}, at_ms=200)])


class SmallWorlds:
    """A level whose worlds are small. played: the plans that were."""

    FIELDS = raft_level.FIELDS
    read, show, plainer, play = (
        staticmethod(getattr(raft_level, name)) for name in ("read", "show", "plainer", "play")
    )

    def draw(self, seed: int) -> Plan:
        return Plan(
            seed, chaos_ms=200, calm=AMID, faults=[Fault("kill", {"whom": 1 + seed % 3, "down_ms": 50}, at_ms=100)]
        )


def test_what_a_run_was_the_first_to_come_to_is_read_off_its_trace() -> None:
    features = Features()

    raft_level.play(SMALL, features.take)

    kinds = {feature[0] for feature in features.found}
    assert kinds == {"step", "note", "fault", "life"}
    assert ("step", None, ("start", "Unattached")) in features.found
    assert [feature[1] for feature in features.found if feature[0] == "fault"] == ["power"]


def test_only_plans_that_bring_something_new_are_kept() -> None:
    guide = Guide(SmallWorlds(), 1)

    guide.play(SMALL)
    guide.play(SMALL)

    assert guide.pool == [SMALL]
    assert len(guide.known) > 20


def test_the_same_root_guides_the_same_way() -> None:
    def plans(root: int) -> list[str]:
        guide = Guide(SmallWorlds(), root)
        found = []
        for _ in range(4):
            found.append(to_json(guide.plan()))
            guide.play(from_json(found[-1]))
        return found

    assert plans(7) == plans(7) != plans(8)


def test_a_changed_plan_is_one_of_the_same_cluster() -> None:
    rng = Random(5)
    for seed in range(1, 200):
        plan = draw(seed)

        other = changed(rng, plan, draw(1000 + seed))

        assert (other.voters, other.observers, other.config, other.calm) == (
            plan.voters, plan.observers, plan.config, plan.calm,
        )  # fmt: skip
        assert len(other.faults) <= FAULTS_MAX
        assert from_json(to_json(other)) == other
