"""Rogue clients that answer: they log in with SCRAM, in the right way and in wrong ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.codec import decode_prefix
from records.headers import ResponseHeader, response_header_version
from records.messages.sasl import SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest
from simulations.secured.intruders import (
    HANDSHAKE_VERSION,
    TOKEN_VERSION,
    ask_some,
    greet,
    identities,
    plain_login,
)
from simulations.secured.people import ADMIN, ALICE, BOB, BRIEF, PASSWORDS, PLAIN, WEAK
from simulations.secured.requests import OF_TOPICS, QUESTIONS, pick
from simulations.secured.scram import HASHES, final_message, first_message
from simulations.secured.tls import HEAD
from simulations.sockets.rogue_clients import Visit, frame, request_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

MECHANISMS = tuple(HASHES)
RENEWED_MS = 150
# Longer than the shorter life of a credential.
OUTLIVED_MS = 800


class AnsweringVisit(Visit):
    """A connection whose answers are read. on_answer: takes the correlation id of an answer, and its bytes."""

    def __init__(self, *args: Any) -> None:
        self.on_answer: Callable[[int, bytes], None] = lambda _id, _data: None
        self._held = bytearray()
        self._is_greeted = False
        super().__init__(*args)

    def on_received(self, data: bytes) -> None:
        self._held += data
        if identities(self).has_tls and not self._is_greeted:
            size = HEAD + int.from_bytes(self._held[1:HEAD], "big")
            if len(self._held) < HEAD or len(self._held) < size:
                return
            self._is_greeted = True
            del self._held[:size]
        while len(self._held) >= 4 and len(self._held) >= 4 + (size := int.from_bytes(self._held[:4], "big")):
            frame = bytes(self._held[4 : 4 + size])
            del self._held[: 4 + size]
            self.on_answer(int.from_bytes(frame[:4], "big"), frame)


def handshake(mechanism: str, number: int) -> bytes:
    return frame(request_bytes(SaslHandshakeRequest(mechanism=mechanism), HANDSHAKE_VERSION, number))


def token(text: str | bytes, number: int) -> bytes:
    data = text if isinstance(text, bytes) else text.encode()
    return frame(request_bytes(SaslAuthenticateRequest(auth_bytes=data), TOKEN_VERSION, number))


def read_answer(data: bytes) -> Any:
    """The answer to a SaslAuthenticate."""
    version = response_header_version(SaslAuthenticateResponse, TOKEN_VERSION)
    _, at = decode_prefix(ResponseHeader, version, data, 0)
    return decode_prefix(SaslAuthenticateResponse, TOKEN_VERSION, data, at)[0]


def exchange(
    visit: AnsweringVisit, mechanism: str, first: str, final: Callable[[str], str], then: Callable[[], None],
    number: int = 1,
) -> None:  # fmt: skip
    """Write the handshake and the first message, and when the server's first message comes, the final one.

    final: takes the server's first message. then: called after the final message, and where there is none. number: the
    correlation id of the handshake; the messages have the next two.
    """

    def take(id_: int, data: bytes) -> None:
        if id_ != number + 1:
            return
        answer = read_answer(data)
        if answer.error_code == 0:
            visit.write(token(final(bytes(answer.auth_bytes).decode()), number + 2))
        then()

    visit.on_answer = take
    visit.write(handshake(mechanism, number) + token(first, number + 1))


def nonce(visit: Visit) -> str:
    return f"{int(visit.rng.random() * (1 << 60)):x}"


def by_scram(visit: AnsweringVisit) -> None:
    """Log in as a user with few rights, use them, and authenticate again: as any user, by any mechanism."""
    name, mechanism = pick(visit.rng, (ALICE, BOB)), pick(visit.rng, MECHANISMS)
    greet(visit, identities(visit).certificate(name))
    first = first_message(name, nonce(visit))
    exchange(
        visit, mechanism, first, lambda said: final_message(mechanism, PASSWORDS[name], name, first, said),
        lambda: ask_some(visit, OF_TOPICS, 2),
    )  # fmt: skip
    again = pick(visit.rng, (name, name, ADMIN))
    way = pick(visit.rng, (mechanism, mechanism, *MECHANISMS, PLAIN, PLAIN))
    visit.later(RENEWED_MS, _renew, visit, again, way)


def _renew(visit: AnsweringVisit, name: str, mechanism: str) -> None:
    if mechanism == PLAIN:
        visit.write(plain_login(name, number=30))
        ask_some(visit, OF_TOPICS, 3, 40)
        return
    first = first_message(name, nonce(visit))
    exchange(
        visit, mechanism, first, lambda said: final_message(mechanism, PASSWORDS[name], name, first, said),
        lambda: ask_some(visit, OF_TOPICS, 3, 40), 30,
    )  # fmt: skip


def shorten_session(visit: AnsweringVisit) -> None:
    """Log in, authenticate again, perhaps with a credential that ends earlier, and go on after that."""
    mechanism = pick(visit.rng, MECHANISMS)
    greet(visit, identities(visit).certificate(BRIEF))
    first = first_message(BRIEF, nonce(visit))
    exchange(
        visit, mechanism, first, lambda said: final_message(mechanism, PASSWORDS[BRIEF], BRIEF, first, said),
        lambda: ask_some(visit, OF_TOPICS, 2),
    )  # fmt: skip
    visit.later(RENEWED_MS, _renew, visit, BRIEF, mechanism)
    visit.later(RENEWED_MS + OUTLIVED_MS, ask_some, visit, OF_TOPICS, 2, 60)


def unproven(visit: AnsweringVisit) -> None:
    """An exchange that proves nothing, in one of several ways; then requests that would do harm."""
    rng, mechanism = visit.rng, pick(visit.rng, MECHANISMS)
    kind, captured = pick(rng, KINDS), identities(visit).captured
    if kind == "replayed" and captured is None:
        kind = "wrong"
    name = {"weak": WEAK, "assumed": ADMIN, "nonce": ALICE}.get(kind, ADMIN)
    greet(visit, identities(visit).certificate(ALICE))
    first, wanted = first_message(name, nonce(visit), ALICE if kind == "assumed" else ""), PASSWORDS[name]

    def final(said: str) -> str:
        right = final_message(mechanism, wanted, name, first, said)
        if kind == "wrong":
            return final_message(mechanism, "wrong", name, first, said)
        if kind == "nonce":
            return final_message(mechanism, wanted, name, first, said, nonce(visit))
        if kind == "cut":
            return right[: -int(1 + rng.random() * 20)]
        if kind == "none":
            return right.partition(",p=")[0]
        return right  # "weak", "assumed"

    if kind == "replayed" and captured is not None:
        mechanism, first = captured[:2]
        exchange(visit, mechanism, first, lambda _said: captured[2], lambda: ask_some(visit, QUESTIONS, 5))
    elif kind == "early":
        # The final message of an exchange with a nonce that the server has not given.
        said = f"r={nonce(visit)},s=c2FsdA==,i=4096"
        visit.write(
            handshake(mechanism, 1) + token(first, 2)
            + token(final_message(mechanism, wanted, name, first, said), 3)
        )  # fmt: skip
        ask_some(visit, QUESTIONS, 5)
    elif kind == "twice":
        visit.write(handshake(PLAIN, 1) + plain_login(ALICE, number=2))
        ask_some(visit, QUESTIONS, 3)
    else:
        exchange(visit, mechanism, first, final, lambda: ask_some(visit, QUESTIONS, 5))


KINDS = ("wrong", "nonce", "cut", "none", "weak", "assumed", "replayed", "replayed", "early", "twice", "twice")

MANNERS: dict[str, Callable[[AnsweringVisit], None]] = {
    "by_scram": by_scram, "unproven": unproven, "shortened": shorten_session,
}  # fmt: skip
