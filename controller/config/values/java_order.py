"""The order in which a `java.util.HashMap` gives its keys, where Kafka's records and answers stand in that order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_CAPACITY = 16


def hash_code(text: str) -> int:
    """`String.hashCode`, unsigned."""
    code = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for unit in range(0, len(units), 2):
        code = (31 * code + int.from_bytes(units[unit : unit + 2], "big")) & 0xFFFFFFFF
    return code


def hash_order(names: Iterable[str], capacity: int = DEFAULT_CAPACITY) -> list[str]:
    """The distinct names in the order of a HashMap made with this capacity, which grew as they were added.

    Names in one bucket are in the order in which they were added.
    """
    distinct = list(dict.fromkeys(names))
    size = 1
    while size < capacity:
        size *= 2
    while len(distinct) > size * 3 // 4:
        size *= 2

    def bucket(name: str) -> int:
        code = hash_code(name)
        return (code ^ code >> 16) & (size - 1)

    return sorted(distinct, key=bucket)
