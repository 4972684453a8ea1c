"""First kills: by which seed each mutant was caught, in several ranges of seeds that share none; kept beside the rows.

A hunt that only has to show that a mutant is still caught begins with these seeds; how soon luck finds it is told by all.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulations.running.outcome import Outcome

FILE = Path(__file__).with_name("kills.json")

RANGES = 5
APART = 10_000
"""Range by range the seeds begin so much later, and no hunt goes on for as long."""


class Kill(NamedTuple):
    """The first seed of a range that caught a mutant; 0 where none did. tried: how many seeds were lived through;
    property_id: what broke; events: of that run, as its cost; needs: the kinds of faults that it could not do without.
    """

    seed: int
    tried: int
    property_id: str = ""
    events: int = 0
    needs: tuple[str, ...] = ()


def seeds_of(number: int, count: int) -> range:
    """The first seeds of a range, from 0 on."""
    first = number * APART + 1
    return range(first, first + min(count, APART))


def left_of(before: Sequence[Kill], ranges: int, count: int) -> tuple[int, ...]:
    """The seeds of the first ranges, `count` of each at most, that a hunt has not come to which ended as `before`."""
    seeds: list[int] = []
    for number in range(ranges):
        known = before[number] if number < len(before) else Kill(0, 0)
        if not known.seed:
            seeds += seeds_of(number, count)[known.tried :]
    return tuple(seeds)


def of_ranges(outcomes: Iterable[Outcome], count: int = RANGES, before: Sequence[Kill] = ()) -> list[Kill]:
    """What a hunt through the first ranges has found, range by range, where it went on behind another one."""
    found = [*before[:count], *[Kill(0, 0)] * (count - len(before))]
    for outcome in outcomes:
        number = outcome.seed // APART
        kill = Kill(0, found[number].tried + 1)
        if not outcome.is_well:
            kill = Kill(outcome.seed, kill.tried, outcome.property_id, outcome.events, tuple(outcome.needs))
        found[number] = kill
    return found


def read(path: Path = FILE) -> dict[str, list[Kill]]:
    """By mutant id, range by range. Raises ValueError where the file is none."""
    if not path.exists():
        return {}
    try:
        tree = json.loads(path.read_text())
        return {name: [_kill(*each) for each in found] for name, found in tree.items()}
    except (json.JSONDecodeError, AttributeError, TypeError) as error:
        raise ValueError(f"{path} holds no first kills: {error!r}") from None


def _kill(seed: int, tried: int, property_id: str, events: int, needs: list[str]) -> Kill:
    return Kill(seed, tried, property_id, events, tuple(needs))


def write(kills: dict[str, list[Kill]], path: Path = FILE) -> None:
    """Keep them, a mutant a line, so that a change of one is a change of one line."""
    lines = [f"  {json.dumps(name)}: {json.dumps(kills[name])}" for name in sorted(kills)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def hints(kills: list[Kill]) -> tuple[int, ...]:
    """The seeds that caught it, the cheapest first."""
    return tuple(kill.seed for kill in sorted(kills, key=lambda kill: kill.events) if kill.seed)
