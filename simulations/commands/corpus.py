"""`corpus`: runs the plans that once broke a property, and writes their table."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from simulations.commands.arguments import AGAIN, add_jobs
from simulations.running.progress import Progress
from simulations.running.tasks import Task
from simulations.running.workers import rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from simulations.corpus import Entry
    from simulations.corpus.table import Seen

SAYS = "run the plans of the corpus: no property may break; with --verify each breaks with its mutant"
CHUNK = 8


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--verify", action="store_true", help="also run each with its mutant, which must break its property"
    )
    what.add_argument("--table", action="store_true", help="the same, and write corpus/README.md with the commit")
    what.add_argument("--list", action="store_true", help="print the entries and do nothing else")
    what.add_argument(
        "--fill", nargs="*", metavar="ID", help="find a plan for these mutants (all without an entry) and shrink it"
    )
    what.add_argument(
        "--pages", type=Path, metavar="DIR", help="write an HTML page of each entry with its mutant to DIR"
    )
    add_jobs(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where no plan breaks, and with --verify each mutant is caught by the property of its entry."""
    from simulations.corpus import entries

    corpus = list(entries())
    if args.list:
        for entry in corpus:
            sys.stdout.write(f"{entry.name:12} {entry.property_id:6} {entry.mutant_id:6} {entry.found}\n")
        return 0
    if args.fill is not None:
        return _fill(args.fill, {entry.mutant_id for entry in corpus})
    if args.pages is not None:
        return write_pages(corpus, args.pages)
    broken: dict[str, int] = {}
    wrong = replay(corpus, args.jobs, verify=args.verify or args.table, broken=broken)
    if args.table:
        _write_table(corpus, broken)
    return 1 if wrong else 0


def replay(corpus: Sequence[Entry], jobs: int, *, verify: bool = False, broken: dict[str, int] | None = None) -> int:
    """Run all entries; returns how many do not have the expected result. verify: run them with their mutants too;
    broken: receives name -> decisions of the schedule, for each entry that breaks as expected.
    """
    tasks = list(_tasks(corpus, verify=verify))
    progress = Progress(sum(len(task.plans) for task in tasks), "plans")
    begin = time.monotonic()
    expected = {entry.name: entry.property_id for entry in corpus}
    wrong = 0
    for row in rows(tasks, jobs):
        progress.add(len(row.task.plans))
        progress.clear()
        if row.error:
            wrong += 1
            sys.stdout.write(f"{row.task.mutant_id or 'plans'} could not be run: {row.error}\n")
        for name, outcome in zip(row.task.names, row.outcomes, strict=False):
            wanted = expected[name] if row.task.mutant_id else ""
            if outcome.property_id == wanted:
                if wanted and broken is not None:
                    broken[name] = outcome.decisions
                continue
            wrong += 1
            with_mutant = f" with {row.task.mutant_id}" if row.task.mutant_id else ""
            result = f"breaks {outcome.property_id}: {outcome.text}" if outcome.property_id else "breaks nothing"
            sys.stdout.write(f"{name}{with_mutant} {result}{wanted and f'; {wanted} was expected'}\n")
    progress.clear()
    passed_s = time.monotonic() - begin
    sys.stdout.write(f"{len(corpus)} plans of the corpus, {wrong} with an unexpected result, in {passed_s:.0f} s\n")
    sys.stdout.flush()
    return wrong


def _tasks(corpus: Sequence[Entry], *, verify: bool) -> Iterator[Task]:
    for level in sorted({entry.level for entry in corpus}):
        of_level = [entry for entry in corpus if entry.level == level]
        for first in range(0, len(of_level), CHUNK):
            part = of_level[first : first + CHUNK]
            names, plans = tuple(each.name for each in part), tuple(each.plan for each in part)
            yield Task((), level, plans=plans, names=names)
    if verify:
        for entry in corpus:
            if entry.mutant_id:
                yield Task((), entry.level, entry.mutant_id, plans=(entry.plan,), names=(entry.name,))


def _write_table(corpus: Sequence[Entry], broken: dict[str, int]) -> None:
    from simulations.corpus.table import README, Seen, read_seen, render
    from simulations.mutants.table import MUTANTS

    seen: dict[str, Seen] = read_seen(README.read_text()) if README.exists() else {}
    git = shutil.which("git")
    if git is None:
        raise ValueError("the table names the commit, and git is not installed")
    asked = [git, "-C", str(README.parent), "rev-parse", "--short=9", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    seen |= {name: Seen(decisions, commit) for name, decisions in broken.items()}
    README.write_text(render(corpus, MUTANTS, seen))
    sys.stdout.write(f"{README}\n")


def _fill(ids: Sequence[str], there: set[str]) -> int:
    """Find and shrink a plan for each mutant in its own process; returns how many are not caught."""
    from simulations.mutants.table import MUTANTS, find

    missed = 0
    for mutant in [find(each) for each in ids] or [each for each in MUTANTS.values() if each.id not in there]:
        argv = ["shrink", "--seed", f"1-{mutant.seeds}", "--mutant", mutant.id, "--level", mutant.level, "--corpus"]
        sys.stdout.write(f"{mutant.id} {mutant.name}\n")
        sys.stdout.flush()
        missed += subprocess.run([*AGAIN, *argv], check=False).returncode != 0
    return missed


def write_pages(corpus: Sequence[Entry], directory: Path) -> int:
    """Write each page in its own process, because a mutant needs one; returns how many failed."""
    directory.mkdir(parents=True, exist_ok=True)
    missing = 0
    for entry in corpus:
        path = directory / f"{entry.name}.html"
        argv = ["run", "--entry", entry.name, "--story", "0", "--page", str(path)]
        subprocess.run([*AGAIN, *argv], check=False, stdout=subprocess.DEVNULL)
        missing += not path.exists()
    sys.stdout.write(f"{len(corpus) - missing} of {len(corpus)} pages are in {directory}\n")
    return missing
