"""What is said of ordinary mutants that simulation does not see: `SURVIVORS.md`, a table with a row each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

PATH = Path(__file__).parents[1] / "SURVIVORS.md"

EXCUSED = ("same", "guarded", "voters", "told", "timing")
"""Verdicts by which a mutant is no bug that a simulation of this quorum could be asked to see; `SURVIVORS.md` says what
each means. `unseen` is a bug that is not seen, and counts.
"""

_ROW = re.compile(r"^\| (?P<key>[a-z_]+\.\S+ [a-z-]+ `.*`(?: #\d+)?) \| (?P<verdict>[a-z]+) \| (?P<why>.+) \|$")


class Survivor(NamedTuple):
    """key: of the mutant; verdict: one of those above; why: in a line."""

    key: str
    verdict: str
    why: str

    @property
    def is_excused(self) -> bool:
        return self.verdict in EXCUSED


def read(text: str | None = None) -> dict[str, Survivor]:
    """The rows by key. Raises ValueError where a verdict is none, or a key is there twice."""
    found: dict[str, Survivor] = {}
    for line in (PATH.read_text() if text is None else text).splitlines():
        row = _ROW.match(line)
        if row is None:
            continue
        key = row["key"].replace(r"\|", "|")
        if row["verdict"] not in (*EXCUSED, "unseen") or key in found:
            raise ValueError(f"{row['verdict']!r} is no verdict, or {key!r} has two")
        found[key] = Survivor(key, row["verdict"], row["why"])
    return found


def shown(key: str, verdict: str, why: str) -> str:
    """A row as the file has it."""
    return f"| {key.replace('|', chr(92) + '|')} | {verdict} | {why} |"
