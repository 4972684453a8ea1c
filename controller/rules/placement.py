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
    from collections.abc import Callable, Iterable, MutableSequence


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


class Usable:
    """The brokers that may get replicas, by rack: made once for many placements, and not changed by them.

    racks: in the order in which Kafka draws random numbers for them; None: of brokers without one.
    """

    __slots__ = ("broker_count", "racks", "unfenced_count")

    def __init__(self, brokers: Iterable[UsableBroker]) -> None:
        racks: dict[str | None, UsableRack] = {}
        for broker in brokers:
            rack = racks.setdefault(broker.rack, UsableRack([], []))
            (rack.fenced if broker.fenced else rack.unfenced).append(broker.id)
        for rack in racks.values():
            rack.fenced.sort()
            rack.unfenced.sort()
        # Random numbers are drawn in the order of Kafka's map, in which the empty name stands for no rack.
        order = hash_order([name or "" for name in racks])
        self.racks = {name: racks[name] for name in sorted(racks, key=lambda name: order.index(name or ""))}
        self.unfenced_count = sum(len(rack.unfenced) for rack in racks.values())
        self.broker_count = self.unfenced_count + sum(len(rack.fenced) for rack in racks.values())


class UsableRack(NamedTuple):
    """The ids of the brokers of one rack, ascending."""

    fenced: list[int]
    unfenced: list[int]


def place(
    usable: Usable,
    partition_count: int,
    replica_count: int,
    rng: RandomSource,
    spread: Callable[[range], Iterable[int]] = iter,
) -> list[list[int]]:
    """The replicas of each of the partitions, the leader first. spread: lets others work between the partitions.

    Raises ApiError(INVALID_REPLICATION_FACTOR) if the replication factor is not positive, no broker is unfenced, or
    there are too few brokers.
    """
    racks = _Racks(usable, rng)
    if replica_count <= 0:
        raise _refusal(f"Invalid replication factor {replica_count}: the replication factor must be positive.")
    if usable.unfenced_count == 0:
        raise _refusal("All brokers are currently fenced, or have all their log directories cordoned.")
    if replica_count > usable.broker_count:
        raise _refusal(
            f"The target replication factor of {replica_count} cannot be reached because only {usable.broker_count} "
            "broker(s) are registered or some brokers have all their log directories cordoned."
        )
    if len(usable.racks) == 1 and usable.unfenced_count == usable.broker_count:
        return racks.place_in_one_rack(spread(range(partition_count)), replica_count)
    return [racks.place(replica_count) for _ in spread(range(partition_count))]


def _refusal(text: str) -> ApiError:
    return ApiError(Error.INVALID_REPLICATION_FACTOR, text)


class _Brokers:
    """The brokers of one rack in rotation: each round starts one broker later."""

    __slots__ = ("epoch", "ids", "index", "offset")

    def __init__(self, ids: list[int], rng: RandomSource) -> None:
        self.ids = ids
        self.index = self.epoch = 0
        self.offset = rng.randrange(len(ids)) if ids else 0

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

    def shuffle(self, rng: RandomSource) -> None:
        self.ids = list(self.ids)
        rng.shuffle(self.ids)


class _Rack:
    __slots__ = ("fenced", "unfenced")

    def __init__(self, rack: UsableRack, rng: RandomSource) -> None:
        self.fenced = _Brokers(rack.fenced, rng)
        self.unfenced = _Brokers(rack.unfenced, rng)

    def next(self, epoch: int) -> int | None:
        broker = self.unfenced.next(epoch)
        return self.fenced.next(epoch) if broker is None else broker


class _Racks:
    __slots__ = ("epoch", "names", "offset", "racks", "rng", "unfenced_count")

    def __init__(self, usable: Usable, rng: RandomSource) -> None:
        self.rng = rng
        self.unfenced_count = usable.unfenced_count
        self.epoch = 0
        self.racks = {name: _Rack(rack, rng) for name, rack in usable.racks.items()}
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

    def place_in_one_rack(self, partitions: Iterable[int], replica_count: int) -> list[list[int]]:
        """What `place` gives for all partitions, where there is one rack, and no broker is fenced: brokers in a row."""
        brokers = self.racks[self.names[0]].unfenced
        twice = brokers.ids * 2
        placed = []
        for _ in partitions:
            if self.epoch == self.unfenced_count and self.unfenced_count > 1:
                self.shuffle()
                self.epoch = 0
                twice = brokers.ids * 2
            if brokers.epoch != self.epoch:
                brokers.epoch = self.epoch
                brokers.offset = (brokers.offset + 1) % len(brokers.ids)
            placed.append(twice[brokers.offset : brokers.offset + replica_count])
            self.epoch += 1
        return placed

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
            rack.fenced.shuffle(self.rng)
            rack.unfenced.shuffle(self.rng)
