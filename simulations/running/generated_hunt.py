"""Tries generated mutants: each in a fork of one process, against worlds that run the changed line.

A world that does not run the changed line has the same trace with and without the mutant, so it is not run again. Where
a world runs the line and its trace still is the same, that is counted too (`Found.same`): it distinguishes survivors
that change nothing from survivors that change something which no property checks.
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
from simulations.mutants.generated import as_mutant, source_of
from simulations.mutants.module_names import imported_name
from simulations.mutants.patching import Imported
from simulations.running.tasks import Task, guard, perform
from simulations.running.workers import rows
from simulations.world.world import TooBusy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import CodeType, FrameType

    from simulations.mutants.generated import Generated
    from simulations.outcomes.outcome import Outcome
    from simulations.running.tasks import Row

ROOT = Path(__file__).parents[2]

KILLED, SURVIVED, NOT_REACHED = "killed", "survived", "not reached"

CPU_S_MAX = 15
"""CPU seconds that one seed may take; without a mutant a seed takes 1 s at most."""

# Packages of simulations/ that do not influence what happens in a world.
_WITHOUT_INFLUENCE = ("mutants", "commands", "page", "chaos", "corpus")


class Found(NamedTuple):
    """The result of a mutant. by: the property that caught it, at `seed`. tries: how many worlds that run its line were
    run with it; same: how many of these had the same trace as without it.
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
    """The world of a seed without a mutant. lines: module -> lines that ran; code: hash of the code it was run with."""

    seed: int
    trace_hash: str
    lines: dict[str, list[int]]
    code: str
    level: str = ""


class Results:
    """The results so far, one JSON object a line; a later line replaces an earlier one. Without a path, in memory."""

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
    """Tries mutants at a level, each in at most `tries_max` of the worlds of these seeds."""

    def __init__(self, level: str, seeds: Sequence[int], tries_max: int, results: Results) -> None:
        self._level = level
        self._seeds = seeds
        self._tries_max = tries_max
        self._results = results
        self._code = _digest()

    def run(self, mutants: Sequence[Generated], jobs: int) -> Iterator[Found]:
        """The result of each mutant, in the order in which they end. All worlds are first run without a mutant."""
        # Load before anything else imports the product, so that `Imported` sees every function that runs meanwhile.
        imported = Imported()
        imported.load(lambda: load(self._level))
        self._probe({each.module for each in mutants})
        busy: dict[int, tuple[Generated, int, list[Baseline]]] = {}
        slow: list[tuple[Generated, list[Baseline]]] = []
        todo = iter(mutants)
        while True:
            while len(busy) < jobs and (mutant := next(todo, None)) is not None:
                worlds = self._worlds(imported, mutant)
                if not worlds:
                    yield self._note(_make_found(mutant, NOT_REACHED))
                elif (started := self._fork(imported, mutant, worlds)) is not None:
                    busy[started[0]] = (mutant, started[1], worlds)
            if not busy:
                break
            pid, status = os.wait()
            mutant, pipe, worlds = busy.pop(pid)
            with os.fdopen(pipe) as file:
                report = file.read()
            if report == "slow":
                slow.append((mutant, worlds))
            else:
                yield self._note(
                    _make_found(mutant, KILLED, "DIED") if not report or status else Found(**json.loads(report))
                )
        yield from self._run_slow(slow, jobs)

    def _run_slow(self, slow: Sequence[tuple[Generated, list[Baseline]]], jobs: int) -> Iterator[Found]:
        """Try mutants that need a process of their own."""
        by_id = {mutant.id: (mutant, worlds) for mutant, worlds in slow}
        tasks = [self._task(worlds, as_mutant(mutant).id) for mutant, worlds in slow]
        for row in rows(tasks, jobs):
            mutant, worlds = by_id[row.task.mutant_id]
            yield self._note(_result(mutant, worlds, row))

    def _task(self, worlds: Iterable[Baseline], mutant_id: str = "") -> Task:
        seeds = tuple(world.seed for world in worlds)
        return Task(seeds, self._level, mutant_id, until_broken=True)

    def _note(self, result: Found) -> Found:
        self._results.add(result)
        return result

    def _probe(self, names: set[str]) -> None:
        paths = {
            sys.modules[imported_name(name)].__file__ or "": name
            for name in sorted(names)
            if imported_name(name) in sys.modules
        }
        for seed in self._seeds:
            known = self._results.baselines.get((self._level, seed))
            if known is None or known.code != self._code or not known.lines.keys() >= set(paths.values()):
                probe = Probe(paths)
                trace_hash = probe.run(self._level, seed)
                lines = {paths[path]: sorted(numbers) for path, numbers in probe.lines.items()}
                self._results.add(Baseline(seed, trace_hash, lines, self._code, self._level))

    def _worlds(self, imported: Imported, mutant: Generated) -> list[Baseline]:
        """The worlds that run the changed line; all worlds, where the line runs during imports. Worlds that run most
        lines of the module come first.
        """
        first = mutant.change.line
        at = range(first, first + mutant.change.after.count("\n") + 1)
        baselines = [self._results.baselines[self._level, seed] for seed in self._seeds]
        if not imported.ran(mutant.module, at):
            baselines = [each for each in baselines if not set(at).isdisjoint(each.lines.get(mutant.module, ()))]
        return sorted(baselines, key=lambda each: -len(each.lines.get(mutant.module, ())))[: self._tries_max]

    def _fork(self, imported: Imported, mutant: Generated, worlds: list[Baseline]) -> tuple[int, int] | None:
        """Returns the id of the child process, and the pipe on which it reports."""
        ours, theirs = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            os.close(theirs)
            return pid, ours
        try:
            os.close(ours)
            guard()
            report = "slow"
            source = source_of(mutant.module)
            if imported.replace({mutant.module: (source, mutant.mutate(source))}):
                report = json.dumps(_result(mutant, worlds, self._run_worlds(worlds))._asdict())
            os.write(theirs, report.encode())
        finally:
            os._exit(0)

    def _run_worlds(self, worlds: Sequence[Baseline]) -> Row:
        """Run worlds one after the other in this process, until a property breaks in one."""
        signal.signal(signal.SIGPROF, _stop_hanging)
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


def _stop_hanging(_number: int, _frame: Any) -> None:
    raise TooBusy(-1, 0)


def _result(mutant: Generated, worlds: Sequence[Baseline], row: Row) -> Found:
    outcomes = row.outcomes
    tries = len(outcomes)
    same = sum(outcome.trace_hash == world.trace_hash for outcome, world in zip(outcomes, worlds, strict=False))
    if row.error:
        # The mutant raised before or outside a world: any run would show it.
        seed = worlds[min(tries, len(worlds) - 1)].seed
        return _make_found(mutant, KILLED, "ERROR", seed, tries, same, row.cpu_s)
    if outcomes[-1].is_well:
        return _make_found(mutant, SURVIVED, "", 0, tries, same, row.cpu_s)
    return _make_found(mutant, KILLED, outcomes[-1].property_id, outcomes[-1].seed, tries, same, row.cpu_s)


def _make_found(mutant: Generated, outcome: str, *result: Any) -> Found:
    after = " ".join(mutant.change.after.split())
    entry = Found(mutant.key, mutant.id, mutant.change.rule, after, outcome, *result)
    return entry._replace(cpu_s=round(entry.cpu_s, 2))


def _digest() -> str:
    """A hash of all code that influences what happens in a world."""
    digest = blake2b(digest_size=8)
    for package in ("records", "raft", "controller", "simulations"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if package != "simulations" or path.relative_to(ROOT / package).parts[0] not in _WITHOUT_INFLUENCE:
                digest.update(path.read_bytes())
    return digest.hexdigest()


class Probe:
    """Records which lines run in a world. lines: path -> line numbers, of the files in `paths`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.lines: dict[str, set[int]] = {path: set() for path in paths}
        self._left: dict[CodeType, set[int]] = {}

    def run(self, level: str, seed: int) -> str:
        """Run the world of a seed; returns the hash of its trace. Raises ValueError where a property breaks."""
        sys.settrace(self._on_enter)
        try:
            row = perform(Task((seed,), level))
        finally:
            sys.settrace(None)
        if row.error or not row.outcomes[0].is_well:
            raise ValueError(f"seed {seed} breaks without a mutant: {row.error or row.outcomes[0].property_id}")
        return row.outcomes[0].trace_hash

    def _on_enter(self, frame: FrameType, _event: str, _arg: object) -> Any:
        code = frame.f_code
        seen = self.lines.get(code.co_filename)
        if seen is None:
            return None
        left = self._left.get(code)
        if left is None:
            left = self._left[code] = {line for _, _, line in code.co_lines() if line is not None} - seen
        if not left:
            return None
        return self._line

    def _line(self, frame: FrameType, event: str, _arg: object) -> Any:
        if event == "line":
            self.lines[frame.f_code.co_filename].add(frame.f_lineno)
            self._left[frame.f_code].discard(frame.f_lineno)
        return self._line
