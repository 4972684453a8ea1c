"""Whether a text is a regular expression of Java: those of client metrics are read by brokers, with Java's syntax."""

from __future__ import annotations

import re
import warnings

# What Java has and Python has not, with something of the same shape: only whether it is well formed matters here.
_NAMED_CLASS = re.compile(r"\\[pP](?:\{[A-Za-z0-9_=]+\}|[LMNPSZC])")
_OTHERS = re.compile(
    r"\\(?:[hHRXGzZe]|x\{[0-9a-fA-F]{1,6}\}|0[0-7]{1,3}|c.|k<[A-Za-z][A-Za-z0-9]*>|[1-9][0-9]*)", re.DOTALL
)
_NAMED_GROUP = re.compile(r"\(\?<(?=[A-Za-z])")
_FLAGS = re.compile(r"\(\?[idmsuxU]*(?:-[idmsuxU]+)?(?=[:)])")
_REPEATED = re.compile(r"\{([0-9]{1,10})(?:,([0-9]{0,10}))?\}[?+]?")
_NOT_IN_JAVA = re.compile(r"(?<!\\)\(\?[P#]")
_MALFORMED = "("
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|$)", re.DOTALL)


def is_java_pattern(text: str) -> bool:
    """Whether Java would compile it. Where the two languages differ in what they allow, rather yes than no."""
    tokens = _QUOTED.sub(lambda match: re.escape(match[1]), text)
    # A backslash that is itself escaped begins nothing: it is out of the way while the others are looked for.
    parts = tokens.split("\\\\")
    if any(_NOT_IN_JAVA.search(part) for part in parts):
        return False
    shaped = "__".join(_shaped(part) for part in parts)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(shaped)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _shaped(part: str) -> str:
    part = _NAMED_CLASS.sub("a", part)
    part = _OTHERS.sub("a", part)
    part = _REPEATED.sub(lambda match: "a" if _is_count(match[1], match[2]) else _MALFORMED, part)
    part = _NAMED_GROUP.sub("(", part)
    # Flags stand anywhere in Java, at the beginning alone in Python: a group that takes nothing is as well formed.
    part = _FLAGS.sub(lambda match: "(?" if match.string[match.end()] == ":" else "(", part)
    # The union and intersection of classes: an inner bracket is a character like any other to Python.
    return _flat_classes(part)


def _is_count(least: str, most: str | None) -> bool:
    return int(least) < 1 << 31 and (not most or int(least) <= int(most) < 1 << 31)


def _flat_classes(part: str) -> str:
    """Classes with classes in them, as classes without."""
    out: list[str] = []
    depth = 0
    position = 0
    while position < len(part):
        character = part[position]
        if character == "\\":
            out.append(part[position : position + 2])
            position += 2
            continue
        if character == "[":
            depth += 1
            out.append("[" if depth == 1 else "a")
            if depth > 1 and part[position + 1 : position + 2] == "^":
                position += 1
        elif character == "]" and depth:
            depth -= 1
            out.append("]" if depth == 0 else "a")
        else:
            # What is left of braces outside of a class repeats nothing.
            out.append(_MALFORMED if character == "{" and not depth else character)
        position += 1
    return "".join(out)
