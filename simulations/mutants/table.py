"""All mutants, by id, and the tags by which commands choose them.

Each mutant of MUTANTS is caught by a simulation, as `python -m simulations mutants` shows; those of SURVIVORS (`beyond`) are
not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.mutants import (
    apis,
    autopilots,
    beyond,
    both_sides,
    clusters,
    controllers,
    disks,
    elections,
    generated,
    members,
    partitions,
    projects,
    replication,
    rights,
    security,
    sockets,
)
from simulations.mutants.history import BUGS
from simulations.mutants.peer import TRANSLATIONS

if TYPE_CHECKING:
    from simulations.mutants.row import Mutant

MODULES = (
    elections, replication, disks, projects, controllers, clusters, apis, both_sides, sockets, security, rights,
    members, autopilots, partitions,
)  # fmt: skip
MUTANTS: dict[str, Mutant] = {mutant.id: mutant for module in MODULES for mutant in module.MUTANTS}

SURVIVORS: dict[str, Mutant] = {each.mutant.id: each.mutant for each in beyond.SURVIVORS}

GATE, HISTORY, PEER = "gate", "history", "peer"
TAGS = (GATE, HISTORY, PEER)

_OF_HISTORY = {mutant_id for bug in BUGS for mutant_id in bug.mutants}
_OF_PEER = {translation.mutant_id for translation in TRANSLATIONS}


def has_tag(mutant: Mutant, tag: str) -> bool:
    """gate: the gate must catch it; history: a bug that a project had; peer: a one-line mutant of Kafka's raft."""
    if tag == GATE:
        return mutant.ci
    return mutant.id in (_OF_HISTORY if tag == HISTORY else _OF_PEER)


def find(mutant_id: str) -> Mutant:
    """The mutant with this id. Raises ValueError where there is none."""
    if mutant_id.startswith(generated.PREFIX):
        return generated.find(mutant_id)
    mutant = MUTANTS.get(mutant_id) or SURVIVORS.get(mutant_id)
    if mutant is None:
        raise ValueError(f"no mutant {mutant_id!r}; known are {', '.join((*MUTANTS, *SURVIVORS))}")
    return mutant
