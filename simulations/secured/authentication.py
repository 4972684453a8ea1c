"""The reference of SASL: for which principal each request may be served (KIP-43, KIP-152, KIP-368).

A server handles the requests of a connection in order. So when a frame is written, it is known whether the client will
be authenticated when the frame is handled, and as which principal.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from controller.interface.inputs import ANONYMOUS, Principal
from raft.network.mechanisms import PlainClient
from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from records.messages.versions import ApiVersionsRequest
from simulations.secured.people import BRIEF, PASSWORDS, PLAIN, life_ms
from simulations.secured.scram import HASHES, attributes, proven
from simulations.secured.scram_clients import read_answer
from simulations.sockets.frames import is_nonsense, is_unsupported

if TYPE_CHECKING:
    from simulations.sockets.frames import Answer, Asked

SASL_KEYS = (17, 36)
SASL_VERSIONS = {17: 1, 36: 2}


class Stage(Enum):
    """The requests that are expected next."""

    VERSIONS = "ApiVersions or SaslHandshake"
    HANDSHAKE = "SaslHandshake"
    EXCHANGE = "SaslAuthenticate"
    OPEN = "requests"
    OVER = "nothing"


class Authentication:
    """Of one connection. stage: after the last written frame; expires_at: the end of the session on the clock of the
    server, in s, None for no end; principal: the one that the frames so far authenticate, None for none.

    scram_answer: the last answer to a token of SCRAM; exchanged: mechanism and messages of the last complete exchange;
    deceived: what somebody has altered in an answer, empty for nothing.
    """

    def __init__(self, principal: Principal | None, reauth_ms: int, nonces: set[str]) -> None:
        """principal: of the client's certificate; None if the listener has SASL. nonces: those that servers of the
        world have given, to which this adds.
        """
        self.scram_answer: Answer | None = None
        self.exchanged: tuple[str, str, str] | None = None
        self.deceived = ""
        self._nonces = nonces
        self._mechanism = self._first_mechanism = ""
        # The place and the text of the client's first message of SCRAM, and the server's.
        self._first: tuple[int, str] | None = None
        self._said: str | None = None
        # The end of the credential of the present exchange, on the clock of the server, in s; None for no end.
        self._credential_ends_at: float | None = None
        self.principal = principal
        self.stage = Stage.VERSIONS if principal is None else Stage.OPEN
        self.has_sasl = principal is None
        self.expires_at: float | None = None
        self.reauth_ms = reauth_ms
        self._before: Principal | None = None
        self._has_renewed = False
        # The principal of a session that tried to renew twice: a server ignores it within a second of the first.
        self._remains: Principal | None = None
        # Place of a frame -> the principal for which it may be served.
        self._may: dict[int, Principal] = {}
        self._opens: set[int] = set()
        # The place of an ApiVersions or SaslHandshake that came where a token should: ILLEGAL_SASL_STATE answers it.
        self.misplaced: int | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether no principal has been authenticated yet."""
        return self.principal is None and self._before is None and self._remains is None

    def on_written(self, frame: Asked) -> None:
        """A frame was written whole."""
        if self.stage is Stage.OVER:
            return
        if self.stage is Stage.OPEN:
            self._in_open(frame)
        elif self.stage is Stage.EXCHANGE and self._remains is None and is_misplaced(frame):
            self.misplaced = frame.place
            self.stage = Stage.OVER
        elif is_sasl(frame) and type(frame.message) is SaslHandshakeRequest:
            self._on_handshake(frame)
        elif is_sasl(frame) and self.stage is Stage.EXCHANGE:
            self._on_authenticate(frame)
        elif type(frame.message) is ApiVersionsRequest and not is_nonsense(frame) and self.stage is Stage.VERSIONS:
            if not is_unsupported(frame):
                self.stage = Stage.HANDSHAKE
                self._may[frame.place] = ANONYMOUS
        else:
            self.stage = Stage.OVER

    def principal_at(self, place: int) -> Principal | None:
        """The principal for which the frame at a place may be served; None if it may not be served."""
        return self._may.get(place, self._remains)

    def on_answered(self, frame: Asked, answer: Answer, now: float) -> None:
        """The server has written the answer to a frame. now: by its own clock."""
        if self._mechanism in HASHES and type(frame.message) is SaslAuthenticateRequest and is_sasl(frame):
            self.scram_answer = answer
            if self._first is not None and self._first[0] == frame.place:
                self._is_said(bytes(read_answer(answer.data).auth_bytes).decode(), now)
        if frame.place in self._opens:
            ends = [] if self._credential_ends_at is None else [self._credential_ends_at]
            if self.reauth_ms > 0:
                ends.append(now + self.reauth_ms / 1000)
            self.expires_at = min(ends, default=None)

    def _in_open(self, frame: Asked) -> None:
        assert self.principal is not None, "it is open"
        if self.has_sasl and is_sasl(frame):
            has_end = self.reauth_ms > 0 or self._credential_ends_at is not None
            if type(frame.message) is SaslHandshakeRequest and has_end:
                if self._has_renewed:
                    self._remains = self.principal
                self._has_renewed = True
                self._before, self.principal = self.principal, None
                self._on_handshake(frame)
            return  # answered with an error; the session continues
        if is_nonsense(frame):
            self.stage = Stage.OVER
        elif not is_unsupported(frame):
            self._may[frame.place] = self.principal

    def _on_handshake(self, frame: Asked) -> None:
        self._mechanism = frame.message.mechanism
        self._first = self._said = self._credential_ends_at = None
        is_good = self._mechanism in (PLAIN, *HASHES) and self.stage is not Stage.EXCHANGE and frame.version == 1
        if self._before is not None and self._mechanism != self._first_mechanism:
            is_good = False  # a session is renewed as it began
        self.stage = Stage.EXCHANGE if is_good else Stage.OVER

    def _on_authenticate(self, frame: Asked) -> None:
        token = bytes(frame.message.auth_bytes)
        if self._mechanism == PLAIN:
            name = _proven(token)
        elif self._first is None:
            self._first = frame.place, token.decode("latin-1")
            return
        else:
            name = self._proven_by_scram(token.decode("latin-1"))
        if name is None or (self._before is not None and self._before.name != name):
            self.stage = Stage.OVER
            return
        self.principal, self._before = Principal("User", name), None
        self._first_mechanism = self._mechanism
        self.stage = Stage.OPEN
        self._opens.add(frame.place)

    def _is_said(self, text: str, now: float) -> None:
        """The server's first message, empty where it has refused the client's. A nonce that was given before proves
        nothing.
        """
        nonce = attributes(text).get("r")
        if nonce is not None and nonce not in self._nonces:
            self._nonces.add(nonce)
            self._said = text
            if self._first is not None and attributes(self._first[1]).get("n") == BRIEF:
                self._credential_ends_at = now + life_ms(nonce) / 1000

    def _proven_by_scram(self, final: str) -> str | None:
        # A final message that does not wait for the server's first cannot have its nonce.
        if self._first is None or self._said is None:
            return None
        self.exchanged = self._mechanism, self._first[1], final
        return proven(self._mechanism, PASSWORDS, self._first[1], self._said, final)


def is_sasl(frame: Asked) -> bool:
    """Whether a frame is a valid SaslHandshake or SaslAuthenticate request."""
    key = int.from_bytes(frame.data[:2], "big")
    return key in SASL_KEYS and frame.message is not None and 0 <= frame.version <= SASL_VERSIONS[key] and (
        type(frame.message) in (SaslHandshakeRequest, SaslAuthenticateRequest)
    )  # fmt: skip


def is_misplaced(frame: Asked) -> bool:
    """Whether a frame is a request that may stand before the tokens of a mechanism, and not in their place."""
    kind = type(frame.message)
    return is_unsupported(frame) or (kind is ApiVersionsRequest and not is_nonsense(frame)) or (
        kind is SaslHandshakeRequest and is_sasl(frame)
    )  # fmt: skip


def _proven(token: bytes) -> str | None:
    """The user whose password a token of PLAIN has; None if it is wrong."""
    for name, password in PASSWORDS.items():
        if token == PlainClient(name, password).first():
            return name
    return None
