"""What is read of a certificate: its subject as Java prints it (RFC 2253), a principal's name, and when it expires."""

from __future__ import annotations

import re
from binascii import a2b_base64
from datetime import UTC, datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_KEYWORDS = {
    "2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET", "2.5.4.10": "O",
    "2.5.4.11": "OU", "0.9.2342.19200300.100.1.25": "DC", "0.9.2342.19200300.100.1.1": "UID",
}  # fmt: skip
# Tag of a kind of text -> its encoding.
_TEXTS = {12: "utf-8", 19: "ascii", 20: "latin-1", 22: "ascii", 27: "ascii", 28: "utf-32-be", 30: "utf-16-be"}
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----")
_ESCAPED = ',=+<>#;"\\'


class BadCertificate(ValueError):
    """The bytes are not a certificate."""


def subject_of(certificate: bytes) -> str:
    """The subject of a certificate in DER. Raises BadCertificate."""
    try:
        return _name(certificate, _field(certificate, 4))
    except (IndexError, ValueError, OverflowError) as error:
        raise BadCertificate(f"its certificate cannot be read: {type(error).__name__}") from None


def expires_s(certificate: bytes) -> int:
    """The end of the validity of a certificate in DER, in s since 1970. Raises BadCertificate."""
    try:
        _, (tag, span) = _elements(certificate, _field(certificate, 3))
        text = certificate[slice(*span)].decode("ascii")
        if tag == 23:  # UTCTime: a year below 50 is of this century (RFC 5280, 4.1.2.5.1)
            text = ("20" if int(text[:2]) < 50 else "19") + text
        month, day, hour, minute, second = (int(text[at : at + 2]) for at in range(4, 14, 2))
        return int(datetime(int(text[:4]), month, day, hour, minute, second, tzinfo=UTC).timestamp())
    except (IndexError, ValueError, OverflowError) as error:
        raise BadCertificate(f"its certificate cannot be read: {type(error).__name__}") from None


def chain_expires_s(pem: bytes) -> int | None:
    """The first end of the validity of the certificates in a PEM; None without one that can be read."""
    ends = []
    for match in _CERTIFICATE.finditer(pem):
        try:
            ends.append(expires_s(a2b_base64(match[1])))
        except ValueError:  # OpenSSL has loaded it, so it is of no use to report it here
            continue
    return min(ends, default=None)


def _field(certificate: bytes, number: int) -> Span:
    """One of: serial number, algorithm, issuer, validity, subject."""
    _, body, _ = _element(certificate, 0)
    _, to_be_signed, _ = _element(certificate, body[0])
    fields = list(_elements(certificate, to_be_signed))
    if fields[0][0] == 0xA0:  # the version
        fields.pop(0)
    return fields[number][1]


Span = tuple[int, int]


def _element(data: bytes, at: int) -> tuple[int, Span, int]:
    """Tag, span of the content, and where the next element begins."""
    tag, size, start = data[at], data[at + 1], at + 2
    if size & 0x80:
        count = size & 0x7F
        if not 1 <= count <= 4:
            raise ValueError("a length that DER does not have")
        size = int.from_bytes(data[start : start + count], "big")
        start += count
    if start + size > len(data):
        raise ValueError("an element is cut off")
    return tag, (start, start + size), start + size


def _elements(data: bytes, span: Span) -> Iterator[tuple[int, Span]]:
    at = span[0]
    while at < span[1]:
        tag, content, at = _element(data, at)
        yield tag, content


def _name(data: bytes, subject: Span) -> str:
    names = []
    for _, relative in _elements(data, subject):
        parts = []
        for _, attribute in _elements(data, relative):
            _, kind, value_at = _element(data, attribute[0])
            tag, value, end = _element(data, value_at)
            oid = _oid(data[kind[0] : kind[1]])
            content = data[value[0] : value[1]]
            if oid in _KEYWORDS and tag in _TEXTS:
                parts.append(f"{_KEYWORDS[oid]}={_text(content.decode(_TEXTS[tag], 'replace'))}")
            else:
                parts.append(f"{oid}=#{data[value_at:end].hex()}")
        names.append("+".join(parts))
    return ",".join(reversed(names))


def _oid(data: bytes) -> str:
    numbers = []
    value = 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(value)
            value = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


def _text(value: str) -> str:
    """The value with what RFC 2253 escapes: special characters, and spaces at both ends."""
    escaped = "".join(f"\\{char}" if char in _ESCAPED else "\\00" if char == "\0" else char for char in value)
    left = len(escaped) - len(escaped.lstrip(" "))
    right = len(escaped) - len(escaped.rstrip(" "))
    if left == len(escaped):
        return "\\ " * left
    return "\\ " * left + escaped[left : len(escaped) - right] + "\\ " * right
