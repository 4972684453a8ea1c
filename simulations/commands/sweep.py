"""`sweep`: many worlds, with or without a mutant; `--ci` runs the volume of the gate."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from simulations.commands.arguments import add_level, seeds
from simulations.commands.crew import Crew, add_crew, crew_of
from simulations.commands.run import command
from simulations.running.progress import Progress
from simulations.running.tasks import Row, Task, chunks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from simulations.outcomes.outcome import Outcome

SAYS = "run many worlds"
CHUNK = 10

# The seeds of the gate by level, the most expensive first, so that no process runs alone at the end.
CI_SEEDS = {
    "controller": range(1, 84), "node": range(1, 21), "secured": range(1, 21), "raft": range(1, 401),
    "members": range(1, 201), "raft-long": range(1, 610),
}  # fmt: skip


@dataclass(slots=True)
class Volume:
    """How much was run. broken: seeds in which a property broke, and tasks that failed."""

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
    """The least that the gate runs at these levels together (G12)."""

    levels: tuple[str, ...]
    seeds: int
    simulated_s: int


GOALS = (Goal(("raft", "raft-long"), 1000, 30_000), Goal(("controller",), 50, 500))


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seeds", type=seeds, metavar="A-B", help="the worlds of these seeds")
    which.add_argument("--ci", action="store_true", help="the seeds of the gate: 30,000 simulated seconds and more")
    parser.add_argument("--mutant", default="", metavar="ID", help="with this mutant in the code")
    parser.add_argument("--hashes", action="store_true", help="print the hash of each trace")
    add_crew(parser)
    add_level(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where no property broke, else 1."""
    if args.ci:
        return _ci(args)
    if args.mutant:
        tasks = [Task(tuple(args.seeds), args.level, args.mutant)]
    else:
        tasks = list(chunks(args.seeds, CHUNK, args.level))
    begin = time.monotonic()
    volume = run_tasks(tasks, crew_of(args), hashes=args.hashes)[args.level]
    sys.stdout.write(f"{volume}; {time.monotonic() - begin:.0f} s in all\n")
    return 1 if volume.broken else 0


def _ci(args: argparse.Namespace) -> int:
    if args.out is not None:
        raise ValueError("--out needs --seeds, not --ci")
    begin = time.monotonic()
    tasks = [task for level, numbers in CI_SEEDS.items() for task in chunks(numbers, CHUNK, level)]
    volumes = run_tasks(tasks, crew_of(args))
    for level, volume in volumes.items():
        sys.stdout.write(f"{level}: {volume}\n")
    is_short = False
    for goal in GOALS:
        seeds = sum(volumes[level].seeds for level in goal.levels)
        simulated_s = sum(volumes[level].simulated_s for level in goal.levels)
        is_met = seeds >= goal.seeds and simulated_s >= goal.simulated_s
        is_short |= not is_met
        sys.stdout.write(
            f"{', '.join(goal.levels)}: {seeds} seeds and {simulated_s:.0f} simulated s; {goal.seeds} and"
            f" {goal.simulated_s} are required: {'met' if is_met else 'NOT MET'}\n"
        )
    cpu_s = sum(volume.cpu_s for volume in volumes.values())
    sys.stdout.write(f"in all {cpu_s:.0f} s of CPU in {time.monotonic() - begin:.0f} s\n")
    return 1 if is_short or any(volume.broken for volume in volumes.values()) else 0


def run_tasks(tasks: Sequence[Task], crew: Crew, *, hashes: bool = False) -> dict[str, Volume]:
    """Do the tasks and print each world that breaks. Returns level -> volume."""
    total = sum(len(task.seeds) for task in tasks)
    progress = Progress(total, "seeds")
    volumes = {task.level: Volume() for task in tasks}
    broken = 0
    for row in crew(tasks):
        volume = volumes[row.task.level]
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
                _print_broken(row, outcome)
        if row.error:
            volume.broken += 1
            progress.clear()
            sys.stdout.write(f"seeds {row.task.seeds[0]}-{row.task.seeds[-1]} could not be run: {row.error}\n")
        broken = sum(each.broken for each in volumes.values())
        progress.add(len(row.task.seeds), f"{broken} broken" if broken else "")
    progress.clear()
    return volumes


def _print_broken(row: Row, outcome: Outcome) -> None:
    again = command(f"--seed {outcome.seed}", row.task.level, row.task.mutant_id)
    sys.stdout.write(f"seed {outcome.seed}: {outcome.property_id} {outcome.text}\n  again: {again}\n")
    sys.stdout.flush()
