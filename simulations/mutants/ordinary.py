"""The hunt for ordinary mutants: each in a fork of one process, through the seeds whose worlds come by its line.

A world that does not come by a line has the same trace whatever stands there, and need not be lived through again. Where a
world does, and its trace is as without the mutant all the same, that is told too: so one sees which survivors changed
nothing, and which changed something that nobody looked at.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.levels.table import load
from simulations.mutants.generic import as_mutant, source_of
from simulations.mutants.grafts import Imported
from simulations.mutants.reach import Probe
from simulations.running.workers import Task, guard, perform, rows
from simulations.world.world import TooBusy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simulations.mutants.generic import Ordinary
    from simulations.running.outcome import Outcome
    from simulations.running.workers import Row

KILLED, SURVIVED, NOT_REACHED = "killed", "survived", "not reached"

CPU_S_MAX = 15
"""What one seed may take; sound ones take a second at most."""

# Nothing in these decides what happens in a world.
_BESIDE = ("mutants", "commands", "page", "chaos", "corpus")


class Found(NamedTuple):
    """What came of a mutant. by: the property that saw it, at `seed`. tries: worlds that came by its line and were lived
    through; same: how many of them had the trace that they have without it.
    """

    key: str
    id: str
    rule: str
    after: str
    outcome: str
    by: str = ""
    seed: int = 0
    tries: int = 0
    same: int = 0
    cpu_s: float = 0.0


class Baseline(NamedTuple):
    """The world of a seed without a mutant. lines: that ran, by module. code: of what code. level: of the world."""

    seed: int
    trace_hash: str
    lines: dict[str, list[int]]
    code: str
    level: str = ""


class Book:
    """What is known so far, one JSON object a line; what comes later counts. In memory only where there is no path."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.found: dict[str, Found] = {}
        self.baselines: dict[tuple[str, int], Baseline] = {}  # by level and seed
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                self._take(json.loads(line))

    def _take(self, row: dict[str, Any]) -> None:
        if "key" in row:
            self.found[row["key"]] = Found(**row)
        else:
            baseline = Baseline(**row)
            self.baselines[baseline.level, baseline.seed] = baseline

    def add(self, row: Found | Baseline) -> None:
        self._take(row._asdict())
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(row._asdict()) + "\n")


class Hunt:
    """Hunts at a level through seeds, as far as tries_max worlds for each mutant."""

    def __init__(self, level: str, seeds: Sequence[int], tries_max: int, book: Book) -> None:
        self._level = level
        self._seeds = seeds
        self._tries_max = tries_max
        self._book = book
        self._code = _digest()

    def run(self, mutants: Sequence[Ordinary], jobs: int) -> Iterator[Found]:
        """What comes of each, as it comes; the first takes a while, as all worlds are lived through before."""
        # Before anything is imported, so that the fork has seen all that ran meanwhile.
        imported = Imported()
        imported.load(lambda: load(self._level))
        self._probe({each.module for each in mutants})
        busy: dict[int, tuple[Ordinary, int, list[Baseline]]] = {}
        slow: list[tuple[Ordinary, list[Baseline]]] = []
        todo = iter(mutants)
        while True:
            while len(busy) < jobs and (mutant := next(todo, None)) is not None:
                worlds = self._worlds(imported, mutant)
                if not worlds:
                    yield self._note(_found(mutant, NOT_REACHED))
                elif (started := self._fork(imported, mutant, worlds)) is not None:
                    busy[started[0]] = (mutant, started[1], worlds)
            if not busy:
                break
            pid, status = os.wait()
            mutant, pipe, worlds = busy.pop(pid)
            with os.fdopen(pipe) as file:
                told = file.read()
            if told == "slow":
                slow.append((mutant, worlds))
            else:
                yield self._note(_found(mutant, KILLED, "DIED") if not told or status else Found(**json.loads(told)))
        yield from self._run_slow(slow, jobs)

    def _run_slow(self, slow: Sequence[tuple[Ordinary, list[Baseline]]], jobs: int) -> Iterator[Found]:
        """Those that want a process of their own."""
        by_id = {mutant.id: (mutant, worlds) for mutant, worlds in slow}
        tasks = [self._task(worlds, as_mutant(mutant).id) for mutant, worlds in slow]
        for row in rows(tasks, jobs):
            mutant, worlds = by_id[row.task.mutant_id]
            yield self._note(_judged(mutant, worlds, row))

    def _task(self, worlds: Iterable[Baseline], mutant_id: str = "") -> Task:
        seeds = tuple(world.seed for world in worlds)
        return Task(seeds, self._level, mutant_id, until_broken=True)

    def _note(self, found: Found) -> Found:
        self._book.add(found)
        return found

    def _probe(self, names: set[str]) -> None:
        paths = {sys.modules[name].__file__ or "": name for name in sorted(names) if name in sys.modules}
        for seed in self._seeds:
            known = self._book.baselines.get((self._level, seed))
            if known is None or known.code != self._code or not known.lines.keys() >= set(paths.values()):
                probe = Probe(paths)
                trace_hash = probe.run(self._level, seed)
                lines = {paths[path]: sorted(found) for path, found in probe.lines.items()}
                self._book.add(Baseline(seed, trace_hash, lines, self._code, self._level))

    def _worlds(self, imported: Imported, mutant: Ordinary) -> list[Baseline]:
        """The worlds that come by the mutant; all, where it is come by before any begins. First those in which most of its
        module runs: what most worlds come by is seen best where most happens.
        """
        first = mutant.change.line
        at = range(first, first + mutant.change.after.count("\n") + 1)
        found = [self._book.baselines[self._level, seed] for seed in self._seeds]
        if not imported.ran(mutant.module, at):
            found = [each for each in found if not set(at).isdisjoint(each.lines.get(mutant.module, ()))]
        return sorted(found, key=lambda each: -len(each.lines.get(mutant.module, ())))[: self._tries_max]

    def _fork(self, imported: Imported, mutant: Ordinary, worlds: list[Baseline]) -> tuple[int, int] | None:
        """Returns the process, and the pipe on which it tells."""
        ours, theirs = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            os.close(theirs)
            return pid, ours
        try:
            os.close(ours)
            guard()
            told = "slow"
            source = source_of(mutant.module)
            if imported.graft({mutant.module: (source, mutant.mutated(source))}):
                told = json.dumps(_judged(mutant, worlds, self._live_through(worlds))._asdict())
            os.write(theirs, told.encode())
        finally:
            os._exit(0)

    def _live_through(self, worlds: Sequence[Baseline]) -> Row:
        """Worlds one after the other until one is broken, in this process."""
        signal.signal(signal.SIGPROF, _hung)
        outcomes: list[Outcome] = []
        cpu_s = 0.0
        for world in worlds:
            signal.setitimer(signal.ITIMER_PROF, CPU_S_MAX, CPU_S_MAX)
            row = perform(self._task([world]))
            outcomes += row.outcomes
            cpu_s += row.cpu_s
            if row.error or not row.outcomes[-1].is_well:
                break
        signal.setitimer(signal.ITIMER_PROF, 0)
        return row._replace(outcomes=outcomes, cpu_s=cpu_s)


def _hung(_number: int, _frame: Any) -> None:
    raise TooBusy(-1, 0)


def _judged(mutant: Ordinary, worlds: Sequence[Baseline], row: Row) -> Found:
    outcomes = row.outcomes
    tries = len(outcomes)
    same = sum(outcome.trace_hash == world.trace_hash for outcome, world in zip(outcomes, worlds, strict=False))
    if row.error:
        # It could not even be set up: whoever looked would have seen it.
        seed = worlds[min(tries, len(worlds) - 1)].seed
        return _found(mutant, KILLED, "ERROR", seed, tries, same, row.cpu_s)
    if outcomes[-1].is_well:
        return _found(mutant, SURVIVED, "", 0, tries, same, row.cpu_s)
    return _found(mutant, KILLED, outcomes[-1].property_id, outcomes[-1].seed, tries, same, row.cpu_s)


def _found(mutant: Ordinary, outcome: str, *told: Any) -> Found:
    after = " ".join(mutant.change.after.split())
    found = Found(mutant.key, mutant.id, mutant.change.rule, after, outcome, *told)
    return found._replace(cpu_s=round(found.cpu_s, 2))


def _digest() -> str:
    """Of all code that decides what happens in a world."""
    found = blake2b(digest_size=8)
    root = Path(__file__).parents[2]
    for package in ("records", "raft", "controller", "simulations"):
        for path in sorted((root / package).rglob("*.py")):
            if package != "simulations" or path.relative_to(root / package).parts[0] not in _BESIDE:
                found.update(path.read_bytes())
    return found.hexdigest()
