"""What a mutant stands for beside itself: `gate`, `history` and `peer`, by which commands choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.mutants.history import BUGS
from simulations.mutants.peer import TRANSLATIONS

if TYPE_CHECKING:
    from simulations.mutants.row import Mutant

GATE, HISTORY, PEER = "gate", "history", "peer"
TAGS = (GATE, HISTORY, PEER)

_OF_HISTORY = {mutant_id for bug in BUGS for mutant_id in bug.mutants}
_OF_PEER = {translation.mutant_id for translation in TRANSLATIONS}


def has_tag(mutant: Mutant, tag: str) -> bool:
    """gate: a canary of each landing; history: a bug that a project had; peer: a one-line bug of Kafka's raft."""
    if tag == GATE:
        return mutant.ci
    return mutant.id in (_OF_HISTORY if tag == HISTORY else _OF_PEER)
