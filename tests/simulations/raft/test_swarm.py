"""Random plans: what a share of them has."""

from __future__ import annotations

import pytest

from simulations.levels.table import load

SEEDS = range(1, 1501)


@pytest.mark.parametrize("level", ["raft", "raft-long", "node", "secured"])
def test_the_voters_of_a_third_of_the_seeds_are_dynamic(level: str) -> None:
    draw = load(level).draw

    dynamic = [seed for seed in SEEDS if draw(seed).kraft_version == 1]

    assert len(dynamic) >= len(SEEDS) // 3
