"""Slices: how a handler lets the rest of the node run while it serves a long request.

A handler calls these functions whatever the size of its request; in a short one they do nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from controller.state.tables.undo import Undoable

    # What a handler reads: the keys in each part of the state. `EVERYTHING` stands for all keys of a part.
    Reads = dict[Undoable, Container[Any]]

T = TypeVar("T")


class _Everything:
    def __contains__(self, _key: object) -> bool:
        return True


EVERYTHING = _Everything()


class Slices:
    """The slices of a node that has none: every request is served in one step."""

    __slots__ = ()

    def pause(self) -> None:
        """Other inputs may be taken here. Called between entries, some 100 µs apart at most, where the handler
        depends on nothing that other inputs may change: before `hold`, the whole state; after it, what it does not
        read.
        """

    def spread(self, entries: Iterable[T]) -> Iterable[T]:
        """The entries, with a pause now and then. For loops over very many that take some microseconds each: a pause
        before each of them would take a fifth of the time, or more.
        """
        return entries

    def hold(self, reads: Callable[[], Reads]) -> None:
        """From here on the handler reads state that its records and its answer rest on. reads: returns what it reads.

        If another input changes some of that before the records are in the state, the handler is called again, and
        then inputs that write records wait until its step ends. A handler that does not call this, whose row in
        `controller.core.apis` names no tables either, has them wait from its beginning.
        """

    def apply(self) -> None:
        """From here on the state has a part of the records: inputs that read it, or write, wait."""
