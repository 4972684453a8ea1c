r"""Names of topics that match a regular expression of Java: the value of `--topic`.

Names have ASCII letters, digits, dots, underscores and hyphens alone, so Python's `re` has what a pattern needs once
Java's own notations are rewritten: `\Q…\E`, named groups, `\p{Alpha}`, `\z`.
"""

from __future__ import annotations

import re

from controller.config.java_pattern import is_java_pattern
from controller.config.values.text import java_trim
from controller.tools.command_line.java_texts import Uncaught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

RUNTIME = "java.lang.RuntimeException"
# As members of a character class.
_PROPERTIES = {
    "Lower": "a-z", "Upper": "A-Z", "ASCII": r"\x00-\x7f", "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9",
    "Punct": "._\\-", "Graph": "!-~", "Print": " -~", "XDigit": "0-9a-fA-F", "L": "a-zA-Z", "Lu": "A-Z", "Ll": "a-z",
    "N": "0-9", "Nd": "0-9", "IsAlphabetic": "a-zA-Z", "IsDigit": "0-9", "IsLetter": "a-zA-Z", "IsL": "a-zA-Z",
}  # fmt: skip
_ESCAPES = re.compile(
    r"\\Q(.*?)(?:\\E|$)|\\([pP])(?:\{(\w+)\}|(\w))|\\k<(\w+)>|\(\?<(?![=!])|\\z|\\.|\[\^?|\]|&&", re.DOTALL
)


def filtered(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that match as a whole. Commas in the pattern separate alternatives. Raises Uncaught."""
    text = java_trim(pattern).replace(",", "|").replace(" ", "").lstrip("\"'").rstrip("\"'")
    if not is_java_pattern(text):
        raise Uncaught(RUNTIME, f"{text} is an invalid regex.")
    try:
        matcher = re.compile(_rewritten(text), re.ASCII)
    except re.error as error:
        refused = f"{text}: this regular expression cannot be evaluated: {error}"
        raise Uncaught(RUNTIME, refused) from None
    return [name for name in names if matcher.fullmatch(name)]


def _rewritten(text: str) -> str:
    """The pattern in Python's notation. Raises re.error for what has no counterpart there."""
    depth = 0

    def rewritten(match: re.Match[str]) -> str:
        nonlocal depth
        found = match[0]
        if found.startswith("["):
            depth += 1
            if depth > 1:
                raise re.error("character classes within character classes are not supported")
            return found
        if found == "]":
            depth = max(0, depth - 1)
            return found
        if found == "&&" and depth:
            raise re.error("intersections of character classes are not supported")
        if match[1] is not None:
            return re.escape(match[1])
        if match[2]:
            members = _PROPERTIES.get(match[3] or match[4])
            if members is None:
                raise re.error(f"{found} is not supported")
            if depth and match[2] == "P":
                raise re.error(f"{found} within a character class is not supported")
            return members if depth else f"[{'^' if match[2] == 'P' else ''}{members}]"
        if match[5]:
            return f"(?P={match[5]})"
        return {"(?<": "(?P<", r"\z": r"\Z"}.get(found, found)

    return _ESCAPES.sub(rewritten, text)
