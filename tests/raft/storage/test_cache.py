"""The cache holds the end of the log, within its memory limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from raft.storage.cache import Chunk, TailCache

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 4), st.integers(1, 300)),
        st.tuples(st.just("truncate"), st.integers(0, 60), st.just(0)),
        st.tuples(st.just("clear"), st.integers(0, 60), st.just(0)),
    ),
    max_size=60,
)


@given(STEPS, st.integers(0, 60), st.integers(1, 600))
def test_the_cache_returns_the_appended_chunks(steps: list[tuple[str, int, int]], offset: int, bytes_max: int) -> None:
    cache = TailCache(5, bytes_max=1500)
    log: list[Chunk] = []  # a naive one, of all there is
    end = 5
    for step, number, size in steps:
        if step == "append":
            chunk = Chunk(end, end + number, bytes([end % 251]) * size)
            cache.append(*chunk)
            log.append(chunk)
            end += number
        elif step == "truncate" and number <= end:
            cache.truncate(number)
            log = [chunk for chunk in log if chunk.end_offset <= number]
            end = number
        elif step == "clear":
            cache.clear(number)
            log, end = [], number

        assert cache.end_offset == end
        assert cache.bytes_held <= cache.bytes_max

    found = cache.chunks_from(offset, end, bytes_max)

    if found is None:
        assert not cache.first_offset <= offset < end
    else:
        first = next(at for at, chunk in enumerate(log) if chunk.end_offset > offset)
        assert found == log[first : first + len(found)]
        assert found[0].base_offset <= offset
        assert len(found) == 1 or sum(len(chunk.data) for chunk in found[:-1]) < bytes_max


def test_many_small_appends_stay_within_the_memory_limit() -> None:
    cache = TailCache(0, bytes_max=10_000)

    for offset in range(20_000):
        cache.append(offset, offset + 1, b"x" * 80)

    assert cache.bytes_held <= 10_000
    assert cache.end_offset - cache.first_offset == 50
    assert len(cache._bases) < 2000


def test_a_chunk_larger_than_the_limit_is_not_kept() -> None:
    cache = TailCache(0, bytes_max=1000)
    cache.append(0, 1, b"x" * 100)

    cache.append(1, 2, b"x" * 2000)

    assert (cache.first_offset, cache.end_offset, cache.bytes_held) == (2, 2, 0)


def test_a_truncation_within_a_chunk_drops_those_before_it_too() -> None:
    cache = TailCache(0)
    for base_offset in (0, 10, 20):
        cache.append(base_offset, base_offset + 10, b"x" * 100)

    cache.truncate(15)
    cache.append(15, 16, b"y")

    assert (cache.first_offset, cache.end_offset) == (15, 16)
    assert cache.chunks_from(5, 16, 1000) is None
    assert cache.chunks_from(15, 16, 1000) == [Chunk(15, 16, b"y")]
