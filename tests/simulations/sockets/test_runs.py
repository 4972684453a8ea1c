"""Whole nodes live through faults with all that they say as bytes on sockets, and the same plan has the same life."""

from __future__ import annotations

import pytest

from simulations.levels.nodes import draw, play, read, show


@pytest.mark.parametrize("seed", [2, 5, 18])
def test_every_property_of_whole_nodes_holds(seed):
    outcome, _ = play(draw(seed))

    assert outcome.property_id == "", outcome.text
    assert outcome.acknowledged > 0


def test_a_plan_from_its_json_has_the_same_life():
    plan = draw(29)

    again = read(show(plan))

    assert again == plan
    assert play(again)[0].trace_hash == play(plan)[0].trace_hash
