"""`guide`: how many worlds it takes to catch mutants, guided and by luck alone, beside each other."""

from __future__ import annotations

import json
import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING

from simulations.commands.arguments import positive
from simulations.running.workers import guard

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

SAYS = "compare guided worlds with those that luck alone draws, by how many it takes to catch mutants"

SHARE = 0.6
"""Guidance is worth its while where it takes no more than this share of what luck takes."""


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("ids", nargs="+", metavar="ID", help="these mutants")
    parser.add_argument("--times", type=positive, default=5, metavar="N", help="so often, each from other seeds (5)")
    parser.add_argument("--most", type=positive, default=300, metavar="N", help="give up after so many worlds (300)")
    parser.add_argument("--one", choices=("guided", "luck"), help="only hunt one mutant in this way, and print counts")


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where guidance takes no more than SHARE of the worlds, in the median of the mutants."""
    if args.one is not None:
        counts = [_hunt(args.ids[0], time, args.most, guided=args.one == "guided") for time in range(args.times)]
        sys.stdout.write(f"{json.dumps(counts)}\n")
        return 0
    shares = []
    for mutant_id in args.ids:
        by_luck, guided = (_counts(mutant_id, args, how) for how in ("luck", "guided"))
        shares.append(median(guided) / median(by_luck))
        sys.stdout.write(
            f"{mutant_id:5} by luck {median(by_luck):.0f} {by_luck}, guided {median(guided):.0f} {guided}:"
            f" {shares[-1]:.2f}\n"
        )
        sys.stdout.flush()
    sys.stdout.write(f"median share of {len(shares)} mutants: {median(shares):.2f}\n")
    return 0 if median(shares) <= SHARE else 1


def _counts(mutant_id: str, args: argparse.Namespace, how: str) -> Sequence[int]:
    """By a process of its own, as it has a mutant in it."""
    argv = ["guide", mutant_id, "--times", str(args.times), "--most", str(args.most), "--one", how]
    done = subprocess.run([sys.executable, "-m", "simulations", *argv], check=True, stdout=subprocess.PIPE, text=True)
    counts: list[int] = json.loads(done.stdout)
    return counts


def _hunt(mutant_id: str, time: int, most: int, *, guided: bool) -> int:
    """How many worlds it took; one more than `most` where none of them did."""
    from simulations.levels.table import load
    from simulations.mutants.table import find
    from simulations.running.guidance import Guide

    level = load(find(mutant_id).level, mutant_id if time == 0 else "")
    guard()
    root = 1_000_000 * (time + 1)
    guide = Guide(level, root)
    for count in range(1, most + 1):
        outcome = guide.play(guide.plan()) if guided else level.play(level.draw(root + count))[0]
        if not outcome.is_well:
            return count
    return most + 1
