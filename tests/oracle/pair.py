"""Both sides together: runs a sequence on ours, sends it ahead to stock, and compares the answers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from records.wire import EncodeError
from tests.oracle.bodies import body_of
from tests.oracle.commands import AGAIN_MS, AGAIN_STEPS, Answer, Lose, Pass, Request, Start
from tests.oracle.compare import Difference, differences, name_of, response_differences
from tests.oracle.exceptions import REGISTRATION, Met, is_known
from tests.oracle.lookups import look_up
from tests.oracle.ours import Ours
from tests.oracle.picture import Past, Picture
from tests.oracle.stock import StockProcess, frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.oracle.commands import Command

# Passing of time is cut at multiples of this.
PIECE_MS = 100
# In each, stock takes one contact of a broker that was silent for too long, also of a former registration.
STEPS_OF_MANY = 40
# Of one command; further ones say nothing new.
DIFFERENCES_MAX = 50
# DescribeAcls, DescribeConfigs, ListPartitionReassignments, DescribeCluster.
FROM_IMAGE = (29, 32, 46, 60)
UNFIT = (EncodeError, ValueError, TypeError, AttributeError)
C = TypeVar("C")


@dataclass(slots=True)
class Outcome(Generic[C]):
    """The result of a sequence. commands: those compared; the last one differs where `found` is not empty.

    known: the exceptions that were met, by name, with the difference. count: of operations that were compared.
    """

    commands: list[C]
    found: list[Difference]
    known: list[tuple[str, Difference]]
    count: int

    @property
    def names(self) -> set[str]:
        """The names of the known differences that occurred."""
        return {name for name, _ in self.known}

    @property
    def signature(self) -> str:
        """The key that groups equal differences; empty without a difference. Exceptions differ by their names."""
        if not self.found:
            return ""
        first = self.found[0]
        names = re.findall(r"\w+(?:Exception|Error)\b", str(first)) if first.where == "notes" else []
        return " ".join([first.where, *names])


def in_pieces(ours: Ours, commands: Iterator[Command]) -> Iterator[Command]:
    """The commands, with each advance of the clock split at deadlines, so that one task is due at a time.

    What would be due in the small steps at the end of a piece is due at its beginning: stock's task may be late by one
    step, and would so fall into the next piece.
    """
    registrations = 0
    for command in commands:
        if not isinstance(command, Pass):
            registrations += isinstance(command, Request) and command.api_key == REGISTRATION
            yield command
            continue
        left = command.ms
        steps = AGAIN_STEPS if registrations < AGAIN_STEPS else STEPS_OF_MANY
        while left > 0:
            due_ms = ours.due_in_ms()
            if due_ms is None or due_ms > left + AGAIN_MS * steps:
                yield Pass(left, steps)
                break
            piece = max(-(-due_ms // PIECE_MS) * PIECE_MS, PIECE_MS)
            yield Pass(piece, steps)
            left -= piece + AGAIN_MS * steps


def run_alone(start: Start, generate: Callable[[Ours], Iterator[Command]]) -> int:
    """Run the commands that a generator chooses on ours without stock; returns how many."""
    ours = Ours(start)
    number = 0
    for command in in_pieces(ours, generate(ours)):
        body = b""
        if isinstance(command, Request):
            try:
                body = body_of(command, lambda text: look_up(ours, text))
            except UNFIT:
                continue
        number += 1
        ours.run(command, number, body)
    return number


class Pair:
    """One process of stock, which takes sequence after sequence."""

    def __init__(self) -> None:
        self.stock = StockProcess()

    def close(self) -> None:
        self.stock.close()

    def run(self, commands: list[Command]) -> Outcome[Command]:
        """Run a given sequence; the first command is a Start."""
        assert isinstance(commands[0], Start)
        return self.explore(commands[0], lambda _ours: iter(commands[1:]))

    def explore(self, start: Start, generate: Callable[[Ours], Iterator[Command]]) -> Outcome[Command]:
        """Run the commands that a generator chooses by our state."""
        ours = Ours(start)
        sent: list[tuple[Command, Answer]] = [(start, ours.take())]
        self.stock.send(frame_of(start))
        apis: dict[int, tuple[int, int]] = {}
        past = Past()
        pictures: list[Picture] = [past.picture(ours)]
        for command in in_pieces(ours, generate(ours)):
            body = b""
            number = len(sent)
            if isinstance(command, Request):
                try:
                    body = body_of(command, lambda text: look_up(ours, text))
                except UNFIT:
                    continue
                apis[number] = (command.api_key, command.version)
            pictures.append(past.picture(ours))
            self.stock.send(frame_of(command, number, body))
            if number % 16 == 0:
                self.stock.flush()
            try:
                sent.append((command, ours.run(command, number, body)))
            except Exception as error:  # what ours raises is a finding like any other
                sent.append((command, Answer(notes=[f"ours raised {type(error).__name__}: {error}"])))
                break
            past.follow(pictures[-1], sent[-1][1])
        self.stock.flush()
        return self._compared(sent, apis, pictures)

    def _compared(
        self, sent: list[tuple[Command, Answer]], apis: dict[int, tuple[int, int]], pictures: list[Picture]
    ) -> Outcome[Command]:
        """Read stock's answers and compare them up to the first that differs."""
        meeting = Meeting(apis, [command for command, _ in sent])
        found: list[Difference] = []
        known: list[tuple[str, Difference]] = []
        end = 0
        is_over = False
        for command, answer in sent:
            stock = self.stock.receive()
            if is_over:
                continue
            end += 1
            all_found = [
                *differences(answer, stock, of_time=isinstance(command, Pass)),
                *meeting.responses(answer, stock, is_lost=isinstance(command, Lose) or bool(stock.notes)),
            ]
            if not answer.notes and command is sent[-1][0]:
                all_found += meeting.unanswered()
            all_found = all_found[:DIFFERENCES_MAX]
            number = end - 1
            names = [
                is_known(Met(meeting.asked(command, item), item, answer, pictures[item.number or number]))
                for item in all_found
            ]
            known += [(name[0], what) for name, what in zip(names, all_found, strict=True) if name is not None]
            found = [difference for difference, name in zip(all_found, names, strict=True) if name is None]
            ends = any(name is not None and name[1] for name in names)
            found = [] if ends else found
            is_over = ends or bool(found)
        return Outcome([command for command, _ in sent[:end]], found, known, end)


class Meeting:
    """Pairs the answers of both sides to one request; they may come after different commands."""

    def __init__(self, apis: dict[int, tuple[int, int]], sent: list[Command]) -> None:
        self.apis = apis
        self.sent = sent
        self.ours: dict[int, bytes | None] = {}
        self.stock: dict[int, bytes | None] = {}
        self.early: set[int] = set()

    def responses(self, ours: Answer, stock: Answer, *, is_lost: bool) -> list[Difference]:
        """The differences of the answers that both have given now. is_lost: whether leadership was just lost."""
        self.ours.update(ours.responses)
        self.stock.update(stock.responses)
        found = []
        for number in sorted(self.ours.keys() & self.stock.keys()):
            left, right = self.ours.pop(number), self.stock.pop(number)
            api_key, version = self.apis[number]
            # The one that had answered before leadership was lost has another answer than the one that had not; and
            # what stock reads in the image is what was committed then, while ours has waited for what was not.
            if number not in self.early or not (is_lost or api_key in FROM_IMAGE):
                differ = response_differences(api_key, version, left, right)
                found += [replace(difference, number=number) for difference in differ]
        self.early |= self.ours.keys() | self.stock.keys()
        return found

    def asked(self, command: Command, difference: Difference) -> Command:
        """The command of a difference: that of the answer, else the last one."""
        return self.sent[difference.number] if difference.number else command

    def unanswered(self) -> list[Difference]:
        """Requests that only one side has answered at the end."""
        return [
            Difference(
                f"{name_of(self.apis[number][0])} answered", "answered", number in self.ours, number in self.stock
            )
            for number in sorted(self.ours.keys() | self.stock.keys())
        ]
