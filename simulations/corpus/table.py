"""The corpus as a Markdown table: the bug of each entry, its origin, and the commit at which it was last seen."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from simulations.corpus import DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simulations.corpus import Entry
    from simulations.mutants.row import Mutant

README = DIRECTORY / "README.md"

HEAD = """\
# The corpus

Plans that once broke a property, each as small as the shrinker could make it. With its bug in the code an entry breaks
the property; without it, nothing. `python -m simulations corpus` runs all, `run --entry NAME` runs
one with its bug, `corpus --verify` all with their bugs, as the gate does. `corpus --table` writes this table: run it
after adding an entry.

Faults: before and after shrinking. Noise: decisions about packets and disks that are not the default
(`plans/noise.py`). Commit: the newest at which the entry was seen to break with its bug.

| entry | level | bug | origin | property | faults | noise | commit |
|---|---|---|---|---|---|---|---|
"""

ROW = re.compile(r"\| (\S+) \| .* \| (\d+|all) \| ([0-9a-f]{7,12}) \|")


class Seen(NamedTuple):
    """How an entry was last seen to violate its property. decisions: of noise, -1 if all noise remains; commit: of the
    code.
    """

    decisions: int
    commit: str


def render(entries: Iterable[Entry], mutants: Mapping[str, Mutant], seen: Mapping[str, Seen]) -> str:
    """The whole file."""
    rows = []
    for entry in entries:
        mutant = mutants.get(entry.mutant_id)
        before = f"{faults_of(entry.original)} → " if entry.original else ""
        how = seen.get(entry.name, Seen(0, "never" if mutant else "–"))
        bug = (mutant.name, mutant.origin) if mutant else ("was in the code", entry.found)
        decisions = "all" if how.decisions < 0 else how.decisions
        faults = f"{before}{faults_of(entry.plan)}"
        cells = (entry.name, entry.level, *bug, entry.property_id, faults, decisions, how.commit)
        rows.append(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |\n")
    return HEAD + "".join(rows)


def read_seen(text: str) -> dict[str, Seen]:
    """Entry name -> how it was last seen to break, from the text of the table."""
    rows = [each for each in map(ROW.fullmatch, text.splitlines()) if each]
    return {each[1]: Seen(-1 if each[2] == "all" else int(each[2]), each[3]) for each in rows}


def faults_of(plan: str) -> int:
    """The number of faults of a plan that is given as text."""
    return len(json.loads(plan).get("faults", []))
