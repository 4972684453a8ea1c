"""Both replicas together: a sequence is run on ours, sent ahead to stock, and the answers are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from records.registry import request_class, response_class
from records.schema import schema_of
from records.wire import EncodeError
from tests.oracle.bodies import bytes_of
from tests.oracle.pair import Outcome
from tests.oracle.raft.commands import Answer, Fail, Pass, Request, Respond, Start
from tests.oracle.raft.compare import differences
from tests.oracle.raft.exceptions import Met, known_as, parts_ways
from tests.oracle.raft.lookups import look_up
from tests.oracle.raft.ours import Ours
from tests.oracle.raft.stock import StockReplica, frame_of, passed_frame, start_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.oracle.compare import Difference
    from tests.oracle.raft.commands import Command

UNFIT = (EncodeError, LookupError, ValueError, TypeError, AttributeError)


class Run(NamedTuple):
    """What ours did: the commands with their answers, and the API key and version of each request by its number.

    within: numbers of the Fetches that began within a batch.
    """

    taken: list[tuple[Command, Answer]]
    versions: dict[int, tuple[int, int]]
    within: list[int]


class Pair:
    """One process of stock, which takes sequence after sequence."""

    def __init__(self) -> None:
        self.stock = StockReplica()

    def close(self) -> None:
        self.stock.close()

    def run(self, commands: list[Command]) -> Outcome[Command]:
        """Run a given sequence; the first command is a Start."""
        assert isinstance(commands[0], Start)
        return self.explore(commands[0], lambda _ours: iter(commands[1:]))

    def explore(self, start: Start, generate: Callable[[Ours], Iterator[Command]]) -> Outcome[Command]:
        """Run the commands that a generator chooses by our state."""
        self.stock.send(start_frame(start))
        ours = Ours(start)
        try:
            run = self._run(ours, start, generate)
        finally:
            ours.close()
        self.stock.flush()
        return self._compared(run)

    def _run(self, ours: Ours, start: Start, generate: Callable[[Ours], Iterator[Command]]) -> Run:
        run = Run([(start, ours.take())], {}, [])
        for command in generate(ours):
            number = len(run.taken)
            try:
                body = _body(ours, command)
                frame = b"" if isinstance(command, Pass) else frame_of(command, ours, number, body)
            except UNFIT:
                continue
            if isinstance(command, Request):
                run.versions[number] = (command.api_key, command.version)
                if ours.is_within_batch(command, body):
                    run.within.append(number)
            try:
                run.taken.append((command, ours.run(command, number, body)))
            except Exception as error:  # what ours raises is a finding like any other
                run.taken.append((command, Answer(notes=[f"ours raised {type(error).__name__}: {error}"])))
            self.stock.send(passed_frame(command, ours) if isinstance(command, Pass) else frame)
            if number % 8 == 0:
                self.stock.flush()
            if not run.taken[-1][1].state:
                break
        return run

    def _compared(self, run: Run) -> Outcome[Command]:
        """Read stock's answers and compare them up to the first that differs."""
        found: list[Difference] = []
        known: list[tuple[str, Difference]] = []
        end = 0
        is_over = ends = False
        events: list[str] = []
        start = run.taken[0][0]
        assert isinstance(start, Start)
        for command, answer in run.taken:
            stock = self.stock.take()
            if is_over:
                continue
            end += 1
            for difference in differences(answer, stock, run.versions):
                before = tuple(command for command, _ in run.taken[: end - 1])
                within = any(number < end for number in run.within)
                row = known_as(Met(start, command, difference, answer, stock, before, tuple(events), within))
                if row is None:
                    found.append(difference)
                else:
                    known.append((row.name, difference))
                    ends = ends or row.ends
            events += answer.events
            found = [] if ends else found
            is_over = ends or bool(found) or (isinstance(command, Respond | Fail) and parts_ways(answer))
        return Outcome([command for command, _ in run.taken[:end]], found, known, end)


def _body(ours: Ours, command: Command) -> bytes:
    """The bytes of a request, or of a response to what ours has sent."""
    match command:
        case Request():
            cls = request_class(command.api_key)
        case Respond():
            _, sent, _ = ours.sent[command.peer][-1 - command.back]
            cls = response_class(schema_of(type(sent)).api_key)  # type: ignore[arg-type]
        case _:
            return b""
    return bytes_of(cls, command.body, command.version, lambda text: look_up(ours, text))
