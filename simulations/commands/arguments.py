"""Arguments that several commands share: seeds, jobs, a level."""

from __future__ import annotations

import argparse
import os
import re
import sys

# How these commands are called again; `python -m kraft_quorum.simulations` in an installation.
MODULE = __name__.removesuffix(".commands.arguments")
PROGRAM = f"python -m {MODULE}"
AGAIN = (sys.executable, "-m", MODULE)


def seeds(text: str) -> range:
    """`7`, `1-500`, inclusive, or `22-6400/64`, of which each 64th: 22, 86, …."""
    match = re.fullmatch(r"(\d+)(?:-(\d+)(?:/([1-9]\d*))?)?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a seed N nor a range A-B or A-B/STEP")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise argparse.ArgumentTypeError(f"{text} is empty")
    return range(first, last + 1, int(match[3] or 1))


def add_level(parser: argparse.ArgumentParser) -> None:
    """--level"""
    from simulations.levels.table import MODULES

    parser.add_argument("--level", default="raft", choices=sorted(MODULES), help="level of simulation (raft)")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """--jobs"""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument(
        "--jobs", type=positive, default=cores, metavar="N", help=f"number of worker processes ({cores})"
    )


def positive(text: str) -> int:
    """A number, at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)
