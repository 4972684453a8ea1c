"""The levels of simulation: what is simulated together. Each is one module, imported when it is asked for.

raft: the raft core over its real storage, with registers for a state machine. raft-long: the same at Kafka's own
time-outs, and for longer. controller: the whole controller in place
of the registers, with model brokers and admin clients around it. node: the same, with listeners, frames and channels on
simulated sockets. A level's module has

    draw(seed) -> plan                              the plan of a seed
    read(text) -> plan                              a plan from its JSON; raises ValueError
    show(plan) -> text                              and back
    play(plan, written=None, told=None, counts=False) -> Outcome, entries
                                                    live it through; written: is told all bytes of the trace; told: of
                                                    what is in no trace, as for a page (`closeup`); counts: what it
                                                    comes to, for `Outcome.seen`
    plainer(plan) -> plans                          that are plainer in one thing, for the shrinker
    FIELDS                                          by name of a message, the names of what its gist says
    FAULTS                                          the kinds of faults, and what else is counted of what goes wrong

Nothing that may carry a mutant is imported before `load`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from simulations.running.closeup import OnDetail
    from simulations.running.outcome import Outcome
    from simulations.world.trace import Entry

MODULES = {
    "raft": ".raft",
    "raft-long": ".raft_long",
    "controller": ".controllers",
    "node": ".nodes",
}


class Level(Protocol):
    """What a level's module has."""

    FIELDS: Mapping[str, tuple[str, ...]]
    FAULTS: Collection[str]

    def draw(self, seed: int) -> Any: ...

    def read(self, text: str) -> Any: ...

    def show(self, plan: Any) -> str: ...

    def simpler(self, plan: Any) -> Iterable[Any]: ...

    def play(
        self,
        plan: Any,
        written: Callable[[bytes], None] | None = None,
        on_detail: OnDetail | None = None,
        *,
        counts: bool = False,
    ) -> tuple[Outcome, list[Entry]]: ...


def load(name: str, mutant_id: str = "") -> Level:
    """The level of a name, with a mutant put in where one is named. Raises ValueError where there is no such."""
    if name not in MODULES:
        raise ValueError(f"no level {name!r}; known are {', '.join(MODULES)}")
    if mutant_id:
        from simulations.mutants.patching import install
        from simulations.mutants.table import find

        install(find(mutant_id))
    return cast("Level", import_module(MODULES[name], __package__))
