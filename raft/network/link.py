"""One TCP connection of a channel, and how one with TLS is opened."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from raft.network.connection import set_socket_options, tls_hint
from raft.network.framer import Framer

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.config import Endpoint
    from raft.network.security import ClientSecurity
    from raft.network.tls import TlsConnection

RESPONSE_BYTES_MAX = 32 << 20  # stock leaders send batches of up to 8 MiB


class Owner(Protocol):
    """The callbacks of a connection, which the channel implements."""

    def on_frame(self, link: Link, frame: bytes) -> None: ...

    def on_lost(self, link: Link) -> None: ...

    def on_violation(self, link: Link, reason: str) -> None: ...


class Traffic:
    """Counts requests that were sent and answers that came, with their bytes before TLS."""

    __slots__ = ("incoming_bytes", "outgoing_bytes", "requests", "responses")

    def __init__(self) -> None:
        self.incoming_bytes = self.outgoing_bytes = self.requests = self.responses = 0

    def add_request(self, size: int) -> None:
        """size: of its frame, without the four bytes that say it."""
        self.requests += 1
        self.outgoing_bytes += 4 + size

    def add_response(self, size: int) -> None:
        """size: as above."""
        self.responses += 1
        self.incoming_bytes += 4 + size


class Link(asyncio.Protocol):
    """One TCP connection of a channel."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._framer = Framer(RESPONSE_BYTES_MAX)
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        set_socket_options(transport)

    def data_received(self, data: bytes) -> None:
        for frame in self._framer.feed(data):
            self._owner.on_frame(self, frame)
        if self._framer.error is not None:
            self._owner.on_violation(self, tls_hint(self._framer.first) or self._framer.error)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        self._owner.on_lost(self)


async def open_tls_link(
    loop: asyncio.AbstractEventLoop,
    endpoint: Endpoint,
    security: ClientSecurity,
    owner: Owner,
    note: Callable[[str], None],
) -> Link:
    """Open a connection to the endpoint, with TLS.

    note: takes the reason if TLS fails after the handshake. Raises OSError, ValueError or OverflowError.
    """
    from raft.network.tls import TlsConnection, TlsFailed

    assert security.context is not None
    context = security.context()
    ended: asyncio.Future[str | None] = loop.create_future()
    links: list[Link] = []

    def inner(_tls: TlsConnection) -> Link:
        links.append(Link(owner))
        return links[0]

    def on_done(_tls: TlsConnection, reason: str | None) -> None:
        if not ended.done():
            ended.set_result(reason)

    transport, _ = await loop.create_connection(
        lambda: TlsConnection(
            loop, context, inner,
            hostname=endpoint.host, server_side=False, schedule=lambda step: step(), on_started=lambda _tls: None,
            on_done=on_done, check=security.check_session, note=lambda _tls, reason: note(reason),
        ),
        endpoint.host, endpoint.port,
    )  # fmt: skip
    try:
        reason = await ended
    except asyncio.CancelledError:
        transport.abort()
        raise
    if reason is not None:
        raise TlsFailed(reason)
    return links[0]
