"""The order in which Kafka's `TimelineHashMap` returns its entries, where an answer of Kafka follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

# Knuth's multiplicative hashing, as `BaseHashTable.findSlot` uses it.
_MULTIPLIER = 0x9E3779B97F4A7C15


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
