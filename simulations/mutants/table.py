"""All mutants, by id; each is killed by a simulation, as `python -m simulations mutants` shows, but those of `beyond`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.mutants import (
    apis,
    beyond,
    clusters,
    controllers,
    disks,
    elections,
    generic,
    projects,
    replication,
    sockets,
)

if TYPE_CHECKING:
    from simulations.mutants.row import Mutant

MUTANTS: dict[str, Mutant] = {
    mutant.id: mutant
    for module in (elections, replication, disks, projects, controllers, clusters, apis, sockets)
    for mutant in module.MUTANTS
}

SURVIVORS: dict[str, Mutant] = {each.mutant.id: each.mutant for each in beyond.SURVIVORS}


def find(mutant_id: str) -> Mutant:
    """The mutant of an id; raises ValueError where there is none."""
    if mutant_id.startswith(generic.PREFIX):
        return generic.find(mutant_id)
    found = MUTANTS.get(mutant_id) or SURVIVORS.get(mutant_id)
    if found is None:
        raise ValueError(f"no mutant {mutant_id!r}; known are {', '.join((*MUTANTS, *SURVIVORS))}")
    return found
