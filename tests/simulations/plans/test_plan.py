"""Plans survive the conversion to JSON and back; an invalid text is refused with the reason."""

from __future__ import annotations

import pytest

from simulations.plans.plan import Fault, Plan, from_json, to_json
from simulations.raft.level import read
from simulations.raft.swarm import TARGETED, draw


@pytest.mark.parametrize("seed", range(1, 60))
def test_a_plan_goes_through_json_and_back(seed: int) -> None:
    plan = draw(seed)

    assert from_json(to_json(plan)) == plan


def test_a_field_with_its_default_is_left_out() -> None:
    plan = Plan(7, faults=[Fault("reset", {"whom": 1}, at_ms=100)])

    text = to_json(plan)

    assert text == (
        '{\n  "version": 1,\n  "seed": 7,\n  "faults": [\n'
        '    {"kind": "reset", "args": {"whom": 1}, "at_ms": 100}\n  ]\n}\n'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the plan is no JSON"),
        ("[]", "the plan is no JSON object"),
        ('{"version": 9, "seed": 1}', "version 9; only 1 is read"),
        ("{}", "the plan has no seed"),
        ('{"seed": 1, "colour": 2}', "Plan has colour; known are "),
        ('{"seed": 1, "faults": [{"kind": "reset", "when": "x", "wem": 1}]}', "Fault has wem; known are "),
        ('{"seed": 1, "faults": [{"kind": "nonsense"}]}', "no fault 'nonsense'; known are "),
        ('{"seed": 1, "faults": [{"kind": "reset", "when": "x"}]}', "no state 'x'; known are "),
    ],
)
def test_a_text_that_is_not_a_plan_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(text)


def test_one_plan_in_ten_or_so_has_no_fault() -> None:
    without = sum(not draw(seed).faults for seed in range(1, 301))

    assert 15 <= without <= 50


def test_the_swarm_draws_every_kind_of_fault() -> None:
    from simulations.faults.table import KINDS

    drawn = {fault.kind for seed in range(1, 400) for fault in draw(seed).faults}

    assert drawn == set(KINDS) - set(TARGETED)
