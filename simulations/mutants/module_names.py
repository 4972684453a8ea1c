"""Names of modules as mutants write them, which are those of the repository, and as Python imports them.

In an installation all packages stand below `kraft_quorum` (see setup.py); in the repository both names are the same.
"""

from __future__ import annotations

ABOVE = __name__.removesuffix("simulations.mutants.module_names")


def imported_name(name: str) -> str:
    """`raft.vote` as Python imports it: itself, or `kraft_quorum.raft.vote`."""
    return ABOVE + name


def repository_name(name: str) -> str:
    """The inverse of `imported_name`; other names as they are."""
    return name.removeprefix(ABOVE)
