"""The levels of simulation, which differ in what is simulated together. Each is a module, imported on demand.

raft: the raft core over its real storage, with registers for a state machine. raft-long: the same at Kafka's own
timeouts, and for longer. controller: the whole controller instead of the registers, with model brokers and admin
clients. node: the same, with listeners, frames and channels on simulated sockets. secured: the
same, with TLS, SASL, an authorizer, and clients without rights. The module of a level has

    draw(seed) -> plan                              the plan of a seed
    read(text) -> plan                              the plan in a JSON text; raises ValueError
    show(plan) -> text                              the reverse
    play(plan, written=None, on_detail=None, counts=False) -> Outcome, entries
                                                    run a plan; written gets the bytes of the trace, on_detail what
                                                    a trace leaves out (`closeup`); counts fills `Outcome.seen`
    simpler(plan) -> plans                          plans that are simpler in one respect, for the shrinker
    FIELDS                                          name of a message -> names of the fields in its gist
    FAULTS                                          the kinds of faults, and what else is counted as one

Nothing that may carry a mutant is imported before `load`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from simulations.outcomes.closeup import OnDetail
    from simulations.outcomes.outcome import Outcome
    from simulations.world.trace import Entry

MODULES = {
    "raft": "..raft.level",
    "raft-long": "..raft.long_level",
    "members": "..members.level",
    "controller": "..cluster.level",
    "node": "..sockets.level",
    "secured": "..secured.level",
}


class Level(Protocol):
    """The module of a level."""

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
    """The level with this name, after putting in a mutant if one is named. Raises ValueError where it is unknown."""
    if name not in MODULES:
        raise ValueError(f"no level {name!r}; known are {', '.join(MODULES)}")
    if mutant_id:
        from simulations.mutants.patching import install
        from simulations.mutants.table import find

        install(find(mutant_id))
    return cast("Level", import_module(MODULES[name], __package__))
