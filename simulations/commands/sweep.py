"""`sweep`: many worlds, with or without a mutant; `--ci` is the volume that the gate asks for."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, NamedTuple

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

# What each landing must pass, by level.
CI_SEEDS = {"raft": range(1, 401), "raft-long": range(1, 611), "controller": range(1, 81), "node": range(1, 21)}


class Volume(NamedTuple):
    """What was lived through. broken: seeds that were not well, and tasks that could not be done."""

    seeds: int
    broken: int
    simulated_s: float
    messages: int
    cpu_s: float

    def __str__(self) -> str:
        return (
            f"{self.seeds} seeds, {self.broken} broken: {self.simulated_s:.0f} simulated s, {self.cpu_s:.0f} s of CPU;"
            f" {self.messages / max(self.cpu_s, 1e-9):.0f} messages and"
            f" {self.simulated_s / max(self.cpu_s, 1e-9):.0f} simulated s per s of CPU"
        )


class Goal(NamedTuple):
    """How much the gate lives through at these levels together, at the least (G12)."""

    levels: tuple[str, ...]
    seeds: int
    simulated_s: int


GOALS = (Goal(("raft", "raft-long"), 1000, 30_000), Goal(("controller",), 50, 500))


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seeds", type=seeds, metavar="A-B", help="the worlds of these seeds")
    which.add_argument("--ci", action="store_true", help="those of the gate: 30,000 simulated seconds and more")
    parser.add_argument("--mutant", default="", metavar="ID", help="with this mutant in the code")
    parser.add_argument("--hashes", action="store_true", help="print the hash of each trace")
    add_crew(parser)
    add_level(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where every world was well."""
    if args.ci:
        return _ci(args)
    if args.mutant:
        tasks = [Task(tuple(args.seeds), args.level, args.mutant)]
    else:
        tasks = list(chunks(args.seeds, CHUNK, args.level))
    return 1 if live_through(tasks, crew_of(args), hashes=args.hashes).broken else 0


def _ci(args: argparse.Namespace) -> int:
    if args.out is not None:
        raise ValueError("--out keeps what came of --seeds, not of --ci")
    crew = crew_of(args)
    begin = time.monotonic()
    lived = {}
    for level, numbers in CI_SEEDS.items():
        sys.stdout.write(f"{level}: ")
        lived[level] = live_through(list(chunks(numbers, CHUNK, level)), crew)
    is_short = False
    for goal in GOALS:
        seeds = sum(lived[level].seeds for level in goal.levels)
        simulated_s = sum(lived[level].simulated_s for level in goal.levels)
        is_met = seeds >= goal.seeds and simulated_s >= goal.simulated_s
        is_short |= not is_met
        sys.stdout.write(
            f"{', '.join(goal.levels)}: {seeds} seeds and {simulated_s:.0f} simulated s; {goal.seeds} and"
            f" {goal.simulated_s} are asked for: {'met' if is_met else 'SHORT OF IT'}\n"
        )
    cpu_s = sum(volume.cpu_s for volume in lived.values())
    sys.stdout.write(f"in all {cpu_s:.0f} s of CPU in {time.monotonic() - begin:.0f} s\n")
    return 1 if is_short or any(volume.broken for volume in lived.values()) else 0


def live_through(tasks: Sequence[Task], crew: Crew, *, hashes: bool = False) -> Volume:
    """Have the tasks done and told, with all that broke."""
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
    volume = Volume(total, broken, at_us / 1_000_000, messages, cpu_s)
    sys.stdout.write(f"{volume}; {time.monotonic() - begin:.0f} s in all\n")
    sys.stdout.flush()
    return volume


def _tell_broken(row: Row, outcome: Outcome) -> None:
    again = command(f"--seed {outcome.seed}", row.task.level, row.task.mutant_id)
    sys.stdout.write(f"seed {outcome.seed}: {outcome.property_id} {outcome.text}\n  again: {again}\n")
    sys.stdout.flush()
