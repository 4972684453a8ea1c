"""`coverage`: counts what happens in the worlds of some seeds, and what never does (G3, G18)."""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

from simulations.commands.arguments import add_level, seeds
from simulations.commands.crew import add_crew, crew_of
from simulations.running.progress import Progress
from simulations.running.tasks import Task, chunks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from simulations.coverage.worlds import Worlds
    from simulations.levels.table import Level
    from simulations.running.tasks import Row

SAYS = "count what happens in worlds: faults, outcomes of messages by role, sequences of roles and actions, moments"
CHUNK = 10


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--seeds", type=seeds, default=range(1, 101), metavar="A-B", help="which seeds (1-100)")
    add_level(parser)
    parser.add_argument("--also", default="", metavar="LEVEL", help="also the same seeds of another level")
    parser.add_argument("--seeds-alone", action="store_true", help="without the plans for uncommon events")
    add_crew(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where no property broke, every kind of fault struck, and nothing listed as impossible was seen."""
    from simulations.coverage.worlds import Worlds
    from simulations.levels.table import load
    from simulations.running.uncommon import tasks_of

    levels = {name: load(name) for name in (args.level, args.also) if name}
    tasks = [task for name in levels for task in chunks(args.seeds, CHUNK, name)]
    uncommon = [] if args.seeds_alone or args.level != "raft" else tasks_of()
    tasks = [task._replace(counted=True) for task in chain(tasks, uncommon)]
    all_worlds, by_seeds = Worlds(), Worlds()
    broken: list[str] = []
    progress = Progress(sum(len(task.seeds) + len(task.plans) for task in tasks), "worlds")
    for row in crew_of(args)(tasks):
        _add(row, levels[row.task.level], all_worlds, None if row.task.plans else by_seeds, broken)
        progress.add(len(row.task.seeds) + len(row.task.plans))
    progress.clear()
    idle = [name for name in levels[args.level].FAULTS if name not in all_worlds.struck]
    _print(all_worlds, idle)
    if all_worlds.count > by_seeds.count:
        _print_uncommon(all_worlds, by_seeds)
    sys.stdout.write("".join(f"{text}\n" for text in broken))
    return 1 if broken or idle or all_worlds.strange() else 0


def _add(row: Row, level: Level, all_worlds: Worlds, by_seeds: Worlds | None, broken: list[str]) -> None:
    task = row.task
    plans: Iterable[Any] = chain(map(level.read, task.plans), map(level.draw, task.seeds))
    for plan, outcome in zip(plans, row.outcomes, strict=False):
        for worlds in (all_worlds, by_seeds):
            if worlds is not None:
                worlds.add(plan, outcome)
        if not outcome.is_well:
            broken.append(f"seed {outcome.seed} of {task.level}: {outcome.property_id} {outcome.text}")
    if row.error:
        broken.append(f"{_task_name(task)}: {row.error}")


def _task_name(task: Task) -> str:
    return f"seeds {task.seeds[0]}-{task.seeds[-1]} of {task.level}" if task.seeds else ", ".join(task.names)


def _print(worlds: Worlds, idle: list[str]) -> None:
    say = sys.stdout.write
    say(f"{worlds.count} worlds\n")
    say(f"worlds with several releases or changing feature levels: {worlds.mixed * 100 / worlds.count:.1f} %\n")
    say("percentage of worlds in which each fault struck:\n")
    _columns(f"{name} {count * 100 / worlds.count:.1f}" for name, count in sorted(worlds.struck.items()))
    say("events of the core:\n")
    _columns(f"{name} {count}" for name, count in sorted(worlds.notes.items()))
    say("moments:\n")
    _columns(
        f"{name.partition(': ')[2]} {count}" for name, count in sorted(worlds.seen.items()) if name.startswith("moment")
    )
    say(f"faults that never struck: {', '.join(idle) or 'none'}\n")
    for of, names, total in worlds.unseen():
        say(f"{of}: {total - len(names)} of {total} seen ({100 * (total - len(names)) / total:.1f} %); not:\n")
        _columns(name.partition(": ")[2] for name in names)
    for name in worlds.strange():
        say(f"seen, but listed as impossible: {name}\n")


def _print_uncommon(worlds: Worlds, by_seeds: Worlds) -> None:
    """Print how much of it the seeds reach without the plans for uncommon events."""
    say = sys.stdout.write
    say(f"by {by_seeds.count} seeds alone:")
    parts = (f" {of} {total - len(names)} of {total}" for of, names, total in by_seeds.unseen())
    say(f"{','.join(parts)}; by {worlds.count - by_seeds.count} plans for uncommon events:\n")
    _columns(name for name in worlds.seen if name not in by_seeds.seen)


def _columns(texts: Iterable[str]) -> None:
    line = " "
    for text in texts:
        if len(line) + len(text) > 118:
            sys.stdout.write(f"{line}\n")
            line = " "
        line += f" {text};"
    sys.stdout.write(f"{line}\n")
