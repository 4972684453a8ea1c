"""What a mutant is: a fragment of a function replaced by another, and which check should detect it."""

from __future__ import annotations

from typing import NamedTuple


class Edit(NamedTuple):
    """In `function` of `module`, the fragment `new` takes the place of the fragment `old` (see `fragments`).

    function: qualified name of a function, class or constant of the module; empty for what stands in none. new: empty where
    `old` is removed. names: a fragment of the same function that has the local names of `new` which `old` has not, so that
    they are found when they are renamed.
    """

    module: str
    function: str
    old: str
    new: str
    names: str = ""


class Rewrite(NamedTuple):
    """The source of `module` becomes `source`."""

    module: str
    source: str


class Mutant(NamedTuple):
    """id: R, D, M, Q of the literature's list (DESIGN.md), X of our own. expected: ids of the properties that may see it
    first. subject: votes, persistence, watermark, truncation, snapshots, progress … ci: whether each sweep of CI must
    catch it. seeds: by which seed it is caught. level: of simulation, see `levels`.
    """

    id: str
    name: str
    subject: str
    origin: str
    expected: tuple[str, ...]
    edits: tuple[Edit | Rewrite, ...]
    ci: bool = False
    seeds: int = 500
    level: str = "raft"
