"""`mutants --generic`: ordinary mutants of a core, hunted by simulation alone, and what is said of those that live."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from simulations.commands.arguments import positive
from simulations.commands.progress import Progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from simulations.mutants.generic import Ordinary
    from simulations.mutants.ordinary import Found

SEEDS = range(1, 61)
TRIES_MAX = 20


def add(parser: argparse.ArgumentParser) -> None:
    """What `mutants` takes of its own for them."""
    parser.add_argument(
        "--generic",
        metavar="NAME",
        help="those made by rule from a core (raft, controller), package or module",
    )
    parser.add_argument("--sample", type=positive, metavar="N", help="so many of them, by luck")
    parser.add_argument("--sample-seed", type=int, default=1, metavar="N", help="another sample (1)")
    parser.add_argument(
        "--tries", type=positive, default=TRIES_MAX, metavar="N", help=f"worlds for each that come by it ({TRIES_MAX})"
    )
    parser.add_argument("--rows", type=Path, metavar="FILE", help="write down what comes of each; what is there stands")
    parser.add_argument(
        "--again", action="store_true", help="hunt those again that are written down as living and are not excused"
    )
    parser.add_argument("--unit-tests", type=positive, metavar="N", help="try unit tests on so many of the living, too")


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where each was caught, or is excused."""
    from simulations.mutants.generic import level_of, sample
    from simulations.mutants.ordinary import KILLED, Book, Hunt
    from simulations.mutants.survivors import read

    chosen = sample(args.generic, args.sample, args.sample_seed)
    if args.list:
        for each in chosen:
            sys.stdout.write(f"{each.id:45} {each.key}\n")
        return 0
    book = Book(args.rows)
    verdicts = read()

    def is_open(key: str) -> bool:
        found = book.found.get(key)
        if found is None:
            return True
        return bool(args.again) and found.outcome != KILLED and not (key in verdicts and verdicts[key].is_excused)

    todo = [each for each in chosen if is_open(each.key)]
    progress = Progress(len(todo), "mutants")
    for level in sorted({level_of(each.module) for each in todo}):
        some = [each for each in todo if level_of(each.module) == level]
        for found in Hunt(level, args.seeds or SEEDS, args.tries, book).run(some, args.jobs):
            progress.add(1, f"{found.outcome}: {found.key}")
    progress.clear()
    living = [book.found[each.key] for each in chosen if book.found[each.key].outcome != KILLED]
    left = _tell(len(chosen), living, [book.found[each.key] for each in chosen])
    if args.unit_tests:
        _try_unit_tests([each for each in chosen if each.key in left][: args.unit_tests])
    return 1 if left else 0


def _tell(count: int, living: Sequence[Found], found: Sequence[Found]) -> set[str]:
    """Print what came of it; returns the keys of those that live and are not excused."""
    from simulations.mutants.survivors import read

    verdicts = read()
    say = sys.stdout.write
    said: dict[str, int] = {}
    left: set[str] = set()
    for each in living:
        verdict = verdicts.get(each.key)
        word = "not explained" if verdict is None else verdict.verdict
        said[word] = said.get(word, 0) + 1
        if verdict is None or not verdict.is_excused:
            left.add(each.key)
            seen = f"{each.tries} worlds, {each.same} of them the same" if each.tries else "no world comes by it"
            say(f"{each.key} → {each.after[:60]}\n    {each.id}: {word}; {seen}\n")
    by: dict[str, int] = {}
    for each in found:
        if each.by:
            by[each.by] = by.get(each.by, 0) + 1
    killed = count - len(living)
    judged = killed + len(left)
    say(f"seen first by: {', '.join(f'{name} {n}' for name, n in sorted(by.items(), key=lambda item: -item[1]))}\n")
    say(f"of those that live: {', '.join(f'{word} {n}' for word, n in sorted(said.items())) or 'none'}\n")
    say(f"{sum(each.cpu_s for each in found):.0f} s of CPU; {count} mutants, {killed} caught; ")
    say(f"of {judged} that are bugs {killed * 100 / max(1, judged):.1f} %\n")
    return left


def _try_unit_tests(chosen: Sequence[Ordinary]) -> None:
    from simulations.mutants.mirrored import is_seen_by_tests

    caught = 0
    progress = Progress(len(chosen), "mutants before unit tests")
    for each in chosen:
        is_caught = is_seen_by_tests(each)
        caught += is_caught
        if not is_caught:
            progress.clear()
            sys.stdout.write(f"unit tests do not see {each.key}\n")
        progress.add(1)
    progress.clear()
    sys.stdout.write(f"unit tests of the same modules see {caught} of {len(chosen)} that simulation does not\n")
