"""The order of very many names in a `java.util.HashMap`, by columns: see `records.java.java_order`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


def hash_codes(names: Sequence[str], pause: Callable[[], None]) -> NDArray[np.uint32]:
    """`String.hashCode` of each name. pause: called now and then."""
    text = "".join(names)
    if text.isascii():
        units = np.frombuffer(text.encode(), np.uint8)
        lengths = np.fromiter(map(len, names), np.int64, len(names))
    else:
        encoded = [name.encode("utf-16-le", "surrogatepass") for name in names]
        units = np.frombuffer(b"".join(encoded), "<u2").astype(np.uint32)
        lengths = np.fromiter(map(len, encoded), np.int64, len(names)) // 2
    starts = np.cumsum(lengths) - lengths
    # The longest first: those that have a unit at a place are then the first ones.
    order = np.argsort(-lengths, kind="stable")
    starts, shortness = starts[order], -lengths[order]
    codes = np.zeros(len(names), np.uint32)
    for place in range(int(lengths.max())):
        pause()
        count = int(np.searchsorted(shortness, -place))
        codes[:count] = codes[:count] * np.uint32(31) + units[starts[:count] + place]
    hashes = np.empty_like(codes)
    hashes[order] = codes
    return hashes


def bucket_places(codes: NDArray[np.uint32], size: int) -> list[int]:
    """The places of the keys with these hashes, in the order of a HashMap of so many buckets, a power of 2."""
    places = (codes ^ codes >> np.uint32(16)) & np.uint32(size - 1)
    order: list[int] = np.argsort(places, kind="stable").tolist()
    return order
