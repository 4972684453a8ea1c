"""Java's system properties that a stock node is given in `KAFKA_OPTS`, such as the path of its JAAS file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "KAFKA_OPTS"


def system_properties(environment: Mapping[str, str]) -> dict[str, str]:
    """The properties by name: of several `-Dname=value` the last counts; all else in the variable is passed over."""
    text = environment.get(VARIABLE, "")
    if "-D" not in text:
        return {}
    from shlex import split

    try:
        words = split(text)
    except ValueError:  # a quote without an end
        words = text.split()
    options = (word[2:].partition("=") for word in words if word.startswith("-D"))
    return {name: value for name, _, value in options if name}
