"""All mutants, by id; each is killed by a simulation, as `python -m simulations mutants` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.mutants import clusters, controllers, disks, elections, generic, projects, replication

if TYPE_CHECKING:
    from simulations.mutants.row import Mutant

MUTANTS: dict[str, Mutant] = {
    mutant.id: mutant
    for module in (elections, replication, disks, projects, controllers, clusters)
    for mutant in module.MUTANTS
}


def find(mutant_id: str) -> Mutant:
    """The mutant of an id; raises ValueError where there is none."""
    if mutant_id.startswith(generic.PREFIX):
        return generic.find(mutant_id)
    if mutant_id not in MUTANTS:
        raise ValueError(f"no mutant {mutant_id!r}; known are {', '.join(MUTANTS)}")
    return MUTANTS[mutant_id]
