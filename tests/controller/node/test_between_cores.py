from __future__ import annotations

import asyncio
from dataclasses import fields
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from controller.interface.effects import Append
from controller.node import between_cores
from controller.node.between_cores import TO_CONTROLLER, TO_RAFT, Proposals
from raft.interface.inputs import Propose
from tests.benchmarks.client import create_topics
from tests.controller.node.test_stop_snapshot import Seat
from tests.raft.storage.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PASSED_ON = [*TO_CONTROLLER.items(), *TO_RAFT.items()]


@pytest.mark.parametrize(("kind", "make"), PASSED_ON, ids=[kind.__name__ for kind, _ in PASSED_ON])
def test_an_input_has_all_that_its_effect_says(kind: Any, make: Any) -> None:
    said = {field.name: number for number, field in enumerate(fields(kind))}

    made = make(kind(**said))

    assert {field.name: getattr(made, field.name) for field in fields(made)} == said


class Loop:
    """Proposals on a loop whose iterations the test ends. queued: the inputs of raft; drained: how many there were at
    each call of `drain`.
    """

    def __init__(self) -> None:
        self.queued: list[Propose] = []
        self.drained: list[int] = []
        self._ready: list[Callable[[], None]] = []
        self.proposals = Proposals(
            cast("Any", SimpleNamespace(call_soon=self._ready.append)),
            self.queued.append,
            lambda: self.drained.append(len(self.queued)),
        )

    def end_iteration(self) -> None:
        ready, self._ready[:] = list(self._ready), []
        for act in ready:
            act()


def test_the_batches_of_an_iteration_are_proposed_together_at_its_end() -> None:
    loop = Loop()
    for batch in (Append(3, 10, 11, b"ab"), Append(3, 12, 12, b"c"), Append(3, 13, 15, b"def")):
        loop.proposals.add(batch)
    before = list(loop.queued)

    loop.end_iteration()

    assert before == []
    assert loop.queued == [Propose(3, 10, 15, b"abcdef")]
    assert loop.drained == [1]


def test_a_batch_of_the_next_iteration_is_proposed_at_the_end_of_that_one() -> None:
    loop = Loop()
    loop.proposals.add(Append(3, 10, 11, b"ab"))
    loop.end_iteration()
    loop.proposals.add(Append(3, 12, 12, b"c"))
    before = list(loop.queued)

    loop.end_iteration()

    assert before == [Propose(3, 10, 11, b"ab")]
    assert loop.queued == [*before, Propose(3, 12, 12, b"c")]


def test_what_waits_is_passed_on_before_another_input_of_raft_and_only_once() -> None:
    loop = Loop()
    loop.proposals.add(Append(3, 10, 11, b"ab"))

    loop.proposals.pass_on()
    before = list(loop.queued)
    loop.end_iteration()

    assert before == loop.queued == [Propose(3, 10, 11, b"ab")]
    assert loop.drained == [1]  # the other input may have been queued without a step


def test_batches_of_two_epochs_are_two_proposals() -> None:
    loop = Loop()
    loop.proposals.add(Append(3, 10, 11, b"ab"))
    loop.proposals.add(Append(4, 12, 12, b"c"))

    loop.end_iteration()

    assert loop.queued == [Propose(3, 10, 11, b"ab"), Propose(4, 12, 12, b"c")]


def test_a_proposal_of_several_batches_is_small_and_a_large_batch_does_not_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(between_cores, "JOINED_BYTES_MAX", 4)
    loop = Loop()

    for batch in (Append(3, 10, 10, b"abc"), Append(3, 11, 11, b"d"), Append(3, 12, 12, b"e")):
        loop.proposals.add(batch)
    small = list(loop.queued)
    loop.proposals.add(Append(3, 13, 19, b"fghij"))
    at_once = list(loop.queued)
    loop.proposals.add(Append(3, 20, 20, b"k"))
    loop.end_iteration()

    assert small == [Propose(3, 10, 11, b"abcd")]
    assert at_once == [*small, Propose(3, 12, 12, b"e"), Propose(3, 13, 19, b"fghij")]
    assert loop.queued == [*at_once, Propose(3, 20, 20, b"k")]


def test_a_node_appends_what_another_input_of_raft_has_taken_before_the_end_of_the_iteration(tmp_path: Path) -> None:
    async def iterations_until_the_answer() -> int:
        seat = Seat(tmp_path, Disk())
        await seat.lead(0)
        asked = asyncio.ensure_future(seat.ask(create_topics(["orders"])))
        answers = len(seat.answers)
        await asyncio.sleep(0)  # the request is handled
        seat.node.timers.queue_wall_clock()  # as the work of each second does, which steps no core
        count = 0
        while len(seat.answers) == answers and count < 100:
            await asyncio.sleep(0)
            count += 1
        await asked
        seat.node.end_now()
        return count

    # Appended and flushed at the end of the first, committed in the next one.
    assert asyncio.run(iterations_until_the_answer()) <= 5
