"""What a call says of its client: the names in its certificate, and its token."""

from __future__ import annotations

from typing import Any

import pytest

from controller.server.grpc.callers import authorization_of, names_of

CONTEXT = {
    "transport_security_type": [b"ssl"],
    "x509_common_name": [b"watcher"],
    "x509_subject_alternative_name": [b"watch.example.org", b"spiffe://example.org/watcher"],
    "peer_dns": [b"watch.example.org"],
    "peer_uri": [b"spiffe://example.org/watcher"],
}


def test_each_name_of_a_certificate_has_its_kind() -> None:
    assert names_of(CONTEXT) == ["CN=watcher", "DNS=watch.example.org", "URI=spiffe://example.org/watcher"]
    assert names_of({}) == []


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        (None, None),
        ((("user-agent", "x"),), None),
        ((("user-agent", "x"), ("authorization", "Bearer y"), ("authorization", "Bearer z")), b"Bearer y"),
        ((("authorization", b"Bearer y"),), b"Bearer y"),
    ],
)
def test_the_token_of_a_call_is_in_its_metadata(metadata: Any, found: bytes | None) -> None:
    assert authorization_of(metadata) == found
