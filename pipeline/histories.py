"""Generated histories of clusters, of any size: to try the tables, and to measure them.

A cluster is created, and then its brokers are fenced and return, leaders and ISRs change, replicas are reassigned,
configs and ACLs change, controllers are elected. Records are encoded by columns, millions in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raft.storage.names import LOG, segment_name
from records.batch import build_batch, build_control_batch, seal
from records.bulk.rows import Rows, batch_body, partition_changes, partitions
from records.control import LeaderChangeMessage
from records.control_batch import encode_control
from records.frame import encode_record
from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.security import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from records.metadata.topics import RemoveTopicRecord, TopicRecord
from records.metadata.transactions import NoOpRecord
from records.metadata_log import PARTITION_DIRECTORY
from records.uuids import random_uuid, uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SEGMENT_BYTES = 128 << 20
BATCH_RECORDS = 2_000  # records of a fencing in one batch
SMALL_BATCH = 120  # partitions in one AlterPartition request
REPLICAS = 3
METADATA_VERSION = 30  # 4.3-IV0
BEGIN_MS = 1_767_225_600_000  # 2026-01-01
_NODES = (1, 2, 3)
_FENCE, _UNFENCE = 1, -1


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a history: records in all, and partitions at its end."""

    records: int
    partitions: int
    brokers: int = 12
    partitions_per_topic: int = 100


class Log:
    """A log under construction. Its time advances with each batch."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.offset = 0
        self.epoch = 1
        self.time_ms = BEGIN_MS
        self.size = SEGMENT_BYTES
        self.file: Any = None

    def write(self, data: bytes, count: int) -> None:
        """Append a batch of this many records."""
        if self.size >= SEGMENT_BYTES:
            self.close()
            self.file = (self.directory / segment_name(self.offset, LOG)).open("wb")
            self.size = 0
        self.file.write(data)
        self.size += len(data)
        self.offset += count

    def records(self, records: list[tuple[Any, int]]) -> None:
        """Append records, each with its version, as one batch."""
        values = [encode_record(record, version) for record, version in records]
        data = build_batch(values, base_offset=self.offset, leader_epoch=self.epoch, timestamp_ms=self.time_ms)
        self.write(data, len(values))

    def rows(self, parts: list[Rows], batch_records: int, step_ms: int) -> None:
        """Append rows, this many per batch, `step_ms` apart."""
        for part in parts:
            for start in range(0, len(part), batch_records):
                body, count = batch_body([part[start : start + batch_records]])
                self.write(seal(body, count, self.offset, self.epoch, self.time_ms), count)
                self.time_ms += step_ms

    def elect(self, leader: int) -> None:
        """Begin an epoch."""
        voters = tuple(LeaderChangeMessage.Voter(voter_id=node) for node in _NODES)
        granting = tuple(voter for voter in voters if voter.voter_id in (leader, leader % 3 + 1))
        record = LeaderChangeMessage(version=0, leader_id=leader, voters=voters, granting_voters=granting)
        data = build_control_batch(
            [encode_control(record)], base_offset=self.offset, leader_epoch=self.epoch, timestamp_ms=self.time_ms
        )
        self.write(data, 1)

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None


class Life:
    """A simulated cluster. Partitions are columns; rng is a numpy generator made from a seed."""

    def __init__(self, log: Log, size: Size, seed: int) -> None:
        self.log = log
        self.size = size
        self.rng = np.random.default_rng(seed)
        self.brokers = list(range(1, size.brokers + 1))
        self.directories = {broker: self._uuid() for broker in self.brokers}
        self.epochs: dict[int, int] = {}
        self.topics: list[tuple[str, bytes]] = []
        self.topic_ids = np.zeros((0, 16), np.uint8)
        self.partition_ids = np.zeros(0, np.int32)
        self.replicas = np.zeros((0, REPLICAS), np.int32)
        self.in_isr = np.zeros((0, REPLICAS), bool)
        self.leader = np.zeros(0, np.int32)
        self.acls: list[bytes] = []
        self.added: dict[str, list[NDArray[Any]]] = {}

    def _uuid(self) -> bytes:
        return random_uuid(lambda bits: int.from_bytes(self.rng.bytes(bits // 8), "big"))

    def begin(self) -> None:
        """An election, the features, the brokers."""
        log = self.log
        log.elect(1)
        log.records([(FeatureLevelRecord(name="metadata.version", feature_level=METADATA_VERSION), 0)])
        for broker in self.brokers:
            self.register(broker)

    def register(self, broker: int) -> None:
        """A broker registers, fenced, and is unfenced."""
        log = self.log
        self.epochs[broker] = log.offset
        record = RegisterBrokerRecord(
            broker_id=broker, is_migrating_zk_broker=False, incarnation_id=self._uuid(), broker_epoch=log.offset,
            end_points=(), features=(), rack=f"rack-{broker % 3}", fenced=True, in_controlled_shutdown=False,
            log_dirs=(self.directories[broker],),
        )  # fmt: skip
        log.records([(record, 3)])
        log.time_ms += 700
        self.fence(broker, _UNFENCE)

    def fence(self, broker: int, sign: int) -> None:
        change = BrokerRegistrationChangeRecord(broker_id=broker, broker_epoch=self.epochs[broker], fenced=sign)
        self.log.records([(change, 1)])

    def add_topics(self, count: int) -> None:
        """Topics with their partitions, spread evenly; each topic is a batch."""
        per = self.size.partitions_per_topic
        for _ in range(count):
            topic_id = self._uuid()
            name = f"topic-{len(self.topics):05d}"
            self.topics.append((name, topic_id))
            first = self.rng.integers(0, len(self.brokers), per)
            steps = np.stack([np.zeros(per, int), *[self.rng.integers(1, 3, per) for _ in range(REPLICAS - 1)]], 1)
            replicas = (np.array(self.brokers, np.int32))[(first[:, None] + steps.cumsum(axis=1)) % len(self.brokers)]
            ids = np.tile(np.frombuffer(topic_id, np.uint8), (per, 1))
            known = np.frombuffer(b"".join(self.directories[broker] for broker in self.brokers), np.uint8)
            rows = partitions(
                2, ids, np.arange(per), replicas=replicas, isr=replicas, leader=replicas[:, 0],
                leader_epoch=np.zeros(per, np.int32), partition_epoch=np.zeros(per, np.int32),
                directories=known.reshape(-1, 16)[replicas - 1],
            )  # fmt: skip
            value = encode_record(TopicRecord(name=name, topic_id=topic_id), 0)
            body, records = batch_body([value, rows])
            self.log.write(seal(body, records, self.log.offset, self.log.epoch, self.log.time_ms), records)
            self.log.time_ms += 20
            self._append_rows("topic_ids", ids)
            self._append_rows("partition_ids", np.arange(per, dtype=np.int32))
            self._append_rows("replicas", replicas)
            self._append_rows("in_isr", np.ones(replicas.shape, bool))
            self._append_rows("leader", replicas[:, 0].copy())

    def _append_rows(self, name: str, more: NDArray[Any]) -> None:
        """Append rows to a column; they are joined by `settle`, before the column is needed."""
        self.added.setdefault(name, []).append(more)

    def settle(self) -> None:
        """Join the appended rows."""
        for name, more in self.added.items():
            setattr(self, name, np.concatenate([getattr(self, name), *more]))
        self.added = {}

    def outage(self, broker: int) -> None:
        """A broker is fenced, its partitions change, it returns and catches up; its leaderships return to it."""
        log = self.log
        lagging = self.lag()
        mine = self.replicas == broker
        held = np.flatnonzero((mine & self.in_isr).any(axis=1) & (self.in_isr.sum(axis=1) > 1))
        self.fence(broker, _FENCE)
        self.in_isr[held] &= ~mine[held]
        was_leader = self.leader[held] == broker
        first = self.replicas[held, self.in_isr[held].argmax(axis=1)]
        self.leader[held] = np.where(was_leader, first, self.leader[held])
        log.rows(self._changes(held, was_leader), BATCH_RECORDS, 5)
        alone = np.flatnonzero(self.leader == broker)
        self.leader[alone] = -1
        log.rows(self._changes(alone, np.ones(len(alone), bool), isr=False), BATCH_RECORDS, 5)
        self.quiet(int(self.rng.integers(2, 20)))
        self.register(broker)
        self.leader[alone] = broker
        log.rows(self._changes(alone, np.ones(len(alone), bool), isr=False), BATCH_RECORDS, 5)
        log.time_ms += 2000
        self.rng.shuffle(held)
        self.in_isr[held] |= mine[held]
        log.rows(self._changes(held, np.zeros(len(held), bool)), SMALL_BATCH, 3)
        self.in_isr[lagging] = True
        log.rows(self._changes(lagging, np.zeros(len(lagging), bool)), SMALL_BATCH, 3)
        back = held[(self.replicas[held, 0] == broker) & (self.leader[held] != broker)]
        self.leader[back] = broker
        log.time_ms += 60_000
        log.rows(self._changes(back, np.ones(len(back), bool), isr=False), BATCH_RECORDS, 5)

    def lag(self) -> NDArray[np.int64]:
        """The followers of some partitions fall behind, so that the partitions become offline with their leader."""
        rows = np.unique(self.rng.integers(0, len(self.leader), max(len(self.leader) // 200, 8)))
        self.in_isr[rows] = self.replicas[rows] == self.leader[rows][:, None]
        self.log.rows(self._changes(rows, np.zeros(len(rows), bool)), SMALL_BATCH, 3)
        return rows

    def _changes(self, rows: NDArray[np.int64], leads: NDArray[np.bool_], *, isr: bool = True) -> list[Rows]:
        """PartitionChangeRecords with the state of these partitions. leads: which have a leader field; isr: whether
        they have the ISR.
        """
        changes = []
        sizes = self.in_isr[rows].sum(axis=1) if isr else np.zeros(len(rows), int)
        for size in np.unique(sizes).tolist():
            for with_leader in (False, True):
                mine = rows[(sizes == size) & (leads == with_leader)]
                if not len(mine):
                    continue
                columns: dict[str, Any] = {}
                if isr:
                    columns["isr"] = self.replicas[mine][self.in_isr[mine]].reshape(len(mine), size)
                if with_leader:
                    columns["leader"] = self.leader[mine]
                changes.append(partition_changes(2, self.topic_ids[mine], self.partition_ids[mine], **columns))
        return changes

    def reassign(self, count: int) -> None:
        """Some partitions get another last replica: requested, and completed some minutes later."""
        rows = np.unique(self.rng.integers(0, len(self.leader), count))
        rows = rows[self.in_isr[rows].all(axis=1)]
        brokers = np.array(self.brokers, np.int32)
        fresh = brokers[self.rng.integers(0, len(brokers), len(rows))]
        free = (self.replicas[rows] != fresh[:, None]).all(axis=1) & (self.leader[rows] != self.replicas[rows, -1])
        rows, fresh = rows[free], fresh[free]
        if not len(rows):
            return
        old = self.replicas[rows, -1].copy()
        both = np.concatenate((self.replicas[rows], fresh[:, None]), axis=1)
        known = np.frombuffer(b"".join(self.directories[broker] for broker in self.brokers), np.uint8).reshape(-1, 16)
        ids, numbers = self.topic_ids[rows], self.partition_ids[rows]
        self.log.rows(
            [partition_changes(
                2, ids, numbers, replicas=both, removing_replicas=old[:, None], adding_replicas=fresh[:, None],
                directories=known[both - 1],
            )], BATCH_RECORDS, 5,
        )  # fmt: skip
        self.quiet(30)
        self.replicas[rows, -1] = fresh
        after = self.replicas[rows]
        none = np.zeros((len(rows), 0), np.int32)
        self.log.rows(
            [partition_changes(
                2, ids, numbers, isr=after, replicas=after, removing_replicas=none, adding_replicas=none,
                directories=known[after - 1],
            )], SMALL_BATCH, 50,
        )  # fmt: skip

    def configure(self) -> None:
        """A topic's retention changes."""
        name, _ = self.topics[int(self.rng.integers(0, len(self.topics)))]
        value = str(int(self.rng.integers(1, 100)) * 3_600_000)
        record = ConfigRecord(resource_type=2, resource_name=name, name="retention.ms", value=value)
        self.log.records([(record, 0)])

    def permit(self) -> None:
        """A principal gets an ACL to read a topic; the ACL before the last is removed."""
        name, _ = self.topics[int(self.rng.integers(0, len(self.topics)))]
        acl = AccessControlEntryRecord(
            id=self._uuid(), resource_type=2, resource_name=name, pattern_type=3,
            principal=f"User:{int(self.rng.integers(0, 50))}", host="*", operation=3, permission_type=3,
        )  # fmt: skip
        records: list[tuple[Any, int]] = [(acl, 0)]
        self.acls.append(acl.id)
        if len(self.acls) > 2:
            records.append((RemoveAccessControlEntryRecord(id=self.acls.pop(0)), 0))
        self.log.records(records)

    def remove_topic(self) -> None:
        """The last topic is removed, with its partitions."""
        _, topic_id = self.topics.pop()
        self.log.records([(RemoveTopicRecord(topic_id=topic_id), 0)])
        keep = (self.topic_ids != np.frombuffer(topic_id, np.uint8)).any(axis=1)
        for name in ("topic_ids", "partition_ids", "replicas", "in_isr", "leader"):
            setattr(self, name, getattr(self, name)[keep])

    def elect(self) -> None:
        """The active controller is lost, and another is elected some seconds later."""
        self.log.time_ms += int(self.rng.integers(900, 5000))
        self.log.epoch += 1
        self.log.elect(self.log.epoch % 3 + 1)

    def quiet(self, seconds: int) -> None:
        """Nothing changes; a NoOpRecord is written twice a second."""
        for _ in range(min(seconds * 2, 200)):
            self.log.records([(NoOpRecord(), 0)])
            self.log.time_ms += 500


def write_history(
    directory: Path, size: Size, seed: int, progress: Callable[[int], None] = lambda _records: None
) -> str:
    """Write a node's directory with a history of about that size; returns the cluster's id. A seed
    gives the same bytes.
    """
    rng = np.random.default_rng((seed, 1))
    cluster_id = uuid_text(random_uuid(lambda bits: int.from_bytes(rng.bytes(bits // 8), "big")))
    partition = Path(directory, PARTITION_DIRECTORY)
    partition.mkdir(parents=True)
    Path(directory, "meta.properties").write_text(f"version=1\nnode.id=1\ncluster.id={cluster_id}\n")
    log = Log(partition)
    life = Life(log, size, seed)
    life.begin()
    topics = max(size.partitions // size.partitions_per_topic, 1)
    life.add_topics(topics // 2 + 1)
    life.settle()
    grown = topics // 2 + 1
    every = 1
    while log.offset < size.records:
        share = log.offset / size.records
        if (due := round(topics * (0.5 + share / 2)) + 1 - grown) > 0:
            life.add_topics(due)
            life.settle()
            grown += due
        broker = life.brokers[int(life.rng.integers(0, len(life.brokers)))]
        life.outage(broker)
        life.reassign(max(size.partitions // 200, 4))
        for _ in range(5):
            life.configure()
        life.permit()
        if every % 4 == 0:
            life.elect()
        if every % 8 == 0:
            life.add_topics(1)
            life.settle()
            life.remove_topic()
        log.time_ms += int(life.rng.integers(60_000, 3_600_000))
        progress(log.offset)
        every += 1
    if (due := topics - len(life.topics)) > 0:
        life.add_topics(due)
    log.close()
    return cluster_id
