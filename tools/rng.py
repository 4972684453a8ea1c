"""Random numbers for tools, from the operating system."""

from __future__ import annotations

from os import urandom


def random_bits(count: int) -> int:
    """An integer of this many random bits."""
    return int.from_bytes(urandom((count + 7) // 8), "big") >> -count % 8
