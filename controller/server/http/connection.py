"""One connection of the HTTP port: HTTP/1.1 by h11, of bounded size, time and number of requests (RFC 9112)."""

from __future__ import annotations

import asyncio
import math
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import h11

from controller.server.http.answers import Asked, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.server.http.answers import Answer

HEAD_BYTES_MAX = 8 << 10
REQUESTS_MAX = 1000
# A request must be there whole within so many seconds of its first byte; an answer must be taken, and the next request
# begun, within so many more.
HEAD_S_MAX = 10.0
IDLE_S_MAX = 30.0
# What a reader of events may leave in our memory before it is cut off.
UNREAD_BYTES_MAX = 256 << 10

# Nothing here is for other sites, or to be kept: each answer is of this moment.
HEADERS = (
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


class HttpConnection(asyncio.Protocol):
    """Takes GET and HEAD requests, one at a time.

    on_request: called with this connection and what is asked; `answer` or `stream` is to follow, at once or later.
    on_made: whether it may stay. on_lost: called once, when the connection is gone. deadline_s: when it has taken too
    long, on the loop's clock; infinite where it is we who have to do something.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_made: Callable[[HttpConnection], bool],
        on_request: Callable[[HttpConnection, Asked], None],
        on_lost: Callable[[HttpConnection], None],
    ) -> None:
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
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by class
        self.deadline_s = self._loop.time() + HEAD_S_MAX
        if not self._on_made(self):
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._http.receive_data(data)
        if self._asked is None and not self.is_streaming:
            self._take()

    def eof_received(self) -> bool:
        """Who closes its side has no more to ask, and hears the answer that it still waits for."""
        return self._asked is not None and not self.is_streaming

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None
        self._on_lost(self)

    # What the port calls.

    def answer(self, answer: Answer) -> None:
        """Answer the request that was handed over; nothing happens where the connection is gone."""
        if self._transport is None:
            return
        is_last = self._requests >= REQUESTS_MAX or self._http.their_state is h11.ERROR
        headers = [*_headers(answer.content_type, answer.headers), ("Content-Length", str(len(answer.body)))]
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
        """Answer with events from now on, by `send`; False where none are wanted: after a HEAD, or by nobody."""
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
        """Give a reader of events more; False where it was cut off, as it left too much unread."""
        if self._transport is None:
            return False
        if self._transport.get_write_buffer_size() > UNREAD_BYTES_MAX:
            self._transport.abort()
            return False
        self._transport.write(self._http.send(h11.Data(data=data)) or b"")
        return True

    def close(self) -> None:
        """Close when what was answered is written."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    # In between.

    def _take(self) -> None:
        """See whether there is a request, and hand it over; reading stops until it is answered."""
        try:
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                asked = _asked(event)
                event = self._http.next_event()
                if isinstance(event, h11.EndOfMessage):
                    self._hand_over(asked)
                else:
                    self._refuse(413, "a request here has no body")
            elif isinstance(event, h11.ConnectionClosed):
                self.close()
            else:
                self.deadline_s = min(self.deadline_s, self._loop.time() + HEAD_S_MAX)
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint, f"this is no HTTP/1.1 request that is served: {error}")

    def _hand_over(self, asked: Asked) -> None:
        assert self._transport is not None
        self._requests += 1
        self._asked = asked
        self.deadline_s = math.inf
        self._transport.pause_reading()
        self._on_request(self, asked)

    def _refuse(self, status: int, line: str) -> None:
        """Say what is wrong, and close: nobody can tell where the next request would begin."""
        self._requests = REQUESTS_MAX
        if self._http.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self.answer(text(status, line))
        else:
            self.close()

    def _go_on(self) -> None:
        """After an answer: the next request, which may be there already, or the end."""
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


def _asked(request: h11.Request) -> Asked:
    accept = next((value for name, value in request.headers if name == b"accept"), b"")
    target = request.target
    if target.startswith(b"http://"):  # as proxies are asked (RFC 9112, 3.2.2)
        target = b"/" + target[len(b"http://") :].partition(b"/")[2]
    path = target.partition(b"?")[0]
    return Asked(request.method.decode("ascii"), path.decode("latin-1"), accept.decode("latin-1"))
