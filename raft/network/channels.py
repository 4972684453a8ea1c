"""All channels of a node: sends the core's requests, and reports answers and failures to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.inputs import Answered, Failed, Refused
from raft.network.channel import Channel
from raft.network.link import Traffic

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Container
    from random import Random

    from raft.interface.config import Endpoint
    from raft.interface.effects import Send
    from raft.interface.inputs import Input
    from raft.network.security import ClientSecurity
    from records.errors import Error


class Channels:
    """One channel for each peer, made at its first request.

    on_input: takes `Answered`, `Failed` and `Refused`, never from within `send`; note: takes events for the log;
    security: None for PLAINTEXT. traffic: what went through all of them, closed ones included.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        client_id: str,
        rng: Random,
        *,
        on_input: Callable[[Input], None],
        note: Callable[[str, dict[str, Any]], None],
        security: ClientSecurity | None = None,
    ) -> None:
        self._loop = loop
        self._client_id = client_id
        self._rng = rng
        self._on_input = on_input
        self._note = note
        self._security = security
        self._channels: dict[int, Channel] = {}
        self._is_closed = False
        self.traffic = Traffic()

    def send(self, effect: Send) -> None:
        """Send a request; one of the inputs reports its result, unless a later `send` to the peer replaces it."""
        self._of(effect.peer).send(effect.number, effect.endpoint, effect.request, effect.least_version)

    def open(self, peer: int, endpoint: Endpoint) -> None:
        """Connect to a peer if no connection exists, so that the next request to it need not wait for one."""
        self._of(peer).open(endpoint)

    def failures(self) -> dict[int, tuple[str, float]]:
        """Peer -> its address and why no connection can be made to it, and since when (s, of the loop's time)."""
        by_peer = {peer: channel.failure for peer, channel in sorted(self._channels.items())}
        return {peer: failure for peer, failure in by_peer.items() if failure is not None}

    def address_of(self, peer: int) -> str:
        """`host:port` that the requests to a peer go to; empty for a peer that nothing was sent to."""
        channel = self._channels.get(peer)
        return "" if channel is None else channel.address

    def retain(self, peers: Container[int]) -> None:
        """Close the channels to all other peers; a later `send` opens a new one."""
        for peer in [peer for peer in self._channels if peer not in peers]:
            self._channels.pop(peer).close()

    def close(self) -> None:
        """Close all connections; nothing is reported any more."""
        self._is_closed = True
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()

    def _of(self, peer: int) -> Channel:
        channel = self._channels.get(peer)
        if channel is None:
            channel = self._channels[peer] = self._make(peer)
        return channel

    def _deliver(self, event: Input) -> None:
        if not self._is_closed:
            self._on_input(event)

    def _make(self, peer: int) -> Channel:
        def on_answer(number: int, response: Any) -> None:
            self._on_input(Answered(peer, number, response))

        def on_failure(number: int, error: Error) -> None:
            # A version that does not fit is found within `send`; the failure is reported in a step of its own.
            self._loop.call_soon(self._deliver, Failed(peer, number, error))

        def on_refused() -> None:
            self._loop.call_soon(self._deliver, Refused(peer))

        return Channel(
            self._loop, self._client_id, self._rng,
            on_answer=on_answer, on_failure=on_failure, on_refused=on_refused, note=self._note,
            security=self._security, traffic=self.traffic,
        )  # fmt: skip
