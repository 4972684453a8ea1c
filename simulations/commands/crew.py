"""The processes that do a command's work: on this machine, or on Spark; and whether rows are kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simulations.running import workers
from simulations.running.tasks import Row, Task

if TYPE_CHECKING:
    import argparse

Crew = Callable[[Sequence[Task]], Iterator[Row]]
"""Runs tasks, and yields the result of each, once."""


def add_crew(parser: argparse.ArgumentParser) -> None:
    """--jobs, --spark, --out"""
    from simulations.commands.arguments import add_jobs

    add_jobs(parser)
    add_spark(parser)


def add_spark(parser: argparse.ArgumentParser) -> None:
    """--spark, --out"""
    parser.add_argument("--spark", default="", metavar="MASTER", help="by a fleet, such as local[2], not by --jobs")
    parser.add_argument("--out", type=Path, metavar="DIR", help="store the outcomes as Parquet, in a new directory")


def crew_of(args: argparse.Namespace) -> Crew:
    """The crew that the arguments ask for. Raises ValueError if the directory of --out exists."""
    if args.out is not None and args.out.exists():
        raise ValueError(f"--out {args.out}: is there already; a directory that is not is wanted")
    if args.spark:
        from simulations.fleet.spark import rows

        return functools.partial(rows, master=args.spark, out=args.out)
    if args.out is not None:
        return functools.partial(_keep_rows, jobs=args.jobs, out=args.out)
    return functools.partial(workers.rows, jobs=args.jobs)


def _keep_rows(tasks: Sequence[Task], *, jobs: int, out: Path) -> Iterator[Row]:
    from simulations.fleet.table import Table

    numbers = {task: number for number, task in enumerate(tasks)}
    with Table(out) as table:
        for row in workers.rows(tasks, jobs):
            table.add(numbers[row.task], row)
            yield row
