"""`sweep`: many worlds, with or without a mutant; `--ci` is what the gate asks."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from simulations.commands import mutants
from simulations.commands.arguments import add_level, seeds
from simulations.commands.progress import Progress
from simulations.commands.run import command
from simulations.fleet.crew import Crew, add_crew, crew_of
from simulations.workers import Row, Task, chunks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from simulations.outcome import Outcome

SAYS = "live many worlds through"
CHUNK = 10

# What each landing must pass, by level: at least 1,000 seeds and 30,000 simulated seconds of raft in all, 50 and 500 of
# whole clusters (G12).
CI_SEEDS = {"raft": range(1, 601), "raft-long": range(1, 621), "controller": range(1, 91)}


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seeds", type=seeds, metavar="A-B", help="the worlds of these seeds")
    which.add_argument(
        "--ci", action="store_true", help="what the gate asks: seeds without a fault, mutants all caught"
    )
    parser.add_argument("--mutant", default="", metavar="ID", help="with this mutant in the code")
    parser.add_argument("--hashes", action="store_true", help="print the hash of each trace")
    add_crew(parser)
    add_level(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where every world was well; with --ci, also each mutant of CI was caught."""
    if args.ci:
        return _ci(args)
    if args.mutant:
        tasks = [Task(tuple(args.seeds), args.level, args.mutant)]
    else:
        tasks = list(chunks(args.seeds, CHUNK, args.level))
    broken = live_through(tasks, crew_of(args), hashes=args.hashes)
    return 1 if broken else 0


def _ci(args: argparse.Namespace) -> int:
    from simulations.mutants.table import MUTANTS

    if args.out is not None:
        raise ValueError("--out keeps what came of --seeds, not of --ci")
    crew = crew_of(args)
    broken = 0
    for level, numbers in CI_SEEDS.items():
        sys.stdout.write(f"{level}: ")
        broken += live_through(list(chunks(numbers, CHUNK, level)), crew)
    missed = mutants.hunt([mutant for mutant in MUTANTS.values() if mutant.ci], crew)
    return 1 if broken or missed else 0


def live_through(tasks: Sequence[Task], crew: Crew, *, hashes: bool = False) -> int:
    """Have the tasks done and told; returns how many seeds were not well, a task that could not be done among them."""
    total = sum(len(task.seeds) for task in tasks)
    progress = Progress(total, "seeds")
    begin = time.monotonic()
    broken = messages = at_us = 0
    cpu_s = 0.0
    for row in crew(tasks):
        cpu_s += row.cpu_s
        progress.add(len(row.task.seeds), f"{broken} broken" if broken else "")
        for outcome in row.outcomes:
            messages += outcome.messages
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
        f"{total} seeds, {broken} broken: {at_us / 1_000_000:.0f} simulated s in {passed_s:.0f} s, {cpu_s:.0f} s of"
        f" CPU; {messages / max(cpu_s, 1e-9):.0f} messages and {at_us / 1_000_000 / max(cpu_s, 1e-9):.0f} simulated s"
        f" per s of CPU\n"
    )
    sys.stdout.flush()
    return broken


def _tell_broken(row: Row, outcome: Outcome) -> None:
    again = command(f"--seed {outcome.seed}", row.task.level, row.task.mutant_id)
    sys.stdout.write(f"seed {outcome.seed}: {outcome.property_id} {outcome.text}\n  again: {again}\n")
    sys.stdout.flush()
