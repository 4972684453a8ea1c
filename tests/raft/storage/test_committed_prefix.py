"""The committed prefix file is read as written, and a damaged one is never accepted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raft.storage.committed_prefix import CommittedPrefix, SegmentPrefix, parse_prefix, prefix_text

NUMBER = st.integers(0, 2**62)
PREFIXES = st.builds(
    CommittedPrefix,
    NUMBER,
    st.lists(st.tuples(NUMBER, NUMBER), max_size=4).map(tuple),
    st.lists(NUMBER, max_size=4).map(tuple),
    st.lists(st.builds(SegmentPrefix, *[NUMBER] * 8), max_size=3).map(tuple),
)


@given(PREFIXES)
def test_the_prefix_file_is_read_as_written(prefix: CommittedPrefix) -> None:
    assert parse_prefix(prefix_text(prefix)) == prefix


@given(PREFIXES, st.data())
def test_damage_of_the_prefix_file_is_detected(prefix: CommittedPrefix, data: st.DataObject) -> None:
    text = bytearray(prefix_text(prefix))
    at = data.draw(st.integers(0, len(text) - 1))
    text[at] ^= data.draw(st.integers(1, 255))

    with pytest.raises(ValueError, match="CRC"):
        parse_prefix(bytes(text))


@pytest.mark.parametrize("text", [b"", b"0\n", b"x" * 9])
def test_a_text_that_is_not_a_prefix_file_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="CRC"):
        parse_prefix(text)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"1\n5\n0\n0\n0\n", "version is 1"),
        (b"0\n5\n3\n", "ends early"),
        (b"0\n5\n1\n1 2 3\n0\n0\n", "a row of 3 numbers in place of 2"),
    ],
)
def test_a_text_of_another_form_is_refused(body: bytes, reason: str) -> None:
    from records.crc import crc32c

    with pytest.raises(ValueError, match=reason):
        parse_prefix(body + f"{crc32c(body):08x}\n".encode())
