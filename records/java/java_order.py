"""The order in which a `java.util.HashMap` gives its keys, where Kafka's records and answers stand in that order."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

K = TypeVar("K")

DEFAULT_CAPACITY = 16
# So many names are put in order by columns, in a fifth of the time. Not if one of them is longer, which no name of a
# topic is: by columns, one long name costs as much as many. Nor in a tool, which would have to load numpy for it.
MANY_NAMES = 1000
COLUMNS_LENGTH_MAX = 249


# The keys of groups, say, are put in order for each group of a request.
@lru_cache(maxsize=4096)
def hash_code(text: str) -> int:
    """`String.hashCode`, unsigned."""
    code = 0
    if text.isascii():
        for byte in text.encode():
            code = (31 * code + byte) & 0xFFFFFFFF
        return code
    units = text.encode("utf-16-be", "surrogatepass")
    for unit in range(0, len(units), 2):
        code = (31 * code + int.from_bytes(units[unit : unit + 2], "big")) & 0xFFFFFFFF
    return code


def uuid_hash_code(id_: bytes) -> int:
    """`Uuid.hashCode`, unsigned."""
    halves = int.from_bytes(id_[:8], "big") ^ int.from_bytes(id_[8:], "big")
    return (halves ^ halves >> 32) & 0xFFFFFFFF


def hash_order(
    names: Iterable[str], capacity: int = DEFAULT_CAPACITY, pause: Callable[[], None] = lambda: None
) -> list[str]:
    """The distinct names in the order of a HashMap made with this capacity, which grew as they were added.

    Names in one bucket are in the order in which they were added. pause: called between names.
    """
    distinct = list(dict.fromkeys(names))
    if len(distinct) < 2:
        return distinct
    if len(distinct) >= MANY_NAMES and "numpy" in sys.modules and max(map(len, distinct)) <= COLUMNS_LENGTH_MAX:
        from records.java.bulk_order import bucket_places, hash_codes

        size = buckets(len(distinct), capacity)
        return [distinct[place] for place in bucket_places(hash_codes(distinct, pause), size)]
    codes = []
    for name in distinct:
        pause()
        codes.append(hash_code(name))
    return bucket_order(distinct, codes, capacity)


def uuid_order(ids: Iterable[bytes]) -> list[bytes]:
    """The distinct uuids, of 16 bytes each, in the order of a map that has grown to hold these."""
    distinct = list(dict.fromkeys(ids))
    return bucket_order(distinct, [uuid_hash_code(id_) for id_ in distinct], DEFAULT_CAPACITY)


def integer_order(numbers: Iterable[int]) -> list[int]:
    """The distinct numbers of 32 bits in the order of a map that has grown to hold these."""
    distinct = list(dict.fromkeys(numbers))
    return bucket_order(distinct, [number & 0xFFFFFFFF for number in distinct], DEFAULT_CAPACITY)


def union_order(first: Sequence[int], more: Sequence[int]) -> list[int]:
    """The distinct numbers of both, none negative, in the order of a HashSet that was made from `first`."""
    members = list(dict.fromkeys((*first, *more)))
    return bucket_order(members, members, max(DEFAULT_CAPACITY, int(len(first) / 0.75) + 1))


def partition_order(partitions: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """The distinct partitions, of topic and index, in the order of a HashMap of `TopicPartition`s."""
    distinct = list(dict.fromkeys(partitions))
    codes = [(31 * (31 + index) + hash_code(topic)) & 0xFFFFFFFF for topic, index in distinct]
    return bucket_order(distinct, codes, DEFAULT_CAPACITY)


def bucket_order(keys: Sequence[K], codes: Sequence[int], capacity: int) -> list[K]:
    """The keys in the order of a HashMap made with this capacity, where codes are their hashes, unsigned."""
    mask = buckets(len(keys), capacity) - 1
    places = [(code ^ code >> 16) & mask for code in codes]
    return [keys[place] for place in sorted(range(len(keys)), key=places.__getitem__)]


def buckets(count: int, capacity: int) -> int:
    """The buckets of a HashMap that was made with this capacity and has so many keys: a power of 2."""
    size = 1
    while size < capacity:
        size *= 2
    while count > size * 3 // 4:
        size *= 2
    return size
