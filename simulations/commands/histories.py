"""`histories`: checks that the history checker decides every history, and agrees with trying all orders."""

from __future__ import annotations

import sys
import time
from random import Random
from typing import TYPE_CHECKING

from simulations.commands.arguments import positive, seeds
from simulations.running.progress import Progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

SAYS = "check the histories of clusters' clients, and the history checker itself"


def add(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument(
        "--seeds", type=seeds, default=range(1, 51), metavar="A-B", help="clusters of these seeds (1-50)"
    )
    parser.add_argument(
        "--random",
        type=positive,
        default=6000,
        metavar="N",
        help="number of small random histories for which all orders are tried (6000)",
    )


def execute(args: argparse.Namespace) -> int:
    """Returns 0 where all histories are decided, none is wrong, and the checker agrees with trying all orders."""
    return _worlds(args.seeds) | _small(args.random)


def _worlds(chosen: Iterable[int]) -> int:
    """Check the history of each world as its recovery phase does, and measure the time."""
    from simulations.cluster.level import draw
    from simulations.cluster.recovery_phase import BUDGET
    from simulations.cluster.run import ClusterRun
    from simulations.histories.controller_api import ControllerApi
    from simulations.histories.linearizable import check

    numbers = list(chosen)
    progress = Progress(len(numbers), "clusters")
    taken_s: list[float] = []
    operations = lost = 0
    results = {"ok": 0, "violation": 0, "unknown": 0}
    for seed in numbers:
        run = ClusterRun(draw(seed))
        run.execute()
        history = run.recorder.operations
        begin = time.process_time()
        verdict = check(ControllerApi(), history, BUDGET)
        taken_s.append(time.process_time() - begin)
        results[verdict.result] += 1
        operations += len(history)
        lost += sum(each.returned is None for each in history)
        if not verdict.is_ok:
            sys.stdout.write(f"seed {seed}: {verdict}\n")
        progress.add(1)
    progress.clear()
    taken_s.sort()
    sys.stdout.write(
        f"{len(numbers)} clusters, {operations} operations, {lost} unanswered: {results['ok']} histories explained,"
        f" {results['violation']} are not, {results['unknown']} are undecided;"
        f" half within {_share(taken_s, 0.5):.3f} s of CPU, 99 of 100 within {_share(taken_s, 0.99):.3f} s\n"
    )
    return 1 if results["violation"] or results["unknown"] else 0


def _share(ascending: list[float], share: float) -> float:
    return ascending[min(int(len(ascending) * share), len(ascending) - 1)]


def _small(count: int) -> int:
    from simulations.histories.linearizable import check
    from simulations.histories.models import Register
    from simulations.histories.small import by_all_orders, random_history

    rng = Random(count)
    progress = Progress(count, "small histories")
    wrong = differ = 0
    for _ in range(count):
        history = random_history(rng)
        expected = by_all_orders(Register(0), history)
        wrong += not expected
        if check(Register(0), history).is_ok != expected:
            differ += 1
            sys.stdout.write("\n".join(["trying all orders gives another result:", *map(str, history), ""]))
        progress.add(1)
    progress.clear()
    sys.stdout.write(f"{count} small histories, {wrong} of them wrong; the checker differs for {differ}\n")
    return 1 if differ else 0
