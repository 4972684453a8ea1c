"""The positions of records equal those that their lengths give one after the other, for any batch."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from pipeline.source import record_starts as module
from pipeline.source.record_starts import Body, record_starts
from pipeline.source.varints import pad
from records.batch import HEADER_BYTES, build_batch

if TYPE_CHECKING:
    from collections.abc import Sequence


def bodies_of(pieces: Sequence[bytes], counts: Sequence[int]) -> tuple[bytes, list[Body | None]]:
    """Batches, one behind the other; the records of each begin behind its header."""
    data = b"".join(pieces)
    bodies: list[Body | None] = []
    at = 0
    for piece, count in zip(pieces, counts, strict=True):
        bodies.append(Body(data, at + HEADER_BYTES, at + len(piece), 0, count))
        at += len(piece)
    return data, bodies


def batch(values: Sequence[bytes]) -> bytes:
    return build_batch(values, base_offset=0, leader_epoch=0, timestamp_ms=0)


def one_by_one(bodies: Sequence[Body | None]) -> tuple[list[int], list[int], dict[int, str]]:
    """What `record_starts` has to give."""
    starts: list[int] = []
    counts: list[int] = []
    problems: dict[int, str] = {}
    for number, body in enumerate(bodies):
        mine = [0]
        if body is not None:
            try:
                mine = module._walk(body)
            except (ValueError, IndexError) as error:
                problems[number] = str(error)
        starts += mine
        counts.append(len(mine))
    return starts, counts, problems


def found(data: bytes, bodies: Sequence[Body | None]) -> tuple[list[int], list[int], dict[int, str]]:
    starts, counts, problems = record_starts(pad(data), bodies)
    return starts.tolist(), counts.tolist(), problems


@pytest.mark.parametrize("size", [3, 55, 56, 57, 58, 59, 60, 61, 62, 8180, 8184, 8185, 8186])
def test_records_of_one_size_are_found_without_reading_one_after_the_other(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the length or the offset delta takes a byte more on the way, or the first record is another."""
    shapes = [[size] * 70, [size * 2, *[size] * 70], [size], [7, size], [size] * 8_200 if size < 100 else [size] * 2]
    pieces = [batch([bytes(length) for length in lengths]) for lengths in shapes]
    data, bodies = bodies_of(pieces, list(map(len, shapes)))
    expected = one_by_one(bodies)
    monkeypatch.delattr(module, "_walk")

    assert found(data, bodies) == expected


def test_records_of_any_sizes_are_found() -> None:
    random = Random(1)
    for _ in range(100):
        shapes = [
            [random.choice((3, 60, 61, 62, 200)) for _ in range(random.choice((1, 2, 3, 70)))]
            for _ in range(random.randint(1, 9))
        ]
        data, bodies = bodies_of([batch(list(map(bytes, shape))) for shape in shapes], list(map(len, shapes)))
        bodies[random.randrange(len(bodies))] = random.choice((None, bodies[0]))

        assert found(data, bodies) == one_by_one(bodies)


def test_a_batch_that_is_not_laid_out_as_records_has_the_problem_of_its_first_wrong_record() -> None:
    random = Random(2)
    problems: set[str] = set()
    for _ in range(2_000):
        shapes = [[random.choice((3, 60))] * random.choice((1, 2, 70)) for _ in range(3)]
        counts = [len(shape) + random.choice((0, 0, 0, -1, 1, 1 << 20)) for shape in shapes]
        pieces = []
        for shape in shapes:
            piece = bytearray(batch(list(map(bytes, shape))))
            for _ in range(random.choice((0, 1, 1, 3))):
                piece[random.randrange(HEADER_BYTES, len(piece))] = random.choice(
                    (0, 1, 2, 128, 255, random.randrange(256))
                )
            pieces.append(bytes(piece))
        data, bodies = bodies_of(pieces, counts)

        expected = one_by_one(bodies)
        assert found(data, bodies) == expected
        problems |= {problem.lstrip("-0123456789") for problem in expected[2].values()}

    assert problems >= {
        "a record states a length that none can have",
        "a record reaches beyond its batch",
        " bytes are left after the records",
        "index out of range",
    }


@pytest.mark.parametrize("wrong", [0, 1, 2])
@pytest.mark.parametrize("size", [5, 6, 10])
def test_a_length_of_more_than_five_bytes_is_a_problem_even_if_the_records_are_of_one_size(
    wrong: int, size: int
) -> None:
    """The varint is longer by as much as its value is smaller, so the next record begins where it is expected."""
    piece = bytearray(batch([bytes(40)] * 3))
    record = len(piece[HEADER_BYTES:]) // 3
    at = HEADER_BYTES + wrong * record
    length = record - size << 1
    piece[at : at + size] = bytes([length & 0x7F | 0x80, length >> 7 | 0x80, *[0x80] * (size - 3), 0])
    data, bodies = bodies_of([bytes(piece)], [3])

    assert found(data, bodies) == one_by_one(bodies)
    assert found(data, bodies)[2] == ({0: "varint is longer than 5 bytes"} if size > 5 else {})


def test_bodies_of_compressed_batches_are_at_their_place_in_the_buffer() -> None:
    first, second = (batch([bytes(size)] * 20)[HEADER_BYTES:] for size in (5, 70))
    bodies = [Body(first, 0, len(first), 0, 20), Body(second, 0, len(second), len(first), 20)]

    assert found(first + second, bodies) == one_by_one(bodies)
