"""What is stored about mutants, and the figures computed from it.

`kills.json`: by which seed each mutant was caught first, in five ranges of seeds that have none in common. `alone.json`: which
property catches which mutant while all others are silent. `SURVIVORS.md`: verdicts on generated mutants that survive.
"""

from __future__ import annotations

import json
import re
from math import inf
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulations.outcomes.outcome import Outcome

KILLS = Path(__file__).with_name("kills.json")
ALONE = Path(__file__).with_name("alone.json")

RANGES = 5
APART = 10_000
"""Distance between the first seeds of two ranges, in seeds; longer than any hunt."""


class Kill(NamedTuple):
    """The first seed of a range that catches a mutant; 0 where none does. tried: how many seeds were run; property_id: the
    property that broke; events: of that run, as a measure of its cost; needs: kinds of faults without which it survives.
    """

    seed: int
    tried: int
    property_id: str = ""
    events: int = 0
    needs: tuple[str, ...] = ()


def seeds_of(number: int, count: int) -> range:
    """The first seeds of a range; ranges count from 0."""
    first = number * APART + 1
    return range(first, first + min(count, APART))


def remaining_seeds(before: Sequence[Kill], ranges: int, count: int) -> tuple[int, ...]:
    """The seeds, at most `count` of each range, that remain after a hunt with the result `before`."""
    seeds: list[int] = []
    for number in range(ranges):
        known = before[number] if number < len(before) else Kill(0, 0)
        if not known.seed:
            seeds += seeds_of(number, count)[known.tried :]
    return tuple(seeds)


def of_ranges(outcomes: Iterable[Outcome], count: int = RANGES, before: Sequence[Kill] = ()) -> list[Kill]:
    """The kills of a hunt, range by range, where it continues a hunt with the result `before`."""
    kills = [*before[:count], *[Kill(0, 0)] * (count - len(before))]
    for outcome in outcomes:
        number = outcome.seed // APART
        kill = Kill(0, kills[number].tried + 1)
        if not outcome.is_well:
            kill = Kill(outcome.seed, kill.tried, outcome.property_id, outcome.events, tuple(outcome.needs))
        kills[number] = kill
    return kills


def read(path: Path = KILLS) -> dict[str, list[Kill]]:
    """Mutant id -> its kills, range by range. Raises ValueError where the file is not of that form."""
    if not path.exists():
        return {}
    try:
        tree = json.loads(path.read_text())
        return {name: [_kill(*each) for each in rows] for name, rows in tree.items()}
    except (json.JSONDecodeError, AttributeError, TypeError) as error:
        raise ValueError(f"{path} holds no first kills: {error!r}") from None


def _kill(seed: int, tried: int, property_id: str, events: int, needs: list[str]) -> Kill:
    return Kill(seed, tried, property_id, events, tuple(needs))


def write(kills: dict[str, list[Kill]], path: Path = KILLS) -> None:
    """Write them, one mutant a line, so that a change of one mutant changes one line."""
    lines = [f"  {json.dumps(name)}: {json.dumps(kills[name])}" for name in sorted(kills)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def hints(kills: list[Kill]) -> tuple[int, ...]:
    """The seeds that catch the mutant, the cheapest first."""
    return tuple(kill.seed for kill in sorted(kills, key=lambda kill: kill.events) if kill.seed)


class Score(NamedTuple):
    """mutants: how many were tried; missed: ids of mutants that no range catches; partly: of those that only some catch.

    seeds_median, seeds_p95: seeds run until the kill, over all mutants and ranges; a range without a kill counts as
    infinite. seeds_worst: of the kills. ranges, endless: the number of ranges, and of ranges without a kill.
    """

    mutants: int
    missed: tuple[str, ...]
    partly: tuple[str, ...]
    seeds_median: float
    seeds_p95: float
    seeds_worst: int
    ranges: int
    endless: int


def score(kills: Mapping[str, Sequence[Kill]]) -> Score:
    """The score over all these mutants."""
    missed = tuple(name for name, of_mutant in kills.items() if not any(kill.seed for kill in of_mutant))
    partly = tuple(
        name for name, of_mutant in kills.items() if name not in missed and not all(kill.seed for kill in of_mutant)
    )
    tried = sorted(kill.tried if kill.seed else inf for of_mutant in kills.values() for kill in of_mutant)
    if not tried:
        return Score(len(kills), missed, partly, 0, 0, 0, 0, 0)
    worst = max((each for each in tried if each < inf), default=0)
    p95 = tried[(len(tried) * 95 - 1) // 100]
    return Score(len(kills), missed, partly, median(tried), p95, int(worst), len(tried), tried.count(inf))


def by_property(kills: Mapping[str, Sequence[Kill]], known: Iterable[str]) -> dict[str, list[str]]:
    """Property id -> the mutants that it catches first, each once; empty where it catches none."""
    mutants: dict[str, list[str]] = {name: [] for name in known}
    for mutant_id, each in kills.items():
        for name in dict.fromkeys(kill.property_id for kill in each if kill.seed):
            mutants.setdefault(name, []).append(mutant_id)
    return mutants


def by_fault(kills: Mapping[str, Sequence[Kill]], known: Iterable[str]) -> dict[str, list[str]]:
    """Kind of fault -> the mutants that have a kill which needs it."""
    mutants: dict[str, list[str]] = {name: [] for name in known}
    for mutant_id, each in kills.items():
        for kind in dict.fromkeys(kind for kill in each for kind in kill.needs):
            mutants.setdefault(kind, []).append(mutant_id)
    return mutants


def read_alone(path: Path = ALONE) -> dict[str, dict[str, int]]:
    """Property -> mutant -> a seed at which the property catches it while all others are silent. Raises ValueError."""
    if not path.exists():
        return {}
    try:
        tree = json.loads(path.read_text())
        return {name: {mutant: int(seed) for mutant, seed in seeds.items()} for name, seeds in tree.items()}
    except (json.JSONDecodeError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{path} holds no kills: {error!r}") from None


def write_alone(kept: dict[str, dict[str, int]], path: Path = ALONE) -> None:
    """Write them, one property a line."""
    lines = [f"  {json.dumps(name)}: {json.dumps(dict(sorted(kept[name].items())))}" for name in sorted(kept)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


SURVIVORS = Path(__file__).parents[1] / "SURVIVORS.md"

EXCUSED = ("same", "guarded", "voters", "report", "timing")
"""Verdicts for mutants that no simulation of this quorum can be expected to catch; `SURVIVORS.md` explains each. The
verdict `unseen` is for a bug that simulation misses, and counts.
"""

_ROW = re.compile(r"^\| (?P<key>[a-z_]+\.\S+ [a-z-]+ `.*`(?: #\d+)?) \| (?P<verdict>[a-z]+) \| (?P<why>.+) \|$")


class Survivor(NamedTuple):
    """key: of the mutant; verdict: one of EXCUSED, or unseen; why: the reason, in one line."""

    key: str
    verdict: str
    why: str

    @property
    def is_excused(self) -> bool:
        return self.verdict in EXCUSED


def read_survivors(text: str | None = None) -> dict[str, Survivor]:
    """Key -> row. Raises ValueError where a verdict is unknown or a key occurs twice."""
    survivors: dict[str, Survivor] = {}
    for line in (SURVIVORS.read_text() if text is None else text).splitlines():
        row = _ROW.match(line)
        if row is None:
            continue
        key = row["key"].replace(r"\|", "|")
        if row["verdict"] not in (*EXCUSED, "unseen") or key in survivors:
            raise ValueError(f"{row['verdict']!r} is not a verdict, or {key!r} occurs twice")
        survivors[key] = Survivor(key, row["verdict"], row["why"])
    return survivors


def survivor_row(key: str, verdict: str, why: str) -> str:
    """A row in the format of the file."""
    return f"| {key.replace('|', chr(92) + '|')} | {verdict} | {why} |"
