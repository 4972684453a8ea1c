"""The reference of SASL: which frames of a connection may be served, and as whom."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from controller.interface.inputs import ANONYMOUS, Principal
from raft.network.mechanisms import PlainClient
from records.codec import encode
from records.messages.cluster import DescribeClusterRequest
from records.messages.sasl import SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest
from records.messages.versions import ApiVersionsRequest
from simulations.secured.authentication import Authentication
from simulations.secured.people import ADMIN, ALICE, BRIEF, PASSWORDS, PLAIN
from simulations.secured.scram import final_message, first_message, salt_of
from simulations.sockets.frames import Answer, Asked
from simulations.sockets.rogue_clients import request_bytes

VERSIONS = (ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3)
SHAKE = (SaslHandshakeRequest(mechanism=PLAIN), 1)
OTHER = (SaslHandshakeRequest(mechanism="GSSAPI"), 1)
SHA_256 = "SCRAM-SHA-256"
ASK = (DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2), 1)


def token(name: str, password: str = "") -> tuple[Any, int]:
    sent = PlainClient(name, password or PASSWORDS[name]).first()
    return SaslAuthenticateRequest(auth_bytes=sent), 2


def written(*requests: tuple[Any, int], reauth_ms: int = 0) -> Authentication:
    """A connection on which requests were written."""
    authentication = Authentication(None, reauth_ms, set())
    for place, (request, version) in enumerate(requests, 1):
        authentication.on_written(Asked(None, request_bytes(request, version, place), place))  # type: ignore[arg-type]
    return authentication


def served(*requests: tuple[Any, int], reauth_ms: int = 0) -> list[str | None]:
    """The name for which each request may be served; None for one that may not."""
    found = written(*requests, reauth_ms=reauth_ms)
    principals = [found.principal_at(place) for place in range(1, len(requests) + 1)]
    return [None if each is None else each.name for each in principals]


ANYBODY = ANONYMOUS.name


@pytest.mark.parametrize(
    ("requests", "names"),
    [
        ((VERSIONS, SHAKE, token(ALICE), ASK, ASK), [ANYBODY, None, None, ALICE, ALICE]),
        ((SHAKE, token(ALICE), ASK), [None, None, ALICE]),
        ((ASK,), [None]),
        ((VERSIONS, ASK, SHAKE, token(ALICE), ASK), [ANYBODY, None, None, None, None]),
        ((VERSIONS, VERSIONS), [ANYBODY, None]),
        ((SHAKE, token(ALICE, "wrong"), ASK), [None, None, None]),
        ((SHAKE, ASK, token(ALICE), ASK), [None, None, None, None]),
        ((SHAKE, SHAKE, token(ALICE), ASK), [None, None, None, None]),
        ((OTHER, token(ALICE), ASK), [None, None, None]),
        ((token(ALICE), ASK), [None, None]),
        ((SHAKE, token(ALICE), SHAKE, token(ADMIN), ASK), [None, None, None, None, ALICE]),
    ],
)
def test_a_request_is_served_after_authentication_only(requests: Any, names: list[str | None]) -> None:
    assert served(*requests) == names


@pytest.mark.parametrize(
    ("requests", "place"),
    [
        ((SHAKE, VERSIONS), 2),
        ((VERSIONS, SHAKE, VERSIONS, VERSIONS), 3),
        ((SHAKE, SHAKE), 2),
        ((SHAKE, ASK, VERSIONS), None),
        ((OTHER, VERSIONS), None),
        ((SHAKE, token(ALICE), VERSIONS), None),
        ((SHAKE, token(ALICE), SHAKE, VERSIONS), 4),
    ],
)
def test_what_stands_in_the_place_of_a_token_is_answered_with_an_error(requests: Any, place: int | None) -> None:
    assert written(*requests, reauth_ms=60_000).misplaced == place


def test_a_client_that_authenticates_again_stays_who_it_is() -> None:
    again = (SHAKE, token(ALICE), ASK, SHAKE, token(ALICE), ASK)
    other = (SHAKE, token(ALICE), ASK, SHAKE, token(ADMIN), ASK)

    assert served(*again, reauth_ms=1000) == [None, None, ALICE, None, None, ALICE]
    assert served(*other, reauth_ms=1000) == [None, None, ALICE, None, None, None]


NONCE, FRESH = "abc", "abcdef"
SAID = f"r={FRESH},s={b64encode(salt_of(ALICE)).decode()},i=4096"
FIRST = first_message(ALICE, NONCE)
FINAL = final_message(SHA_256, PASSWORDS[ALICE], ALICE, FIRST, SAID)


def by_scram(
    said: str, final: str, *, first: str = FIRST, mechanism: str = SHA_256, nonces: set[str] | None = None,
    is_early: bool = False,
) -> str | None:  # fmt: skip
    """The name for which a request may be served after an exchange. is_early: the final message does not wait."""
    found = Authentication(None, 0, set() if nonces is None else nonces)
    requests: list[tuple[Any, int]] = [
        (SaslHandshakeRequest(mechanism=mechanism), 1),
        (SaslAuthenticateRequest(auth_bytes=first.encode()), 2),
        (SaslAuthenticateRequest(auth_bytes=final.encode()), 2),
        ASK,
    ]
    for place, (request, version) in enumerate(requests, 1):
        asked = Asked(None, request_bytes(request, version, place), place)  # type: ignore[arg-type]
        found.on_written(asked)
        if place == 2 and not is_early:
            answer = SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=said.encode())
            found.on_answered(asked, Answer(place.to_bytes(4, "big") + b"\0" + encode(answer, 2), asked), 0.0)
    name = found.principal_at(4)
    return None if name is None else name.name


def test_an_exchange_of_scram_proves_a_user() -> None:
    assert by_scram(SAID, FINAL) == ALICE


@pytest.mark.parametrize(
    "changes",
    [
        {"final": final_message(SHA_256, "wrong", ALICE, FIRST, SAID)},
        {"final": final_message(SHA_256, PASSWORDS[ALICE], ALICE, FIRST, SAID, "other")},
        {"final": FINAL.partition(",p=")[0]},
        {"final": FINAL[:-4]},
        {"mechanism": "SCRAM-SHA-512"},
        {"first": first_message(ALICE, "other")},
        {"first": first_message(ALICE, NONCE, ADMIN)},
        {"first": first_message(ADMIN, NONCE)},
        {"nonces": {FRESH}},
        {"is_early": True},
        {"said": SAID.replace("4096", "4095")},
    ],
)
def test_an_exchange_that_is_wrong_anywhere_proves_nobody(changes: dict[str, Any]) -> None:
    assert by_scram(**{"said": SAID, "final": FINAL} | changes) is None


def test_a_server_that_adds_no_nonce_of_its_own_lets_nobody_prove_anything() -> None:
    said = SAID.replace(FRESH, NONCE)

    assert by_scram(said, final_message(SHA_256, PASSWORDS[ALICE], ALICE, FIRST, said)) is None


def test_a_session_is_renewed_by_the_mechanism_with_which_it_began() -> None:
    scram = (SaslHandshakeRequest(mechanism=SHA_256), 1)

    assert served(SHAKE, token(ALICE), scram, token(ALICE), ASK, reauth_ms=1000)[-1] is None


def test_a_client_with_a_certificate_needs_no_sasl() -> None:
    found = Authentication(Principal("User", ALICE), 0, set())
    found.on_written(Asked(None, request_bytes(*ASK, 1), 1))  # type: ignore[arg-type]

    assert found.principal_at(1) == Principal("User", ALICE)


def test_a_session_ends_with_the_credential_of_its_last_authentication() -> None:
    """A server's nonce that ends with an even digit is that of a credential for 60 s, an odd one of one for 300 ms."""
    found = Authentication(None, 3000, set())
    scram, place, ends = (SaslHandshakeRequest(mechanism=SHA_256), 1), 0, []

    for now, fresh in ((10.0, "abc0"), (11.0, "abc1")):
        first = first_message(BRIEF, "ab")
        said = f"r={fresh},s={b64encode(salt_of(BRIEF)).decode()},i=4096"
        final = final_message(SHA_256, PASSWORDS[BRIEF], BRIEF, first, said)
        for number, (request, version) in enumerate(
            (scram, *((SaslAuthenticateRequest(auth_bytes=each.encode()), 2) for each in (first, final)))
        ):
            place += 1
            asked = Asked(None, request_bytes(request, version, place), place)  # type: ignore[arg-type]
            found.on_written(asked)
            if number:
                token_of = said.encode() if number == 1 else b""
                answer = SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=token_of)
                found.on_answered(asked, Answer(place.to_bytes(4, "big") + b"\0" + encode(answer, 2), asked), now)
        ends.append(found.expires_at)

    assert found.principal == Principal("User", BRIEF)
    assert ends == [13.0, 11.3]
