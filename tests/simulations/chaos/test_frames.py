"""Requests are counted by kind, wherever their bytes are cut."""

from __future__ import annotations

from collections import Counter

import pytest

from simulations.chaos.frames import Requests


def request(api_key: int, size: int) -> bytes:
    """A request with this many bytes after its length."""
    return size.to_bytes(4, "big") + api_key.to_bytes(2, "big") + bytes(size - 2)


STREAM = request(18, 30) + request(52, 90) + request(1, 2) + request(1, 5000) + request(59, 77)


@pytest.mark.parametrize("piece", [1, 3, 5, 64, len(STREAM)])
def test_requests_are_counted_however_they_are_cut(piece: int) -> None:
    counts: Counter[str] = Counter()
    requests = Requests(counts)

    for place in range(0, len(STREAM), piece):
        requests.feed(STREAM[place : place + piece])

    assert counts == {"Vote": 1, "Fetch": 2, "FetchSnapshot": 1}


def test_an_invalid_length_does_not_stop_the_count() -> None:
    counts: Counter[str] = Counter()

    Requests(counts).feed(bytes(4) + b"\x00\x34" + request(53, 10))

    assert counts == {"Vote": 1, "Begin": 1}
