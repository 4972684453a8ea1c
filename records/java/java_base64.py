"""Base64 as `java.util.Base64` decodes it, with the texts of its errors: for uuids, and secrets in arguments."""

from __future__ import annotations

from binascii import a2b_base64

_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_STANDARD, _URL_SAFE = _DIGITS + b"+/", _DIGITS + b"-_"
_FROM_URL_SAFE = bytes.maketrans(b"-_", b"+/")


def standard_bytes(text: bytes) -> bytes:
    """The bytes of base64 with `+` and `/`, with or without padding. Raises ValueError."""
    return _bytes(text, _STANDARD)


def url_safe_bytes(text: bytes) -> bytes:
    """The bytes of base64 with `-` and `_`, with or without padding. Raises ValueError."""
    return _bytes(text, _URL_SAFE)


def _bytes(text: bytes, alphabet: bytes) -> bytes:
    if len(text) == 1:
        raise ValueError("Input byte[] should at least have 2 bytes for base64 bytes")
    digits = text
    if b"=" in text:
        digits = text[: text.index(b"=")]
        if len(digits) % 4 != 1 and (len(digits) % 4, text[len(digits) :]) not in ((2, b"=="), (3, b"=")):
            raise ValueError("Input byte array has wrong 4-byte ending unit")
    if illegal := digits.translate(None, alphabet):
        raise ValueError(f"Illegal base64 character {illegal[0]:x}")
    if len(digits) % 4 == 1:
        raise ValueError("Last unit does not have enough valid bits")
    return bytes(a2b_base64(digits.translate(_FROM_URL_SAFE) + b"=" * (-len(digits) % 4)))
