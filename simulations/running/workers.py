"""Worker processes: tasks go out, results come back, and each mutant has a process of its own.

Workers are spawned, not forked, so that they have imported nothing that the caller has. Where the system can fork,
tasks with a mutant go to a worker that forks for each of them (`fork_pool`); elsewhere each has a worker of its own.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, cast

from simulations.running.tasks import Task, failed_row, guard, perform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection

    from simulations.running.tasks import Row

    Serve = Callable[[Connection], None]

# Most objects of a world live as long as the world: collect rarely within a run, and once after it.
GARBAGE_THRESHOLD = 200_000

HASH_SEED = "PYTHONHASHSEED"

CAN_FORK = sys.platform == "linux"


def _serve(pipe: Connection) -> None:
    """The main loop of a worker."""
    _begin()
    for task in _tasks(pipe):
        pipe.send(perform(task))


def _serve_by_forks(pipe: Connection) -> None:
    """The main loop of a worker that forks for each task."""
    from simulations.running.fork_pool import ForkPool

    _begin()
    pool = ForkPool()
    signal.signal(signal.SIGTERM, pool.end)
    for task in _tasks(pipe):
        pipe.send_bytes(pool.row(task))


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    guard()
    gc.set_threshold(GARBAGE_THRESHOLD)


def _tasks(pipe: Connection) -> Iterator[Task]:
    with suppress(EOFError):
        while True:
            yield pipe.recv()


class _Worker:
    def __init__(self, hash_seed: str, serve: Serve) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.serve = serve
        with _hash_seed_for_children(hash_seed):
            self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.must_end = False

    def give(self, task: Task) -> None:
        self.task = task
        self.pipe.send(task)

    def take(self) -> Row | None:
        """The result of the task; None where its mutant needs a worker of its own."""
        assert self.task is not None, "an idle worker has no result"
        try:
            row: Row | None = self.pipe.recv()
        except EOFError:
            self.process.join()
            self.must_end = True
            return failed_row(self.task, f"the worker ended with {self.process.exitcode}")
        if self.serve is _serve:
            self.must_end = bool(self.task.mutant_id or (row and row.error))
        return row

    def close(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


@contextmanager
def _hash_seed_for_children(value: str) -> Iterator[None]:
    """Processes that are started within have this hash seed; with an empty one they inherit ours."""
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
    """Do tasks in `jobs` processes, and yield each result as soon as it is there.

    hash_seed: PYTHONHASHSEED of these processes; empty to inherit it.
    """
    todo = iter(tasks)
    busy: dict[Connection, _Worker] = {}
    idle: list[_Worker] = []

    def give(task: Task, serve: Serve) -> None:
        must_be_new = serve is _serve and task.mutant_id
        idle_worker = None if must_be_new else next((each for each in idle if each.serve is serve), None)
        if idle_worker is None:
            idle_worker = _Worker(hash_seed, serve)
        else:
            idle.remove(idle_worker)
        idle_worker.give(task)
        busy[idle_worker.pipe] = idle_worker

    try:
        while True:
            while len(busy) < jobs and (task := next(todo, None)) is not None:
                give(task, _serve_by_forks if CAN_FORK and task.mutant_id else _serve)
            if not busy:
                return
            for pipe in wait(list(busy)):
                worker = busy.pop(cast("Any", pipe))
                row = worker.take()
                if worker.must_end:
                    worker.close()
                else:
                    idle.append(worker)
                if row is not None:
                    yield row
                elif worker.task is not None:
                    give(worker.task, _serve)
    finally:
        for worker in (*busy.values(), *idle):
            worker.close()
