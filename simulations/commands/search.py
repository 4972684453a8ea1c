"""`search`: visits every state of a small world, over the real `raft.step`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulations.commands.arguments import positive
from simulations.commands.crew import add_spark
from simulations.running.progress import Progress

if TYPE_CHECKING:
    import argparse

    from simulations.spec.model import Scope
    from simulations.spec.search import Found

SAYS = "visit every state of a small world"
STATES_MAX = 3_000_000


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument(
        "--scope",
        default="",
        metavar="NAME|K=V,…",
        help="election, succession, addition, removal (these four), reconfiguration, addition-crash,"
        " fleet (with --spark), or limits such as epochs=1",
    )
    parser.add_argument("--mutant", default="", metavar="ID", help="with this mutant in the code")
    parser.add_argument(
        "--states-max",
        type=positive,
        default=STATES_MAX,
        metavar="N",
        help=f"stop after N states, for each part with --spark ({STATES_MAX})",
    )
    add_spark(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where no state breaks a property and the whole scope was visited."""
    if args.spark:
        return _by_fleet(args)
    if args.out is not None:
        raise ValueError("--out needs --spark MASTER")
    if args.mutant:
        from simulations.mutants.patching import install
        from simulations.mutants.table import find

        install(find(args.mutant))
    from simulations.spec.search import LARGE, SCOPES, search

    scopes = _scopes(args.scope, SCOPES, LARGE)
    code = 0
    for name, scope in scopes.items():
        progress = Progress(args.states_max, "states")
        done = 0

        def show(states: int, progress: Progress = progress) -> None:
            nonlocal done
            progress.add(states - done)
            done = states

        result = search(scope, args.states_max, show)
        progress.clear()
        _print(name, result)
        if result.broken or not result.is_whole:
            code = 1
    return code


def _by_fleet(args: argparse.Namespace) -> int:
    from simulations.fleet.exhaustive import parts_of, search_parts, states_in
    from simulations.spec.search import LARGE, OF_FLEET, SCOPES

    if args.mutant:
        raise ValueError("--mutant does not work with --spark: a mutant needs a process of its own")
    code = 0
    scopes = OF_FLEET if args.scope == "fleet" else _scopes(args.scope, SCOPES, {**LARGE, **OF_FLEET})
    with tempfile.TemporaryDirectory() as temporary:
        root = args.out or Path(temporary)
        for name, scope in scopes.items():
            result = search_parts(scope, args.states_max, master=args.spark, out=root / name)
            for part, of_it in zip(parts_of(scope), result.parts, strict=True):
                what = f"{name}, crash_of={part.crash_of}, lose_of={part.lose_of}"
                _print(what, of_it)
            sys.stdout.write(f"{name}: {result.states} states in {len(result.parts)} parts\n")
            code |= 0 if result.is_whole else 1
        sys.stdout.write(f"{states_in([root / name for name in scopes])} distinct states in all\n")
    return code


def _print(name: str, result: Found) -> None:
    for line in result.path:
        sys.stdout.write(f"  {line}\n")
    verdict = result.broken or ("complete" if result.is_whole else "not complete")
    sys.stdout.write(
        f"{name}: {result.states} states, {result.transitions} transitions, {result.steps} steps of the core,"
        f" {result.seconds:.0f} s: {verdict}\n"
    )
    sys.stdout.flush()


def _scopes(text: str, usual: dict[str, Scope], more: dict[str, Scope]) -> dict[str, Scope]:
    """The scopes that a text names: the usual ones where it is empty."""
    from simulations.spec.model import Scope

    if not text:
        return usual
    known = {**usual, **more}
    if text in known:
        return {text: known[text]}
    fields: dict[str, Any] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name not in Scope._fields or not value.isdecimal():
            raise ValueError(
                f"--scope {text}: {part!r} is neither one of {', '.join(known)} nor NAME=NUMBER"
                f" of {', '.join(Scope._fields)}"
            )
        fields[name] = bool(int(value)) if name == "led" else int(value)
    return {text: Scope(**fields)}
