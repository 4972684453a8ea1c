"""What comes in on the listeners before the node is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.node.node import Node
    from controller.state.state import State
    from raft.network.requests import Incoming


class Door:
    """The events of the listeners, which wait until the node is made.

    The first listener accepts connections while the next one is being opened, and the log is opened after all of them.
    """

    def __init__(self) -> None:
        self.node: Node | None = None
        self._early: list[Callable[[Node], None]] = []

    def on_request(self, incoming: Incoming) -> None:
        """A request came in on a listener."""
        if self.node is not None:
            self.node.on_request(incoming)
            return
        self._pass(lambda node: node.on_request(incoming))

    def on_disconnected(self, connection: int) -> None:
        """A connection was closed."""
        self._pass(lambda node: node.on_disconnected(connection))

    def lead_to(self, node: Node) -> None:
        """Pass the events on from now on, and those that waited."""
        self.node = node
        for event in self._early:
            event(node)
        self._early.clear()

    def state(self) -> State | None:
        """The metadata of the node; None before the node is made."""
        return None if self.node is None else self.node.controller.state

    def _pass(self, event: Callable[[Node], None]) -> None:
        if self.node is None:
            self._early.append(event)
        else:
            event(self.node)
