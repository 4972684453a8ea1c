"""`mutants`: puts deliberate bugs into the code, each in its own process, and checks that simulation catches them."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from simulations.commands import generated, kills
from simulations.commands.arguments import seeds
from simulations.commands.crew import Crew, add_crew, crew_of
from simulations.mutants.table import TAGS, has_tag
from simulations.running.progress import Progress
from simulations.running.tasks import Row, Task

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from simulations.mutants.row import Mutant

SAYS = "put deliberate bugs into the code and check that simulation catches them"


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="which mutants (all)")
    parser.add_argument("--seeds", type=seeds, metavar="A-B", help="try these seeds (those that each mutant names)")
    parser.add_argument(
        "--subject", metavar="WORD", help="those of one subject: votes, persistence, watermark, truncation …"
    )
    parser.add_argument(
        "--tag",
        choices=TAGS,
        help="gate: required by the gate; history: bugs that projects had; peer: one-line mutants of Kafka's raft",
    )
    kills.add(parser)
    generated.add(parser)
    parser.add_argument("--surviving", action="store_true", help="those that no world is known to catch (BOUNDARY.md)")
    parser.add_argument("--list", action="store_true", help="print the mutants and do nothing else")
    parser.add_argument(
        "--by-unit-tests", action="store_true", help="run the unit tests of the changed modules, and no world"
    )
    add_crew(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where each mutant is caught, by worlds or by unit tests; with --surviving, where none is."""
    from simulations.mutants.table import MUTANTS, SURVIVORS, find

    if args.generic:
        return generated.execute(args)
    chosen = [find(each) for each in args.ids] or list(MUTANTS.values())
    if args.subject:
        chosen = [mutant for mutant in chosen if mutant.subject == args.subject]
    if args.tag:
        chosen = [mutant for mutant in chosen if has_tag(mutant, args.tag)]
    if args.list:
        for mutant in chosen:
            sys.stdout.write(f"{mutant.id:5} {mutant.subject:12} {mutant.name} ({mutant.origin})\n")
        return 0
    if args.surviving:
        return 0 if hunt(list(SURVIVORS.values()), crew_of(args), args.seeds) == len(SURVIVORS) else 1
    if args.by_unit_tests:
        return 1 if try_unit_tests(chosen) else 0
    code = kills.execute(args, chosen, crew_of(args))
    if code is not None:
        return code
    return 1 if hunt(chosen, crew_of(args), args.seeds) else 0


def hunt(chosen: Sequence[Mutant], crew: Crew, numbers: Iterable[int] | None = None) -> int:
    """Try each mutant with its seeds, and print the results; returns how many are not caught."""
    by_id = {mutant.id: mutant for mutant in chosen}
    tasks = [
        Task(tuple(numbers or range(1, mutant.seeds + 1)), mutant.level, mutant.id, until_broken=True)
        for mutant in chosen
    ]
    progress = Progress(len(tasks), "mutants")
    begin = time.monotonic()
    missed: list[str] = []
    caught_by: dict[str, int] = {}
    for row in crew(tasks):
        mutant = by_id[row.task.mutant_id]
        progress.clear()
        is_caught = not row.error and bool(row.outcomes) and not row.outcomes[-1].is_well
        if not is_caught:
            missed.append(mutant.id)
        if is_caught:
            caught_by[row.outcomes[-1].property_id] = caught_by.get(row.outcomes[-1].property_id, 0) + 1
        sys.stdout.write(_line(mutant, row, is_caught=is_caught))
        sys.stdout.flush()
        progress.add(1, f"{len(missed)} missed" if missed else "")
    progress.clear()
    passed_s = time.monotonic() - begin
    sys.stdout.write(f"{len(tasks)} mutants, {len(tasks) - len(missed)} caught in {passed_s:.0f} s")
    sys.stdout.write(f"; missed: {', '.join(missed)}\n" if missed else "\n")
    by = sorted(caught_by.items(), key=lambda entry: -entry[1])
    sys.stdout.write(f"caught first by: {', '.join(f'{name} {count}' for name, count in by)}\n")
    sys.stdout.flush()
    return len(missed)


def try_unit_tests(chosen: Sequence[Mutant]) -> int:
    """Run the unit tests of the modules that each mutant changes, and print the first that fails; returns how many
    mutants are missed.
    """
    from simulations.running.unit_tests import first_failure

    progress = Progress(len(chosen), "mutants tried with unit tests")
    missed = 0
    for mutant in chosen:
        failure = first_failure(mutant.id, [edit.module for edit in mutant.edits])
        missed += not failure
        progress.clear()
        sys.stdout.write(f"{mutant.id:5} {mutant.name}: {failure or 'MISSED'}\n")
        sys.stdout.flush()
        progress.add(1)
    progress.clear()
    sys.stdout.write(f"{len(chosen)} mutants, {len(chosen) - missed} caught by the unit tests of the same modules\n")
    return missed


def _line(mutant: Mutant, row: Row, *, is_caught: bool) -> str:
    title = f"{mutant.id:5} {mutant.name}"
    if row.error:
        return f"{title}: CANNOT BE TRIED: {row.error.strip().splitlines()[-1]}\n"
    if not is_caught:
        return f"{title}: MISSED in {len(row.outcomes)} seeds, {row.cpu_s:.0f} s\n"
    last = row.outcomes[-1]
    by = (
        last.property_id
        if not mutant.expected or last.property_id in mutant.expected
        else f"{last.property_id}, not {'/'.join(mutant.expected)}"
    )
    return f"{title}: {by} at seed {last.seed} ({len(row.outcomes)} seeds, {row.cpu_s:.1f} s)\n"
