"""The reference of SASL: which frames of a connection may be served, and as whom."""

from __future__ import annotations

from typing import Any

import pytest

from controller.interface.inputs import ANONYMOUS, Principal
from raft.network.mechanisms import PlainClient
from records.messages.cluster import DescribeClusterRequest
from records.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from records.messages.versions import ApiVersionsRequest
from simulations.secured.authentication import Authentication
from simulations.secured.people import ADMIN, ALICE, PASSWORDS, PLAIN
from simulations.sockets.frames import Asked
from simulations.sockets.rogue_clients import request_bytes

VERSIONS = (ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3)
SHAKE = (SaslHandshakeRequest(mechanism=PLAIN), 1)
OTHER = (SaslHandshakeRequest(mechanism="GSSAPI"), 1)
ASK = (DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2), 1)


def token(name: str, password: str = "") -> tuple[Any, int]:
    sent = PlainClient(name, password or PASSWORDS[name]).first()
    return SaslAuthenticateRequest(auth_bytes=sent), 2


def served(*requests: tuple[Any, int], reauth_ms: int = 0) -> list[str | None]:
    """The name for which each request may be served; None for one that may not."""
    found = Authentication(None, reauth_ms)
    for place, (request, version) in enumerate(requests, 1):
        found.written(Asked(None, request_bytes(request, version, place), place))  # type: ignore[arg-type]
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


def test_a_client_that_authenticates_again_stays_who_it_is() -> None:
    again = (SHAKE, token(ALICE), ASK, SHAKE, token(ALICE), ASK)
    other = (SHAKE, token(ALICE), ASK, SHAKE, token(ADMIN), ASK)

    assert served(*again, reauth_ms=1000) == [None, None, ALICE, None, None, ALICE]
    assert served(*other, reauth_ms=1000) == [None, None, ALICE, None, None, None]


def test_a_client_with_a_certificate_needs_no_sasl() -> None:
    found = Authentication(Principal("User", ALICE), 0)
    found.written(Asked(None, request_bytes(*ASK, 1), 1))  # type: ignore[arg-type]

    assert found.principal_at(1) == Principal("User", ALICE)
