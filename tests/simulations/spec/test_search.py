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


@pytest.mark.parametrize(("mutant_id", "property_id"), [("M01", "S19"), ("M02", "S19"), ("M12", "S30")])
def test_a_wrong_rule_for_changes_of_the_voters_is_found(mutant_id: str, property_id: str) -> None:
    scope = "epochs=2,records=0,ticks=1,losses=0,crashes=0,in_flight=2,led=1,voters=3,changes=2"
    command = [sys.executable, "-m", "simulations", "search", "--scope", scope, "--mutant", mutant_id]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert f": {property_id}: " in done.stdout


@pytest.mark.parametrize(("voters", "verb", "ids"), [(2, "add", (1, 2, 3)), (3, "remove", (1, 2))])
def test_a_voter_set_counts_from_its_append_on(voters: int, verb: str, ids: tuple[int, ...]) -> None:
    world = World(Scope(epochs=1, ticks=0, losses=0, crashes=0, in_flight=4, led=True, voters=voters, changes=1))
    state = world.first()

    said = world.says(state, "change", 13)
    changed = world.after(state, "change", 13)
    while changed is not None and changed.machines[0].voters == state.machines[0].voters:
        changed = world.after(changed, "deliver", 0)  # ApiVersions of the new voter

    assert said == f"leader 1 is to {verb} node 3"
    assert changed is not None
    leader = changed.machines[0]
    assert leader.voters == ids
    assert leader.log[-1].end_offset > leader.committed


def test_changes_need_dynamic_voters() -> None:
    with pytest.raises(ValueError, match="changes need 1 to 3 voters"):
        World(Scope(changes=1))


def test_an_invalid_scope_is_refused_with_a_reason() -> None:
    command = [sys.executable, "-m", "simulations", "search", "--scope", "epochs=many"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    names = "election, succession, addition, removal, reconfiguration, addition-crash"
    assert f"'epochs=many' is neither one of {names} nor NAME=NUMBER" in done.stderr
