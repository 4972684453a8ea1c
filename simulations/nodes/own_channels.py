"""Channels of a simulated controller's process, in place of sockets: those of the quorum, and of its own requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.inputs import Refused
from simulations.world.channels import Channel

if TYPE_CHECKING:
    from raft.interface.config import Endpoint
    from raft.interface.effects import Send
    from raft.interface.inputs import Answered, Failed, Input
    from simulations.world.messages import Frame


class SimChannels:
    """Replaces `raft.network.channels.Channels`. end: receives the answers; first: added to the ids of peers."""

    def __init__(self, process: Any, end: Any, first: int) -> None:
        self._process = process
        self._end = end
        self._first = first
        self._addresses: dict[int, str] = {}

    def send(self, effect: Send) -> None:
        self._addresses[effect.peer] = f"{effect.endpoint.host}:{effect.endpoint.port}"
        channels = self._process.channels
        key = self._first + effect.peer
        channel = channels.get(key)
        if channel is None:
            channel = channels[key] = Channel(self._end, effect.peer)
        channel.send(effect)

    def address_of(self, peer: int) -> str:
        """`host:port` of the last request to a peer; empty where there was none."""
        return self._addresses.get(peer, "")

    def open(self, peer: int, endpoint: Endpoint) -> None:
        """Does nothing: a message needs no connection."""

    def retain(self, peers: set[int]) -> None:
        """Does nothing: channels follow the endpoints of each `Send`."""

    def close(self) -> None:
        """The connections close with the process."""


class OwnEnd:
    """The process as the channels of its own requests see it: answers go to the registration."""

    def __init__(self, process: Any) -> None:
        self._process = process

    def __getattr__(self, name: str) -> Any:
        return getattr(self._process, name)

    def receive_soon(self, event: Input) -> None:
        if not isinstance(event, Refused):
            self._process.loop.call_soon(self._process.driver.on_own_answer, event)

    def handle_answer(self, _frame: Frame, answered: Answered | Failed) -> None:
        self._process._guard(self._process.driver.on_own_answer, answered)  # noqa: SLF001 - a part of it
