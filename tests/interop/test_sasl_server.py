"""The SASL server: sessions by SCRAM on a stock controller and on one of ours begin, are renewed and end alike.

Both have SASL_PLAINTEXT with PLAIN and both hashes of SCRAM, the same users, and sessions that end.
"""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from raft.network.mechanisms import PlainClient
from records.codec import decode_prefix
from records.errors import Error
from records.headers import ResponseHeader, response_header_version
from records.messages.acls import DescribeAclsRequest
from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from records.messages.scram import AlterUserScramCredentialsRequest
from records.messages.tokens import CreateDelegationTokenRequest
from records.messages.versions import ApiVersionsRequest
from records.registry import response_class
from records.schema import schema_of
from simulations.secured.scram import HASHES, attributes, proof, salted_password
from simulations.sockets.rogue_clients import frame, request_bytes
from tests.interop.ask import ask_on, connected, receive
from tests.interop.cluster import OURS, STOCK, Cluster, eventually
from tests.interop.secured import AUTHORIZER, PLAIN_MODULE, SCRAM_MODULE
from tests.interop.test_security_answers import chosen

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.interop.stock import Stock

REAUTH_MS = 4000
MECHANISMS = ("PLAIN", *HASHES)
ROOT, ANN, BOB = "root", "ann", "bob"
# ANN has a password for each mechanism, and BOB one hash alone.
SCRAM_OF = {
    (ANN, "SCRAM-SHA-256"): "first", (ANN, "SCRAM-SHA-512"): "second", (BOB, "SCRAM-SHA-256"): "third",
}  # fmt: skip
PLAIN_OF = {ROOT: "roots-secret", ANN: "anns-secret"}
ITERATIONS = 4096
NUMBERS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
CLOSED = ("closed",)
ASK = chosen(DescribeAclsRequest)


class Line:
    """A connection, and the answers on it so far."""

    def __init__(self, connection: socket.socket) -> None:
        self.said: list[Any] = []
        self.is_closed = False
        self._connection = connection
        self._number = 0

    def ask(self, request: Any, version: int) -> Any:
        """Send a request. Returns its answer, None if the connection ends instead."""
        self._number += 1
        data = self._exchange(frame(request_bytes(request, version, self._number)))
        if data is None:
            return None
        cls = response_class(schema_of(type(request)).api_key or 0)
        _, at = decode_prefix(ResponseHeader, response_header_version(cls, version), data, 0)
        answer = decode_prefix(cls, version, data, at)[0]
        self.said.append(gist(answer))
        return answer

    def _exchange(self, data: bytes) -> bytes | None:
        if self.is_closed:
            return None
        try:
            self._connection.sendall(data)
            return receive(self._connection)
        except OSError:
            self.is_closed = True
            self.said.append(CLOSED)
            return None


def gist(answer: Any) -> tuple[Any, ...]:
    """What two servers must answer alike: neither nonces nor the milliseconds that a session has left."""
    kind = type(answer).__name__
    if hasattr(answer, "mechanisms"):
        return kind, int(answer.error_code), sorted(answer.mechanisms)
    if hasattr(answer, "auth_bytes"):
        values = attributes(bytes(answer.auth_bytes).decode("latin-1"))
        signed = {name: value for name, value in values.items() if name in "si"}
        lives = answer.session_lifetime_ms > 0
        return kind, int(answer.error_code), answer.error_message, sorted(values), signed, lives
    return kind, int(answer.error_code)


class Exchange(NamedTuple):
    """How a client of SCRAM authenticates."""

    mechanism: str
    user: str
    password: str
    is_token: bool = False


def scram(line: Line, exchange: Exchange, salt: bytes) -> None:
    """An exchange, of which the server need not take the last message."""
    line.ask(SaslHandshakeRequest(mechanism=exchange.mechanism), 1)
    bare = f"n={exchange.user},r=abcdef{',tokenauth=true' if exchange.is_token else ''}"
    answer = line.ask(SaslAuthenticateRequest(auth_bytes=f"n,,{bare}".encode()), 2)
    if answer is None or answer.error_code:
        return
    first = bytes(answer.auth_bytes).decode()
    values = attributes(first)
    end = f"c=biws,r={values['r']}"
    used = b64decode(values["s"]) if exchange.is_token else salt
    found = proof(exchange.mechanism, exchange.password, used, int(values["i"]), f"{bare},{first},{end}")
    line.ask(SaslAuthenticateRequest(auth_bytes=f"{end},p={found}".encode()), 2)


def salt_of(user: str, mechanism: str) -> bytes:
    return f"salt of {user} for {mechanism}".encode()


def renewed(second: Callable[[Line], None], pause_s: float) -> Callable[[Line], None]:
    """A session by SCRAM that is renewed, and used after a pause."""

    def act(line: Line) -> None:
        first = Exchange("SCRAM-SHA-256", ANN, SCRAM_OF[ANN, "SCRAM-SHA-256"])
        scram(line, first, salt_of(ANN, "SCRAM-SHA-256"))
        line.ask(ASK, 3)
        second(line)
        line.ask(ASK, 3)
        time.sleep(pause_s)
        line.ask(ASK, 3)

    return act


@pytest.fixture(name="ports", scope="module")
def _ports(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[dict[str, int]]:
    root: Path = tmp_path_factory.mktemp("sasl")
    known = "".join(f' user_{name}="{password}"' for name, password in PLAIN_OF.items())
    prefix = "listener.name.controller."
    settings = {
        "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT",
        "authorizer.class.name": AUTHORIZER, "super.users": f"User:{ROOT}",
        "delegation.token.secret.key": "a key", "connections.max.reauth.ms": str(REAUTH_MS),
        "sasl.mechanism.controller.protocol": "PLAIN", f"{prefix}sasl.enabled.mechanisms": ",".join(MECHANISMS),
        f"{prefix}plain.sasl.jaas.config":
            f'{PLAIN_MODULE} required username="{ROOT}" password="{PLAIN_OF[ROOT]}"{known};',
        **{f"{prefix}{name.lower()}.sasl.jaas.config": f"{SCRAM_MODULE} required;" for name in HASHES},
    }  # fmt: skip
    found: dict[str, Cluster] = {}
    try:
        for kind in (STOCK, OURS):
            (root / kind).mkdir()
            made = found[kind] = Cluster(root / kind, stock, settings=settings)
            made.plan([kind], 0)
            made.format()
            made.start()
        ports = {kind: made.controllers[1].port for kind, made in found.items()}
        for port in ports.values():
            eventually(partial(has_credentials, port), "the credentials")
        yield ports
    finally:
        for made in found.values():
            made.end()


def ask_as_root(port: int, request: Any, version: int) -> Any:
    with connected(port, 20) as connection:
        ask_on(connection, SaslHandshakeRequest(mechanism="PLAIN"), 1)
        token = PlainClient(ROOT, PLAIN_OF[ROOT]).first()
        ask_on(connection, SaslAuthenticateRequest(auth_bytes=token), 2, 2)
        return ask_on(connection, request, version, 3)


def has_credentials(port: int) -> bool:
    wanted = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
    for mechanism in HASHES:  # one user once in a request
        upsertions = tuple(
            wanted(
                name=user, mechanism=NUMBERS[mechanism], iterations=ITERATIONS, salt=salt_of(user, mechanism),
                salted_password=salted_password(mechanism, password, salt_of(user, mechanism), ITERATIONS),
            )
            for (user, of), password in SCRAM_OF.items() if of == mechanism
        )  # fmt: skip
        answer = ask_as_root(port, AlterUserScramCredentialsRequest(deletions=(), upsertions=upsertions), 0)
        if {each.error_code for each in answer.results} != {Error.NONE}:
            return False
    line = said(port, lambda line: scram(line, Exchange("SCRAM-SHA-512", ANN, "second"), salt_of(ANN, "SCRAM-SHA-512")))
    return bool(line[-1][1] == Error.NONE)


def said(port: int, act: Callable[[Line], None]) -> list[Any]:
    with connected(port, 20) as connection:
        line = Line(connection)
        act(line)
        return line.said


def token_of_ann(port: int) -> tuple[str, str]:
    """A delegation token of ANN that lives for 1.5 s: its id, and its secret in base64."""
    with connected(port, 20) as connection:
        ask_on(connection, SaslHandshakeRequest(mechanism="PLAIN"), 1)
        ask_on(connection, SaslAuthenticateRequest(auth_bytes=PlainClient(ANN, PLAIN_OF[ANN]).first()), 2, 2)
        wish = CreateDelegationTokenRequest(
            owner_principal_type=None, owner_principal_name=None, renewers=(), max_lifetime_ms=1500
        )
        answer = ask_on(connection, wish, 3, 3)
        assert answer.error_code == Error.NONE
        return answer.token_id, b64encode(bytes(answer.hmac)).decode()


@pytest.mark.parametrize("pause_s", [0.2, 2.0])
def test_a_session_ends_with_the_credential_that_renewed_it(ports: dict[str, int], pause_s: float) -> None:
    answers = {}
    for kind, port in ports.items():
        name, secret = token_of_ann(port)
        time.sleep(0.3)  # each server has seen the token
        exchange = Exchange("SCRAM-SHA-256", name, secret, is_token=True)
        answers[kind] = said(port, renewed(lambda line, exchange=exchange: scram(line, exchange, b""), pause_s))  # type: ignore[misc]

    strip = {kind: [each[:4] for each in lines] for kind, lines in answers.items()}
    assert strip[OURS] == strip[STOCK]
    assert (answers[OURS][-1] == CLOSED) == (pause_s > 1.5)


@pytest.mark.parametrize(
    "request_and_version", [(ApiVersionsRequest(), 4), (SaslHandshakeRequest(mechanism="PLAIN"), 1)]
)
def test_a_request_between_the_handshake_and_the_token_ends_the_connection(
    ports: dict[str, int], request_and_version: tuple[Any, int]
) -> None:
    def act(line: Line) -> None:
        line.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        line.ask(*request_and_version)
        line.ask(SaslAuthenticateRequest(auth_bytes=PlainClient(ANN, PLAIN_OF[ANN]).first()), 2)

    answers = {kind: said(port, act) for kind, port in ports.items()}
    assert answers[OURS] == answers[STOCK]
    assert (answers[OURS][1][1], answers[OURS][-1]) == (Error.ILLEGAL_SASL_STATE, CLOSED)


def shake(line: Line, *mechanisms: str) -> None:
    for mechanism in mechanisms:
        line.ask(SaslHandshakeRequest(mechanism=mechanism), 1)


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(lambda line: plain(line, ROOT, PLAIN_OF[ROOT]), id="by another mechanism"),
        pytest.param(
            lambda line: scram(
                line, Exchange("SCRAM-SHA-256", BOB, SCRAM_OF[BOB, "SCRAM-SHA-256"]), salt_of(BOB, "SCRAM-SHA-256")
            ),
            id="as somebody else",
        ),
        pytest.param(
            lambda line: scram(line, Exchange("SCRAM-SHA-256", ANN, "wrong"), salt_of(ANN, "SCRAM-SHA-256")),
            id="by a wrong password",
        ),
        pytest.param(lambda line: shake(line, "SCRAM-SHA-256", "SCRAM-SHA-256"), id="by two handshakes"),
        pytest.param(lambda line: shake(line, "PLAIN", "SCRAM-SHA-256"), id="two mechanisms"),
        pytest.param(lambda line: shake(line, "GSSAPI"), id="by a mechanism that is not enabled"),
    ],
)
def test_a_renewal_that_fails_ends_the_connection(ports: dict[str, int], second: Callable[[Line], None]) -> None:
    answers = {kind: said(port, renewed(second, 0)) for kind, port in ports.items()}

    assert answers[OURS] == answers[STOCK]
    assert answers[OURS][-1] == CLOSED


def plain(line: Line, user: str, password: str) -> None:
    shake(line, "PLAIN")
    line.ask(SaslAuthenticateRequest(auth_bytes=PlainClient(user, password).first()), 2)


def test_a_user_with_both_hashes_is_proven_by_each_with_its_own_password(ports: dict[str, int]) -> None:
    for kind in (STOCK, OURS):
        for mechanism in HASHES:
            right = SCRAM_OF[ANN, mechanism]
            for password in set(SCRAM_OF.values()):
                exchange = Exchange(mechanism, ANN, password)
                last = said(ports[kind], lambda line: scram(line, exchange, salt_of(ANN, exchange.mechanism)))[-1]  # noqa: B023

                wanted = Error.NONE if password == right else Error.SASL_AUTHENTICATION_FAILED
                assert last[1] == wanted, (kind, mechanism, password)
