"""Many seeds in many processes: tasks go out, rows come back, and each mutant has a process of its own.

Workers are started afresh and not forked: whatever the caller has imported, they have not. Mutants have forks of such a
worker where the system can fork (`nursery`), and workers of their own where it cannot.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
from contextlib import contextmanager, suppress
from itertools import chain
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection

    from simulations.levels.table import Level
    from simulations.running.outcome import Outcome

    Life = Callable[[Connection], None]

CPU_S_MAX = 60
"""What one seed may take; a mutant may go round in circles within a step, where no count of events sees it."""

MEMORY_BYTES_MAX = 4 << 30

# A world is full of small things that live as long as it does: looked through rarely within a run, and after each.
GARBAGE_THRESHOLD = 200_000

HASH_SEED = "PYTHONHASHSEED"

CAN_FORK = sys.platform == "linux"


class Task(NamedTuple):
    """Plans in JSON with their names, then seeds, to be lived through one after the other.

    until_broken: stop at the first that is not well; apart: where not 0, in each range of so many seeds by itself.
    needs: of the first that is not well, find what kinds of faults it takes. traced: bring the whole trace of the last.
    only: the property that judges alone, where one is named. counted: count what each comes to.
    """

    seeds: tuple[int, ...]
    level: str = "raft"
    mutant_id: str = ""
    until_broken: bool = False
    plans: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    needs: bool = False
    apart: int = 0
    traced: bool = False
    only: str = ""
    counted: bool = False


class Row(NamedTuple):
    """What came of a task. error: why it could not be done at all, empty where it could. trace: in msgpack, of the last
    seed, where the task asks for it.
    """

    task: Task
    outcomes: list[Outcome]
    cpu_s: float
    error: str = ""
    trace: bytes = b""


def perform(task: Task) -> Row:
    """Do a task in this process, which must be a fresh one where the task has a mutant."""
    from simulations.levels.table import load
    from simulations.running.shrinking import needed

    begin = time.process_time()
    outcomes: list[Outcome] = []
    trace = bytearray()
    broken: set[int] = set()
    try:
        level = load(task.level, task.mutant_id)
        if task.only:
            from simulations.mutants.patching import silence_other_properties

            silence_other_properties(task.only)
        gc.freeze()  # what is there by now stays, and need not be looked through after each world
        for plan in chain(map(level.read, task.plans), map(level.draw, task.seeds)):
            part = plan.seed // task.apart if task.apart else 0
            if part in broken:
                continue
            signal.setitimer(signal.ITIMER_VIRTUAL, CPU_S_MAX)
            trace.clear()
            outcome, _ = level.play(plan, trace.extend if task.traced else None, counts=task.counted)
            if task.only and outcome.property_id != task.only:
                outcome.property_id = ""
            if task.needs and not outcome.is_well and not broken:
                outcome.needs = needed(plan, lambda fewer: _is_well(level, fewer, task.only))
            outcomes.append(outcome)
            gc.collect()
            if task.until_broken and not outcome.is_well:
                broken.add(part)
    except Exception:  # told to who asked, with all of it
        return Row(task, outcomes, time.process_time() - begin, traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return Row(task, outcomes, time.process_time() - begin, trace=bytes(trace))


def _is_well(level: Level, plan: Any, only: str) -> bool:
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_S_MAX, 1)
    outcome = level.play(plan)[0]
    return outcome.is_well or (bool(only) and outcome.property_id != only)


def guard() -> None:
    """Have whatever runs too long in this process end as a finding, and not the process."""
    signal.signal(signal.SIGVTALRM, _hung)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _hung(_number: int, _frame: Any) -> None:
    from simulations.world.world import TooBusy

    raise TooBusy(-1, 0)


def _live(pipe: Connection) -> None:
    """A worker's life."""
    _begin()
    for task in _tasks(pipe):
        pipe.send(perform(task))


def _breed(pipe: Connection) -> None:
    """The life of a worker whose forks have mutants."""
    from simulations.running.fork_pool import Nursery

    _begin()
    nursery = Nursery(perform, failed)
    signal.signal(signal.SIGTERM, nursery.end)
    for task in _tasks(pipe):
        pipe.send_bytes(nursery.row(task))


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    guard()
    gc.set_threshold(GARBAGE_THRESHOLD)


def _tasks(pipe: Connection) -> Iterator[Task]:
    with suppress(EOFError):
        while True:
            yield pipe.recv()


def failed(task: Task, error: str) -> Row:
    """The row of a task that could not be done."""
    return Row(task, [], 0.0, error)


class _Worker:
    def __init__(self, hash_seed: str, live: Life) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=live, args=(theirs,), daemon=True)
        self.live = live
        with _hash_seed_for_children(hash_seed):
            self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.is_spent = False

    def give(self, task: Task) -> None:
        self.task = task
        self.pipe.send(task)

    def take(self) -> Row | None:
        """What came of the task; None where its mutant needs a worker of its own."""
        assert self.task is not None, "a worker with nothing to do has nothing to say"
        try:
            row: Row | None = self.pipe.recv()
        except EOFError:
            self.process.join()
            self.is_spent = True
            return failed(self.task, f"the worker ended with {self.process.exitcode}")
        if self.live is _live:
            self.is_spent = bool(self.task.mutant_id or (row and row.error))
        return row

    def close(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


@contextmanager
def _hash_seed_for_children(value: str) -> Iterator[None]:
    """Processes that are started within have this hash seed; an empty one is for whatever ours have."""
    before = os.environ.get(HASH_SEED)
    if value:
        os.environ[HASH_SEED] = value
    try:
        yield
    finally:
        if value and before is None:
            del os.environ[HASH_SEED]
        elif before is not None:
            os.environ[HASH_SEED] = before


def rows(tasks: Iterable[Task], jobs: int, hash_seed: str = "") -> Iterator[Row]:
    """Have tasks done by so many processes, and yield what comes of each as it comes.

    hash_seed: PYTHONHASHSEED of these processes; empty for what it is by itself.
    """
    todo = iter(tasks)
    busy: dict[Connection, _Worker] = {}
    idle: list[_Worker] = []

    def give(task: Task, live: Life) -> None:
        must_be_new = live is _live and task.mutant_id
        found = None if must_be_new else next((each for each in idle if each.live is live), None)
        if found is None:
            found = _Worker(hash_seed, live)
        else:
            idle.remove(found)
        found.give(task)
        busy[found.pipe] = found

    try:
        while True:
            while len(busy) < jobs and (task := next(todo, None)) is not None:
                give(task, _breed if CAN_FORK and task.mutant_id else _live)
            if not busy:
                return
            for pipe in wait(list(busy)):
                worker = busy.pop(cast("Any", pipe))
                row = worker.take()
                if worker.is_spent:
                    worker.close()
                else:
                    idle.append(worker)
                if row is not None:
                    yield row
                elif worker.task is not None:
                    give(worker.task, _live)
    finally:
        for worker in (*busy.values(), *idle):
            worker.close()


def chunks(seeds: Iterable[int], size: int, level: str = "raft") -> Iterator[Task]:
    """Tasks of so many seeds each."""
    part: list[int] = []
    for seed in seeds:
        part.append(seed)
        if len(part) == size:
            yield Task(tuple(part), level)
            part = []
    if part:
        yield Task(tuple(part), level)
