"""Slices: how a handler lets the rest of the node run while it serves a long request.

A handler calls these functions whatever the size of its request; in a short one they do nothing.
"""

from __future__ import annotations


class Slices:
    """The slices of a node that has none: every request is served in one step."""

    __slots__ = ()

    def pause(self) -> None:
        """Other inputs may be taken here. Called between entries, some 100 µs apart at most, where the handler
        depends on nothing that other inputs may change: before `hold`, the whole state; after it, nothing that
        records change.
        """

    def hold(self) -> None:
        """From here on the handler reads state that its records rest on: inputs that write records wait until its step
        ends.
        """

    def apply(self) -> None:
        """From here on the state has a part of the records: inputs that read it wait, too."""
