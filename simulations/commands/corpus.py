"""`corpus`: the plans that once broke something, lived through again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from simulations.commands.arguments import add_jobs
from simulations.commands.progress import Progress
from simulations.workers import Task, rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from simulations.corpus import Entry

SAYS = "live the plans of the corpus through again: each is well, and with --verify breaks with its mutant"
CHUNK = 8


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--verify", action="store_true", help="each also with its mutant, which must break it")
    parser.add_argument("--list", action="store_true", help="only print what there is")
    add_jobs(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where each is well, and with --verify each mutant is caught."""
    from simulations.corpus import entries

    found = list(entries())
    if args.list:
        for entry in found:
            sys.stdout.write(f"{entry.name:12} {entry.property_id:6} {entry.mutant_id:6} {entry.found}\n")
        return 0
    return 1 if replay(found, args.jobs, verify=args.verify) else 0


def replay(found: Sequence[Entry], jobs: int, *, verify: bool = False) -> int:
    """Live all through; returns how many are not as they should be."""
    tasks = list(_tasks(found, verify=verify))
    progress = Progress(sum(len(task.plans) for task in tasks), "plans")
    wrong = 0
    for row in rows(tasks, jobs):
        progress.add(len(row.task.plans))
        progress.clear()
        if row.error:
            wrong += 1
            sys.stdout.write(f"{row.task.mutant_id or 'plans'} could not be lived through: {row.error}\n")
        for name, outcome in zip(row.task.names, row.outcomes, strict=False):
            if row.task.mutant_id and outcome.is_well:
                wrong += 1
                sys.stdout.write(f"{name} is well, though {row.task.mutant_id} is in the code\n")
            elif not row.task.mutant_id and not outcome.is_well:
                wrong += 1
                sys.stdout.write(f"{name} breaks {outcome.property_id}: {outcome.text}\n")
    progress.clear()
    sys.stdout.write(f"{len(found)} plans of the corpus, {wrong} not as they should be\n")
    sys.stdout.flush()
    return wrong


def _tasks(found: Sequence[Entry], *, verify: bool) -> Iterator[Task]:
    for level in sorted({entry.level for entry in found}):
        of_level = [entry for entry in found if entry.level == level]
        for first in range(0, len(of_level), CHUNK):
            part = of_level[first : first + CHUNK]
            names, plans = tuple(each.name for each in part), tuple(each.plan for each in part)
            yield Task((), level, plans=plans, names=names)
    if verify:
        for entry in found:
            if entry.mutant_id:
                yield Task((), entry.level, entry.mutant_id, plans=(entry.plan,), names=(entry.name,))
