"""The check whether a history is linearizable: each operation seems to happen at one moment between its call and its
answer (Wing and Gong 1993; Lowe 2017 for the memoization; Horn and Kroening 2015 for the parts).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulations.histories.models import REFUSED
from simulations.histories.operations import UNKNOWN, Operation

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from simulations.histories.models import Model

BUDGET = 1_000_000
"""Limit of configurations for one part of a history; each takes about 200 bytes of memory."""

EFFORT = 100_000
"""Limit of configurations for leaving reads out of a witness."""


@dataclass(slots=True)
class Verdict:
    """ok, violation or unknown: the budget was spent. key: of the part that is wrong, or could not be decided.

    witness: the shortest prefix of that part that cannot be explained, without reads that are not needed; order: the
    longest order of it that one server could have executed; stuck: the operations, one of which would have to be next.
    looked_at: configurations, of all parts.
    """

    result: str
    key: Hashable = None
    witness: list[Operation] = field(default_factory=list)
    order: list[Operation] = field(default_factory=list)
    stuck: list[Operation] = field(default_factory=list)
    looked_at: int = 0

    @property
    def is_ok(self) -> bool:
        return self.result == "ok"

    def __str__(self) -> str:
        if self.is_ok:
            return f"ok after {self.looked_at} configurations"
        if self.result == "unknown":
            return f"{self.key}: not decided within {self.looked_at} configurations"
        lines = [f"{self.key}: no order explains these {len(self.witness)} operations:"]
        lines += [f"  {operation}" for operation in self.witness]
        lines += ["one server could have done:", *(f"  {operation}" for operation in self.order)]
        return "\n".join(lines)


def check(model: Model, operations: Sequence[Operation], budget: int = BUDGET) -> Verdict:
    """Check a history, part by part. budget: limit of configurations for each part."""
    looked_at = 0
    undecided: Verdict | None = None
    for key, part in parts(model, operations).items():
        search = Search(model, part, budget)
        is_linearizable = search.run()
        looked_at += search.looked_at
        if is_linearizable is False:
            return _explain(model, key, part, search.wall, budget, looked_at)
        if is_linearizable is None and undecided is None:
            undecided = Verdict("unknown", key)
    verdict = undecided or Verdict("ok")
    verdict.looked_at = looked_at
    return verdict


def parts(model: Model, operations: Sequence[Operation]) -> dict[Hashable, list[Operation]]:
    """The operations of each key, by the order of their calls: a history is linearizable if each part is."""
    by_key: dict[Hashable, list[Operation]] = {}
    for operation in operations:
        by_key.setdefault(model.key(operation.asked), []).append(operation)
    return by_key


def points(model: Model, operations: Sequence[Operation], budget: int = BUDGET) -> dict[int, int]:
    """The position in the history at which each operation may have taken effect, by its number: not before its call or
    after its answer, and in an order that explains the answers. Operations that no order explains have none.
    """
    numbers = {id(operation): number for number, operation in enumerate(operations)}
    places: dict[int, int] = {}
    for part in parts(model, operations).values():
        search = Search(model, part, budget)
        if search.run() is None:
            continue
        place = 0
        for operation in search.longest:
            place = max(place, operation.invoked)
            places[numbers[id(operation)]] = place
    return places


class _Entry:
    """A call or an answer, in a list that entries leave and re-enter. bit: of the operation; answer: None for an answer
    itself, and for a call without one; after: bits of the operation with the same arguments before it that has no
    answer either: of such twins the earlier goes first, since they cannot be distinguished.
    """

    __slots__ = ("after", "answer", "bit", "following", "is_call", "operation", "previous")

    def __init__(self, operation: Operation, number: int, *, is_call: bool) -> None:
        self.operation = operation
        self.bit = 1 << number
        self.after = 0
        self.is_call = is_call
        self.answer: _Entry | None = None
        self.previous: _Entry = self
        self.following: _Entry | None = None


class Search:
    """The search through one part. looked_at: configurations, which are sets of executed operations with the state
    after them.

    wall: the last answer that no order got past; longest: the longest order that got so far, or one of them.
    """

    def __init__(self, model: Model, part: Sequence[Operation], budget: int) -> None:
        self._model = model
        self._budget = budget
        self.looked_at = 0
        self.wall = 0
        self.longest: list[Operation] = []
        self._calls, self._unanswered = _make_entries(part)
        self._answered = sum(1 << number for number, each in enumerate(part) if each.returned is not None)

    def run(self) -> bool | None:
        """Whether there is an order; None if the budget was spent first."""
        step = self._model.step
        calls, unanswered = self._calls, self._unanswered
        state: Any = self._model.initial
        done = 0  # a bit for each operation that has happened
        # Of the operations without an answer, which had happened where the others and the state were the same.
        seen: dict[tuple[int, Any], list[int]] = {}
        stack: list[tuple[_Entry, Any, int]] = []
        deepest = 0
        wall = 0  # the answer that stands next, which nothing that is called after it may precede
        entry = calls.following
        while done & self._answered != self._answered:
            if entry is not None and entry.is_call:
                operation = entry.operation
                if entry.after & ~done or (entry.answer is None and operation.invoked > wall):
                    entry = entry.following
                    continue
                following = step(state, operation.asked, operation.answer)
                # An operation that was never answered, and that would change nothing, need not happen.
                if following is not REFUSED and not (entry.answer is None and following == state):
                    after = done | entry.bit
                    spent = seen.setdefault((after & self._answered, following), [])
                    if _is_new(after & ~self._answered, spent):
                        if self.looked_at >= self._budget:
                            return None
                        self.looked_at += 1
                        stack.append((entry, state, wall))
                        state = following
                        done = after
                        _lift(entry)
                        entry = calls.following
                        continue
                entry = entry.following
                continue
            if entry is not None and not entry.is_call:
                # An answer stands here whose operation has not happened: before it something unanswered may have, and
                # only where all that was answered leads nowhere.
                assert entry.operation.returned is not None, "an answer has its moment"
                wall = entry.operation.returned
                if wall > self.wall:
                    self.wall = wall
                    deepest = 0
                if len(stack) > deepest and wall == self.wall:
                    deepest = len(stack)
                    self.longest = [done_entry.operation for done_entry, _, _ in stack]
                entry = unanswered.following
                continue
            # Nothing gets past that answer: something earlier must have gone otherwise.
            if not stack:
                return False
            entry, state, wall = stack.pop()
            done &= ~entry.bit
            _unlift(entry)
            entry = entry.following
        self.longest = [done_entry.operation for done_entry, _, _ in stack]
        return True


def _is_new(spent: int, known: list[int]) -> bool:
    """Whether no configuration with the same state had used fewer of the operations without an answer: everything that
    can be explained from here can be from there, since each of those may happen later or never.
    """
    for fewer in known:
        if not fewer & ~spent:
            return False
    known[:] = [more for more in known if spent & ~more]
    known.append(spent)
    return True


def _make_entries(part: Sequence[Operation]) -> tuple[_Entry, _Entry]:
    """The calls and answers of answered operations in their order, and the calls of the others, the latest first; each
    list with a head.
    """
    answered: list[tuple[int, int, _Entry]] = []
    unanswered: list[tuple[int, int, _Entry]] = []
    twins: dict[Hashable, int] = {}
    for number, operation in enumerate(part):
        call = _Entry(operation, number, is_call=True)
        # Of a call and an answer at one moment the call is first: they overlap.
        if operation.returned is not None:
            call.answer = _Entry(operation, number, is_call=False)
            answered += [(operation.invoked, 0, call), (operation.returned, 1, call.answer)]
        else:
            call.after = twins.get(operation.asked, 0)
            twins[operation.asked] = call.bit
            # The latest first: an operation that happened at all mostly happened soon after its call.
            unanswered.append((-operation.invoked, 0, call))
    return _link(answered), _link(unanswered)


def _link(events: list[tuple[int, int, _Entry]]) -> _Entry:
    events.sort(key=lambda event: event[:2])
    head = last = _Entry.__new__(_Entry)
    for _, _, entry in events:
        last.following, entry.previous = entry, last
        last = entry
    last.following = None
    return head


def _lift(call: _Entry) -> None:
    for entry in (call, call.answer):
        if entry is not None:
            entry.previous.following = entry.following
            if entry.following is not None:
                entry.following.previous = entry.previous


def _unlift(call: _Entry) -> None:
    for entry in (call.answer, call):
        if entry is not None:
            entry.previous.following = entry
            if entry.following is not None:
                entry.following.previous = entry


def _explain(model: Model, key: Hashable, part: list[Operation], wall: int, budget: int, looked_at: int) -> Verdict:
    """The shortest witness: prefixes of a linearizable history are linearizable, and so is the rest without a read.

    wall: no prefix that ends before it is wrong, since the same order explains it.
    """
    ends = sorted(each.returned for each in part if each.returned is not None and each.returned >= wall)
    low, high = 0, len(ends) - 1
    middle = low  # mostly it is that one
    while low < high:
        if Search(model, _until(part, ends[middle]), budget).run() is False:
            high = middle
        else:
            low = middle + 1
        middle = (low + high) // 2
    witness = _until(part, ends[high])
    effort = EFFORT
    for operation in list(witness):
        if model.is_read(operation.asked) and effort > 0:
            fewer = [each for each in witness if each is not operation]
            search = Search(model, fewer, effort)
            if search.run() is False:
                witness = fewer
            effort -= search.looked_at
    search = Search(model, witness, budget)
    search.run()
    chosen = set(map(id, search.longest))
    stuck = [each for each in witness if id(each) not in chosen and each.returned is not None]
    return Verdict("violation", key, witness, search.longest, stuck, looked_at)


def _until(part: Sequence[Operation], end: int) -> list[Operation]:
    """The history as it was at a moment: operations answered later had no answer yet."""
    begun = [each for each in part if each.invoked <= end]
    return [
        Operation(each.client, each.asked, UNKNOWN, each.invoked, None)
        if each.returned is not None and each.returned > end
        else each
        for each in begun
    ]
