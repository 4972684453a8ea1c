"""Whole nodes under faults, with all messages as bytes on sockets: no property is violated, and
traces are deterministic.
"""

from __future__ import annotations

import pytest

from simulations.sockets.level import draw, play, read, show


@pytest.mark.parametrize("seed", [2, 5, 18])
def test_every_property_of_whole_nodes_holds(seed):
    outcome, _ = play(draw(seed))

    assert outcome.property_id == "", outcome.text
    assert outcome.acknowledged > 0


def test_a_plan_read_from_json_has_the_same_trace():
    plan = draw(29)

    again = read(show(plan))

    assert again == plan
    assert play(again)[0].trace_hash == play(plan)[0].trace_hash
