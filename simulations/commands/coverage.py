"""`coverage`: what the worlds of some seeds have come to, and what they have not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from simulations.commands.arguments import add_level, seeds
from simulations.commands.progress import Progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from simulations.coverage import Coverage

SAYS = "tell what the worlds of some seeds come to: faults, transitions, messages by role, answers"


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--seeds", type=seeds, default=range(1, 101), metavar="A-B", help="which (1-100)")
    add_level(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where every kind of fault struck, and every transition between two roles was seen."""
    from simulations.coverage import Coverage
    from simulations.levels import load

    level = load(args.level)
    found = Coverage()
    progress = Progress(len(args.seeds), "seeds")
    for seed in args.seeds:
        plan = level.draw(seed)
        found.end(plan, level.play(plan, found.feed)[0])
        progress.add(1)
    progress.clear()
    idle = [name for name in level.FAULTS if name not in found.struck]
    _tell(found, idle)
    return 1 if idle or found.unseen_transitions() else 0


def _tell(found: Coverage, idle: list[str]) -> None:
    say = sys.stdout.write
    say(f"{found.worlds} worlds\n")
    say(f"software of several releases, or levels that change: in {found.mixed * 100 / found.worlds:.1f} of 100\n")
    say("faults, in how many of 100 worlds each struck:\n")
    _columns(f"{name} {count * 100 / found.worlds:.1f}" for name, count in sorted(found.struck.items()))
    say("roles, how often one followed another:\n")
    _columns(f"{was} → {now} {count}" for (was, now), count in sorted(found.transitions.items()))
    say(f"{len(found.pairs)} pairs of such steps\n")
    say("answers:\n")
    _columns(f"{name} {what} {count}" for (name, what), count in sorted(found.answers.items()))
    say("told by the core:\n")
    _columns(f"{name} {count}" for name, count in sorted(found.notes.items()))
    say(f"faults that never struck: {', '.join(idle) or 'none'}\n")
    say(f"steps never seen: {', '.join(f'{was} → {now}' for was, now in found.unseen_transitions()) or 'none'}\n")
    missing = ", ".join(f"{name} to a {role}" for role, name in found.unseen_requests())
    say(f"requests never seen: {missing or 'none'}\n")


def _columns(texts: Iterable[str]) -> None:
    line = " "
    for text in texts:
        if len(line) + len(text) > 118:
            sys.stdout.write(f"{line}\n")
            line = " "
        line += f" {text};"
    sys.stdout.write(f"{line}\n")
