"""Whole numbers in texts, as Java's parsers take them."""

from __future__ import annotations

from controller.config.text import parse_integer


def integer(text: str, bits: int = 32) -> int:
    """`Integer.parseInt`, or `Long.parseLong` for 64 bits; raises ValueError with the text of Java's exception."""
    value = parse_integer(text)
    if value is None or not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise ValueError(f'For input string: "{text}"')
    return value
