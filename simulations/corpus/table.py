"""The corpus as a table in Markdown: of each entry what bug it shows, where that comes from, and when it last did."""

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

Plans that once broke something, each as small as it could be made. With its bug in the code an entry breaks the
property; without, it is well. `python -m simulations corpus` lives all through, `run --entry NAME` one of them with its
bug, `corpus --verify` all of them with theirs, as each landing does; `corpus --table` also writes this table: whoever
adds an entry runs it.

Faults: before and after shrinking. Luck: decisions about packets and disks that are not the plain ones (`noise.py`).
Commit: the newest at which the entry was seen to break with its bug.

| entry | level | bug | origin | property | faults | luck | commit |
|---|---|---|---|---|---|---|---|
"""

ROW = re.compile(r"\| (\S+) \| .* \| (\d+|all) \| ([0-9a-f]{7,12}) \|")


class Seen(NamedTuple):
    """How an entry was last seen to break. decisions: of luck, -1 where all noise is left; commit: where."""

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
        rng = "all" if how.decisions < 0 else how.decisions
        faults = f"{before}{faults_of(entry.plan)}"
        cells = (entry.name, entry.level, *bug, entry.property_id, faults, rng, how.commit)
        rows.append(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |\n")
    return HEAD + "".join(rows)


def read_seen(text: str) -> dict[str, Seen]:
    """What a table says of when its entries broke, by name."""
    found = [each for each in map(ROW.fullmatch, text.splitlines()) if each]
    return {each[1]: Seen(-1 if each[2] == "all" else int(each[2]), each[3]) for each in found}


def faults_of(plan: str) -> int:
    """How many faults a plan has, that is given as text."""
    return len(json.loads(plan).get("faults", []))
