"""Names of topics that match a regular expression of Java: the value of `--topic`."""

from __future__ import annotations

from records.java.java_matching import Steps
from records.java.java_pattern import is_java_pattern
from records.java.java_regex import PatternError, compile_java
from records.java.java_values import java_trim
from tools.command_line.java_texts import Uncaught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

RUNTIME = "java.lang.RuntimeException"
_STEPS_MAX = 1 << 40  # a tool may take its time


def filter_names(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that match as a whole. Commas in the pattern separate alternatives. Raises Uncaught."""
    text = java_trim(pattern).replace(",", "|").replace(" ", "").lstrip("\"'").rstrip("\"'")
    if not is_java_pattern(text):
        raise Uncaught(RUNTIME, f"{text} is an invalid regex.")
    try:
        program = compile_java(text)
    except PatternError as error:
        refused = f"{text}: this regular expression cannot be evaluated: {error}"
        raise Uncaught(RUNTIME, refused) from None
    return [name for name in names if program.match_all(name, Steps(_STEPS_MAX)) is not None]
