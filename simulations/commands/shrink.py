"""`shrink`: the smallest plan that still breaks what a seed or plan breaks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulations.commands.arguments import add_level, positive, seeds
from simulations.workers import guard

if TYPE_CHECKING:
    import argparse

    from simulations.levels import Level

SAYS = "make a plan that breaks a property as small as can be"


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seed", type=seeds, metavar="N", help="the plan of a seed; of A-B, the first that breaks")
    which.add_argument("--plan", type=Path, metavar="FILE", help="a plan, in JSON")
    parser.add_argument("--mutant", default="", metavar="ID", help="with this mutant in the code")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the plan there; else it is printed")
    parser.add_argument("--corpus", action="store_true", help="keep it in the corpus, under the mutant's id")
    parser.add_argument("--runs", type=positive, default=400, metavar="N", help="how many plans to try (400)")
    add_level(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where a plan that breaks was found and written."""
    from simulations.levels import load
    from simulations.shrinking import Shrinker

    text = args.plan.read_text() if args.plan is not None else None
    level = load(args.level, args.mutant)
    guard()
    found = _first(level, args, text)
    if found is None:
        sys.stdout.write("nothing breaks\n")
        return 1
    plan, property_id, where = found

    def is_broken(other: Any) -> bool:
        return level.play(other)[0].property_id == property_id

    shrinker = Shrinker(is_broken, level.plainer, args.runs)
    small = shrinker.shrink(plan)
    sys.stdout.write(
        f"{property_id} of {where}: {len(plan.faults)} faults came down to {len(small.faults)}, in {shrinker.runs}"
        " runs\n"
    )
    if args.corpus:
        from simulations.corpus import Entry, write

        name = args.mutant or f"{args.level}-{where.replace(' ', '-')}"
        sys.stdout.write(f"{write(Entry(name, level.show(small), args.level, args.mutant, property_id, where))}\n")
    elif args.out is not None:
        args.out.write_text(level.show(small))
    else:
        sys.stdout.write(level.show(small))
    return 0


def _first(level: Level, args: argparse.Namespace, text: str | None) -> tuple[Any, str, str] | None:
    """The first plan that breaks, what it breaks, and how to call it."""
    if text is not None:
        plan = level.read(text)
        outcome, _ = level.play(plan)
        return None if outcome.is_well else (plan, outcome.property_id, args.plan.stem)
    for seed in args.seed:
        plan = level.draw(seed)
        outcome, _ = level.play(level.draw(seed))
        if not outcome.is_well:
            return plan, outcome.property_id, f"seed {seed}"
    return None
