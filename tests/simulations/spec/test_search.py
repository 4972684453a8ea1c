"""Small worlds are searched completely, over the real core; a violation is found, with the path to it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from simulations.spec.model import Scope, World
from simulations.spec.search import search

SMALL = Scope(epochs=1, records=1, ticks=0, losses=1, crashes=0, in_flight=2, led=True)


def test_no_state_of_a_small_world_violates_a_property() -> None:
    found = search(SMALL)

    assert (found.broken, found.is_whole) == ("", True)
    assert found.states > 300


def test_two_searches_of_one_scope_visit_the_same_states() -> None:
    first, second = search(SMALL), search(SMALL)

    assert first[:5] == second[:5]


def test_a_search_stops_at_its_limit() -> None:
    found = search(SMALL, states_max=100)

    assert (found.states, found.is_whole) == (100, False)


def test_a_crash_loses_only_what_is_not_on_disk() -> None:
    scope = Scope(epochs=1, records=1, ticks=0, losses=0, crashes=1, led=True)
    world = World(scope)
    written = world.after(world.first(), "write", 1)
    assert written is not None

    crashed = world.after(written, "crash", 1)

    assert crashed is not None
    assert [len(machine.log) for machine in (written.machines[0], crashed.machines[0])] == [2, 1]


@pytest.mark.parametrize(("mutant_id", "property_id"), [("R17", "S07"), ("D01", "S07"), ("D02", "S07")])
def test_a_mutant_is_found(mutant_id: str, property_id: str) -> None:
    command = [sys.executable, "-m", "simulations", "search", "--scope", "succession", "--mutant", mutant_id]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert f": {property_id}: " in done.stdout


def test_an_invalid_scope_is_refused_with_a_reason() -> None:
    command = [sys.executable, "-m", "simulations", "search", "--scope", "epochs=many"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "'epochs=many' is neither one of election, succession nor NAME=NUMBER" in done.stderr
