"""java.util.Random in Python: the numbers that stock draws for placement and for topic ids."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from records.messages.topics import DeleteTopicsResponse

if TYPE_CHECKING:
    from collections.abc import MutableSequence

DeletableTopicResult = DeleteTopicsResponse.DeletableTopicResult
MULTIPLIER = 0x5DEECE66D
MASK = (1 << 48) - 1


class JavaRandom:
    """The linear congruential generator of 48 bits that the documentation of java.util.Random specifies."""

    def __init__(self, seed: int) -> None:
        self.state = (seed ^ MULTIPLIER) & MASK

    def next_bits(self, count: int) -> int:
        """The next `count` bits as a signed number of 32 bits."""
        self.state = (self.state * MULTIPLIER + 0xB) & MASK
        value = self.state >> (48 - count)
        return value - (1 << 32) if value >= 1 << 31 else value

    def next_int(self, bound: int) -> int:
        """A number from 0 to bound - 1."""
        bits = self.next_bits(31)
        if bound & (bound - 1) == 0:
            return (bound * bits) >> 31
        # A range that would not be covered evenly is drawn again.
        while bits - bits % bound + bound - 1 >= 1 << 31:
            bits = self.next_bits(31)
        return bits % bound

    def next_bytes(self, count: int) -> bytes:
        words = (count + 3) // 4
        return b"".join((self.next_bits(32) & 0xFFFFFFFF).to_bytes(4, "little") for _ in range(words))[:count]


class Twin(Random):
    """Our source of random numbers: one generator for placement, another for topic ids, as in stock."""

    def __init__(self, seed: int) -> None:
        super().__init__(0)
        self.placement = JavaRandom(seed)
        self.ids = JavaRandom(seed)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        assert stop is None
        assert step == 1
        return self.placement.next_int(start)

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """java.util.Collections.shuffle. The results of DeleteTopics, which stock shuffles by another Random, stay."""
        if x and isinstance(x[0], DeletableTopicResult):
            return
        for count in range(len(x), 1, -1):
            chosen = self.placement.next_int(count)
            x[count - 1], x[chosen] = x[chosen], x[count - 1]

    def getrandbits(self, k: int, /) -> int:
        assert k % 8 == 0
        return int.from_bytes(self.ids.next_bytes(k // 8), "big")
