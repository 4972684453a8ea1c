"""All mutants, by id; each is killed by a simulation, as `python -m simulations mutants` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.mutants import disks, elections, replication

if TYPE_CHECKING:
    from simulations.mutants.row import Mutant

MUTANTS: dict[str, Mutant] = {
    mutant.id: mutant for mutant in (*elections.MUTANTS, *replication.MUTANTS, *disks.MUTANTS)
}
