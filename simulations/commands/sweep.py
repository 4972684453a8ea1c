"""`sweep`: many worlds, with or without a mutant; `--ci` is what the gate asks."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from simulations.commands import mutants
from simulations.commands.arguments import add_jobs, add_level, seeds
from simulations.commands.progress import Progress
from simulations.commands.run import command
from simulations.workers import Row, Task, chunks, rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from simulations.outcome import Outcome

SAYS = "live many worlds through"
CHUNK = 10

# What each landing must pass, by level.
CI_SEEDS = {"raft": range(1, 501), "controller": range(1, 101)}
AGAIN_EVERY = 20

Traces = dict[tuple[str, int], str]
"""By level and seed, the hash of the trace."""


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seeds", type=seeds, metavar="A-B", help="the worlds of these seeds")
    which.add_argument(
        "--ci", action="store_true", help="what the gate asks: seeds without a fault, mutants all caught"
    )
    parser.add_argument("--mutant", default="", metavar="ID", help="with this mutant in the code")
    parser.add_argument("--hashes", action="store_true", help="print the hash of each trace")
    add_jobs(parser)
    add_level(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where every world was well; with --ci, also each mutant of CI was caught."""
    if args.ci:
        return _ci(args)
    if args.mutant:
        tasks = [Task(tuple(args.seeds), args.level, args.mutant)]
    else:
        tasks = list(chunks(args.seeds, CHUNK, args.level))
    broken = live_through(tasks, args.jobs, hashes=args.hashes)
    return 1 if broken else 0


def _ci(args: argparse.Namespace) -> int:
    from simulations.mutants.table import MUTANTS

    tasks = [task for level, numbers in CI_SEEDS.items() for task in chunks(numbers, CHUNK, level)]
    traces: Traces = {}
    broken = live_through(tasks, args.jobs, traces=traces)
    differ = _live_again(traces, args.jobs)
    missed = mutants.hunt([mutant for mutant in MUTANTS.values() if mutant.ci], args.jobs)
    return 1 if broken or differ or missed else 0


def _live_again(traces: Traces, jobs: int) -> int:
    """Live some through once more, in other processes, each of which has a hash seed of its own; returns how many
    leave another trace.
    """
    differ = total = 0
    tasks = [task for level, numbers in CI_SEEDS.items() for task in chunks(numbers[::AGAIN_EVERY], CHUNK, level)]
    for row in rows(tasks, jobs):
        for outcome in row.outcomes:
            total += 1
            if traces.get((row.task.level, outcome.seed)) != outcome.trace_hash:
                differ += 1
                sys.stdout.write(f"seed {outcome.seed} of {row.task.level} leaves another trace each time\n")
    sys.stdout.write(f"{total} seeds lived through again, {differ} with another trace\n")
    sys.stdout.flush()
    return differ


def live_through(tasks: Sequence[Task], jobs: int, *, hashes: bool = False, traces: Traces | None = None) -> int:
    """Have the tasks done and told; returns how many seeds were not well, a task that could not be done among them.

    traces: is given the hash of each.
    """
    total = sum(len(task.seeds) for task in tasks)
    progress = Progress(total, "seeds")
    begin = time.monotonic()
    broken = messages = at_us = 0
    cpu_s = 0.0
    for row in rows(tasks, jobs):
        cpu_s += row.cpu_s
        progress.add(len(row.task.seeds), f"{broken} broken" if broken else "")
        for outcome in row.outcomes:
            messages += outcome.messages
            if traces is not None:
                traces[row.task.level, outcome.seed] = outcome.trace_hash
            at_us += outcome.at_us
            if hashes:
                progress.clear()
                sys.stdout.write(f"{outcome.seed} {outcome.trace_hash} {outcome.property_id}\n")
            if not outcome.is_well:
                broken += 1
                progress.clear()
                _tell_broken(row, outcome)
        if row.error:
            broken += 1
            progress.clear()
            sys.stdout.write(
                f"seeds {row.task.seeds[0]}-{row.task.seeds[-1]} could not be lived through: {row.error}\n"
            )
    progress.clear()
    passed_s = time.monotonic() - begin
    sys.stdout.write(
        f"{total} seeds, {broken} broken: {at_us / 1_000_000:.0f} simulated s in {passed_s:.0f} s;"
        f" {messages / max(cpu_s, 1e-9):.0f} messages and {at_us / 1_000_000 / max(cpu_s, 1e-9):.0f} simulated s"
        f" per s of CPU\n"
    )
    sys.stdout.flush()
    return broken


def _tell_broken(row: Row, outcome: Outcome) -> None:
    again = command(f"--seed {outcome.seed}", row.task.level, row.task.mutant_id)
    sys.stdout.write(f"seed {outcome.seed}: {outcome.property_id} {outcome.text}\n  again: {again}\n")
    sys.stdout.flush()
