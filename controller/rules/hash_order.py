"""The order in which Java's hash tables give their entries back, where an answer or a record of Kafka follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controller.config.values.java_order import hash_code, hash_order

if TYPE_CHECKING:
    from collections.abc import Iterable

# Knuth's multiplicative hashing, as `BaseHashTable.findSlot` uses it.
_MULTIPLIER = 0x9E3779B97F4A7C15


def java_string_hash(text: str) -> int:
    """`String.hashCode`: over the UTF-16 code units, as an unsigned 32-bit number."""
    return hash_code(text)


def string_map_order(names: Iterable[str]) -> list[str]:
    """Distinct names in the order of a `java.util.HashMap` to which they were added one by one.

    names: in the order of insertion. Within one bucket the order of insertion stands, as in a bucket that is a list;
    a bucket becomes a tree only beyond 8 entries, which keeps that order too.
    """
    return hash_order(names)


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
