"""CIDR notation in hosts of ACLs, as Kafka 4.4 reads it (KIP-1276): `10.0.0.0/8`, `2001:db8::/32`.

Kafka parses it by the classes SubnetUtils and SubnetUtils6 of Apache Commons Net and the literals of Java's
InetAddress, which take less and more than `ipaddress` does: groups of IPv6 may have more than four digits, an address
may have host bits, and an IPv4 address that is written as IPv6 is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

IPV4_BITS, IPV6_BITS = 32, 128
_IPV4 = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})")
_IPV4_CIDR = re.compile(rf"{_IPV4.pattern}/([0-9]{{1,2}})")
_HEX = re.compile(r"[0-9a-fA-F]+")
# Of an IPv4 address inside an IPv6 one, which may have more digits, but no more characters than this.
_EMBEDDED_IPV4 = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)")
_EMBEDDED_MAX = 15
# The groups of an IPv6 address are 16 bits each.
_GROUPS = 8
# What stands before the IPv4 address in an IPv6 one: 80 bits of 0, 16 of 1.
_MAPPED = 0xFFFF
_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
_INT_DIGITS, _PIECE_DIGITS = 10, 400
# The networks of so many patterns of at most so many characters are kept: an authorizer asks for them again and again.
_KEPT, _KEPT_CHARACTERS_MAX = 16384, 64


class InvalidCidr(ValueError):
    """A pattern that is no CIDR notation, with the text of Kafka's library."""


class Network(NamedTuple):
    """The least and the greatest address, both inclusive, as numbers. bits: 32 for IPv4, 128 for IPv6."""

    bits: int
    low: int
    high: int


def network_of(pattern: str) -> Network:
    """The addresses that a pattern covers. Raises InvalidCidr."""
    if ":" in pattern:
        address, prefix = _ipv6_cidr(pattern)
        bits = IPV6_BITS
    else:
        address, prefix = _ipv4_cidr(pattern)
        bits = IPV4_BITS
    host_bits = (1 << (bits - prefix)) - 1
    return Network(bits, address & ~host_bits, address | host_bits)


def covers(pattern: str, host: str) -> bool:
    """Whether an address is in the range of a pattern; False for a pattern or host that is none.

    host: the text of an IPv4 or IPv6 address. As in Kafka, 0.0.0.0 is in no range.
    """
    if "/" not in pattern:
        return False
    network = (_kept_network if len(pattern) <= _KEPT_CHARACTERS_MAX else _network_or_none)(pattern)
    if network is None:
        return False
    if network.bits == IPV4_BITS:
        address = ipv4_number(host)
        return bool(address) and network.low <= address <= network.high
    number = ipv6_number(host) if ":" in host else None
    return number is not None and not is_mapped(number) and network.low <= number <= network.high


def _network_or_none(pattern: str) -> Network | None:
    try:
        return network_of(pattern)
    except InvalidCidr:
        return None


_kept_network = lru_cache(maxsize=_KEPT)(_network_or_none)


def _ipv4_cidr(pattern: str) -> tuple[int, int]:
    match = _IPV4_CIDR.fullmatch(pattern)
    if match is None:
        raise InvalidCidr(f"Could not parse [{pattern}]")
    *octets, prefix = map(int, match.groups())
    for value, greatest in (*((octet, 255) for octet in octets), (prefix, IPV4_BITS)):
        if value > greatest:
            raise InvalidCidr(f"Value [{value}] not in range [0,{greatest}]")
    return int.from_bytes(bytes(octets), "big"), prefix


def ipv4_number(text: str) -> int:
    """The number of an IPv4 address; 0, which no range has, for what is none."""
    match = _IPV4.fullmatch(text)
    if match is None:
        return 0
    octets = [int(octet) for octet in match.groups()]
    return int.from_bytes(bytes(octets), "big") if max(octets) <= 255 else 0


def _ipv6_cidr(pattern: str) -> tuple[int, int]:
    address, slash, prefix_text = pattern.partition("/")
    if not slash:
        raise InvalidCidr(f"Could not parse [{pattern}] - missing prefix length")
    prefix = _java_int(prefix_text)
    if prefix is None:
        raise InvalidCidr(f"Could not parse [{pattern}] - invalid prefix length")
    if not 0 <= prefix <= IPV6_BITS:
        raise InvalidCidr(f"Could not parse [{pattern}] - prefix length must be between 0 and {IPV6_BITS}")
    number = ipv6_number(address)
    if number is None:
        raise InvalidCidr(f"Could not parse [{address}]")
    if is_mapped(number):
        raise InvalidCidr(f"Could not parse [{address}] - not an IPv6 address")
    return number, prefix


def is_mapped(number: int) -> bool:
    """Whether an IPv6 address is that of an IPv4 one (`::ffff:10.0.0.1`), which Java takes it for."""
    return number >> IPV4_BITS == _MAPPED


def _java_int(text: str) -> int | None:
    """An int as `Integer.parseInt` reads it: a sign, and decimal digits of any script; None for other text."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isdecimal() or not (digits.isascii() or max(digits) <= "\uffff"):
        return None
    # Pieces, since Python limits the digits of one number, and a pattern may have 32 KiB of zeros in front.
    zeros, digits = digits[:-_INT_DIGITS].lstrip("0"), digits[-_INT_DIGITS:]
    if any(int(zeros[at : at + _PIECE_DIGITS]) for at in range(0, len(zeros), _PIECE_DIGITS)):
        return None
    value = int(digits) * (-1 if text[0] == "-" else 1)
    return value if _INT_MIN <= value <= _INT_MAX else None


def ipv6_number(text: str) -> int | None:
    """The number of an IPv6 literal as Java reads it, in brackets or not, with a numeric zone or none; else None."""
    if text[:1] == "[":
        text = text[1:-1] if len(text) > 2 and text[-1] == "]" else ""
    address, percent, zone = text.partition("%")
    if percent and not (zone.isascii() and zone.isdigit() and _java_int(zone) is not None):
        # Java takes the name of a network interface of its machine too: no ACL for other machines has one.
        return None
    first, elided, rest = address.partition("::")
    left = _groups(first, is_last=not elided)
    right = _groups(rest, is_last=True)
    if left is None or right is None or "::" in rest:
        return None
    missing = _GROUPS - len(left) - len(right)
    if (missing < 1) if elided else (missing != 0):
        return None
    number = 0
    for group in (*left, *[0] * missing, *right):
        number = number << 16 | group
    # Java refuses an IPv4 address with a zone.
    return None if percent and is_mapped(number) else number


def _groups(text: str, *, is_last: bool) -> list[int] | None:
    """The groups of 16 bits in a part of an IPv6 address; its last one may be an IPv4 address, where is_last."""
    if not text:
        return []
    parts = text.split(":", _GROUPS)
    groups: list[int] = []
    for at, part in enumerate(parts):
        if "." in part and is_last and at == len(parts) - 1:
            match = _EMBEDDED_IPV4.fullmatch(part) if len(part) <= _EMBEDDED_MAX else None
            octets = [] if match is None else [int(octet) for octet in match.groups()]
            if not octets or max(octets) > 255:
                return None
            groups += [octets[0] << 8 | octets[1], octets[2] << 8 | octets[3]]
            continue
        digits = part.lstrip("0")[:5] if _HEX.fullmatch(part) else None
        if digits is None or len(digits) > 4:
            return None
        groups.append(int(digits or "0", 16))
    return groups if len(groups) <= _GROUPS else None
