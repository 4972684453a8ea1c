"""All states of a small world, or as many as requested: depth first, each once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from simulations.spec.model import Broken, Scope, State, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# The scopes of `search`, by name; each run of CI searches them all.
SCOPES = {
    "election": Scope(epochs=1, records=0, ticks=1, losses=0, crashes=0, in_flight=2),
    "succession": Scope(epochs=2, records=1, ticks=1, losses=0, crashes=0, in_flight=2, led=True),
    "addition": Scope(epochs=2, records=0, ticks=1, losses=0, crashes=0, in_flight=2, led=True, changes=1, voters=2),
    "removal": Scope(epochs=2, records=0, ticks=1, losses=0, crashes=0, in_flight=2, led=True, changes=1, voters=3),
}

# Scopes that are searched only where they are named: they take too long for CI.
LARGE = {
    "reconfiguration": Scope(
        epochs=2, records=1, ticks=1, losses=0, crashes=0, in_flight=2, led=True, changes=1, voters=3
    ),
    "addition-crash": Scope(
        epochs=2, records=0, ticks=1, losses=0, crashes=1, in_flight=2, led=True, changes=1, voters=2
    ),
}

# The scopes that a fleet searches under the name `fleet`: some 20,000,000 states, each scope completely.
OF_FLEET = {
    "crash": Scope(ticks=1, losses=0, crashes=1, in_flight=2, led=True),
    "loss": Scope(ticks=1, losses=1, crashes=0, in_flight=2, led=True),
    "writes": Scope(records=2, ticks=1, losses=0, crashes=0, in_flight=2, led=True),
    "waits": Scope(ticks=2, losses=0, crashes=0, in_flight=2, led=True),
    "copy": Scope(ticks=1, losses=0, copies=1, crashes=0, in_flight=2, led=True),
}


class Found(NamedTuple):
    """The result of a search. states: distinct ones; transitions: tried; steps: of the core; depth: of the longest
    path.

    is_whole: all states were visited. seconds: of CPU. broken: the violated property, empty if all hold; path: the
    actions that lead there.
    """

    states: int
    transitions: int
    steps: int
    depth: int
    is_whole: bool
    seconds: float
    broken: str = ""
    path: tuple[str, ...] = ()


def search(
    scope: Scope,
    states_max: int = 1 << 62,
    on_progress: Callable[[int], object] | None = None,
    seen: set[int] | None = None,
) -> Found:
    """Visit every reachable state. on_progress: called now and then with the number of states so far; seen: gets the
    fingerprints of all.
    """
    begin = time.process_time()
    world = World(scope)
    try:
        state = world.first()
    except (Broken, AssertionError) as error:
        return Found(0, 0, world.laboratory.steps, 0, False, _since(begin), _text(error), ("all goes well",))
    seen = set() if seen is None else seen
    seen.add(world.fingerprint(state))
    transitions = depth = 0
    path: list[tuple[State, str, int]] = []
    stack: list[tuple[State, Iterator[tuple[str, int]]]] = [(state, world.actions(state))]
    while stack:
        state, ways = stack[-1]
        way = next(ways, None)
        if way is None:
            stack.pop()
            if path:
                path.pop()
            continue
        transitions += 1
        try:
            following = world.after(state, *way)
        except (Broken, AssertionError) as error:
            text = _text(error)
            words = tuple(world.says(*each) for each in (*path, (state, *way)))
            return Found(len(seen), transitions, world.laboratory.steps, depth, False, _since(begin), text, words)
        if following is None:
            continue
        key = world.fingerprint(following)
        if key in seen:
            continue
        seen.add(key)
        if on_progress is not None and len(seen) % 5000 == 0:
            on_progress(len(seen))
        if len(seen) >= states_max:
            return Found(len(seen), transitions, world.laboratory.steps, depth, False, _since(begin))
        path.append((state, *way))
        depth = max(depth, len(path))
        stack.append((following, world.actions(following)))
    return Found(len(seen), transitions, world.laboratory.steps, depth, True, _since(begin))


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, Broken) else f"ASSERT: {error}"


def _since(begin: float) -> float:
    return time.process_time() - begin
