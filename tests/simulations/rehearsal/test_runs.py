"""Many runs: forked or from the start, in one process or several, the result is the same."""

from __future__ import annotations

import os

import pytest

from simulations.rehearsal import runs
from simulations.rehearsal.layout import Layout
from simulations.rehearsal.play import CannotSettle
from simulations.rehearsal.runs import CAN_FORK, RunFailed, Task, all_runs, perform
from simulations.rehearsal.scenarios import LOST, Scenario, scenarios

LAYOUT = Layout({1: "a", 2: "a", 3: "b"})
CHOSEN = tuple(each for each in scenarios(LAYOUT) if each.name in {"node-2", "cut-a-b", "rolling"})


@pytest.mark.skipif(not CAN_FORK, reason="this system cannot fork safely")
def test_a_forked_run_goes_on_as_one_from_the_start() -> None:
    task = Task(LAYOUT, 4, CHOSEN)

    assert perform(task, None, can_fork=True) == perform(task, None, can_fork=False)


def test_the_number_of_processes_does_not_change_the_result() -> None:
    done: list[int] = []

    one = all_runs(LAYOUT, None, list(CHOSEN), range(1, 4), 1, done.append)
    two = all_runs(LAYOUT, None, list(CHOSEN), range(1, 4), 2)

    assert one == two
    assert [(each.scenario, each.seed) for each in one] == [
        (scenario.name, seed) for scenario in CHOSEN for seed in (1, 2, 3)
    ]
    assert done == [3, 6, 9]


def test_a_quorum_that_does_not_settle_ends_it() -> None:
    far = Layout({1: "a", 2: "b"}, between_round_trip_ms=9000.0)

    with pytest.raises(CannotSettle, match="although nothing fails"):
        all_runs(far, None, [scenarios(far)[0]], range(1, 2), 1)


class Deadly:
    """Metadata that ends the process which receives it, as the kernel does where memory is short."""

    values: tuple[bytes, ...] = ()

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return os._exit, (9,)


def test_a_process_that_is_killed_ends_the_rehearsal() -> None:
    with pytest.raises(RunFailed, match="a process of the rehearsal was killed; if memory was short, give --jobs 1"):
        all_runs(LAYOUT, Deadly(), list(CHOSEN), range(1, 3), 2)


@pytest.mark.skipif(not CAN_FORK, reason="this system cannot fork safely")
def test_an_exception_in_a_run_is_shown_with_its_traceback() -> None:
    wrong = Scenario("wrong", "a node that is not there", LOST, (99,))

    with pytest.raises(RunFailed, match=r"wrong, seed 1:\nTraceback (?s:.*)KeyError: 99"):
        runs.perform(Task(LAYOUT, 1, (wrong,)), None, can_fork=True)
