"""The machine that matches a regular expression of Java: it backtracks as Java does, but visits no state twice.

A state is an instruction and a position, so the time is the size of the program times that of the text, where Java's
takes a power of it or more. With references to groups a state is more than that; then the number of steps is the only
bound.
"""

from __future__ import annotations

from typing import Any

from records.java.java_characters import WORD, fold_case, swap_case

CHAR, REPEAT, SPLIT, JUMP, SAVE, MARK, IF_EMPTY, ASSERT, LOOK, ATOMIC, BACK, MATCH = range(12)

Instruction = tuple[Any, ...]


class TooManySteps(Exception):
    """The match takes more steps than it may."""


class Steps:
    """How many steps are left, for one or more matches. A step takes 0.3 µs to 1 µs."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class Program:
    """A compiled pattern. groups: how many it has; names: their numbers, of those with a name."""

    def __init__(
        self, code: list[Instruction], groups: int, names: dict[str, int], marks: int, *, has_references: bool
    ) -> None:
        self.groups = groups
        self.names = names
        self._code = code
        self._slots = 2 * (groups + 1) + marks
        self._first_mark = 2 * (groups + 1)
        self._has_references = has_references
        # The slots of loops whose body may match nothing: whether it has so far is a part of the state.
        self._empty_slots = [self._first_mark + each[1] for each in code if each[0] == IF_EMPTY]

    def match_all(self, text: str, steps: Steps) -> Match | None:
        """The match of the whole text. Raises TooManySteps."""
        return self._match(text, 0, steps, set(), is_whole=True)

    def find_all(self, text: str, steps: Steps) -> list[Match]:
        """The matches from left to right, which do not overlap. Raises TooManySteps."""
        matches: list[Match] = []
        position = 0
        # What failed from one position fails from the next, too.
        failed: set[Any] = set()
        while position <= len(text):
            match = self._match(text, position, steps, failed, is_whole=False)
            if match is None:
                position += 1
                continue
            failed = set()
            matches.append(match)
            position = match.end + (match.end == match.start)
        return matches

    def _match(self, text: str, start: int, steps: Steps, seen: set[Any], *, is_whole: bool) -> Match | None:
        slots = (-1,) * self._slots
        end = self._run(self._code, text, start, slots, steps, seen, len(text) if is_whole else None)
        return None if end is None else Match(text, start, *end)

    def _run(
        self, code: list[Instruction], text: str, start: int, slots: tuple[int, ...], steps: Steps, seen: set[Any],
        end: int | None,
    ) -> tuple[int, tuple[int, ...]] | None:  # fmt: skip
        """Where the match ends, and its slots. seen: the states that were tried; end: where it must end, if given."""
        size, width = len(text), len(text) + 1
        # Alternatives, the next on top: instruction, position, slots.
        stack = [(0, start, slots)]
        while stack:
            at, position, slots = stack.pop()
            while True:
                steps.left -= 1
                if steps.left < 0:
                    raise TooManySteps
                instruction = code[at]
                kind = instruction[0]
                if kind == CHAR:
                    if position >= size or not instruction[1](text[position]):
                        break
                    position += 1
                    at += 1
                elif kind == REPEAT:
                    _, test, is_greedy = instruction
                    while True:
                        if not self._is_new(seen, at * width + position, position, slots):
                            position = -1
                            break
                        if position >= size or not test(text[position]):
                            break
                        if not is_greedy:
                            stack.append((at, position + 1, slots))
                            break
                        steps.left -= 1
                        stack.append((at + 1, position, slots))
                        position += 1
                    if position < 0:
                        break
                    at += 1
                elif kind == SPLIT:
                    if not self._is_new(seen, at * width + position, position, slots):
                        break
                    body, around = at + instruction[1], at + instruction[2]
                    if len(instruction) == 4 and not instruction[3]:
                        body, around = around, body
                    stack.append((around, position, slots))
                    at = body
                elif kind == JUMP:
                    at += instruction[1]
                elif kind == SAVE:
                    # A reference to a group within itself is to what it matched before.
                    slot, begin = 2 * instruction[1], slots[self._first_mark + instruction[2]]
                    slots = (*slots[:slot], begin, position, *slots[slot + 2 :])
                    at += 1
                elif kind == MARK:
                    slot = self._first_mark + instruction[1]
                    slots = (*slots[:slot], position, *slots[slot + 1 :])
                    at += 1
                elif kind == IF_EMPTY:
                    # An empty round ends the loop.
                    at += instruction[2] if slots[self._first_mark + instruction[1]] == position else 1
                elif kind == ASSERT:
                    if not _holds(instruction[1], instruction[2], text, position):
                        break
                    at += 1
                elif kind == LOOK:
                    inside = self._look(instruction, text, position, slots, steps)
                    if (inside is not None) is not instruction[2]:
                        break
                    slots = slots if inside is None else inside
                    at += 1
                elif kind == ATOMIC:
                    inner = self._run(instruction[1], text, position, slots, steps, set(), None)
                    if inner is None:
                        break
                    position, slots = inner
                    at += 1
                elif kind == BACK:
                    _, group, any_case, in_unicode = instruction
                    if group > self.groups or slots[2 * group + 1] < 0:
                        break
                    wanted = text[slots[2 * group] : slots[2 * group + 1]]
                    given = text[position : position + len(wanted)]
                    if not _is_same(wanted, given, any_case=any_case, in_unicode=in_unicode):
                        break
                    position += len(wanted)
                    at += 1
                else:
                    if end is None or position == end:
                        return position, slots
                    break
        return None

    def _is_new(self, seen: set[Any], state: int, position: int, slots: tuple[int, ...]) -> bool:
        """Whether a state is tried for the first time; then it counts as tried."""
        if self._has_references:
            return True
        key: Any = state
        if self._empty_slots:
            key = state, *[slots[slot] == position for slot in self._empty_slots]
        if key in seen:
            return False
        seen.add(key)
        return True

    def _look(
        self, instruction: Instruction, text: str, position: int, slots: tuple[int, ...], steps: Steps
    ) -> tuple[int, ...] | None:
        _, code, _, span = instruction
        if span is None:
            end = self._run(code, text, position, slots, steps, set(), None)
            return None if end is None else end[1]
        for begin in range(position - span[0], max(position - span[1], 0) - 1, -1):
            end = self._run(code, text, begin, slots, steps, set(), position)
            if end is not None:
                return end[1]
        return None


class Match:
    """A match in a text, from `start` to `end` (exclusive)."""

    def __init__(self, text: str, start: int, end: int, slots: tuple[int, ...]) -> None:
        self.start, self.end = start, end
        self._text, self._slots = text, slots

    def __getitem__(self, group: int) -> str | None:
        """The text of a group; None where it has none. 0: the whole match."""
        if group == 0:
            return self._text[self.start : self.end]
        first, last = self._slots[2 * group : 2 * group + 2]
        return None if last < 0 else self._text[first:last]


def _holds(kind: str, terminators: frozenset[str], text: str, position: int) -> bool:
    """Whether an assertion holds: A, z, Z, b, B as after a backslash, ^ and $ as with MULTILINE."""
    size = len(text)
    if kind == "A":
        return position == 0
    if kind == "z":
        return position == size
    if kind in "bB":
        before = position > 0 and text[position - 1] in WORD
        after = position < size and text[position] in WORD
        return (before is not after) is (kind == "b")
    if kind == "^":
        if position == 0:
            return True
        return (
            position < size and text[position - 1] in terminators and not _is_within_crlf(text, position, terminators)
        )
    if position == size:
        return True
    if text[position] not in terminators or _is_within_crlf(text, position, terminators):
        return False
    rest = size - position
    return kind == "$" or rest == 1 or (rest == 2 and len(terminators) > 1 and text[position:] == "\r\n")


def _is_within_crlf(text: str, position: int, terminators: frozenset[str]) -> bool:
    return len(terminators) > 1 and position > 0 and text[position - 1 : position + 1] == "\r\n"


def _is_same(one: str, other: str, *, any_case: bool, in_unicode: bool) -> bool:
    if one == other or not any_case:
        return one == other
    fold = fold_case if in_unicode else swap_case
    return len(one) == len(other) and all(
        a == b or (fold(a) == fold(b) if in_unicode else fold(a) == b) for a, b in zip(one, other, strict=True)
    )
