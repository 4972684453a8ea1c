"""Counts what happens in one world while it runs, and lists all that could happen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.coverage import cluster_moments, moments, moves, table
from simulations.coverage.cells import Cells
from simulations.coverage.moments import Moments
from simulations.coverage.moves import Moves
from simulations.spec import pairs

if TYPE_CHECKING:
    from simulations.coverage.cluster_moments import ClusterMoments
    from simulations.spec.validator import Validator
    from simulations.world.ledger import Ledger
    from simulations.world.process import Process

CELL, MOVE, ACTIONS, MOMENT, OF_CONTROLLERS = "cell", "roles", "actions", "moment", "moment of controllers"
"""Of what something is that is counted: what a role made of a message, three roles in a row, two actions in a row, a
moment of a replica or of a controller.
"""


class Seen:
    """Counts the steps of all nodes of a world."""

    def __init__(self, ledger: Ledger) -> None:
        self.moments = Moments(ledger)
        self.of_controllers: ClusterMoments | None = None
        self._cells = Cells()
        self._moves = Moves()

    def on_stepped(self, process: Process, event: Any, effects: list[Any]) -> None:
        """Count a step, caused by an input or, if None, by the start."""
        self._cells.on_stepped(process, event, effects)
        self._moves.on_stepped(process, event, effects)
        self.moments.on_stepped(process, event, effects)

    def counts(self, validator: Validator) -> dict[str, int]:
        """Name -> count. A name consists of its category, as in `everything`, and the item."""
        totals = {name_of(CELL, cell): count for cell, count in self._cells.counts.items()}
        totals |= {name_of(MOVE, path): count for path, count in self._moves.counts.items()}
        totals |= {name_of(ACTIONS, pair): count for pair, count in validator.pairs.items()}
        if self.of_controllers is not None:
            counts = self.of_controllers.counts.items()
            totals |= {name_of(OF_CONTROLLERS, (name,)): count for name, count in counts if count}
        return totals | {name_of(MOMENT, (name,)): count for name, count in self.moments.counts.items()}


def name_of(of: str, parts: tuple[str, ...]) -> str:
    """The name under which an item is counted."""
    return f"{of}: {', '.join(parts)}"


def everything() -> dict[str, list[str]]:
    """All possible items, by category."""
    return {
        CELL: [name_of(CELL, cell) for cell in table.reachable()],
        MOVE: [name_of(MOVE, path) for path in moves.feasible()],
        ACTIONS: [name_of(ACTIONS, pair) for pair in pairs.feasible()],
        MOMENT: [name_of(MOMENT, (name,)) for name in moments.moments()],
        OF_CONTROLLERS: [name_of(OF_CONTROLLERS, (name,)) for name in cluster_moments.NAMES],
    }
