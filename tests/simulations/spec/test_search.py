"""Small worlds are looked at whole, over the real core; what is wrong in it is found, with the way there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from simulations.spec.model import Scope, World
from simulations.spec.search import search

SMALL = Scope(epochs=1, records=1, ticks=0, losses=1, crashes=0, in_flight=2, led=True)


def test_every_state_of_a_small_world_is_well() -> None:
    found = search(SMALL)

    assert (found.broken, found.is_whole) == ("", True)
    assert found.states > 300


def test_two_searches_of_one_scope_see_the_same() -> None:
    first, second = search(SMALL), search(SMALL)

    assert first[:5] == second[:5]


def test_a_search_ends_where_it_is_told_to() -> None:
    found = search(SMALL, states_max=100)

    assert (found.states, found.is_whole) == (100, False)


def test_a_crash_loses_what_is_not_on_the_disk_alone() -> None:
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


def test_what_is_no_scope_is_refused_in_words() -> None:
    command = [sys.executable, "-m", "simulations", "search", "--scope", "epochs=many"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "'epochs=many' is neither one of election, succession nor NAME=NUMBER" in done.stderr
