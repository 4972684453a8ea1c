"""Luck for tools, from the system."""

from __future__ import annotations

from os import urandom


def random_bits(count: int) -> int:
    """So many random bits, as a number."""
    return int.from_bytes(urandom((count + 7) // 8), "big") >> -count % 8
