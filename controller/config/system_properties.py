"""Java's system properties and agents that a stock node is given in `KAFKA_OPTS`, such as the path of its JAAS file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "KAFKA_OPTS"


def system_properties(environment: Mapping[str, str]) -> dict[str, str]:
    """The properties by name: of several `-Dname=value` the last counts; all else in the variable is passed over."""
    return {name: value for name, value in _options(environment, "-D") if name}


def java_agents(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """The path of each agent and what it is given, after `=`, which may hold a secret."""
    return _options(environment, "-javaagent:")


def _options(environment: Mapping[str, str], prefix: str) -> list[tuple[str, str]]:
    """What stands before and after the `=` of each option that begins with the prefix."""
    text = environment.get(VARIABLE, "")
    if prefix not in text:
        return []
    from shlex import split

    try:
        words = split(text)
    except ValueError:  # a quote without an end
        words = text.split()
    options = (word.removeprefix(prefix).partition("=") for word in words if word.startswith(prefix))
    return [(name, value) for name, _, value in options]
