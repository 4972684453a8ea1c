"""Counts the requests on a connection between two nodes, by its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.messages.versions import ApiVersionsRequest
from records.schema import schema_of
from simulations.world.messages import ANSWERS, KINDS

if TYPE_CHECKING:
    from collections import Counter

LENGTH_BYTES = 4
# As far as the API key.
START_BYTES = LENGTH_BYTES + 2

# Clients send it too.
NOT_COUNTED = {ApiVersionsRequest}
NAMES = {schema_of(request).api_key: KINDS[request].name for request in ANSWERS if request not in NOT_COUNTED}
"""By API key, the name of a request of the quorum."""


class Requests:
    """Counts the requests of one connection, one way, into `counts`, by name; requests that are not of the quorum, such
    as ApiVersions, do not count.
    """

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._start = b""  # of the request whose key is not known yet
        self._left = 0  # bytes of the one under way

    def feed(self, data: bytes) -> None:
        """Take the next bytes, in pieces of any size."""
        place = 0
        while place < len(data):
            if self._left:
                step = min(self._left, len(data) - place)
                self._left -= step
                place += step
                continue
            step = min(START_BYTES - len(self._start), len(data) - place)
            self._start += data[place : place + step]
            place += step
            if len(self._start) == START_BYTES:
                self._begin(self._start)
                self._start = b""

    def _begin(self, start: bytes) -> None:
        name = NAMES.get(int.from_bytes(start[LENGTH_BYTES:], "big"))
        if name is not None:
            self._counts[name] += 1
        # A request has an API key: after a length that leaves no room for one, the bytes are ignored.
        self._left = max(int.from_bytes(start[:LENGTH_BYTES], "big") - (START_BYTES - LENGTH_BYTES), 0)
