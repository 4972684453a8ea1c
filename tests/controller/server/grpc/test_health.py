"""The request message of the health service."""

from __future__ import annotations

import pytest

from controller.server.grpc.health import NAME_BYTES_MAX, service_of


@pytest.mark.parametrize(
    ("body", "service"),
    [
        (b"", ""),
        (b"\x0a\x00", ""),
        (b"\x0a\x04live", "live"),
        (b"\x0a\x04live\x0a\x05ready", "ready"),  # of a repeated field the last value counts
        (b"\x0a\x96\x01" + b"x" * 150, "x" * 150),
    ],
)
def test_the_name_of_a_service_is_read(body: bytes, service: str) -> None:
    assert service_of(body) == service


@pytest.mark.parametrize(
    "body",
    [
        b"\x0a", b"\x0a\x05live", b"\x08\x01", b"\x0a\x01\xff", b"\x0a\xff", b"\x0a\xff\xff\xff\xff\x01", b"live",
        b"\x0a\xc9\x01" + b"x" * (NAME_BYTES_MAX + 1),
    ],
)  # fmt: skip
def test_malformed_bytes_are_refused(body: bytes) -> None:
    assert service_of(body) is None
