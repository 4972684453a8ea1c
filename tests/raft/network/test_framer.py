"""Frames are cut for any sizes of the received pieces, and only received bytes are held."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raft.network.framer import Framer


def framed(*bodies: bytes) -> bytes:
    return b"".join(len(body).to_bytes(4, "big") + body for body in bodies)


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 30), max_size=40), st.binary(max_size=3))
def test_any_pieces_give_the_same_frames(bodies: list[bytes], cuts: list[int], rest: bytes) -> None:
    data = framed(*bodies) + rest
    framer = Framer(100)
    found: list[bytes] = []
    position = 0
    for size in [*cuts, len(data)]:
        if position < len(data):
            found += framer.feed(data[position : position + size])
            position += size

    assert found == bodies
    assert framer.held_bytes == len(rest)
    assert framer.error is None


@pytest.mark.parametrize("size", [-1, 101, 2**31 - 1, -(2**31)])
def test_an_invalid_size_is_an_error_after_the_frames_before_it(size: int) -> None:
    framer = Framer(100)

    found = framer.feed(framed(b"one", b"two") + size.to_bytes(4, "big", signed=True) + b"more")

    assert found == [b"one", b"two"]
    assert framer.error == f"a frame of {size} bytes; at most 100 are taken"


def test_an_unfinished_frame_holds_only_the_received_bytes() -> None:
    framer = Framer()
    framer.feed((100 << 20).to_bytes(4, "big"))
    before = framer.held_bytes

    for _ in range(1000):
        framer.feed(b"x")

    assert (before, framer.held_bytes) == (4, 1004)
    framer.drop()
    assert framer.held_bytes == 0


def test_an_empty_frame_is_a_frame() -> None:
    assert Framer().feed(framed(b"", b"a")) == [b"", b"a"]
