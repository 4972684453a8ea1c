"""`coverage`: what the worlds of some seeds have come to, and what they have not (G3, G18)."""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

from simulations.commands.arguments import add_level, seeds
from simulations.commands.progress import Progress
from simulations.fleet.crew import add_crew, crew_of
from simulations.running.tasks import Task, chunks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from simulations.coverage.worlds import Worlds
    from simulations.levels.table import Level
    from simulations.running.tasks import Row

SAYS = "tell what the worlds of some seeds come to: faults, what roles make of messages, how they follow, moments"
CHUNK = 10


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--seeds", type=seeds, default=range(1, 101), metavar="A-B", help="which (1-100)")
    add_level(parser)
    parser.add_argument("--also", default="", metavar="LEVEL", help="the same seeds of another level, too")
    parser.add_argument("--luck-alone", action="store_true", help="without the plans that are made for what is rare")
    add_crew(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where every world was well, every kind of fault struck, and nothing impossible was seen."""
    from simulations.coverage.uncommon import tasks_of
    from simulations.coverage.worlds import Worlds
    from simulations.levels.table import load

    levels = {name: load(name) for name in (args.level, args.also) if name}
    tasks = [task for name in levels for task in chunks(args.seeds, CHUNK, name)]
    rare = [] if args.luck_alone or args.level != "raft" else tasks_of()
    tasks = [task._replace(counted=True) for task in chain(tasks, rare)]
    found, by_luck = Worlds(), Worlds()
    broken: list[str] = []
    progress = Progress(sum(len(task.seeds) + len(task.plans) for task in tasks), "worlds")
    for row in crew_of(args)(tasks):
        _add(row, levels[row.task.level], found, None if row.task.plans else by_luck, broken)
        progress.add(len(row.task.seeds) + len(row.task.plans))
    progress.clear()
    idle = [name for name in levels[args.level].FAULTS if name not in found.struck]
    _tell(found, idle)
    if found.count > by_luck.count:
        _tell_rare(found, by_luck)
    sys.stdout.write("".join(f"{text}\n" for text in broken))
    return 1 if broken or idle or found.strange() else 0


def _add(row: Row, level: Level, found: Worlds, by_luck: Worlds | None, broken: list[str]) -> None:
    task = row.task
    plans: Iterable[Any] = chain(map(level.read, task.plans), map(level.draw, task.seeds))
    for plan, outcome in zip(plans, row.outcomes, strict=False):
        for worlds in (found, by_luck):
            if worlds is not None:
                worlds.add(plan, outcome)
        if not outcome.is_well:
            broken.append(f"seed {outcome.seed} of {task.level}: {outcome.property_id} {outcome.text}")
    if row.error:
        broken.append(f"{_named(task)}: {row.error}")


def _named(task: Task) -> str:
    return f"seeds {task.seeds[0]}-{task.seeds[-1]} of {task.level}" if task.seeds else ", ".join(task.names)


def _tell(found: Worlds, idle: list[str]) -> None:
    say = sys.stdout.write
    say(f"{found.count} worlds\n")
    say(f"software of several releases, or levels that change: in {found.mixed * 100 / found.count:.1f} of 100\n")
    say("faults, in how many of 100 worlds each struck:\n")
    _columns(f"{name} {count * 100 / found.count:.1f}" for name, count in sorted(found.struck.items()))
    say("told by the core:\n")
    _columns(f"{name} {count}" for name, count in sorted(found.notes.items()))
    say("moments:\n")
    _columns(
        f"{name.partition(': ')[2]} {count}" for name, count in sorted(found.seen.items()) if name.startswith("moment")
    )
    say(f"faults that never struck: {', '.join(idle) or 'none'}\n")
    for of, names, total in found.unseen():
        say(f"{of}: {total - len(names)} of {total} seen ({100 * (total - len(names)) / total:.1f} %); not:\n")
        _columns(name.partition(": ")[2] for name in names)
    for name in found.strange():
        say(f"seen, and thought impossible: {name}\n")


def _tell_rare(found: Worlds, by_luck: Worlds) -> None:
    """How much of it luck alone came to."""
    say = sys.stdout.write
    say(f"by luck alone, {by_luck.count} worlds:")
    parts = (f" {of} {total - len(names)} of {total}" for of, names, total in by_luck.unseen())
    say(f"{','.join(parts)}; by {found.count - by_luck.count} plans for what is rare:\n")
    _columns(name for name in found.seen if name not in by_luck.seen)


def _columns(texts: Iterable[str]) -> None:
    line = " "
    for text in texts:
        if len(line) + len(text) > 118:
            sys.stdout.write(f"{line}\n")
            line = " "
        line += f" {text};"
    sys.stdout.write(f"{line}\n")
