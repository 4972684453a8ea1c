"""Many runs in several processes: each task has one seed, whose quorum settles once and is then forked by scenario.

A fork has the whole world of its parent, so it goes on as a run from the start would; where a process cannot fork, each
scenario is run from the start.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, NamedTuple

from simulations.rehearsal.play import CannotSettle, Rehearsal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulations.rehearsal.layout import Layout
    from simulations.rehearsal.metadata import Metadata
    from simulations.rehearsal.play import Played
    from simulations.rehearsal.scenarios import Scenario

CAN_FORK = sys.platform == "linux"
# Few enough that a progress bar moves, many enough that settling is a small part.
SCENARIOS_PER_TASK = 6
# With more records than this a seed is one task, so that they are replayed once.
MANY_RECORDS = 2000
_GARBAGE_THRESHOLD = 200_000


class RunFailed(Exception):
    """A run ended with an exception: a finding in the product or in the simulator. The text is its traceback."""


class Task(NamedTuple):
    """Some scenarios of one seed."""

    layout: Layout
    seed: int
    scenarios: tuple[Scenario, ...]


# Given to each worker once: it may be large.
_given: list[Metadata | None] = [None]


def all_runs(
    layout: Layout,
    metadata: Metadata | None,
    scenarios: list[Scenario],
    seeds: range,
    jobs: int,
    note: Callable[[int], None] = lambda _done: None,
) -> list[Played]:
    """Every scenario with every seed, in the order of the scenarios, then of the seeds.

    note: called with the number of runs that are done. Raises CannotSettle, RunFailed.
    """
    size = len(scenarios) if metadata is not None and len(metadata.values) > MANY_RECORDS else SCENARIOS_PER_TASK
    tasks = [
        Task(layout, seed, tuple(scenarios[first : first + size]))
        for seed in seeds
        for first in range(0, len(scenarios), size)
    ]
    runs: list[Played] = []
    for played in _perform_all(tasks, metadata, min(jobs, len(tasks))):
        runs += played
        note(len(runs))
    place = {scenario.name: number for number, scenario in enumerate(scenarios)}
    return sorted(runs, key=lambda each: (place[each.scenario], each.seed))


def _perform_all(tasks: list[Task], metadata: Metadata | None, jobs: int) -> Iterator[list[Played]]:
    if jobs == 1:
        for task in tasks:
            yield perform(task, metadata, can_fork=CAN_FORK)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin, (metadata,)) as pool:
        asked = [pool.submit(_perform, task) for task in tasks]
        try:
            for future in as_completed(asked):
                text, played = future.result()
                if text:
                    raise (CannotSettle if not text.startswith("Traceback") else RunFailed)(text)
                yield played
        except BrokenProcessPool:
            text = "a process of the rehearsal was killed; if memory was short, give --jobs 1"
            raise RunFailed(text) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin(metadata: Metadata | None) -> None:
    """A worker begins: Ctrl-C is for its parent, and worlds live long."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_GARBAGE_THRESHOLD)
    _given[0] = metadata


def _perform(task: Task) -> tuple[str, list[Played]]:
    """The runs of a task; or the reason why there are none."""
    try:
        played = perform(task, _given[0], can_fork=CAN_FORK)
    except CannotSettle as error:
        return str(error), []
    except Exception:  # the parent shows it
        return traceback.format_exc(), []
    gc.collect()
    return "", played


def perform(task: Task, metadata: Metadata | None, *, can_fork: bool) -> list[Played]:
    """The runs of a task, in this process and its forks. Raises CannotSettle, RunFailed."""
    if not can_fork:
        return [Rehearsal(task.layout, metadata, task.seed).play(each) for each in task.scenarios]
    settled = Rehearsal(task.layout, metadata, task.seed)
    gc.freeze()
    try:
        return [_in_fork(settled, each) for each in task.scenarios]
    finally:
        gc.unfreeze()


def _in_fork(settled: Rehearsal, scenario: Scenario) -> Played:
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        _be_child(settled, scenario, theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as file:
        result = file.read()
    _, status = os.waitpid(pid, 0)
    if status or not result:
        raise RunFailed(f"Traceback of {scenario.name}, seed {settled.run.seed}:\n{result.decode(errors='replace')}")
    played: Played = pickle.loads(result)  # noqa: S301 - our own child wrote it
    return played


def _be_child(settled: Rehearsal, scenario: Scenario, pipe: int) -> None:
    """Play in a fork, and end it: a child never returns into the code of its parent."""
    try:
        with os.fdopen(pipe, "wb") as file:
            try:
                file.write(pickle.dumps(settled.play(scenario)))
            except BaseException:  # the parent shows it
                file.write(traceback.format_exc().encode())
                file.flush()
                os._exit(1)
    except OSError:
        os._exit(1)
    os._exit(0)
