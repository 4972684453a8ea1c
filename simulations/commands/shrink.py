"""`shrink`: finds a smaller plan that breaks the same property."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulations.commands.arguments import PROGRAM, add_level, positive, seeds
from simulations.corpus import Entry, find, write
from simulations.running.tasks import guard

if TYPE_CHECKING:
    import argparse

    from simulations.levels.table import Level
    from simulations.running.outcome import Outcome

SAYS = "make a plan that breaks a property as small as possible"


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seed", type=seeds, metavar="N", help="the plan of a seed; of A-B, the first that breaks")
    which.add_argument("--plan", type=Path, metavar="FILE", help="a plan, in JSON")
    which.add_argument("--entry", metavar="NAME", help="an entry of the corpus with its mutant, to shrink it further")
    which.add_argument("--report", action="store_true", help="print how small the plans of the corpus are")
    parser.add_argument("--mutant", default="", metavar="ID", help="with this mutant in the code")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the plan to a file (print it)")
    parser.add_argument("--corpus", action="store_true", help="store it in the corpus under the id of the mutant")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write an HTML page with both plans")
    parser.add_argument("--runs", type=positive, default=400, metavar="N", help="how many plans to try (400)")
    parser.add_argument("--seconds", type=positive, default=50, metavar="S", help="CPU seconds at most (50)")
    add_level(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where a plan that breaks a property was found and written, else 1."""
    if args.report:
        from simulations.commands.sizes import report

        return report()
    from simulations.levels.table import load
    from simulations.running.shrinking import Shrinker

    before = None if args.entry is None else find(args.entry)
    text = args.plan.read_text() if args.plan is not None else None
    if before is not None:
        text, args.level, args.mutant = before.plan, before.level, before.mutant_id
    level = load(args.level, args.mutant)
    from simulations.plans.small_schedules import tiny  # not before the mutant is in place

    guard()
    found = _first(level, args, text)
    if found is None:
        sys.stdout.write("no property is violated\n")
        return 1
    plan, outcome, where = found
    begin = time.process_time()
    schedules = tiny if args.level == "raft" else lambda _plan: ()
    shrinker = Shrinker(
        lambda other: level.play(other)[0], outcome.property_id, level.simpler, args.runs, args.seconds, schedules
    )
    small = shrinker.shrink(plan)
    cpu_s = time.process_time() - begin
    assert shrinker.outcome is not None, "a run is a function of its plan"
    sys.stdout.write(
        f"{outcome.property_id} of {where}: {len(plan.faults)} faults reduced to {len(small.faults)} and"
        f" {shrinker.outcome.decisions} decisions of noise, in {shrinker.runs} runs, {cpu_s:.1f} s\n"
    )
    name = args.entry or args.mutant or f"{args.level}-{where.replace(' ', '-')}"
    entry = Entry(name, level.show(small), args.level, args.mutant, outcome.property_id, where)
    if before is None:
        entry = entry._replace(original=level.show(plan), runs=shrinker.runs, cpu_s=round(cpu_s, 1))
    else:
        runs, cpu_s = before.runs + shrinker.runs, round(before.cpu_s + cpu_s, 1)
        entry = entry._replace(original=before.original or before.plan, found=before.found, runs=runs, cpu_s=cpu_s)
    _keep(args, entry)
    if args.page is not None:
        from simulations.commands.run import write_page

        write_page(args.page, level, small, f"{PROGRAM} {shlex.join(sys.argv[1:])}", entry.original)
    return 0


def _keep(args: argparse.Namespace, entry: Entry) -> None:
    """Write it to the corpus, to a file, or to standard output."""
    if args.corpus:
        sys.stdout.write(f"{write(entry)}\n")
    elif args.out is not None:
        args.out.write_text(entry.plan)
    else:
        sys.stdout.write(entry.plan)


def _first(level: Level, args: argparse.Namespace, text: str | None) -> tuple[Any, Outcome, str] | None:
    """The first plan that breaks a property, its outcome, and its name; None where none breaks."""
    if text is not None:
        plan = level.read(text)
        outcome, _ = level.play(plan)
        return None if outcome.is_well else (plan, outcome, args.entry or args.plan.stem)
    for seed in args.seed:
        outcome, _ = level.play(level.draw(seed))
        if not outcome.is_well:
            return level.draw(seed), outcome, f"seed {seed}"
    return None
