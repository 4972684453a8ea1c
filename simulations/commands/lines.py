"""`lines`: which lines of production code run in the worlds of some seeds."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TYPE_CHECKING

from simulations.commands.arguments import add_jobs, positive
from simulations.running.progress import Progress

if TYPE_CHECKING:
    import argparse

    from simulations.running.lines import Reached

SAYS = "measure which lines of production code run in simulation"
TARGET = 0.92
CHUNK = 10

# Percentage of the seeds by level.
SHARES = {"raft": 27, "members": 13, "raft-long": 5, "controller": 30, "node": 15, "secured": 10}


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument(
        "--seeds", type=positive, default=500, metavar="N", help="number of seeds over all levels (500)"
    )
    parser.add_argument("--missed", action="store_true", help="print the lines that never ran")
    add_jobs(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where at least TARGET of the statements ran."""
    from simulations.running.lines import reached_lines, run_lines

    tasks = []
    for level, share in SHARES.items():
        count = max(1, args.seeds * share // 100)
        tasks += [(level, range(first, min(first + CHUNK, count + 1))) for first in range(1, count + 1, CHUNK)]
    progress = Progress(sum(len(seeds) for _, seeds in tasks), "seeds")
    ran: dict[str, set[int]] = {}
    # Spawned, because what the first import of a module runs counts too.
    with ProcessPoolExecutor(args.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        under_way = {pool.submit(run_lines, level, seeds): len(seeds) for level, seeds in tasks}
        for done in as_completed(under_way):
            for path, lines in done.result().items():
                ran.setdefault(path, set()).update(lines)
            progress.add(under_way[done])
    progress.clear()
    return _print(reached_lines(ran), with_lines=args.missed)


def _print(modules: list[Reached], *, with_lines: bool) -> int:
    total = sum(each.statements for each in modules)
    missed = sum(len(each.missed) for each in modules)
    for each in sorted(modules, key=lambda one: (-len(one.missed), one.module)):
        if each.missed:
            share = 100 - 100 * len(each.missed) / each.statements
            sys.stdout.write(f"{share:5.1f} %  {len(each.missed):4} of {each.statements:4} missed  {each.module}\n")
            if with_lines:
                sys.stdout.write(f"         {' '.join(map(str, each.missed))}\n")
    share = 1 - missed / total
    sys.stdout.write(f"{100 * share:.2f} % of {total} statements in {len(modules)} modules ran\n")
    return 0 if share >= TARGET else 1
