"""What a mutant is: a few words of a module's source replaced by others, and which check should detect it."""

from __future__ import annotations

from typing import NamedTuple


class Edit(NamedTuple):
    """In the source of `module`, `before` stands exactly once, and `after` takes its place."""

    module: str
    before: str
    after: str


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
    edits: tuple[Edit, ...]
    ci: bool = False
    seeds: int = 500
    level: str = "raft"
