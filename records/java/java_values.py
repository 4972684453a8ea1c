"""Numbers, blanks and lists as Java reads and writes them."""

from __future__ import annotations

import re

_TRIMMED = "".join(map(chr, range(33)))
_BLANKS = " \t\n\x0b\f\r"
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def java_trim(text: str) -> str:
    """The text without the control characters and spaces at both ends."""
    return text.strip(_TRIMMED)


def split_list(text: str) -> tuple[str, ...]:
    """The parts of a comma separated list, blanks around commas dropped; empty parts stay, an empty text has none."""
    return tuple(part.strip(_BLANKS) for part in text.split(",")) if text else ()


def split_map(text: str) -> list[str]:
    """The entries of a comma separated map, blanks around commas dropped; empty entries at the end are dropped too."""
    entries = re.split(r"\s*,\s*", text, flags=re.ASCII)
    while entries and not entries[-1]:
        entries.pop()
    return entries


def parse_integer(text: str) -> int | None:
    """A decimal integer with an optional sign, nothing else; None if the text is not one."""
    digits = text[1:] if text[:1] in {"+", "-"} else text
    # An int64 has at most 19 digits. Leading zeros are valid, but a file must not make parsing slow.
    if not digits.isdecimal() or len(digits) > 200:
        return None
    return int(text)


def parse_double(text: str) -> float | None:
    """A floating point number as Java's Double.parseDouble reads it; None if the text is not one."""
    unsigned = text[1:] if text[:1] in {"+", "-"} else text
    if unsigned in {"NaN", "Infinity"}:
        return float(text.replace("Infinity", "inf"))
    bare = text[:-1] if text[-1:] in {"f", "F", "d", "D"} else text
    try:
        if unsigned[:2] in {"0x", "0X"}:
            return float.fromhex(bare) if "p" in bare.lower() else None
        return float(bare) if bare and set(bare) <= set("0123456789.eE+-") else None
    except (ValueError, OverflowError):
        return None


def java_text(value: object) -> str:
    """A value as Java's toString writes it: true, null, 1.0E-5, [a, b]."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _double_text(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(java_text, value))}]"
    return str(value)


def _double_text(value: float) -> str:
    shown = repr(value)
    if shown in _NOT_FINITE:
        return _NOT_FINITE[shown]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return shown
    # repr has the shortest digits that read back as the same number; only the form of the exponent differs.
    mantissa, _, exponent = shown.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    power = int(exponent or 0) + len(whole) - 1 - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return f"{'-' if value < 0 else ''}{digits[0]}.{digits[1:] or '0'}E{power}"
