"""`determinism`: checks that a run is a function of its plan: the same trace in any process, under any hash seed."""

from __future__ import annotations

import sys
import time
from itertools import chain, zip_longest
from random import SystemRandom
from typing import TYPE_CHECKING, Any, NamedTuple

from msgpack import Unpacker

from simulations.commands.arguments import add_jobs, add_level, seeds
from simulations.running.progress import Progress
from simulations.running.tasks import Task, chunks
from simulations.running.workers import rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from simulations.running.tasks import Row

SAYS = "run worlds twice in one process and again in fresh ones, and compare their traces"
CHUNK = 10
HASH_SEED_MAX = (1 << 32) - 1

# The seeds of the gate, by level.
CI_SEEDS = {
    "raft": range(1, 177), "raft-long": range(1, 5), "controller": range(1, 16), "node": range(1, 6),
    "secured": range(1, 6), "members": range(1, 31),
}  # fmt: skip


class Place(NamedTuple):
    """Where a trace comes from: a process with this hash seed, and the seeds that it ran; the trace is of the last."""

    hash_seed: str
    level: str
    seeds: tuple[int, ...]

    def __str__(self) -> str:
        times = self.seeds.count(self.seeds[-1])
        return f"PYTHONHASHSEED={self.hash_seed}{', the second time' if times > 1 else ''}"


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seeds", type=seeds, default=range(1, 51), metavar="A-B", help="which seeds (1-50)")
    which.add_argument("--ci", action="store_true", help="the seeds of the gate: 200 of all levels")
    parser.add_argument("--spark", default="", metavar="MASTER", help="also on this Spark master, such as local[2]")
    add_jobs(parser)
    add_level(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where all traces of each seed are equal."""
    return 1 if compare(CI_SEEDS if args.ci else {args.level: args.seeds}, args.jobs, args.spark) else 0


def compare(chosen: Mapping[str, range], jobs: int, spark: str = "") -> int:
    """Run seeds of some levels four times each; returns how many of them have different traces.

    Twice in one process with hash seed 0, once each in processes with hash seed 1 and a random one, and a fifth time on
    Spark where a master is given.
    """
    begin = time.monotonic()
    hash_seeds = ("0", "1", str(SystemRandom().randrange(2, HASH_SEED_MAX)))
    total = sum(len(numbers) for numbers in chosen.values())
    times = 1 + len(hash_seeds) + bool(spark)
    progress = Progress(total * times, "runs")
    first: dict[tuple[str, int], tuple[str, Place]] = {}
    different: dict[tuple[str, int], tuple[Place, Place]] = {}
    broken: set[tuple[str, int]] = set()
    cpu_s = 0.0
    runs = [(each, rows(_tasks(chosen, times=2 if each == "0" else 1), jobs, each)) for each in hash_seeds]
    for hash_seed, made in chain(runs, _by_fleet(chosen, spark) if spark else ()):
        for row in made:
            if row.error:
                raise ValueError(f"seeds {row.task.seeds} could not be run: {row.error}")
            cpu_s += row.cpu_s
            progress.add(len(row.outcomes))
            for place, outcome in enumerate(row.outcomes):
                key = row.task.level, outcome.seed
                now = Place(hash_seed, row.task.level, row.task.seeds[: place + 1])
                if not outcome.is_well:
                    broken.add(key)
                trace_hash, then = first.setdefault(key, (outcome.trace_hash, now))
                if outcome.trace_hash != trace_hash:
                    different.setdefault(key, (then, now))
    progress.clear()
    for (level, seed), places in sorted(different.items()):
        sys.stdout.write(f"seed {seed} of {level} differs\n{first_difference(*places)}")
    sys.stdout.write(
        f"{total} seeds, {times} times each, under PYTHONHASHSEED {', '.join(hash_seeds)}"
        f"{f', and on {spark}' if spark else ''}: {len(different)} differ, {len(broken)} broken;"
        f" {cpu_s:.0f} s of CPU in {time.monotonic() - begin:.0f} s\n"
    )
    sys.stdout.flush()
    return len(different)


def _by_fleet(chosen: Mapping[str, range], spark: str) -> Iterator[tuple[str, Iterator[Row]]]:
    """The runs on Spark, which sets one hash seed for all its workers."""
    from simulations.fleet.spark import rows as rows_of_fleet

    yield "0", rows_of_fleet(list(_tasks(chosen, times=1)), master=spark, out=None)


def _tasks(chosen: Mapping[str, range], *, times: int) -> Iterator[Task]:
    for level, numbers in chosen.items():
        for task in chunks(numbers, CHUNK, level):
            yield task._replace(seeds=task.seeds * times)


def first_difference(one: Place, other: Place) -> str:
    """The first entries in which two traces differ; both worlds are run again."""
    for before, after in zip_longest(_entries(one), _entries(other)):
        if before != after:
            return f"  {one}: {before}\n  {other}: {after}\n"
    return f"  run again, {one} and {other} have the same trace\n"


def _entries(place: Place) -> Iterator[Any]:
    (row,) = rows([Task(place.seeds, place.level, traced=True)], 1, place.hash_seed)
    unpacker = Unpacker()
    unpacker.feed(row.trace)
    for packed in unpacker:
        yield from packed
