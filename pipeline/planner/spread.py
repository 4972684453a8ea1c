"""The number of replicas of a partition for each rack, and the number of replicas for each broker.

The replicas of a partition are spread over the racks as evenly as the racks allow. Under that rule, the shares of all
brokers are as equal as possible: equal within a rack, and between racks as far as replicas may move from rack to rack.
A share is a fraction; a broker holds its share rounded down or up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDS_MAX = 2000
_NEAR = 1e-6


def rack_bounds(factor: int, rack_sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and the most replicas of one partition in each rack.

    factor: the replication factor. rack_sizes: brokers of each rack. Each rack gets as many as the others, up to its
    size.
    """
    assert factor <= rack_sizes.sum(), (factor, rack_sizes)
    level = 0
    while np.minimum(rack_sizes, level + 1).sum() <= factor:
        level += 1
        if np.minimum(rack_sizes, level).sum() == factor:
            return np.minimum(rack_sizes, level), np.minimum(rack_sizes, level)
    return np.minimum(rack_sizes, level), np.minimum(rack_sizes, level + 1)


def broker_shares(factors: NDArray[np.int64], rack_sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of a broker in each rack, in replicas.

    factors: how many partitions have 0, 1, 2 … replicas. `rack_bounds` limits the replicas of one replication factor in
    a rack; within that, replicas move from fuller racks to emptier ones until none can.
    """
    classes = np.flatnonzero(factors)
    classes = classes[classes > 0]
    sizes = rack_sizes.astype(float)
    least = np.zeros((len(classes), len(sizes)))
    most = np.zeros_like(least)
    held = np.zeros_like(least)
    for row, factor in enumerate(classes):
        low, high = rack_bounds(int(factor), rack_sizes)
        least[row], most[row] = low * factors[factor], high * factors[factor]
        room = most[row] - least[row]
        rest = factors[factor] * factor - least[row].sum()
        held[row] = least[row] + (room * (rest / room.sum()) if room.sum() else 0.0)
    for _ in range(_ROUNDS_MAX):
        if not _level(held, least, most, sizes):
            break
    shares: NDArray[np.float64] = held.sum(axis=0) / sizes
    return shares


def _level(
    held: NDArray[np.float64], least: NDArray[np.float64], most: NDArray[np.float64], sizes: NDArray[np.float64]
) -> bool:
    """One exchange between each pair of racks that allows one; returns whether anything moved."""
    moved = False
    shares = held.sum(axis=0) / sizes
    for full in np.argsort(-shares, kind="stable"):
        for empty in np.argsort(shares, kind="stable"):
            gap = shares[full] - shares[empty]
            if gap <= _NEAR / 10:
                break
            # This many replicas make the two racks' brokers even.
            wish = gap / (1 / sizes[full] + 1 / sizes[empty])
            can = np.minimum(held[:, full] - least[:, full], most[:, empty] - held[:, empty])
            amount = min(wish, can.sum())
            if amount <= _NEAR / 10:
                continue
            part = can * (amount / can.sum())
            held[:, full] -= part
            held[:, empty] += part
            shares = held.sum(axis=0) / sizes
            moved = True
    return moved


def broker_bounds(
    shares: NDArray[np.float64], racks: NDArray[np.int64], tolerance: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and the most replicas of each broker: its share rounded down and up.

    racks: the rack of each broker. tolerance: by which fraction of its share a broker may differ from it; 0 for the
    most even result.
    """
    share = np.round(shares, 6)[racks]
    low = np.floor(np.round(share * (1 - tolerance), 6)).astype(np.int64)
    high = np.ceil(np.round(share * (1 + tolerance), 6)).astype(np.int64)
    return np.maximum(low, 0), high
