"""`sweep`: many worlds, with or without a mutant; `--ci` is the volume that the gate asks for."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from simulations.commands.arguments import add_level, seeds
from simulations.commands.progress import Progress
from simulations.commands.run import command
from simulations.fleet.crew import Crew, add_crew, crew_of
from simulations.running.tasks import Row, Task, chunks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from simulations.running.outcome import Outcome

SAYS = "live many worlds through"
CHUNK = 10

# What each landing must pass, by level: the dearest first, so that no process is left alone with them at the end.
CI_SEEDS = {"controller": range(1, 84), "node": range(1, 21), "raft": range(1, 401), "raft-long": range(1, 610)}


@dataclass(slots=True)
class Volume:
    """What was lived through. broken: seeds that were not well, and tasks that could not be done."""

    seeds: int = 0
    broken: int = 0
    simulated_s: float = 0.0
    messages: int = 0
    cpu_s: float = 0.0

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
    begin = time.monotonic()
    volume = live_through(tasks, crew_of(args), hashes=args.hashes)[args.level]
    sys.stdout.write(f"{volume}; {time.monotonic() - begin:.0f} s in all\n")
    return 1 if volume.broken else 0


def _ci(args: argparse.Namespace) -> int:
    if args.out is not None:
        raise ValueError("--out keeps what came of --seeds, not of --ci")
    begin = time.monotonic()
    tasks = [task for level, numbers in CI_SEEDS.items() for task in chunks(numbers, CHUNK, level)]
    lived = live_through(tasks, crew_of(args))
    for level, volume in lived.items():
        sys.stdout.write(f"{level}: {volume}\n")
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


def live_through(tasks: Sequence[Task], crew: Crew, *, hashes: bool = False) -> dict[str, Volume]:
    """Have the tasks done, and tell all that broke. Returns how much it was, by level."""
    total = sum(len(task.seeds) for task in tasks)
    progress = Progress(total, "seeds")
    lived = {task.level: Volume() for task in tasks}
    broken = 0
    for row in crew(tasks):
        volume = lived[row.task.level]
        volume.seeds += len(row.task.seeds)
        volume.cpu_s += row.cpu_s
        for outcome in row.outcomes:
            volume.messages += outcome.messages
            volume.simulated_s += outcome.at_us / 1_000_000
            if hashes:
                progress.clear()
                sys.stdout.write(f"{outcome.seed} {outcome.trace_hash} {outcome.property_id}\n")
            if not outcome.is_well:
                volume.broken += 1
                progress.clear()
                _tell_broken(row, outcome)
        if row.error:
            volume.broken += 1
            progress.clear()
            sys.stdout.write(
                f"seeds {row.task.seeds[0]}-{row.task.seeds[-1]} could not be lived through: {row.error}\n"
            )
        broken = sum(each.broken for each in lived.values())
        progress.add(len(row.task.seeds), f"{broken} broken" if broken else "")
    progress.clear()
    return lived


def _tell_broken(row: Row, outcome: Outcome) -> None:
    again = command(f"--seed {outcome.seed}", row.task.level, row.task.mutant_id)
    sys.stdout.write(f"seed {outcome.seed}: {outcome.property_id} {outcome.text}\n  again: {again}\n")
    sys.stdout.flush()
