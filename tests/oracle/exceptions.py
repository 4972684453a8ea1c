"""The differences that are there on purpose: those of docs/differences.md, each with a sequence in `sequences/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.oracle.commands import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.commands import Command
    from tests.oracle.compare import Difference


class Deliberate(NamedTuple):
    """ends: whether the states of both differ from then on, so that the sequence ends there."""

    name: str
    ends: bool
    holds: Callable[[Command, Difference], bool]


SEVERAL_ERRORS = ("UpdateFeatures.errorMessage", "AlterConfigs.responses[].errorMessage",
                  "IncrementalAlterConfigs.responses[].errorMessage")  # fmt: skip


def is_other_error(command: Command, difference: Difference) -> bool:
    """A text of an error where the request has several entries that may be wrong, the code being the same."""
    return (
        isinstance(command, Request)
        and difference.where in SEVERAL_ERRORS
        and bool(difference.ours)
        and bool(difference.stock)
        and max(len(items) for items in entries(command.body)) > 1
    )


def entries(body: dict[str, Any]) -> list[list[Any]]:
    """The lists of things that are checked one by one."""
    found = [body.get("featureUpdates", [])]
    return [*found, *(resource.get("configs", []) for resource in body.get("resources", []))]


EXCEPTIONS: tuple[Deliberate, ...] = (
    # Stock fails: an event of its controller raised what it does not expect, and it gives up leadership.
    Deliberate("stock-fails", True, lambda _, d: d.where == "notes" and "resigned" in d.stock and not d.ours),
    # Of several errors of one request Kafka names the first in the order of a hash map, ours the first of the request.
    Deliberate("first-error", False, lambda c, d: is_other_error(c, d)),
    # APIs that ours does not serve are not announced.
    Deliberate("fewer-apis", False, lambda _, d: d.where.startswith("ApiVersions.apiKeys")),
)


def is_known(command: Command, difference: Difference) -> tuple[str, bool] | None:
    """The name of the exception that a difference is, and whether the sequence ends there; None for a finding."""
    from tests.oracle.pending import PENDING  # it is written over this module

    for exception in (*EXCEPTIONS, *PENDING):
        if exception.holds(command, difference):
            return exception.name, exception.ends
    return None
