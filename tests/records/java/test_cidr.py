"""CIDR notation in hosts of ACLs; the cases and texts are answers of CidrUtils in the jars of Apache Kafka 4.4.0."""

from __future__ import annotations

import pytest

from records.java.cidr import InvalidCidr, Network, covers, network_of

ONES = (1 << 128) - 1


@pytest.mark.parametrize(
    ("pattern", "network"),
    [
        ("10.0.0.0/8", Network(32, 10 << 24, (11 << 24) - 1)),
        ("10.1.2.3/8", Network(32, 10 << 24, (11 << 24) - 1)),
        ("0.0.0.0/0", Network(32, 0, (1 << 32) - 1)),
        ("001.02.3.4/32", Network(32, 0x01020304, 0x01020304)),
        ("::/0", Network(128, 0, ONES)),
        ("2001:db8::/32", Network(128, 0x20010DB8 << 96, (0x20010DB9 << 96) - 1)),
        ("[2001:db8::1]/128", Network(128, 0x20010DB8 << 96 | 1, 0x20010DB8 << 96 | 1)),
        ("1:2:3:4:5:6:7:8/+112", Network(128, 0x00010002000300040005000600070000, 0x0001000200030004000500060007FFFF)),
        ("000000001::/16", Network(128, 1 << 112, (2 << 112) - 1)),
        ("::1.2.3.4/128", Network(128, 0x01020304, 0x01020304)),
        ("fe80::1%3/64", Network(128, 0xFE80 << 112, (0xFE80 << 112) + (1 << 64) - 1)),
        ("1::/\uff11\uff16", Network(128, 1 << 112, (2 << 112) - 1)),
    ],
)
def test_a_pattern_covers_the_addresses_of_its_prefix(pattern: str, network: Network) -> None:
    assert network_of(pattern) == network


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("10.0.0.0", "Could not parse [10.0.0.0]"),
        ("10.0.0/8", "Could not parse [10.0.0/8]"),
        ("10.0.0.0/", "Could not parse [10.0.0.0/]"),
        ("10.0.0.0/8/9", "Could not parse [10.0.0.0/8/9]"),
        ("10.0.0.0/-1", "Could not parse [10.0.0.0/-1]"),
        ("10.0.0.0/008", "Could not parse [10.0.0.0/008]"),
        ("host/8", "Could not parse [host/8]"),
        ("10.0.0.0/33", "Value [33] not in range [0,32]"),
        ("10.256.0.0/33", "Value [256] not in range [0,255]"),
        ("::1", "Could not parse [::1] - missing prefix length"),
        ("::1/", "Could not parse [::1/] - invalid prefix length"),
        ("::1/64/5", "Could not parse [::1/64/5] - invalid prefix length"),
        ("g::/99999999999", "Could not parse [g::/99999999999] - invalid prefix length"),
        ("::1/129", "Could not parse [::1/129] - prefix length must be between 0 and 128"),
        ("g::/-2147483648", "Could not parse [g::/-2147483648] - prefix length must be between 0 and 128"),
        ("g::/1", "Could not parse [g::]"),
        ("1::2::3/1", "Could not parse [1::2::3]"),
        (":::/1", "Could not parse [:::]"),
        ("1:2:3:4:5:6:7/1", "Could not parse [1:2:3:4:5:6:7]"),
        ("1:2:3:4:5:6:7:8::/1", "Could not parse [1:2:3:4:5:6:7:8::]"),
        ("10000::/1", "Could not parse [10000::]"),
        ("[::1/64", "Could not parse [[::1]"),
        ("fe80::%/64", "Could not parse [fe80::%]"),
        ("fe80::%99999999999/64", "Could not parse [fe80::%99999999999]"),
        ("::1.2.3.256/64", "Could not parse [::1.2.3.256]"),
        ("::1.2.3/64", "Could not parse [::1.2.3]"),
        ("::ffff:10.0.0.1/104", "Could not parse [::ffff:10.0.0.1] - not an IPv6 address"),
        ("::ffff:a00:1%1/104", "Could not parse [::ffff:a00:1%1]"),
    ],
)
def test_what_is_no_cidr_notation_is_refused_with_the_text_of_kafka(pattern: str, text: str) -> None:
    with pytest.raises(InvalidCidr) as error:
        network_of(pattern)

    assert str(error.value) == text
    assert not covers(pattern, "10.0.0.1")


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("10.0.0.0/8", "10.255.255.255", True),
        ("10.0.0.0/8", "11.0.0.0", False),
        ("10.0.0.7/32", "10.0.0.7", True),
        ("0.0.0.0/0", "255.255.255.255", True),
        ("0.0.0.0/0", "0.0.0.0", False),
        ("0.0.0.0/0", "10.0.0.256", False),
        ("0.0.0.0/0", "2001:db8:0:0:0:0:0:1", False),
        ("2001:db8::/32", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", True),
        ("2001:db8::/32", "2001:db9:0:0:0:0:0:0", False),
        ("::/0", "0:0:0:0:0:0:0:0", True),
        ("::/0", "10.0.0.1", False),
        ("0" * 20_000 + "1::/16", "1:2:3:4:5:6:7:8", True),
        ("0" * 20_000 + "1::/16", "2:2:3:4:5:6:7:8", False),
        ("::/0", "0:0:0:0:0:ffff:a00:1", False),
        ("10.0.0.0", "10.0.0.0", False),
        ("*", "10.0.0.0", False),
    ],
)
def test_a_host_is_in_the_range_or_not(pattern: str, host: str, expected: bool) -> None:
    assert covers(pattern, host) is expected


@pytest.mark.parametrize(
    "pattern", ["1" * 30_000 + "/8", ":" * 30_000 + "/8", "1:" * 15_000 + "/8", "::/" + "9" * 30_000]
)
def test_a_long_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidCidr, match="Could not parse"):
        network_of(pattern)


@pytest.mark.parametrize("zero", ["0", "\u0660"])  # of ASCII, and the Arabic one
def test_a_prefix_length_may_have_any_number_of_zeros_in_front(zero: str) -> None:
    assert network_of(f"2001:db8::/{zero * 32000}32") == network_of("2001:db8::/32")
    assert not covers(f"2001:db8::/1{zero * 32000}", "2001:db8::1")
