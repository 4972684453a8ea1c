"""Compressed batches of other writers are read, never beyond the limit."""

from __future__ import annotations

import gzip

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.batch import CorruptBatch, batches, records_of, seal
from records.compression import GZIP, LZ4, NAMES, NONE, SNAPPY, ZSTD, decompress
from records.wire import zigzag

TEXT = b"metadata of a cluster " * 200
BOMB = bytes(5_000_000)


def xerial(*blocks: bytes) -> bytes:
    """The stream that snappy-java writes."""
    framed = [len(block).to_bytes(4, "big") + block for block in blocks]
    return b"\x82SNAPPY\x00" + bytes.fromhex("00000001 00000001") + b"".join(framed)


def raw(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(data))


def compressed(kind: int, data: bytes) -> bytes:
    if kind == NONE:
        return data
    if kind == GZIP:
        return gzip.compress(data, mtime=0)
    if kind == SNAPPY:
        return raw(data)
    return bytes((cramjam.lz4 if kind == LZ4 else cramjam.zstd).compress(data))


KINDS = pytest.mark.parametrize("kind", range(5), ids=NAMES)


@KINDS
def test_compressed_data_are_decompressed(kind: int) -> None:
    for data in (TEXT, b"x", BOMB):
        assert decompress(kind, compressed(kind, data)) == data


@KINDS
def test_the_bound_is_exact(kind: int) -> None:
    data = compressed(kind, TEXT)

    assert decompress(kind, data, len(TEXT)) == TEXT
    with pytest.raises(
        ValueError, match=f"{NAMES[kind]} data have more than the {len(TEXT) - 1} bytes that are allowed"
    ):
        decompress(kind, data, len(TEXT) - 1)


@KINDS
def test_a_decompression_bomb_is_refused(kind: int) -> None:
    with pytest.raises(ValueError, match="more than the 100000 bytes"):
        decompress(kind, compressed(kind, BOMB), 100_000)


@pytest.mark.parametrize("kind", [GZIP, LZ4, ZSTD], ids=["gzip", "lz4", "zstd"])
def test_data_that_end_too_soon_are_refused(kind: int) -> None:
    data = compressed(kind, TEXT)
    for size in (0, 1, 5, len(data) // 2, len(data) - 1):
        with pytest.raises(ValueError, match=NAMES[kind]):
            decompress(kind, data[:size])


@given(st.sampled_from([GZIP, SNAPPY, LZ4, ZSTD]), st.binary(max_size=200))
def test_any_bytes_are_data_or_a_value_error(kind: int, data: bytes) -> None:
    try:
        found = decompress(kind, data, 10_000)
    except ValueError:
        return
    assert len(found) <= 10_000


def test_gzip_may_have_several_members() -> None:
    assert decompress(GZIP, gzip.compress(b"one ") + gzip.compress(b"two")) == b"one two"
    with pytest.raises(ValueError, match="more than the 6 bytes"):
        decompress(GZIP, gzip.compress(b"one ") + gzip.compress(b"two"), 6)


def test_snappy_is_read_raw_and_as_java_frames_it() -> None:
    assert decompress(SNAPPY, xerial()) == b""
    assert decompress(SNAPPY, xerial(raw(TEXT), raw(b"end"))) == TEXT + b"end"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x82SNAPPY\x00\0\0", "end within their header"),
        (xerial(raw(b"a"))[:-3], "snappy block of 3 bytes in the 0 that are left"),
        (xerial(b"")[:-1], "end within the length of a block"),
        (xerial(b""), "snappy block of 0 bytes"),
        (xerial()[:16] + b"\xff\xff\xff\xff", "snappy block of -1 bytes"),
        (xerial(b"\xff\xff\xff\xff\x0f"), "more than the 67108864 bytes"),
        (b"\xff\xff\xff\xff\x0f", "more than the 67108864 bytes"),
        (b"\x05abc", "malformed"),
        (b"", "malformed"),
    ],
)
def test_invalid_snappy_data_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decompress(SNAPPY, data)


def test_blocks_of_snappy_share_one_limit() -> None:
    data = xerial(raw(bytes(600)), raw(bytes(600)))

    assert decompress(SNAPPY, data, 1200) == bytes(1200)
    with pytest.raises(ValueError, match="more than the 1199 bytes"):
        decompress(SNAPPY, data, 1199)


@pytest.mark.parametrize("kind", [-1, 5, 7])
def test_an_unknown_compression_is_refused(kind: int) -> None:
    with pytest.raises(ValueError, match=f"compression type is {kind}; there are 0 to 4"):
        decompress(kind, b"")


@pytest.mark.parametrize("kind", [GZIP, SNAPPY, LZ4, ZSTD], ids=NAMES[1:])
def test_a_batch_that_is_a_bomb_is_refused_with_its_offset(kind: int) -> None:
    inner = b"\0\0\0\1" + zigzag(len(BOMB)) + BOMB + b"\0"
    data = seal(compressed(kind, zigzag(len(inner)) + inner), 1, 42, 1, 0, attributes=kind)
    batch = next(batches(data))

    assert [record.value for record in records_of(data, batch)] == [BOMB]
    with pytest.raises(CorruptBatch, match=r"batch of offset 42 at byte 0: .* more than the 1000000 bytes"):
        records_of(data, batch, decompressed_max=1_000_000)
