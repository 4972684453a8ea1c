"""The names in a client's certificate that allow it to watch."""

from __future__ import annotations

import pytest

from controller.server.grpc.callers import may_watch, names_of

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
    ("allowed", "may"),
    [
        ((), True),
        (("*",), True),
        (("CN=other", "CN=watcher"), True),
        (("URI=spiffe://example.org/watcher",), True),
        (("CN=other",), False),
        (("DNS=watcher",), False),
        (("CN=watch.example.org",), False),
        (("CN=Watcher",), False),
    ],
)
def test_one_of_the_names_must_be_allowed_under_its_kind(allowed: tuple[str, ...], may: bool) -> None:
    assert may_watch(allowed, names_of(CONTEXT)) is may


def test_a_client_without_tls_has_no_names() -> None:
    assert may_watch(("CN=watcher",), []) is False
