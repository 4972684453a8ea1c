"""A typed line split into words, as the line reader of Kafka's shell (JLine) splits it."""

from __future__ import annotations

_ESCAPE = "\\"
_QUOTES = "'\""
_BLANKS = frozenset(" \t\n\x0b\f\r\x1c\x1d\x1e\x1f")


def words(line: str) -> list[str]:
    """The words of a line; the last is the one being typed, and may be empty.

    Quotes at the beginning of a word are removed together with the closing ones, and may enclose an empty word; a
    backslash is removed, and the character after it is literal.
    """
    complete_words = []
    word = ""
    quote = ""
    word_is_quoted = False
    word_was_quoted = False
    for position, character in enumerate(line):
        escaped = is_escaped(line, position)
        if not quote and character in _QUOTES and not escaped:
            quote = character
            if word:
                word += character
            else:
                word_is_quoted = True
        elif character == quote and not escaped:
            if not word_is_quoted:
                word += character
            word_was_quoted = word_was_quoted or word_is_quoted
            quote = ""
            word_is_quoted = False
        elif not quote and character in _BLANKS and not escaped:
            if word or word_was_quoted:
                complete_words.append(word)
                word = ""
                word_was_quoted = False
        elif character != _ESCAPE or escaped:
            word += character
    return [*complete_words, word]


def is_escaped(line: str, position: int) -> bool:
    """Whether an odd number of backslashes stands before a position."""
    before = line[:position]
    return (len(before) - len(before.rstrip(_ESCAPE))) % 2 == 1
