"""`shrink`: finds a smaller plan that breaks the same property."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulations.commands.arguments import AGAIN, PROGRAM, add_level, positive, seeds
from simulations.corpus import Entry, find, write
from simulations.running.tasks import guard

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from simulations.levels.table import Level
    from simulations.outcomes.outcome import Outcome
    from simulations.running.shrinking import Shrinker

    Found = tuple[Any, Any, Outcome, str, Shrinker, float]

SAYS = "make a plan that breaks a property as small as possible"


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--seed",
        type=seeds,
        metavar="N",
        help="the plan of a seed; of A-B, the first that breaks, and with --mutant only with it",
    )
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

    before = None if args.entry is None else find(args.entry)
    text = args.plan.read_text() if args.plan is not None else None
    if before is not None:
        text, args.level, args.mutant = before.plan, before.level, before.mutant_id
    level = load(args.level, args.mutant)
    from simulations.raft.small_schedules import tiny  # not before the mutant is in place

    guard()
    smallest = _smallest(level, args, text, tiny if args.level == "raft" else lambda _plan: ())
    if smallest is None:
        sys.stdout.write("no property is violated\n")
        return 1
    plan, small, outcome, where, shrinker, cpu_s = smallest
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


def _smallest(
    level: Level, args: argparse.Namespace, text: str | None, schedules: Callable[[Any], Iterable[Any]]
) -> Found | None:
    """The first plan that breaks a property, made small. With a mutant, one that breaks none without it."""
    from simulations.running.shrinking import Shrinker

    for plan, outcome, where in _breaking(level, args, text):
        if _breaks_without_mutant(level.show(plan), args):
            sys.stdout.write(f"{where} breaks a property without {args.mutant} too\n")
            continue
        begin = time.process_time()
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
        if not _breaks_without_mutant(level.show(small), args):
            return plan, small, outcome, where, shrinker, cpu_s
        sys.stdout.write(f"the smaller plan of {where} breaks a property without {args.mutant} too\n")
    return None


def _breaks_without_mutant(plan: str, args: argparse.Namespace) -> bool:
    """Whether a plan that breaks a property with the mutant does so without it, which shows nothing of the mutant. It
    runs in a process of its own, as this one has the mutant in it.
    """
    if not args.mutant:
        return False
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(plan)
        file.flush()
        argv = ["run", "--plan", file.name, "--level", args.level, "--story", "0"]
        code = subprocess.run([*AGAIN, *argv], stdout=subprocess.DEVNULL, check=False).returncode
    if code not in {0, 1}:
        raise ValueError(f"the plan cannot be run without {args.mutant}: exit code {code}")
    return code == 1


def _keep(args: argparse.Namespace, entry: Entry) -> None:
    """Write it to the corpus, to a file, or to standard output."""
    if args.corpus:
        sys.stdout.write(f"{write(entry)}\n")
    elif args.out is not None:
        args.out.write_text(entry.plan)
    else:
        sys.stdout.write(entry.plan)


def _breaking(level: Level, args: argparse.Namespace, text: str | None) -> Iterator[tuple[Any, Outcome, str]]:
    """Each plan that breaks a property, its outcome, and its name."""
    if text is not None:
        plan = level.read(text)
        outcome, _ = level.play(plan)
        if not outcome.is_well:
            yield plan, outcome, args.entry or args.plan.stem
        return
    for seed in args.seed:
        outcome, _ = level.play(level.draw(seed))
        if not outcome.is_well:
            yield level.draw(seed), outcome, f"seed {seed}"
