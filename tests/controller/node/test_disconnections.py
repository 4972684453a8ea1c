"""Closed connections are dropped together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from controller.interface import inputs
from controller.node.disconnections import Disconnections
from raft.interface import inputs as raft_inputs

if TYPE_CHECKING:
    from collections.abc import Callable


def test_all_that_an_iteration_closes_are_dropped_in_one_pass_over_what_waits() -> None:
    ready: list[Callable[[], None]] = []
    passes: list[Any] = []
    queued: list[Any] = []
    drained: list[int] = []
    part = cast("Any", SimpleNamespace(drop=passes.append))
    disconnections = Disconnections(
        cast("Any", SimpleNamespace(call_soon=ready.append)),
        part, part, part,
        queue=lambda *pair: queued.append(next(each for each in pair if each is not None)),
        drain=lambda: drained.append(len(queued)),
    )  # fmt: skip

    for connection in (3, 1, 2):
        disconnections.add(connection)
    assert len(ready) == 1
    ready.pop()()

    assert passes == [{1, 2, 3}, {1, 2, 3}, 3, 1, 2]  # of admission, of the replies, and of each one's long requests
    *of_raft, of_controller = queued
    assert of_raft == [raft_inputs.Disconnected(each) for each in (3, 1, 2)]
    assert of_controller == inputs.Disconnected(frozenset({1, 2, 3}))
    assert drained == [4]

    disconnections.add(4)
    ready.pop()()
    assert queued[-1] == inputs.Disconnected(frozenset({4}))
