"""The connection to one peer: opened when needed, ApiVersions first, one request at a time (see DESIGN.md)."""

from __future__ import annotations

import asyncio
from errno import ECONNREFUSED
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any

from raft.network.connection import address_text, write_pieces
from raft.network.link import Link, Traffic, open_tls_link
from raft.network.versions import common_version, ranges_of
from records.codec import decode_prefix, encode_parts
from records.errors import Error
from records.headers import ResponseHeader, request_header_version, response_header_version
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.registry import response_class
from records.schema import schema_of
from records.wire import DecodeError, EncodeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from raft.interface.config import Endpoint
    from raft.network.sasl_login import SaslLogin
    from raft.network.security import ClientSecurity

BACKOFF_MS = 50  # reconnect.backoff.ms
BACKOFF_MS_MAX = 500  # reconnect.backoff.max.ms, as stock controllers set it for each other
CONNECT_MS_MAX = 10_000  # socket.connection.setup.timeout.ms
VERSIONS_MS_MAX = 2_000  # for the answer to ApiVersions: controller.quorum.request.timeout.ms
SASL_MS_MAX = 2_000  # for authentication again
# The newest that nodes of the present release serve: they answer a newer one with an error, which costs a round trip.
API_VERSIONS_VERSION = 4

_HEADER = Layout(">hhih")  # api key, api version, correlation id, length of the client id


class Outgoing:
    """A request without an answer. number: the caller's; is_sent: it may have reached the peer, in no older version."""

    __slots__ = ("api_key", "correlation_id", "is_sent", "least_version", "number", "request", "version")

    def __init__(self, number: int, request: Any, least_version: int = 0) -> None:
        self.number = number
        self.request = request
        self.least_version = least_version
        self.api_key = schema_of(type(request)).api_key
        self.version = -1
        self.correlation_id = -1
        self.is_sent = False


class Channel:
    """The channel to one peer.

    Each `send` ends in one call of on_answer, or of on_failure; unless a later `send` has replaced it.
    on_refused: the connection was refused. versions: the versions that the peer serves, None where not yet known.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        client_id: str,
        rng: Random,
        *,
        on_answer: Callable[[int, Any], None],
        on_failure: Callable[[int, Error], None],
        on_refused: Callable[[], None],
        note: Callable[[str, dict[str, Any]], None],
        security: ClientSecurity | None = None,
        traffic: Traffic | None = None,
    ) -> None:
        self._traffic = traffic or Traffic()
        self.versions: dict[int, tuple[int, int]] | None = None
        self._loop = loop
        self._client_id = client_id.encode()
        self._rng = rng
        self._on_answer = on_answer
        self._on_failure = on_failure
        self._on_refused = on_refused
        self._note = note
        self._endpoint: Endpoint | None = None
        self._link: Link | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._asked: Outgoing | None = None  # the caller's request
        self._asking: Outgoing | None = None  # a request of the channel itself: ApiVersions, or one of SASL
        self._security = security
        self._login: SaslLogin | None = None
        self._reauth_at: float | None = None
        self._api_versions_version = API_VERSIONS_VERSION
        self._correlation_id = 0
        self._failures = 0
        self._ready_at = 0.0
        self._last_reason = ""
        self._failing_since_s = 0.0
        self._missing: set[str] = set()  # what the peer does not serve, of what was asked
        self._is_closed = False

    @property
    def is_ready(self) -> bool:
        """Whether a request could leave at once."""
        is_open = self._link is not None and self.versions is not None
        return is_open and self._asking is None and self._login is None

    def send(self, number: int, endpoint: Endpoint, request: Any, least_version: int = 0) -> None:
        """Send a request to the peer's current address. It replaces an earlier one that is unanswered."""
        assert not self._is_closed, "a request on a channel that is closed"
        if endpoint != self._endpoint:
            self._move(endpoint)
        elif self._asked is not None and self._asked.is_sent:
            # The earlier answer may still arrive, and must not be mistaken for the new one: use a new connection.
            self._disconnect()
        self._asked = Outgoing(number, request, least_version)
        if self.is_ready:
            if self._reauth_at is not None and self._loop.time() >= self._reauth_at:
                self._set_timer(SASL_MS_MAX, self._miss_versions)
                self._begin_sasl()
            else:
                self._write_asked()
        elif self._link is None and self._connecting is None and self._timer is None:
            self._connect()

    def open(self, endpoint: Endpoint) -> None:
        """Connect to the peer if no connection exists, so that the next request need not wait for one.

        A connection to another of the peer's addresses is left as it is: requests may use that address.
        """
        if self._link is not None or self._connecting is not None:
            return
        if self._asked is None and endpoint != self._endpoint:
            self._move(endpoint)
        if self._timer is None:
            self._connect()

    def close(self) -> None:
        """Close the connection; no callback is called any more."""
        self._is_closed = True
        self._asked = None
        self._disconnect()

    # Called by the connection.

    def on_frame(self, link: Link, frame: bytes) -> None:
        """An answer has come."""
        if link is not self._link:
            return
        self._traffic.add_response(len(frame))
        awaited = self._asking or self._asked
        correlation_id = int.from_bytes(frame[:4], "big", signed=True) if len(frame) >= 4 else None
        if awaited is None or not awaited.is_sent or correlation_id != awaited.correlation_id:
            self.break_off(f"an answer of {len(frame)} bytes to nothing that was asked")
            return
        try:
            if awaited is self._asking:
                self._take_own(awaited, frame)
                return
            assert awaited.api_key is not None
            answer = read_answer(response_class(awaited.api_key), awaited.version, frame)
        except DecodeError as error:
            self.break_off(str(error))
            return
        self._asked = None
        self._on_answer(awaited.number, answer)

    def on_lost(self, link: Link) -> None:
        """A connection has ended."""
        if link is not self._link:
            return
        lasted = self.versions is not None and self._loop.time() - self._ready_at >= BACKOFF_MS / 1000
        self._lose()
        if lasted:
            # Connecting again shows at once whether the process is still there.
            self._connect()
        else:
            self._back_off()

    def on_violation(self, link: Link, reason: str) -> None:
        """The peer sent bytes that are no frame."""
        if link is self._link:
            self.break_off(reason)
        elif not link.transport.is_closing():
            # The peer wrote before `_open` got the new connection. `_open` finds it closed, and sets the one timer. A
            # connection that was replaced is closing: what comes after its last answer must not end the next one.
            self._note_misbehaved(reason)
            link.transport.abort()

    def break_off(self, reason: str) -> None:
        """Close the connection because the peer violates the protocol."""
        self._note_misbehaved(reason)
        link = self._link
        self._lose()
        if link is not None:
            link.transport.abort()
        self._back_off()

    def _note_misbehaved(self, reason: str) -> None:
        self._note_once("peer_misbehaved", reason)

    def _note_once(self, event: str, reason: str) -> None:
        """Once, not at each of many attempts."""
        if reason != self._last_reason:
            self._last_reason, self._failing_since_s = reason, self._loop.time()
            self._note(event, {"peer": self.address, "reason": reason})

    def _move(self, endpoint: Endpoint) -> None:
        """The peer has another address."""
        self._disconnect()
        self._endpoint = endpoint
        self._failures = 0
        self._api_versions_version = API_VERSIONS_VERSION

    def _connect(self) -> None:
        assert self._endpoint is not None
        self._connecting = self._loop.create_task(self._open(self._endpoint))

    async def _open(self, endpoint: Endpoint) -> None:
        task = self._connecting
        try:
            # The name is resolved each time: the peer's address may have changed.
            if self._security is None or self._security.context is None:
                opening = self._loop.create_connection(lambda: Link(self), endpoint.host, endpoint.port)
                _, link = await asyncio.wait_for(opening, CONNECT_MS_MAX / 1000)
            else:
                secured = open_tls_link(self._loop, endpoint, self._security, self, self._note_misbehaved)
                link = await asyncio.wait_for(secured, CONNECT_MS_MAX / 1000)
        except (OSError, ValueError, OverflowError) as error:  # a timeout too; no host, or port, is beyond a peer
            if task is self._connecting:
                self._connecting = None
                self._fail_connect(error)
            return
        if task is not self._connecting:
            link.transport.abort()
            return
        self._connecting = None
        if link.transport.is_closing():
            self._fail_connect(ConnectionResetError("the connection was closed as soon as it was made"))
            return
        self._link = link
        self._set_timer(VERSIONS_MS_MAX, self._miss_versions)
        self._ask_versions()

    def _fail_connect(self, error: Exception) -> None:
        self._note_once("connect_failed", str(error) or type(error).__name__)
        self._back_off()
        self._fail(Error.BROKER_NOT_AVAILABLE)
        if is_refused(error):
            self._on_refused()

    def _back_off(self) -> None:
        """Wait before the next attempt: twice as long after each failure, with a random jitter of ±20 %."""
        wait_ms = min(BACKOFF_MS * (1 << min(self._failures, 10)), BACKOFF_MS_MAX)
        self._failures += 1
        self._set_timer(wait_ms * (0.8 + 0.4 * self._rng.random()), self._after_backoff)

    def _after_backoff(self) -> None:
        self._timer = None
        if self._asked is not None:
            self._connect()

    def _disconnect(self) -> None:
        """End the connection, if there is one, without a callback."""
        if self._connecting is not None:
            self._connecting.cancel()
            self._connecting = None
        self._clear_timer()
        link, self._link = self._link, None
        self.versions = None
        self._asking = None
        self._leave_sasl()
        if link is not None:
            link.transport.abort()

    def _lose(self) -> None:
        """The connection is lost, and with it the requests on it."""
        self._clear_timer()
        self._link = None
        self.versions = None
        self._asking = None
        self._leave_sasl()
        self._fail(Error.BROKER_NOT_AVAILABLE)

    def _set_timer(self, wait_ms: float, action: Callable[[], None]) -> None:
        """One timer at a time: for the end of a backoff, or of the wait for the peer's versions."""
        assert self._timer is None, "two timers of one channel"
        if not self._is_closed:
            self._timer = self._loop.call_later(wait_ms / 1000, action)

    def _clear_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fail(self, error: Error) -> None:
        if self._asked is not None:
            asked, self._asked = self._asked, None
            self._on_failure(asked.number, error)

    # Writing and reading.

    def _ask_versions(self) -> None:
        """Send ApiVersions; if the version is too new for the peer, its answer names those that it serves."""
        request = ApiVersionsRequest(client_software_name="kraft-quorum", client_software_version="1")
        self._ask(request, self._api_versions_version)

    def _ask(self, request: Any, version: int) -> None:
        """Send a request of the channel itself."""
        self._asking = Outgoing(-1, request)
        self._write(self._asking, version)

    def _miss_versions(self) -> None:
        self._timer = None
        what = "ApiVersions" if self._login is None else "SASL requests"
        self.break_off(f"it does not answer {what} within {VERSIONS_MS_MAX} ms")

    def _take_own(self, asked: Outgoing, frame: bytes) -> None:
        """Handle the answer to a request of the channel itself. Raises DecodeError."""
        self._asking = None
        if isinstance(asked.request, ApiVersionsRequest):
            self._take_versions(asked, frame)
            return
        assert asked.api_key is not None
        assert self._login is not None
        self._login.on_answer(asked.request, read_answer(response_class(asked.api_key), asked.version, frame))

    def _take_versions(self, asked: Outgoing, frame: bytes) -> None:
        code = int.from_bytes(frame[4:6], "big", signed=True)
        # A peer that does not know the version answers in version 0.
        version = 0 if code == Error.UNSUPPORTED_VERSION else asked.version
        response = read_answer(ApiVersionsResponse, version, frame)
        ranges = ranges_of(response)
        if response.error_code == Error.UNSUPPORTED_VERSION:
            known = ranges.get(schema_of(ApiVersionsRequest).api_key or 0, (0, 0))[1]
            if asked.version == 0 or known >= asked.version:
                self.break_off(f"it refuses ApiVersions v{asked.version}, and says that it serves up to v{known}")
                return
            self._api_versions_version = max(known, 0)
            self._ask_versions()
            return
        if response.error_code:
            self.break_off(f"it answers ApiVersions with error {response.error_code}")
            return
        self.versions = ranges
        self._missing.clear()
        if self._security is not None and self._security.mechanism is not None:
            self._begin_sasl()
        else:
            self._become_ready()

    def _become_ready(self) -> None:
        self._clear_timer()
        self._failures = 0
        self._ready_at = self._loop.time()
        self._last_reason = ""
        if self._asked is not None:
            self._write_asked()

    def _begin_sasl(self) -> None:
        """Authenticate, or authenticate again, on the present connection."""
        from raft.network.sasl_login import SaslLogin  # a channel without SASL does not need it

        assert self._security is not None
        assert self._security.mechanism is not None
        assert self.versions is not None
        assert self._endpoint is not None
        self._login = SaslLogin(
            self._loop, self._security.mechanism, self._endpoint.host, self.versions,
            ask=self._ask, on_done=self._end_sasl, on_refused=self._fail_authentication,
        )  # fmt: skip
        self._login.begin()

    def _end_sasl(self, lifetime_ms: int) -> None:
        self._login = None
        # As stock's clients do: between 85 and 95 % of the session, each connection at another time.
        share = 0.85 + 0.10 * self._rng.random() if lifetime_ms > 0 else 0.0
        self._reauth_at = self._loop.time() + lifetime_ms * share / 1000 if lifetime_ms > 0 else None
        self._become_ready()

    def _leave_sasl(self) -> None:
        """The connection is gone."""
        if self._login is not None:
            self._login.cancel()
        self._login = None
        self._reauth_at = None

    def _fail_authentication(self, reason: str) -> None:
        self._note_once("authentication_failed", reason)
        link = self._link
        self._lose()
        if link is not None:
            link.transport.abort()
        self._back_off()

    def _write_asked(self) -> None:
        asked = self._asked
        assert asked is not None
        assert self.versions is not None
        try:
            self._write(asked, common_version(type(asked.request), self.versions, asked.least_version))
        except EncodeError as error:
            if str(error) not in self._missing:  # once for each connection: the caller may ask again and again
                self._missing.add(str(error))
                self._note("peer_too_old", {"peer": self.address, "reason": str(error)})
            self._fail(Error.UNSUPPORTED_VERSION)

    def _write(self, outgoing: Outgoing, version: int) -> None:
        """Write the request's frame. Raises EncodeError where the version cannot carry the request."""
        parts = encode_parts(outgoing.request, version)
        self._correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        outgoing.version = version
        outgoing.correlation_id = self._correlation_id
        header = _HEADER.pack(outgoing.api_key, version, self._correlation_id, len(self._client_id)) + self._client_id
        if request_header_version(type(outgoing.request), version) == 2:
            header += b"\0"  # no tagged fields
        size = len(header) + sum(map(len, parts))
        assert self._link is not None
        outgoing.is_sent = True
        self._traffic.add_request(size)
        write_pieces(self._link.transport, [size.to_bytes(4, "big") + header, *parts])

    @property
    def failure(self) -> tuple[str, float] | None:
        """The address and why it cannot be reached or refuses this node, and since when (s); None if connected."""
        return (f"{self.address}: {self._last_reason}", self._failing_since_s) if self._last_reason else None

    @property
    def address(self) -> str:
        """`host:port` of the peer; empty before the first request to it."""
        return "" if self._endpoint is None else address_text(self._endpoint.host, self._endpoint.port)


def is_refused(error: Exception) -> bool:
    """Whether a connection was refused, at each address of its name."""
    if isinstance(error, ConnectionRefusedError):
        return True
    # asyncio makes one error of several, and keeps their numbers in its text alone.
    text = str(error)
    return text.startswith("Multiple exceptions: ") and text.count("[Errno ") == text.count(f"[Errno {ECONNREFUSED}]")


def read_answer(cls: type[Any], version: int, frame: bytes) -> Any:
    """The message in an answer's frame; raises DecodeError."""
    header_version = response_header_version(cls, version)
    _, position = decode_prefix(ResponseHeader, header_version, frame, 0)
    message, end = decode_prefix(cls, version, frame, position)
    if end != len(frame):
        raise DecodeError(cls.__name__, version, "", end, f"{len(frame) - end} bytes are left after the message")
    return message
