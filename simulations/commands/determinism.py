"""`determinism`: that a run is a function of its plan: the same bytes in another process, whatever its hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from simulations.commands.arguments import add_jobs, add_level, seeds
from simulations.commands.progress import Progress
from simulations.workers import chunks, rows

if TYPE_CHECKING:
    import argparse

SAYS = "live worlds through twice in one process and again in fresh ones, and hold their traces against each other"
HASH_SEEDS = ("0", "1", "random")


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--seeds", type=seeds, default=range(1, 51), metavar="A-B", help="which (1-50)")
    add_jobs(parser)
    add_level(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where all traces of each seed are one."""
    first = _hashes_here(args)
    second = _hashes_here(args)
    wrong = {seed for seed in first if first[seed] != second[seed]}
    for hash_seed in HASH_SEEDS:
        other = _hashes_elsewhere(args, hash_seed)
        wrong |= {seed for seed in first if first[seed] != other.get(seed)}
    for seed in sorted(wrong):
        sys.stdout.write(f"seed {seed} differs\n{_first_difference(seed, args.level)}")
    sys.stdout.write(f"{len(first)} seeds, {2 + len(HASH_SEEDS)} times each: {len(wrong)} differ\n")
    return 1 if wrong else 0


def _hashes_here(args: argparse.Namespace) -> dict[int, str]:
    progress = Progress(len(args.seeds), "seeds")
    found = {}
    for row in rows(chunks(args.seeds, 10, args.level), args.jobs):
        if row.error:
            raise ValueError(row.error)
        progress.add(len(row.outcomes))
        found.update({outcome.seed: outcome.trace_hash for outcome in row.outcomes})
    progress.clear()
    return found


def _hashes_elsewhere(args: argparse.Namespace, hash_seed: str) -> dict[int, str]:
    numbers = f"{args.seeds[0]}-{args.seeds[-1]}"
    arguments = ["sweep", "--seeds", numbers, "--level", args.level, "--jobs", str(args.jobs), "--hashes"]
    told = subprocess.run(
        [sys.executable, "-m", "simulations", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONHASHSEED": hash_seed},
    ).stdout  # fmt: skip
    lines = [line.split() for line in told.splitlines()]
    return {int(words[0]): words[1] for words in lines if len(words) in {2, 3} and words[0].isdecimal()}


def _first_difference(seed: int, level: str) -> str:
    """The first entries in which two runs of a seed under other hash seeds are not the same."""
    from itertools import zip_longest

    from msgpack import Unpacker

    traces = []
    with tempfile.TemporaryDirectory() as directory:
        for hash_seed in HASH_SEEDS[:2]:
            path = Path(directory) / hash_seed
            arguments = ["run", "--seed", str(seed), "--level", level, "--trace", str(path)]
            subprocess.run(
                [sys.executable, "-m", "simulations", *arguments],
                capture_output=True, check=False, env={**os.environ, "PYTHONHASHSEED": hash_seed},
            )  # fmt: skip
            with path.open("rb") as file:
                traces.append([entry for packed in Unpacker(file) for entry in packed])
    for one, other in zip_longest(*traces):
        if one != other:
            return f"  first {one}\n  then  {other}\n"
    return "  under these two hash seeds it does not\n"
