"""Random metadata records: topics with runs of partitions of few shapes, as a log has them, and what breaks a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.batch import build_batch
from records.frame import encode_record
from records.metadata.configs import ConfigRecord
from records.metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from records.metadata.transactions import NoOpRecord
from records.schema import replace, schema_of

if TYPE_CHECKING:
    from random import Random

DIRECTORIES = [bytes([number]) * 16 for number in range(1, 6)]
TIME_MS = 1_700_000_000_000
SMALLEST, LARGEST = -(1 << 31), (1 << 31) - 1


class RandomMetadata:
    """A source of records in an order that a controller may write; `faults` is the share of those that it never writes.

    topics: the partition ids of each by topic id.
    """

    def __init__(self, rng: Random, faults: float = 0.0) -> None:
        self.rng = rng
        self.faults = faults
        self.topics: dict[bytes, list[int]] = {}
        self.names: dict[bytes, str] = {}

    def records(self, count: int, *, of_checkpoint: bool = False) -> list[Any]:
        """About so many records. of_checkpoint: only those that restate what there is."""
        records: list[Any] = []
        while len(records) < count:
            step = self.rng.random()
            if step < 0.5 or not self.topics:
                records += self.topic()
            elif of_checkpoint and step < 0.9:
                records += self.configs() if self.rng.random() < 0.2 else self.topic()
            elif step < 0.8:
                records += self.changes()
            elif step < 0.85 and len(self.topics) > 3:
                topic_id = self.rng.choice(list(self.topics))
                del self.topics[topic_id], self.names[topic_id]
                records.append(RemoveTopicRecord(topic_id=topic_id))
            elif step < 0.9:
                records += self.configs()
            elif step < 0.95 or of_checkpoint:
                records.append(NoOpRecord())
            else:
                records.append(ClearElrRecord(topic_name=""))
        for place in range(len(records)):
            if self.rng.random() < self.faults:
                self.damage(records, place)
        return records

    def configs(self) -> list[Any]:
        name = self.rng.choice(list(self.names.values()))
        value = str(self.rng.randrange(9))
        return [ConfigRecord(resource_type=2, resource_name=name, name="retention.ms", value=value)]

    def topic(self) -> list[Any]:
        rng = self.rng
        topic_id = rng.randbytes(16)
        name = f"topic-{len(self.names)}-{rng.randrange(1 << 30)}"
        self.names[topic_id] = name
        ids = list(range(rng.choice((1, 3, 20, 150))))
        if rng.random() < 0.2:
            rng.shuffle(ids)
        self.topics[topic_id] = ids
        shapes = [self.partition(topic_id) for _ in range(rng.choice((1, 1, 2, 4)))]
        records: list[Any] = [TopicRecord(name=name, topic_id=topic_id)]
        for number in ids:
            shape = rng.choice(shapes)
            isr = shape.isr if rng.random() < 0.7 else tuple(rng.sample(range(1, 100), len(shape.isr)))
            records.append(replace(
                shape, partition_id=number, isr=isr, leader=rng.choice((*isr, -1)),
                leader_epoch=rng.choice((0, 7, rng.randrange(LARGEST), LARGEST)), partition_epoch=rng.randrange(300),
                directories=rng.choices(DIRECTORIES, k=len(shape.directories)),
            ))  # fmt: skip
        return records

    def partition(self, topic_id: bytes) -> PartitionRecord:
        rng = self.rng
        replicas = rng.sample(range(1, 200), rng.choice((1, 3, 3, 3, 5)))
        isr = replicas[: rng.randint(0, len(replicas))]
        is_rare = rng.random() < 0.3
        return PartitionRecord(
            topic_id=topic_id,
            replicas=replicas,
            isr=isr,
            directories=rng.choices(DIRECTORIES, k=len(replicas)) if rng.random() < 0.8 else (),
            removing_replicas=replicas[:1] if is_rare and rng.random() < 0.5 else (),
            adding_replicas=replicas[-1:] if is_rare and rng.random() < 0.5 else (),
            leader_recovery_state=int(is_rare and rng.random() < 0.5),
            eligible_leader_replicas=replicas[len(isr) :] if is_rare else None,
            last_known_elr=replicas[:1] if is_rare and rng.random() < 0.5 else None,
        )

    def changes(self) -> list[Any]:
        rng = self.rng
        topic_id = rng.choice(list(self.topics))
        fields = rng.choice(({"leader"}, {"isr"}, {"leader", "isr"}, {"isr", "eligible_leader_replicas"}))
        records = []
        for number in self.topics[topic_id]:
            values: dict[str, Any] = {"leader": rng.randrange(200)} if "leader" in fields else {}
            for name in fields - {"leader"}:
                values[name] = rng.sample(range(200), 2)
            records.append(PartitionChangeRecord(partition_id=number, topic_id=topic_id, **values))
        return records

    def damage(self, records: list[Any], place: int) -> None:
        """Change a record so that it may contradict those before it."""
        rng = self.rng
        record = records[place]
        match rng.randrange(6):
            case 0 if place:
                other = rng.randrange(place)
                records[place], records[other] = records[other], record
            case 1:
                records.insert(place, record)
            case 2 if isinstance(record, PartitionRecord):
                records[place] = replace(record, directories=(*record.directories, DIRECTORIES[0]))
            case 3 if isinstance(record, PartitionRecord):
                records[place] = replace(record, leader_recovery_state=rng.choice((2, -1)))
            case 4 if hasattr(record, "topic_id"):
                records[place] = replace(record, topic_id=rng.randbytes(16))
            case 5 if hasattr(record, "partition_id"):
                others = (-1, SMALLEST, LARGEST, record.partition_id + 1)
                records[place] = replace(record, partition_id=rng.choice(others))


def values_of(records: list[Any], rng: Random | None = None) -> list[bytes]:
    """The encoded records, in their newest versions; with an rng in any that can carry them."""
    values = []
    for record in records:
        first, last = schema_of(type(record)).versions
        if rng is not None and not getattr(record, "directories", None) and rng.random() < 0.5:
            elr = [getattr(record, name, None) for name in ("eligible_leader_replicas", "last_known_elr")]
            if elr == [None, None]:
                last = rng.randint(first, last)
        values.append(encode_record(record, last))
    return values


def batches_of(values: list[bytes], base_offset: int, epoch: int, rng: Random) -> bytes:
    """The values in batches of random sizes."""
    parts = []
    start = 0
    while start < len(values):
        some = values[start : start + rng.choice((1, 10, 100, 1000))]
        parts.append(build_batch(some, base_offset=base_offset + start, leader_epoch=epoch, timestamp_ms=TIME_MS))
        start += len(some)
    return b"".join(parts)
