"""One connection of the HTTP port: HTTP/1.1 with h11, limited in size, time and number of requests (RFC 9112)."""

from __future__ import annotations

import asyncio
import math
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import h11

from controller.server.http.answers import Asked, text
from raft.network.connection import peer_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.server.http.answers import Answer

HEAD_BYTES_MAX = 8 << 10
REQUESTS_MAX = 1000
# Timeouts, in seconds: from the first byte of a request to its end; from a response to the first byte of the next
# request.
HEAD_S_MAX = 10.0
IDLE_S_MAX = 30.0
# The unread bytes of a reader of events above which its connection is closed.
UNREAD_BYTES_MAX = 256 << 10

# Responses must not be used by other sites or cached: each shows the present state.
HEADERS = (
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


class HttpConnection(asyncio.Protocol):
    """Serves GET and HEAD requests, one at a time.

    on_request: called with this connection and the request; it calls `answer` or `stream`, at once or later. on_made:
    returns whether the connection is accepted. on_lost: called once, when the connection is closed. deadline_s: the
    timeout of the client, on the loop's clock; infinite while the node has to act. names: those of the client's
    certificate; empty without one.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_made: Callable[[HttpConnection], bool],
        on_request: Callable[[HttpConnection, Asked], None],
        on_lost: Callable[[HttpConnection], None],
        names: Sequence[str] = (),
    ) -> None:
        self.names = names
        self._loop = loop
        self._on_made = on_made
        self._on_request = on_request
        self._on_lost = on_lost
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
        self._transport: asyncio.Transport | None = None
        self._asked: Asked | None = None
        self._requests = 0
        self.is_streaming = False
        self.deadline_s = 0.0

    # What the loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's class is not a subclass
        self.deadline_s = self._loop.time() + HEAD_S_MAX
        if not self._on_made(self):
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._http.receive_data(data)
        if self._asked is None and not self.is_streaming:
            self._take()

    def eof_received(self) -> bool:
        """A client that closes its side sends no more requests, but still gets the response that it waits for."""
        return self._asked is not None and not self.is_streaming

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None
        self._on_lost(self)

    # What the port calls.

    @property
    def peer(self) -> str:
        """`host:port` of the client; empty when it is gone."""
        return "" if self._transport is None else peer_text(self._transport)

    def answer(self, answer: Answer) -> None:
        """Send the response to the current request; does nothing if the connection is closed."""
        if self._transport is None:
            return
        is_last = self._requests >= REQUESTS_MAX or self._http.their_state is h11.ERROR
        headers = _headers(answer.content_type, answer.headers)
        if answer.status != HTTPStatus.NO_CONTENT:  # which has no length (RFC 9110, 8.6)
            headers.append(("Content-Length", str(len(answer.body))))
        if is_last:
            headers.append(("Connection", "close"))
        is_head = self._asked is not None and self._asked.is_head
        sent = (
            self._http.send(h11.Response(status_code=answer.status, headers=headers, reason=_reason(answer.status)))
            or b""
        )
        if answer.body and not is_head:
            sent += self._http.send(h11.Data(data=answer.body)) or b""
        sent += self._http.send(h11.EndOfMessage()) or b""
        self._asked = None
        self._transport.write(sent)
        self._go_on()

    def stream(self) -> bool:
        """Answer with a stream of events, sent by `send`; False after a HEAD, or if the connection is closed."""
        if self._transport is None:
            return False
        assert self._asked is not None
        head = h11.Response(status_code=200, headers=_headers("text/event-stream", ()), reason=_reason(200))
        sent = self._http.send(head) or b""
        if self._asked.is_head:
            self._transport.write(sent + (self._http.send(h11.EndOfMessage()) or b""))
            self._asked = None
            self._go_on()
            return False
        self.is_streaming = True
        self._asked = None
        self.deadline_s = math.inf
        self._transport.write(sent)
        return True

    def send(self, data: bytes) -> bool:
        """Send more events; False if the connection was closed because the client left too much unread."""
        if self._transport is None:
            return False
        if self._transport.get_write_buffer_size() > UNREAD_BYTES_MAX:
            self._transport.abort()
            return False
        self._transport.write(self._http.send(h11.Data(data=data)) or b"")
        return True

    def close(self) -> None:
        """Close after the responses are written."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    # In between.

    def _take(self) -> None:
        """Hand over the next request, if there is one; reading stops until it is answered."""
        try:
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                asked = _parse_request(event)
                event = self._http.next_event()
                if isinstance(event, h11.EndOfMessage):
                    self._hand_over(asked)
                else:
                    self._refuse(413, "requests must not have a body")
            elif isinstance(event, h11.ConnectionClosed):
                self.close()
            else:
                self.deadline_s = min(self.deadline_s, self._loop.time() + HEAD_S_MAX)
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint, f"this HTTP/1.1 request is not supported: {error}")

    def _hand_over(self, asked: Asked) -> None:
        assert self._transport is not None
        self._requests += 1
        self._asked = asked
        self.deadline_s = math.inf
        self._transport.pause_reading()
        self._on_request(self, asked)

    def _refuse(self, status: int, line: str) -> None:
        """Send the error and close: the start of the next request is unknown."""
        self._requests = REQUESTS_MAX
        if self._http.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self.answer(text(status, line))
        else:
            self.close()

    def _go_on(self) -> None:
        """After a response: start the next request, which may have arrived already, or close."""
        assert self._transport is not None
        self.deadline_s = self._loop.time() + IDLE_S_MAX
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            self._transport.resume_reading()
            self._take()
        else:
            self.close()


def _reason(status: int) -> bytes:
    return HTTPStatus(status).phrase.encode()


def _headers(content_type: str, more: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    return [("Content-Type", content_type), *HEADERS, *more]


def _parse_request(request: h11.Request) -> Asked:
    accept = next((value for name, value in request.headers if name == b"accept"), b"")
    host = next((value for name, value in request.headers if name == b"host"), b"")
    authorization = next((value for name, value in request.headers if name == b"authorization"), None)
    target = request.target
    if target.startswith(b"http://"):  # the form used with proxies (RFC 9112, 3.2.2)
        host, _, target = target[len(b"http://") :].partition(b"/")
        target = b"/" + target
    path = target.partition(b"?")[0]
    texts = (each.decode("latin-1") for each in (request.method, path, accept, host))
    method, path_text, accept_text, host_text = texts
    return Asked(method, path_text, accept_text, authorization, host_text)
