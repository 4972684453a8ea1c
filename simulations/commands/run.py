"""`run`: one world, and what happened in it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulations import corpus
from simulations.commands.arguments import PROGRAM, add_level

if TYPE_CHECKING:
    import argparse

    from simulations.levels.table import Level
    from simulations.outcomes.outcome import Outcome
    from simulations.world.trace import Entry

SAYS = "run one world and print the result"
STORY = 60


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seed", type=int, metavar="N", help="the world of a seed")
    which.add_argument("--plan", type=Path, metavar="FILE", help="the world of a plan, in JSON")
    which.add_argument("--entry", metavar="NAME", help="the world of an entry of the corpus, with its mutant")
    parser.add_argument("--mutant", default="", metavar="ID", help="with this mutant in the code")
    parser.add_argument(
        "--story",
        type=int,
        default=-1,
        metavar="N",
        help=f"print the last N entries of the trace ({STORY} if a property broke)",
    )
    parser.add_argument("--save-plan", type=Path, metavar="FILE", help="write the plan in JSON")
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="write an HTML page, broken or not (if broken, to a temporary file)"
    )
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write the whole trace in msgpack")
    add_level(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where every property held."""
    from simulations.levels.table import load
    from simulations.outcomes.story import story

    text = args.plan.read_text() if args.plan is not None else None
    original = ""
    if args.entry is not None:
        entry = corpus.find(args.entry)
        text, original, args.level, args.mutant = entry.plan, entry.original, entry.level, entry.mutant_id
    level = load(args.level, args.mutant)
    plan = level.draw(args.seed) if text is None else level.read(text)
    if args.save_plan is not None:
        args.save_plan.write_text(level.show(plan))
    if args.trace is not None:
        with args.trace.open("wb") as file:
            outcome, entries = level.play(plan, file.write)
    else:
        outcome, entries = level.play(plan)
    count = args.story if args.story >= 0 else (0 if outcome.is_well else STORY)
    for line in story(entries[len(entries) - min(count, len(entries)) :], level.FIELDS):
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(_summary(outcome))
    again = _again(args)
    if not outcome.is_well:
        sys.stdout.write(f"again: {again}\n")
    if args.page is not None or not outcome.is_well:
        path = args.page or Path(tempfile.gettempdir()) / f"simulation-{args.level}-{outcome.seed}{args.mutant}.html"
        write_page(path, level, plan, again, original)
        sys.stdout.write(f"page: {path}\n")
    return 0 if outcome.is_well else 1


def write_page(path: Path, level: Level, plan: Any, again: str, original: str = "") -> None:
    """Run a plan once more and write its HTML page. original: the plan before it was shrunk, as text."""
    from simulations.page.document import page

    text = level.show(plan)
    details: list[Entry] = []
    outcome, entries = level.play(level.read(text), on_detail=details.append)
    path.write_text(page(outcome, entries, text, again, level.FIELDS, original, details))


def _again(args: argparse.Namespace) -> str:
    if args.entry is not None:
        return f"{PROGRAM} run --entry {args.entry}"
    return command(f"--seed {args.seed}" if args.plan is None else f"--plan {args.plan}", args.level, args.mutant)


def command(where: str, level: str, mutant_id: str) -> str:
    """The command that runs a world again."""
    parts = [f"{PROGRAM} run", where]
    if level != "raft":
        parts.append(f"--level {level}")
    if mutant_id:
        parts.append(f"--mutant {mutant_id}")
    return " ".join(parts)


def _summary(outcome: Outcome) -> str:
    lines = [
        (
            f"seed {outcome.seed}: {outcome.at_us / 1_000_000:.3f} simulated seconds, {outcome.steps} steps,"
            f" {outcome.messages} messages, {outcome.committed} offsets committed, {outcome.acknowledged} writes"
            f" acknowledged, {outcome.epochs} epochs"
        ),
        f"faults: {', '.join(f'{name} {count}' for name, count in sorted(outcome.fired.items())) or 'none'}",
        f"trace {outcome.trace_hash}",
    ]
    if outcome.is_well:
        lines.append("every property held")
    else:
        lines.append(f"{outcome.property_id} IS BROKEN at {outcome.at_us / 1_000_000:.6f}: {outcome.text}")
    return "\n".join(lines) + "\n"
