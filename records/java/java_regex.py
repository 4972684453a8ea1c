r"""Regular expressions with the meaning that Java gives them, matched in bounded time.

A pattern becomes a program of the machine in `java_matching`. Not served: the flags x and U, `\X`, `\G`, `\N{…}`,
scripts and blocks of Unicode. `\b` is that of Java 19 and later, which looks at ASCII alone.
"""

from __future__ import annotations

from records.java.java_characters import ESCAPES, TERMINATORS, Test, between, literal, property_of
from records.java.java_matching import (
    ASSERT,
    ATOMIC,
    BACK,
    CHAR,
    IF_EMPTY,
    JUMP,
    LOOK,
    MARK,
    MATCH,
    REPEAT,
    SAVE,
    SPLIT,
    Instruction,
    Program,
)
from records.java.java_pattern import is_java_pattern

# Of a pattern with its counted repetitions written out, and of groups within each other.
INSTRUCTIONS_MAX = 20_000
DEPTH_MAX = 100
_UNBOUNDED = 1 << 30
_FLAGS = "idmsu"
_SIMPLE = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}

Code = list[Instruction]


class PatternError(ValueError):
    """The text is not a regular expression of Java, or has what is not served here."""


class _Part:
    """A part of a program. least, most: how many characters it matches; test: of one that matches a character alone."""

    __slots__ = ("code", "least", "most", "test")

    def __init__(self, code: Code, least: int, most: int, test: Test | None = None) -> None:
        if len(code) > INSTRUCTIONS_MAX:
            raise PatternError("it is too large")
        self.code, self.least, self.most, self.test = code, least, min(most, _UNBOUNDED), test


def compile_java(text: str) -> Program:
    """The program of a pattern. Raises PatternError."""
    if not is_java_pattern(text):
        raise PatternError("it is no regular expression")
    parser = _Parser(_without_quotes(text))
    try:
        part = parser.alternatives()
    except IndexError:
        raise PatternError("it is no regular expression") from None
    if parser.position < len(parser.text):
        raise PatternError("it is no regular expression")
    code = [*part.code, (MATCH,)]
    return Program(code, parser.groups, parser.names, parser.marks, has_references=parser.has_references)


def _without_quotes(text: str) -> str:
    r"""The text with what stands between \Q and \E escaped."""
    parts = []
    position = 0
    while position < len(text):
        if text.startswith(r"\Q", position):
            end = text.find(r"\E", position + 2)
            end = len(text) if end < 0 else end
            quoted = text[position + 2 : end]
            parts += [char if not char.isascii() or char.isalnum() else f"\\{char}" for char in quoted]
            position = end + 2
        else:
            size = 2 if text[position] == "\\" else 1
            parts.append(text[position : position + size])
            position += size
    return "".join(parts)


class _Parser:
    """One pass over a pattern that `is_java_pattern` accepts. groups, names: those so far; marks: of loops."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.groups = 0
        self.marks = 0
        self.has_references = False
        self.names: dict[str, int] = {}
        self._flags: frozenset[str] = frozenset()
        self._depth = 0

    def _take_text(self, expected: str) -> bool:
        is_next = self.text.startswith(expected, self.position)
        self.position += len(expected) if is_next else 0
        return is_next

    def _take(self) -> str:
        self.position += 1
        return self.text[self.position - 1]

    def _until(self, end: str) -> str:
        stop = self.text.index(end, self.position) if end in self.text[self.position :] else -1
        if stop < 0:
            raise PatternError(f"{end} is missing")
        content, self.position = self.text[self.position : stop], stop + len(end)
        return content

    # Groups and sequences.

    def alternatives(self) -> _Part:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise PatternError(f"it has more than {DEPTH_MAX} groups within each other")
        flags = self._flags
        parts = [self._sequence()]
        while self._take_text("|"):
            parts.append(self._sequence())
        self._flags = flags
        self._depth -= 1
        last = parts.pop()
        code = last.code
        least, most = last.least, last.most
        for part in reversed(parts):
            code = [(SPLIT, 1, len(part.code) + 2), *part.code, (JUMP, len(code) + 1), *code]
            least, most = min(least, part.least), max(most, part.most)
            if len(code) > INSTRUCTIONS_MAX:
                raise PatternError("it is too large")
        return _Part(code, least, most)

    def _sequence(self) -> _Part:
        code: Code = []
        least = most = 0
        while self.position < len(self.text) and self.text[self.position] not in "|)":
            part = self._parse_repetition(self._item())
            code += part.code
            least, most = least + part.least, most + part.most
        return _Part(code, least, most)

    def _item(self) -> _Part:
        if self.text[self.position] == "{":  # repeats nothing
            return _Part([], 0, 0)
        char = self._take()
        if char == "(":
            return self._group()
        if char == "[":
            return _one(self._class())
        if char == ".":
            excluded = frozenset() if "s" in self._flags else self._terminators()
            return _one(lambda character: character not in excluded)
        if char in "^$":
            return self._assertion(char if "m" in self._flags else {"^": "A", "$": "Z"}[char])
        if char == "\\":
            return self._escape()
        return _one(self._literal(char))

    def _group(self) -> _Part:
        if not self._take_text("?"):
            return self._parse_capture()
        for begin, kind in (("=", True), ("!", True), ("<=", False), ("<!", False)):
            if self._take_text(begin):
                return self._look(is_ahead=kind, is_wanted=begin.endswith("="))
        if self._take_text("<"):
            self.names[self._until(">")] = self.groups + 1
            return self._parse_capture()
        if self._take_text(">"):
            inner = self._parse_until_close()
            return _Part([(ATOMIC, self._inner(inner))], inner.least, inner.most)
        on = off = ""
        is_off = False
        while self.text[self.position] not in ":)":
            flag = self._take()
            if flag == "-":
                is_off = True
            elif flag not in _FLAGS:
                raise PatternError(f"the flag {flag} is not served")
            elif is_off:
                off += flag
            else:
                on += flag
        outer, self._flags = self._flags, (self._flags | set(on)) - set(off)
        if self._take() == ")":
            return _Part([], 0, 0)  # to the end of the group around it
        inner = self._parse_until_close()
        self._flags = outer
        return inner

    def _parse_until_close(self) -> _Part:
        inner = self.alternatives()
        self._take()
        return inner

    def _parse_capture(self) -> _Part:
        self.groups += 1
        self.marks += 1
        group, mark = self.groups, self.marks - 1
        inner = self._parse_until_close()
        return _Part([(MARK, mark), *inner.code, (SAVE, group, mark)], inner.least, inner.most)

    def _look(self, *, is_ahead: bool, is_wanted: bool) -> _Part:
        had_references, self.has_references = self.has_references, False
        inner = self._parse_until_close()
        if self.has_references and not is_ahead:
            raise PatternError("a look-behind with a reference has no obvious maximum length")
        self.has_references |= had_references
        span = None if is_ahead else (inner.least, inner.most)
        return _Part([(LOOK, self._inner(inner), is_wanted, span)], 0, 0)

    def _inner(self, part: _Part) -> Code:
        return [*part.code, (MATCH,)]

    # Repetition.

    def _parse_repetition(self, part: _Part) -> _Part:
        if self.position >= len(self.text) or self.text[self.position] not in "?*+{":
            return part
        first = self._take()
        least, most = {"?": (0, 1), "*": (0, _UNBOUNDED), "+": (1, _UNBOUNDED)}.get(first, (0, 0))
        if first == "{":
            low, comma, high = self._until("}").partition(",")
            least = int(low)
            most = int(high) if high else _UNBOUNDED if comma else least
        if self._take_text("+"):
            greedy = self._times(part, least, most, is_greedy=True)
            return _Part([(ATOMIC, self._inner(greedy))], greedy.least, greedy.most)
        return self._times(part, least, most, is_greedy=not self._take_text("?"))

    def _times(self, part: _Part, least: int, most: int, *, is_greedy: bool) -> _Part:
        sizes = part.least * least, part.most * most if part.most else 0
        if part.test is not None and most >= _UNBOUNDED:
            if least > INSTRUCTIONS_MAX:
                raise PatternError("it is too large")
            return _Part([*part.code * least, (REPEAT, part.test, is_greedy)], *sizes)
        count = least if most >= _UNBOUNDED else most
        if count * (len(part.code) + 3) > INSTRUCTIONS_MAX:
            raise PatternError("it is too large")
        code = part.code * least
        body = part.code
        if most >= _UNBOUNDED:
            if not part.least:
                self.marks += 1
                body = [(MARK, self.marks - 1), *body, (IF_EMPTY, self.marks - 1, 2)]
            around = len(body) + 2
            code = [*code, (SPLIT, 1, around, is_greedy), *body, (JUMP, 1 - around)]
        else:
            rest: Code = []
            for _ in range(most - least):
                rest = [(SPLIT, 1, len(body) + len(rest) + 1, is_greedy), *body, *rest]
            code = code + rest
        return _Part(code, *sizes)

    # Characters.

    def _terminators(self) -> frozenset[str]:
        return frozenset("\n") if "d" in self._flags else TERMINATORS

    def _literal(self, char: str) -> Test:
        return literal(char, any_case="i" in self._flags, in_unicode="u" in self._flags)

    def _assertion(self, kind: str) -> _Part:
        return _Part([(ASSERT, kind, self._terminators())], 0, 0)

    def _escape(self) -> _Part:
        char = self.text[self.position]
        if char in "AZzbB":
            self.position += 1
            return self._assertion(char)
        if char == "R":
            self.position += 1
            one = ESCAPES["v"].__contains__
            code: Code = [(SPLIT, 1, 4), (CHAR, "\r".__eq__), (CHAR, "\n".__eq__), (JUMP, 2), (CHAR, one)]
            return _Part([(ATOMIC, [*code, (MATCH,)])], 1, 2)
        if char == "k":
            self.position += 2
            return self._reference(self.names[self._until(">")])
        if char in "123456789":
            number = int(self._take())
            while self.position < len(self.text) and self.text[self.position] in "0123456789":
                longer = 10 * number + int(self.text[self.position])
                if longer > self.groups:
                    break
                number = longer
                self.position += 1
            return self._reference(number)
        test = self._class_escape()
        return _one(test if not isinstance(test, str) else self._literal(test))

    def _reference(self, group: int) -> _Part:
        self.has_references = True
        any_case = "i" in self._flags
        return _Part([(BACK, group, any_case, any_case and "u" in self._flags)], 0, _UNBOUNDED)

    def _class_escape(self) -> Test | str:
        """What an escape names: a character, or the test of several. The position is behind the backslash."""
        char = self._take()
        if char in _SIMPLE:
            return _SIMPLE[char]
        if char.lower() in ESCAPES:
            members = ESCAPES[char.lower()]
            return members.__contains__ if char.islower() else lambda character: character not in members
        if char in "pP":
            name = self._until("}") if self._take_text("{") else self._take()
            test = property_of(name, any_case="i" in self._flags)
            if test is None:
                raise PatternError(f"\\p{{{name}}} is not served")
            known = test
            return known if char == "p" else lambda character: not known(character)
        if char == "x" and self._take_text("{"):
            return self._character(self._until("}"), 16)
        if char in "xu":
            size = 2 if char == "x" else 4
            self.position += size
            return self._character(self.text[self.position - size : self.position], 16)
        if char == "0":
            size = 1
            while size < 3 and self.text[self.position + size : self.position + size + 1] in tuple("01234567"):
                if size == 2 and self.text[self.position] > "3":
                    break
                size += 1
            self.position += size
            return self._character(self.text[self.position - size : self.position], 8)
        if char == "c":
            return chr(ord(self._take()) ^ 64)
        if char.isascii() and char.isalnum():
            raise PatternError(f"\\{char} is not served")
        return char

    def _character(self, digits: str, base: int) -> str:
        try:
            return chr(int(digits, base))
        except (ValueError, OverflowError):
            raise PatternError(f"{digits} is no character") from None

    def _class(self) -> Test:
        """A character class behind its opening bracket, to its end (Java's unions and intersections)."""
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise PatternError(f"it has more than {DEPTH_MAX} classes within each other")
        is_negated = self._take_text("^")
        wholes: list[list[Test]] = [[]]  # all of these, each any of its tests
        is_first = True
        while True:
            if self._take_text("["):
                wholes[-1].append(self._class())
            elif not is_first and self._take_text("]"):
                break
            elif self._take_text("&&"):
                if wholes[-1]:
                    wholes.append([])
            else:
                wholes[-1].append(self._range())
            is_first = False
        self._depth -= 1
        needed = [tests for tests in wholes if tests]

        def has(char: str) -> bool:
            return all(any(test(char) for test in tests) for tests in needed) is not is_negated

        return has

    def _range(self) -> Test:
        first = self._class_escape() if self._take_text("\\") else self._take()
        if not isinstance(first, str):
            return first
        following = self.text[self.position : self.position + 2]
        if not following.startswith("-") or following[1:] in {"", "[", "]"}:
            return self._literal(first)
        self.position += 1
        last = self._class_escape() if self._take_text("\\") else self._take()
        if not isinstance(last, str):
            raise PatternError("a range of a class ends with a class")
        return between(first, last, any_case="i" in self._flags, in_unicode="u" in self._flags)


def _one(test: Test) -> _Part:
    return _Part([(CHAR, test)], 1, 1, test)
