"""Histories so small that all orders can be tried, as a reference for the checker."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

from simulations.histories.models import REFUSED
from simulations.histories.operations import Operation, Recorder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from simulations.histories.models import Model

CLIENTS, VALUES, OPERATIONS_MAX = 3, 3, 6
LOST = 0.2


def random_history(rng: Random) -> list[Operation]:
    """Up to six operations of three clients on a register of three values; some unanswered, with random answers."""
    recorder = Recorder()
    under_way: dict[int, Operation] = {}
    count = rng.randrange(1, OPERATIONS_MAX + 1)
    while count or under_way:
        client = rng.randrange(CLIENTS)
        if client in under_way:
            made = under_way.pop(client)
            if rng.random() < LOST:
                continue
            answer: dict[str, Any] = {"read": rng.randrange(VALUES), "write": True, "cas": rng.random() < 0.5}
            recorder.answer(made, answer[made.asked[0]])
        elif count:
            count -= 1
            kind = rng.choice(("read", "write", "cas"))
            values = {"read": 0, "write": 1, "cas": 2}[kind]
            asked = (kind, *(rng.randrange(VALUES) for _ in range(values)))
            under_way[client] = recorder.ask(client, asked)
    return recorder.operations


def by_all_orders(model: Model, history: Sequence[Operation]) -> bool:
    """Whether the model allows any order of any choice of the unanswered operations, with all answered ones."""
    answered = [each for each in history if each.returned is not None]
    lost = [each for each in history if each.returned is None]
    for chosen in range(1 << len(lost)):
        picked = answered + [each for place, each in enumerate(lost) if chosen >> place & 1]
        if any(_is_possible(model, order) for order in permutations(picked)):
            return True
    return False


def _is_possible(model: Model, order: Sequence[Operation]) -> bool:
    state = model.initial
    latest = 0
    for each in order:
        if each.returned is not None and each.returned < latest:
            return False
        latest = max(latest, each.invoked)
        state = model.step(state, each.asked, each.answer)
        if state is REFUSED:
            return False
    return True
