"""Whole numbers and paths as Java reads them from text."""

from __future__ import annotations

from records.java.java_values import parse_integer


def integer(text: str, bits: int = 32) -> int:
    """`Integer.parseInt`, or `Long.parseLong` for 64 bits; raises ValueError with the text of Java's exception."""
    value = parse_integer(text)
    if value is None or not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise ValueError(f'For input string: "{text}"')
    return value


def path(text: str) -> str:
    """A path as `java.io.File` normalizes it: without double slashes, and without one at the end."""
    while "//" in text:
        text = text.replace("//", "/")
    return text[:-1] if text.endswith("/") and len(text) > 1 else text
