"""`spec`: checks worlds or mutants with the executable specification alone, and measures its cost (G16, G18)."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from simulations.commands.arguments import positive, seeds
from simulations.commands.crew import Crew, add_crew, crew_of
from simulations.running.progress import Progress
from simulations.running.tasks import Task

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from simulations.mutants.row import Mutant
    from simulations.spec.pairs import Pair

SAYS = "check worlds, or mutants, with the executable specification alone"


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--seeds", type=seeds, default=range(1, 101), metavar="A-B", help="which worlds (1-100)")
    parser.add_argument(
        "--mutants",
        action="store_true",
        help="count the mutants of raft and of its voters (R, M) that it rejects by itself",
    )
    parser.add_argument(
        "--worlds",
        type=positive,
        default=8,
        metavar="N",
        help="worlds for each mutant, besides those known to catch it (8)",
    )
    parser.add_argument("--missing", action="store_true", help="print the pairs of actions that were not seen")
    add_crew(parser)


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where no world is refused; with --mutants, where 60 % of the mutants are."""
    return _mutants(args.worlds, crew_of(args)) if args.mutants else _worlds(args)


def _worlds(args: argparse.Namespace) -> int:
    from simulations.raft.level import draw
    from simulations.raft.run import Run
    from simulations.spec.pairs import feasible
    from simulations.spec.validator import Validator

    spent = _clock_methods(Validator, "on_stepped", "on_recovered")
    pairs: Counter[Pair] = Counter()
    refused = 0
    progress = Progress(len(args.seeds), "seeds")
    begin = time.process_time()
    for seed in args.seeds:
        run = Run(draw(seed))
        outcome = run.execute()
        pairs.update(run.watch.validator.pairs)
        if outcome.refused:
            refused += 1
            progress.clear()
            sys.stdout.write(f"seed {seed}: {outcome.refused}\n")
        progress.add(1)
    progress.clear()
    rest = time.process_time() - begin - spent[0]
    known = feasible()
    missing = [pair for pair in known if pair not in pairs]
    sys.stdout.write(
        f"{len(args.seeds)} worlds, {refused} refused; the specification takes {100 * spent[0] / rest:.0f} % of CPU"
        f" time on top; {len(known) - len(missing)} of {len(known)} pairs of actions seen"
        f" ({100 - 100 * len(missing) / len(known):.0f} %)\n"
    )
    strange = [pair for pair in pairs if pair not in set(known)]
    for was, now in strange:
        sys.stdout.write(f"seen, but listed as impossible: {was}, {now}\n")
    if args.missing:
        sys.stdout.write("".join(f"not seen: {was}, {now}\n" for was, now in missing))
    return 1 if refused or strange else 0


def _clock_methods(cls: Any, *names: str) -> list[float]:
    """Measure the CPU time of some methods. Returns a list with one number: the sum, in seconds."""
    spent = [0.0]

    def around(act: Callable[..., None]) -> Callable[..., None]:
        def run_clocked(*args: Any) -> None:
            begin = time.process_time()
            act(*args)
            spent[0] += time.process_time() - begin

        return run_clocked

    for name in names:
        setattr(cls, name, around(getattr(cls, name)))
    return spent


def _mutants(worlds: int, crew: Crew) -> int:
    """Count the mutants of which the specification refuses a step, whatever other properties say. Worlds that are known
    to catch a mutant are tried first.
    """
    from simulations.corpus import entries
    from simulations.mutants import kills
    from simulations.mutants.table import MUTANTS

    levels = {"raft", "members"}
    hidden = {mutant.id: mutant for mutant in MUTANTS.values() if mutant.level in levels and mutant.id[0] in "RM"}
    kept = kills.read()
    hints = {mutant_id: kills.hints(kept.get(mutant_id, [])) for mutant_id in hidden}
    plans = {entry.mutant_id: (entry.plan,) for entry in entries()}
    total = len(hidden)
    progress = Progress(total, "mutants")
    first = [Task(hints[each][:2], mutant.level, each, plans=plans.get(each, ())) for each, mutant in hidden.items()]
    _reject(first, hidden, crew, progress)
    rest = [
        Task(tuple(dict.fromkeys((*hints[each][2:], *range(1, worlds + 1)))), mutant.level, each)
        for each, mutant in hidden.items()
    ]
    _reject(rest, hidden, crew, progress)
    progress.clear()
    share = 100 * (total - len(hidden)) / total
    sys.stdout.write(f"{total - len(hidden)} of {total} rejected ({share:.0f} %); not: {', '.join(hidden) or 'none'}\n")
    return 0 if share >= 60 else 1


def _reject(tasks: list[Task], hidden: dict[str, Mutant], crew: Crew, progress: Progress) -> None:
    """Run worlds, and remove the mutants of which a step is refused from `hidden`."""
    for row in crew([task for task in tasks if task.seeds or task.plans]):
        refusal = next((outcome for outcome in row.outcomes if outcome.refused), None)
        if refusal is not None:
            mutant = hidden.pop(row.task.mutant_id)
            progress.clear()
            sys.stdout.write(_line(mutant, refusal.seed, refusal.refused))
            sys.stdout.flush()
            progress.add(1)


def _line(mutant: Mutant, seed: int, refused: str) -> str:
    _, _, guard = refused.partition("; ")
    return f"{mutant.id:5} {mutant.name}: seed {seed}: {guard[:160]}\n"
