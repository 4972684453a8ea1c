"""Periodic tasks: PeriodicTaskControlManagerTest's cases."""

import pytest

from controller.core.periodic_tasks import AGAIN_MS, Tasks
from controller.interface.settings import Settings


def tasks(**settings):
    given = {
        "metadata_max_idle_interval_ms": 500,
        "leader_imbalance_check_interval_seconds": 3,
        "unclean_leader_election_interval_ms": 2000,
        **settings,
    }
    return Tasks(Settings(**given), now_ms=1000)


def due(found, now_ms):
    task = found.due(now_ms)
    return None if task is None else task.name


def test_tasks_are_first_due_one_period_after_activation():
    t = tasks()

    assert (due(t, 1499), due(t, 1500), t.next_due_ms) == (None, "writeNoOpRecord", 1500)


@pytest.mark.parametrize(
    ("idle_ms", "expected"),
    [
        (500, ["writeNoOpRecord", "electUnclean", "electPreferred"]),
        (2500, ["electUnclean", "writeNoOpRecord", "electPreferred"]),
    ],
)
def test_the_task_that_is_overdue_longest_runs_first(idle_ms, expected):
    t = tasks(metadata_max_idle_interval_ms=idle_ms)

    order = []
    for _ in range(3):
        task = t.due(4000)
        order.append(task.name)
        t.ran(task, 4000, again=False)

    assert order == expected
    assert due(t, 4000) is None


def test_a_task_with_more_to_do_is_due_again_soon():
    t = tasks()
    task = t.due(4000)

    t.ran(task, 4000, again=True)

    assert task.due_ms == 4000 + AGAIN_MS
    t.ran(task, 4010, again=False)
    assert task.due_ms == 4510


def test_tasks_can_be_disabled():
    t = tasks(
        metadata_max_idle_interval_ms=0, unclean_leader_election_interval_ms=0, auto_leader_rebalance_enable=False
    )

    # All but the removal of expired tokens.
    assert (t.next_due_ms, due(t, 10**9)) == (3_601_000, "expireDelegationTokens")
