"""Tasks, which run worlds in one process, and their results."""

from __future__ import annotations

import gc
import resource
import signal
import time
import traceback
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulations.levels.table import Level
    from simulations.outcomes.outcome import Outcome

CPU_S_MAX = 60
"""CPU seconds that one seed may take. A mutant may loop within one step, where no count of events ends it."""

MEMORY_BYTES_MAX = 4 << 30


class Task(NamedTuple):
    """Plans in JSON with their names, then seeds, to be run one after the other.

    until_broken: stop at the first world in which a property breaks; apart: where not 0, stop in each range of so many
    seeds by itself. needs: find the kinds of faults that the first broken world needs. traced: return the whole trace
    of the last world. only: the one property that is checked; empty for all. counted: count what happens in each world.
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
    """The result of a task. error: the traceback where the task could not be done, else empty. trace: in msgpack, of
    the last seed, where the task asks for it.
    """

    task: Task
    outcomes: list[Outcome]
    cpu_s: float
    error: str = ""
    trace: bytes = b""


def perform(task: Task) -> Row:
    """Do a task in this process, which must be a fresh one where the task names a mutant."""
    from simulations.levels.table import load
    from simulations.running.shrinking import needed_kinds

    begin = time.process_time()
    outcomes: list[Outcome] = []
    trace = bytearray()
    broken: set[int] = set()
    try:
        level = load(task.level, task.mutant_id)
        if task.only:
            from simulations.mutants.patching import silence_other_properties

            silence_other_properties(task.only)
        gc.freeze()  # these objects stay, so the collections after each world can skip them
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
                outcome.needs = needed_kinds(plan, lambda fewer: _is_well(level, fewer, task.only))
            outcomes.append(outcome)
            gc.collect()
            if task.until_broken and not outcome.is_well:
                broken.add(part)
    except Exception:  # the caller gets the traceback
        return Row(task, outcomes, time.process_time() - begin, traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return Row(task, outcomes, time.process_time() - begin, trace=bytes(trace))


def _is_well(level: Level, plan: Any, only: str) -> bool:
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_S_MAX, 1)
    outcome = level.play(plan)[0]
    return outcome.is_well or (bool(only) and outcome.property_id != only)


def guard() -> None:
    """Limit memory, and make a world that runs too long end with a finding instead of ending the process."""
    signal.signal(signal.SIGVTALRM, _stop_hanging)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _stop_hanging(_number: int, _frame: Any) -> None:
    from simulations.world.world import TooBusy

    raise TooBusy(-1, 0)


def failed_row(task: Task, error: str) -> Row:
    """The result of a task that could not be done."""
    return Row(task, [], 0.0, error)


def chunks(seeds: Iterable[int], size: int, level: str = "raft") -> Iterator[Task]:
    """Tasks of `size` seeds each."""
    part: list[int] = []
    for seed in seeds:
        part.append(seed)
        if len(part) == size:
            yield Task(tuple(part), level)
            part = []
    if part:
        yield Task(tuple(part), level)
