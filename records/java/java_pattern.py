"""Whether a text is a regular expression of Java: brokers compile the patterns of client metrics with Java's syntax.

The text is only scanned, so the cost is linear in its length. Errors that only a compiler finds (an unknown property
name, an unbounded look-behind) are not detected.
"""

from __future__ import annotations

_HEX = frozenset("0123456789abcdefABCDEF")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset("0123456789")
_FLAGS = frozenset("cdimsuxU")

# Letters with a meaning after a backslash that need nothing after them, outside a class and within one.
_ESCAPED = frozenset("ABDGHRSVWXZabdefhnrstvwz")
_ESCAPED_IN_CLASS = frozenset("DHSVWadefhnrstvw")

_REPEATED_MAX = (1 << 31) - 1


class _MalformedError(Exception):
    """The text is not a regular expression."""


def is_java_pattern(text: str) -> bool:
    """Whether Java would compile the text; True also for errors that a scan does not detect."""
    try:
        _Scan(_without_quotes(text)).whole()
    except _MalformedError:
        return False
    return True


def _without_quotes(text: str) -> str:
    r"""The text with each character between \Q and \E replaced by a plain letter."""
    if r"\Q" not in text:
        return text
    parts: list[str] = []
    position = 0
    while position < len(text):
        if text[position] != "\\":
            parts.append(text[position])
            position += 1
        elif text[position + 1 : position + 2] != "Q":
            parts.append(text[position : position + 2])
            position += 2
        else:
            end = text.find(r"\E", position + 2)
            end = len(text) if end < 0 else end
            parts.append("a" * (end - position - 2))
            position = end + 2
    return "".join(parts)


class _Scan:
    """One scan of a text. groups: the names of groups so far; depth: how many groups are open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0
        self.groups: set[str] = set()

    def peek(self) -> str:
        """The next character, empty at the end."""
        return self.text[self.position : self.position + 1]

    def take(self) -> str:
        """Consume the next character. Raises _MalformedError at the end."""
        if self.position >= len(self.text):
            raise _MalformedError
        self.position += 1
        return self.text[self.position - 1]

    def take_text(self, expected: str) -> bool:
        """Whether this text comes next; if so, consume it."""
        is_next = self.text.startswith(expected, self.position)
        self.position += len(expected) if is_next else 0
        return is_next

    def need(self, expected: str) -> None:
        if not self.take_text(expected):
            raise _MalformedError

    def run(self, characters: frozenset[str]) -> str:
        """Consume all of these characters that come next."""
        begin = self.position
        while self.peek() in characters and self.peek():
            self.position += 1
        return self.text[begin : self.position]

    def whole(self) -> None:
        while self.position < len(self.text):
            self.item()
        if self.depth:
            raise _MalformedError

    def item(self) -> None:
        """One item with its quantifier, or a parenthesis or alternation."""
        character = self.peek()
        # A quantifier in braces without an item before it is well formed in Java.
        if character != "{":
            self.position += 1
        match character:
            case "?" | "*" | "+":
                raise _MalformedError
            case "|":
                return
            case "(":
                self.group()
                return
            case ")":
                self.depth -= 1
                if self.depth < 0:
                    raise _MalformedError
            case "[":
                self.character_class()
            case "\\":
                self.escape(_ESCAPED)
        self.repetition()

    def group(self) -> None:
        """The rest of a group's opening, after the parenthesis."""
        if not self.take_text("?"):
            self.depth += 1
            return
        if self.take_text("<"):
            if not (self.take_text("=") or self.take_text("!")):
                self.new_name()
        elif self.peek() in {":", "=", "!", ">"}:
            self.position += 1
        else:
            self.run(_FLAGS)
            if self.take_text("-"):
                self.run(_FLAGS)
            if self.take_text(")"):
                return
            self.need(":")
        self.depth += 1

    def new_name(self) -> None:
        name = self.name()
        if name in self.groups:
            raise _MalformedError
        self.groups.add(name)

    def name(self) -> str:
        """The name of a group, and the bracket that ends it."""
        if self.peek() not in _LETTERS:
            raise _MalformedError
        name = self.run(_LETTERS | _DIGITS)
        self.need(">")
        return name

    def repetition(self) -> None:
        if self.peek() in {"?", "*", "+"} and self.peek():
            self.position += 1
        elif self.take_text("{"):
            least = self.count()
            most = least
            if self.take_text(","):
                most = _REPEATED_MAX if self.peek() == "}" else self.count()
            self.need("}")
            if most < least:
                raise _MalformedError
        else:
            return
        # Reluctant or possessive.
        if self.peek() in {"?", "+"} and self.peek():
            self.position += 1

    def count(self) -> int:
        digits = self.run(_DIGITS)
        if not digits or len(digits) > 200 or int(digits) > _REPEATED_MAX:
            raise _MalformedError
        return int(digits)

    def character_class(self) -> None:
        """A character class after its opening bracket, to its end; classes may be nested."""
        self.take_text("^")
        # For each open class, whether it has members: in an empty class, a closing bracket is a character.
        filled = [False]
        while filled:
            if self.take_text("["):
                self.take_text("^")
                filled[-1] = True
                filled.append(False)
            elif filled[-1] and self.take_text("]"):
                filled.pop()
            elif self.take_text("&&"):
                filled[-1] = True
            else:
                self.range()
                filled[-1] = True

    def range(self) -> None:
        """One character of a class, or a range."""
        first = self.member()
        if self.peek() != "-" or self.text[self.position + 1 : self.position + 2] in {"", "[", "]"}:
            return
        if not first:
            return
        self.position += 1
        last = self.member()
        if last and last < first:
            raise _MalformedError

    def member(self) -> str:
        """A character of a class; empty for an escape, whose character is not determined."""
        character = self.take()
        if character != "\\":
            return character
        self.escape(_ESCAPED_IN_CLASS)
        return ""

    def escape(self, letters: frozenset[str]) -> None:
        """The rest of an escape, after the backslash."""
        character = self.take()
        if character in letters or character not in _LETTERS | _DIGITS:
            if character == "b" and letters is _ESCAPED:
                self.take_text("{g}")
            return
        match character:
            case "0":
                if self.take() not in "01234567":
                    raise _MalformedError
            case "c":
                self.take()
            case "k":
                self.need("<")
                if self.name() not in self.groups:
                    raise _MalformedError
            case "p" | "P":
                self.property()
            case "N":
                self.skip_braces()
            case "x":
                if self.peek() == "{":
                    self.skip_braces()
                else:
                    self.hexadecimal(2)
            case "u":
                self.hexadecimal(4)
            case _:
                if character not in _DIGITS or letters is _ESCAPED_IN_CLASS:
                    raise _MalformedError

    def property(self) -> None:
        if self.peek() == "{":
            self.skip_braces()
        elif self.take() not in "LMNZCPS":
            raise _MalformedError

    def skip_braces(self) -> None:
        """A text between braces."""
        self.need("{")
        end = self.text.find("}", self.position)
        if end <= self.position:
            raise _MalformedError
        self.position = end + 1

    def hexadecimal(self, count: int) -> None:
        for _ in range(count):
            if self.take() not in _HEX:
                raise _MalformedError
