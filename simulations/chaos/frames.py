"""Which requests go over a connection between two nodes, told from its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.schema import schema_of
from simulations.world.messages import ANSWERS, KINDS

if TYPE_CHECKING:
    from collections import Counter

LENGTH_BYTES = 4
# As far as the API key.
START_BYTES = LENGTH_BYTES + 2

NAMES = {schema_of(request).api_key: KINDS[request].name for request in ANSWERS}
"""By API key, what a request of the quorum is called."""


class Requests:
    """Counts the requests of one connection, one way, into `counts`, by name; what is no request of the quorum, such as
    ApiVersions, does not count.
    """

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._start = b""  # of the request whose key is not known yet
        self._left = 0  # bytes of the one under way

    def feed(self, data: bytes) -> None:
        """Take in what goes by next, however it is cut."""
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
        # A request has a key; so a length that leaves no room for one is none of ours, and nothing follows it.
        self._left = max(int.from_bytes(start[:LENGTH_BYTES], "big") - (START_BYTES - LENGTH_BYTES), 0)
