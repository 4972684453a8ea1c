"""Placement of replicas on brokers: striped over racks, then over the brokers of each (KIP-36; `StripedReplicaPlacer`).

Leaders and followers rotate over the racks, and over the brokers of each rack, one step per partition. After a full
round racks and brokers are shuffled, so that partitions with the same leader have different followers. A fenced broker
gets a replica only if its rack has no other broker left, and never leads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from records.errors import ApiError, Error
from records.java.java_order import hash_order

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableSequence


class RandomSource(Protocol):
    """The source of random numbers: `random.Random`, or Kafka's generator in a test of its vectors."""

    def randrange(self, stop: int, /) -> int:
        """A number from 0 to stop - 1."""
        ...

    def shuffle(self, items: MutableSequence[int] | MutableSequence[str | None], /) -> None:
        """Shuffle the items in place."""
        ...


class UsableBroker(NamedTuple):
    """A broker that may get replicas. rack: None if it has none."""

    id: int
    rack: str | None
    fenced: bool


def place(
    brokers: Iterable[UsableBroker], partition_count: int, replica_count: int, rng: RandomSource
) -> list[list[int]]:
    """The replicas of each of the partitions, the leader first.

    Raises ApiError(INVALID_REPLICATION_FACTOR) if the replication factor is not positive, no broker is unfenced, or
    there are too few brokers.
    """
    racks = _Racks(brokers, rng)
    if replica_count <= 0:
        raise _refusal(f"Invalid replication factor {replica_count}: the replication factor must be positive.")
    if racks.unfenced_count == 0:
        raise _refusal("All brokers are currently fenced, or have all their log directories cordoned.")
    if replica_count > racks.broker_count:
        raise _refusal(
            f"The target replication factor of {replica_count} cannot be reached because only {racks.broker_count} "
            "broker(s) are registered or some brokers have all their log directories cordoned."
        )
    return [racks.place(replica_count) for _ in range(partition_count)]


def _refusal(text: str) -> ApiError:
    return ApiError(Error.INVALID_REPLICATION_FACTOR, text)


class _Brokers:
    """The brokers of one rack in rotation: each round starts one broker later."""

    __slots__ = ("epoch", "ids", "index", "offset")

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.index = self.offset = self.epoch = 0

    def start(self, rng: RandomSource) -> None:
        if self.ids:
            self.ids.sort()
            self.offset = rng.randrange(len(self.ids))

    def next(self, epoch: int) -> int | None:
        """The next broker of this round; None after the last."""
        if not self.ids:
            return None
        # A list that was not used in a round does not rotate.
        if self.epoch != epoch:
            self.epoch = epoch
            self.index = 0
            self.offset = (self.offset + 1) % len(self.ids)
        if self.index >= len(self.ids):
            return None
        broker = self.ids[(self.index + self.offset) % len(self.ids)]
        self.index += 1
        return broker


class _Rack:
    __slots__ = ("fenced", "unfenced")

    def __init__(self) -> None:
        self.fenced = _Brokers()
        self.unfenced = _Brokers()

    def next(self, epoch: int) -> int | None:
        broker = self.unfenced.next(epoch)
        return self.fenced.next(epoch) if broker is None else broker


class _Racks:
    __slots__ = ("broker_count", "epoch", "names", "offset", "racks", "rng", "unfenced_count")

    def __init__(self, brokers: Iterable[UsableBroker], rng: RandomSource) -> None:
        self.rng = rng
        self.racks: dict[str | None, _Rack] = {}
        self.broker_count = self.unfenced_count = self.epoch = 0
        for broker in brokers:
            rack = self.racks.setdefault(broker.rack, _Rack())
            (rack.fenced if broker.fenced else rack.unfenced).ids.append(broker.id)
            self.broker_count += 1
            self.unfenced_count += not broker.fenced
        # Random numbers are drawn in the order of Kafka's map, in which the empty name stands for no rack.
        order = hash_order([rack or "" for rack in self.racks])
        self.racks = {name: self.racks[name] for name in sorted(self.racks, key=lambda rack: order.index(rack or ""))}
        for rack in self.racks.values():
            rack.fenced.start(rng)
            rack.unfenced.start(rng)
        self.names: list[str | None] = sorted(self.racks, key=lambda name: (name is not None, name or ""))
        self.offset = rng.randrange(len(self.names)) if self.names else 0

    def place(self, replica_count: int) -> list[int]:
        """One partition's replicas; there are enough brokers, and one of them is unfenced."""
        if self.epoch == self.unfenced_count and self.unfenced_count > 1:
            self.shuffle()
            self.epoch = 0
        if self.offset == len(self.names):
            self.offset = 0
        leader, leader_rack = self.place_leader()
        brokers = [leader]
        rack_index = self.offset
        while len(brokers) < replica_count:
            if rack_index == leader_rack:
                leader_rack = -1  # skip the leader's rack once: it has the leader
            else:
                broker = self.racks[self.names[rack_index]].next(self.epoch)
                if broker is not None:
                    brokers.append(broker)
            rack_index = (rack_index + 1) % len(self.names)
        self.epoch += 1
        self.offset += 1
        return brokers

    def place_leader(self) -> tuple[int, int]:
        """An unfenced broker, and the index of its rack: the first rack from the offset on that has one."""
        rack_index = self.offset
        while True:
            broker = self.racks[self.names[rack_index]].unfenced.next(self.epoch)
            if broker is not None:
                return broker, rack_index
            rack_index = (rack_index + 1) % len(self.names)

    def shuffle(self) -> None:
        self.rng.shuffle(self.names)
        for rack in self.racks.values():
            self.rng.shuffle(rack.fenced.ids)
            self.rng.shuffle(rack.unfenced.ids)
