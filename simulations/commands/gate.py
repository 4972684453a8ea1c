"""`mutants --gate`: checks that what is known to catch a mutant still catches it."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from simulations.running.progress import Progress
from simulations.running.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from simulations.commands.crew import Crew
    from simulations.mutants.row import Mutant

SHARE = 0.9
WITHIN_S = 120
"""Goal on two idle cores, in seconds (G6); printed, and no reason to fail."""

MORE_SEEDS = 20
"""How many more seeds are tried where the stored seeds do not catch a mutant any more."""


def execute(chosen: Sequence[Mutant], crew: Crew, verified: Collection[str] = ()) -> int:
    """Returns 0 where at least SHARE of the mutants are caught, among them each mutant marked `ci`.

    verified: ids of mutants that are not tried and count as caught, because `corpus --verify` was run, which fails
    where one of its plans does not break the property of its entry.
    """
    begin = time.monotonic()
    caught = {mutant.id for mutant in chosen if mutant.id in verified}
    tasks = tasks_of([mutant for mutant in chosen if mutant.id not in caught])
    tried = {task.mutant_id for task in tasks} | caught
    by_corpus = f", {len(caught)} of them by the corpus" if caught else ""
    unknown = [mutant.id for mutant in chosen if mutant.id not in tried]
    missed: list[str] = []
    cpu_s = 0.0
    progress = Progress(len(tasks), "mutants")
    for row in crew(tasks):
        cpu_s += row.cpu_s
        progress.add(1, f"{len(missed)} missed" if missed else "")
        if row.error or not row.outcomes or row.outcomes[-1].is_well:
            missed.append(row.task.mutant_id)
        else:
            caught.add(row.task.mutant_id)
    progress.clear()
    share = len(caught) / max(len(chosen), 1)
    required = [mutant.id for mutant in chosen if mutant.ci and mutant.id not in caught]
    sys.stdout.write(
        f"{len(caught)} of {len(chosen)} mutants caught{by_corpus}, {share:.1%};"
        f" {SHARE:.0%} and each required mutant must be\n"
        f"{time.monotonic() - begin:.0f} s, {cpu_s:.0f} s of CPU; the goal is {WITHIN_S} s on two idle cores\n"
    )
    for what, names in (
        ("required mutants not caught", required), ("not caught", sorted(missed)), ("nothing known to catch", unknown),
    ):  # fmt: skip
        if names:
            sys.stdout.write(f"{what}: {', '.join(names)}\n")
    sys.stdout.flush()
    return 0 if share >= SHARE and not required else 1


def tasks_of(chosen: Sequence[Mutant]) -> list[Task]:
    """A task for each mutant with a known kill, and for each required one, the most expensive first.

    A task has the shrunk plan of the corpus, the stored seeds, then other seeds.
    """
    from simulations.corpus import entries
    from simulations.mutants import kills

    kept = kills.read()
    plans = {entry.mutant_id: entry.plan for entry in entries()}
    tasks_by_events: list[tuple[int, Task]] = []
    for mutant in chosen:
        hints = kills.hints(kept.get(mutant.id, []))
        plan = plans.get(mutant.id)
        if plan is None and not hints and not mutant.ci:
            continue
        seeds = tuple(dict.fromkeys((*hints, *range(1, MORE_SEEDS + 1))))
        task = Task(seeds, mutant.level, mutant.id, until_broken=True, plans=() if plan is None else (plan,))
        events = min((kill.events for kill in kept.get(mutant.id, ()) if kill.seed), default=0)
        tasks_by_events.append((events, task))
    return [task for _, task in sorted(tasks_by_events, key=lambda each: -each[0])]
