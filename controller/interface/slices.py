"""Slices: how a handler lets the rest of the node run while it serves a long request.

A handler calls these functions whatever the size of its request; in a short one they do nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")


class Slices:
    """The slices of a node that has none: every request is served in one step."""

    __slots__ = ()

    def pause(self) -> None:
        """Other inputs may be taken here. Called between entries, some 100 µs apart at most, where the handler
        depends on nothing that other inputs may change: before `hold`, the whole state; after it, nothing that
        records change.
        """

    def spread(self, entries: Iterable[T]) -> Iterable[T]:
        """The entries, with a pause now and then. For loops over very many that take a microsecond or two each: a pause
        before each of them would take as long as the rest.
        """
        return entries

    def hold(self) -> None:
        """From here on the handler reads state that its records rest on: inputs that write records wait until its step
        ends.
        """

    def apply(self) -> None:
        """From here on the state has a part of the records: inputs that read it wait, too."""
