"""The differences that are there on purpose: those of docs/differences.md, each with a sequence in `sequences/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.commands import Command
    from tests.oracle.compare import Difference


class Deliberate(NamedTuple):
    """ends: whether the states of both differ from then on, so that the sequence ends there."""

    name: str
    ends: bool
    holds: Callable[[Command, Difference], bool]


EXCEPTIONS: tuple[Deliberate, ...] = (
    # Stock fails: an event of its controller raised what it does not expect, and it gives up leadership.
    Deliberate("stock-fails", True, lambda _, d: d.where == "notes" and "resigned" in d.stock and not d.ours),
    # APIs that ours does not serve are not announced.
    Deliberate("fewer-apis", False, lambda _, d: d.where.startswith("ApiVersions.apiKeys")),
)


def is_known(command: Command, difference: Difference) -> tuple[str, bool] | None:
    """The name of the exception that a difference is, and whether the sequence ends there; None for a finding."""
    for exception in EXCEPTIONS:
        if exception.holds(command, difference):
            return exception.name, exception.ends
    return None
