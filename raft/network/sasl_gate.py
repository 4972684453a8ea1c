"""SASL on one accepted connection: which frames may pass before, during and after authentication (KIP-43, KIP-152,
KIP-368).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from raft.network.mechanisms import SaslRefused, quote_user
from raft.network.requests import API_VERSIONS, HEADER_ENTRIES_MAX, BadRequest, Parsed, parse_request, response_frame
from records.errors import Error
from records.messages.sasl import SaslAuthenticateResponse, SaslHandshakeResponse
from records.messages.versions import ApiVersionsResponse
from records.schema import replace

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from raft.network.connection import Connection, Piece, Slot
    from raft.network.mechanisms import ServerMechanism
    from raft.network.security import Sasl

SASL_HANDSHAKE, SASL_AUTHENTICATE = 17, 36
# What SASL adds to the served versions.
VERSIONS = {SASL_HANDSHAKE: (0, 1), SASL_AUTHENTICATE: (0, 2)}
REAUTH_S_MIN = 1.0  # between two authentications on one connection, as in stock


class State(Enum):
    """What comes next on the connection."""

    FIRST = "ApiVersions or SaslHandshake"
    HANDSHAKE = "SaslHandshake"
    TOKENS = "tokens of the mechanism"
    DONE = "requests"
    FAILED = "nothing"


class SaslGate:
    """The gate of one connection.

    versions: those of ApiVersions among others. on_open: called with the identity when authentication is complete;
    on_failed: with the reason, when it fails.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sasl: Sasl,
        versions: Mapping[int, tuple[int, int]],
        *,
        on_open: Callable[[Connection, Any], None],
        on_failed: Callable[[Connection, str], None],
    ) -> None:
        self._loop = loop
        self._sasl = sasl
        self._versions = {API_VERSIONS: versions[API_VERSIONS], **VERSIONS}
        self._on_open = on_open
        self._on_failed = on_failed
        self._state = State.FIRST
        self._mechanism_name = ""
        self._mechanism: ServerMechanism | None = None
        self._is_bare = False  # tokens come without a request around them, after SaslHandshake v0
        self._expires_at: float | None = None
        self._renewed_at: float | None = None
        self._name = ""
        self._renewing = ""  # the mechanism of the first authentication, while the client authenticates again

    def passes(self, connection: Connection, frame: bytes) -> bool:
        """Whether a frame is a request that may be served; the gate has handled it otherwise."""
        if self._state is State.DONE:
            return self._passes_open(connection, frame)
        if self._state is State.FAILED:
            return False
        if len(frame) > self._sasl.bytes_max:  # while it authenticates again: else the server takes no such frame
            text = f"a frame of {len(frame)} bytes during authentication; at most {self._sasl.bytes_max} are taken"
            self._close(connection, text)
            return False
        if self._state is State.TOKENS and self._mechanism is None:
            text = f"another SASL mechanism was requested for re-authentication of {self._renewing}"
            self._fail(connection, None, None, None, text)  # no answer, as by stock
            return False
        if self._state is State.TOKENS and self._is_bare:
            self._take_bare(connection, frame)
            return False
        try:
            request = parse_request(frame, self._versions, entries_max=HEADER_ENTRIES_MAX)
        except BadRequest as error:
            first = self._state is State.FIRST and not self._renewing
            hint = ": set the client's security.protocol to SASL_PLAINTEXT or SASL_SSL" if first else ""
            self._close(connection, f"{error}, before it is authenticated{hint}")
            return False
        if request.api_key == API_VERSIONS and self._state is State.FIRST:
            if request.message is not None:
                self._state = State.HANDSHAKE
            return True
        if request.api_key == SASL_HANDSHAKE and self._state in {State.FIRST, State.HANDSHAKE}:
            self._handshake(connection, request)
        elif request.api_key == SASL_AUTHENTICATE and self._state is State.TOKENS:
            self._authenticate(connection, request)
        elif self._state is State.TOKENS and request.api_key in {API_VERSIONS, SASL_HANDSHAKE}:
            code = int(Error.ILLEGAL_SASL_STATE)
            answer: Any = ApiVersionsResponse(error_code=code, api_keys=())
            if request.api_key == SASL_HANDSHAKE:
                answer = SaslHandshakeResponse(error_code=code, mechanisms=())
            elif request.message is None:
                request = request._replace(version=0)  # of a version that is not served (KIP-511)
            self._fail(connection, connection.expect_answer(request), request, answer, self._reason_of(request))
        else:
            self._close(connection, self._reason_of(request))
        return False

    def _reason_of(self, request: Parsed) -> str:
        return f"API key {request.api_key} comes where {self._state.value} should"

    def _passes_open(self, connection: Connection, frame: bytes) -> bool:
        api_key = int.from_bytes(frame[:2], "big", signed=True)
        if api_key not in VERSIONS:
            if self._expires_at is None or self._loop.time() < self._expires_at:
                return True
            self._close(connection, "its session has expired, and it did not authenticate again")
            return False
        try:
            request = parse_request(frame, self._versions, entries_max=HEADER_ENTRIES_MAX)
        except BadRequest as error:
            self._close(connection, str(error))
            return False
        if api_key == SASL_HANDSHAKE and self._may_renew():
            self._renewed_at = self._loop.time()
            self._renewing = self._mechanism_name
            self._state = State.HANDSHAKE
            self._handshake(connection, request)
            return False
        code = int(Error.ILLEGAL_SASL_STATE)
        answer: Any = SaslHandshakeResponse(error_code=code, mechanisms=())
        if api_key == SASL_AUTHENTICATE:
            text = "SaslAuthenticate request received after successful authentication"
            answer = SaslAuthenticateResponse(error_code=code, error_message=text, auth_bytes=b"")
        connection.answer(connection.expect_answer(request), frame_of(answer, request))
        return False

    def _may_renew(self) -> bool:
        """Whether the client may authenticate again: its session has an end, and the last time is not just now."""
        if self._expires_at is None:
            return False
        return self._renewed_at is None or self._loop.time() - self._renewed_at >= REAUTH_S_MIN

    def add_apis(self, response: Any) -> Any:
        """An answer to ApiVersions with what the gate serves; other answers as they are."""
        if not isinstance(response, ApiVersionsResponse) or response.error_code:
            return response
        entry = ApiVersionsResponse.ApiVersion
        own = [entry(api_key=key, min_version=low, max_version=high) for key, (low, high) in VERSIONS.items()]
        others = [each for each in response.api_keys if each.api_key not in VERSIONS]
        return replace(response, api_keys=tuple(sorted([*others, *own], key=lambda each: each.api_key)))

    def _handshake(self, connection: Connection, request: Parsed) -> None:
        name = request.message.mechanism
        slot = connection.expect_answer(request)
        names = tuple(self._sasl.mechanisms)
        if name not in self._sasl.mechanisms:
            answer = SaslHandshakeResponse(error_code=int(Error.UNSUPPORTED_SASL_MECHANISM), mechanisms=names)
            reason = (
                f"SASL mechanism {quote_user(name)} is not enabled, only {', '.join(names)}: sasl.enabled.mechanisms"
            )
            if self._renewing:
                self._close(connection, reason)  # no answer, as by stock
            else:
                self._fail(connection, slot, request, answer, reason)
            return
        self._state = State.TOKENS
        self._is_bare = request.version == 0
        self._mechanism = None
        if not self._renewing or self._renewing == name:
            self._mechanism_name = name
            self._mechanism = self._sasl.mechanisms[name]()
        connection.answer(slot, frame_of(SaslHandshakeResponse(error_code=0, mechanisms=names), request))

    def _authenticate(self, connection: Connection, request: Parsed) -> None:
        slot = connection.expect_answer(request)
        try:
            token, identity = self._next(request.message.auth_bytes)
        except SaslRefused as error:
            process = "re-authentication" if self._renewing else "authentication"
            public = error.answer or (
                f"Authentication failed during {process} due to invalid credentials with SASL mechanism "
                f"{self._mechanism_name}"
            )
            answer = SaslAuthenticateResponse(
                error_code=int(Error.SASL_AUTHENTICATION_FAILED), error_message=public, auth_bytes=b""
            )
            self._fail(connection, slot, request, answer, f"{self._mechanism_name}: {error}")
            return
        lifetime_ms = 0 if identity is None else self._complete(connection, identity)
        answer = SaslAuthenticateResponse(
            error_code=0, error_message="", auth_bytes=token, session_lifetime_ms=lifetime_ms
        )
        connection.answer(slot, frame_of(answer, request))

    def _take_bare(self, connection: Connection, frame: bytes) -> None:
        """A token without a request around it. A client of this kind learns of a failure from the closed connection."""
        slot = connection.expect_answer(Parsed(SASL_AUTHENTICATE, 0, 0, None, None, 0))
        try:
            token, identity = self._next(frame)
        except SaslRefused as error:
            self._fail(connection, slot, None, None, f"{self._mechanism_name}: {error}")
            return
        if identity is not None:
            self._complete(connection, identity)
        connection.answer(slot, [len(token).to_bytes(4, "big") + token])

    def _next(self, token: bytes) -> tuple[bytes, Any]:
        """The answer to a token, and the identity when the exchange is complete. Raises SaslRefused."""
        assert self._mechanism is not None, "a token of another one is not taken"
        answer = self._mechanism.answer(token)
        if self._mechanism.name is None:
            return answer, None
        name = self._mechanism.name
        if self._renewing and name != self._name:
            text = f"Cannot change principals during re-authentication from User.{self._name}: User.{name}"
            raise SaslRefused(text, text)
        self._name = name
        return answer, self._sasl.identity_of(name, self._mechanism.is_token)

    def _complete(self, connection: Connection, identity: Any) -> int:
        """Let requests pass; the lifetime of the session in ms, 0 when it has no end."""
        assert self._mechanism is not None
        limits = []
        if self._mechanism.expires_ms is not None:
            limits.append(max(self._mechanism.expires_ms - self._sasl.wall_ms(), 0))
        if self._sasl.reauth_ms.get(self._mechanism_name, 0) > 0:
            limits.append(self._sasl.reauth_ms[self._mechanism_name])
        lifetime_ms = min(limits, default=0)
        self._expires_at = self._loop.time() + lifetime_ms / 1000 if limits else None
        self._state = State.DONE
        self._mechanism = None
        self._renewing = ""
        self._on_open(connection, identity)
        return lifetime_ms

    def _fail(
        self, connection: Connection, slot: Slot | None, request: Parsed | None, answer: Any, reason: str
    ) -> None:  # fmt: skip
        """Answer, unless the request is None, after the delay, which slows down guessing of passwords, and close."""
        self._state = State.FAILED
        self._mechanism = None
        self._on_failed(connection, reason)

        def end() -> None:
            if not connection.is_closing:
                if request is not None and slot is not None:
                    connection.answer(slot, frame_of(answer, request))
                connection.close()

        self._loop.call_later(self._sasl.failure_delay_ms / 1000, end)

    def _close(self, connection: Connection, reason: str) -> None:
        self._state = State.FAILED
        self._mechanism = None
        self._on_failed(connection, reason)
        connection.close()


def frame_of(answer: Any, request: Parsed) -> list[Piece]:
    """The bytes of an answer."""
    return response_frame(answer, request.version, request.correlation_id)
