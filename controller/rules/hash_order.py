"""The order in which Java's hash tables give their entries back, where an answer or a record of Kafka follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

# Knuth's multiplicative hashing, as `BaseHashTable.findSlot` uses it.
_MULTIPLIER = 0x9E3779B97F4A7C15


def java_string_hash(text: str) -> int:
    """`String.hashCode`: over the UTF-16 code units, as an unsigned 32-bit number."""
    code = 0
    data = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(data), 2):
        code = (31 * code + (data[index] << 8 | data[index + 1])) & 0xFFFFFFFF
    return code


def string_map_order(names: Iterable[str]) -> list[str]:
    """Distinct names in the order of a `java.util.HashMap` to which they were added one by one.

    names: in the order of insertion. Within one bucket the order of insertion stands, as in a bucket that is a list;
    a bucket becomes a tree only beyond 8 entries, which keeps that order too.
    """
    distinct = list(dict.fromkeys(names))
    buckets = 16
    while len(distinct) > buckets * 3 // 4:
        buckets *= 2
    hashes = {name: java_string_hash(name) for name in distinct}
    return sorted(distinct, key=lambda name: (hashes[name] ^ hashes[name] >> 16) & (buckets - 1))


def first_partition(partition_ids: Iterable[int]) -> int | None:
    """The partition that a `TimelineHashMap` gives back first; None where there is none.

    partition_ids: ascending, which is the order in which a topic's partitions are created. The table begins with 2
    slots. It doubles before a write that could take it beyond 4/3 of its slots, also where that write only replaces an
    entry; a partition that was changed is such an entry. A slot gives its latest entry first.
    """
    ids = np.fromiter(partition_ids, np.uint64)
    if not len(ids):
        return None
    bits = 1
    while (len(ids) + 1) * 3 > (1 << bits) * 4:
        bits += 1
    slots = (ids * np.uint64(_MULTIPLIER)) >> np.uint64(64 - bits)
    return int(ids[slots == slots.min()].max())
