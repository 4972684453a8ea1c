"""The state of the controller: all tables, replay of records, and undo of uncommitted changes.

For handlers, which read and never write:

    state.features            name -> level                    state.metadata_version, state.elr_enabled
    state.brokers             id -> Broker                     .is_active, .has_online(dir), .default_directory, …
    state.registration_offsets   broker id -> offset of its RegisterBrokerRecord
    state.directory_owners    directory id -> broker id
    state.controllers         id -> Controller
    state.topic_ids           name -> topic id;   state.topic(name) -> Topic or None
    state.topics              topic id -> Topic                .name, .topic_id, .partition_ids(), .partition_count()
    state.similar_names       similar_name(name) -> names of topics that have '.' or '_'
    state.configs             (resource type, name) -> {key: value}
    state.quotas              entity -> {key: value}           .mutation_rates
    state.acls                id -> Acl                        .index() of what is committed, by resource
    state.scram, state.tokens, state.producer_ids
    state.elections           kind -> how many, since this process began to follow the log
    state.partitions          .find(topic, partition id) -> Partition or None; .of_topic(topic);
                              topic.row(id), .get(row), .topic_at(row), .partition_id_at(row); .counts(); rows by
                              .in_isr(broker), .in_elr(broker), .led_by(broker), .leaderless(), .imbalanced(),
                              .reassigning(), .in_directory(id)

    x.changed_at(key)         of any table, and of `partitions` by row: offset of the last uncommitted change, or -1;
    x.last_change()           the same for the whole table

For the controller:

    state.replay(record, offset)        on the active node when it appends
    state.replay_changes(changes, base_offset)   many PartitionChangeRecords at once: see `partitions.bulk_changes`
    state.commit(end_offset)            all below is committed
    state.revert()                      leadership is lost: undo uncommitted changes
    state.end_offset, state.committed_end_offset, state.stable_end_offset, state.transaction_start
    state.begin_load(end_offset), state.end_load()   around the replay of a snapshot

Beside it, `controller.state.partitions.bulk_batches` replays committed batches and those of a snapshot,
`controller.state.view` gives the stable state as of now, and `controller.state.snapshots` makes the batches of a
snapshot from that view.

Offsets: `end_offset`s are exclusive. Committed records within an open metadata transaction are not stable yet.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from controller.state.partitions.bulk_replay import replay_changes
from controller.state.partitions.partitions import Partitions
from controller.state.partitions.topics import Topic, Topics
from controller.state.replay import REPLAY
from controller.state.tables.acls import Acls
from controller.state.tables.features import ELR_VERSION, METADATA_VERSION
from controller.state.tables.quotas import Quotas
from controller.state.tables.table import Table
from controller.state.tables.transactions import OPEN, Span
from controller.state.tables.undo import Undo
from records.bulk.bulk_scan import ROWS_MIN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controller.state.partitions.bulk_changes import PartitionChanges
    from controller.state.tables.brokers import Broker
    from controller.state.tables.controllers import Controller
    from controller.state.tables.producer_ids import ProducerIds
    from controller.state.tables.scram import ScramCredential
    from controller.state.tables.tokens import DelegationToken


class ReplayError(Exception):
    """A record contradicts the state: the log or this code is wrong. The state must not be used afterwards."""

    def __init__(self, offset: int, record: type[Any], reason: str) -> None:
        self.offset = offset
        self.record = record
        self.reason = reason
        # The record is named and not shown: it may hold a secret.
        super().__init__(f"{record.__name__} at offset {offset} cannot be replayed: {reason}")


class State:
    """All metadata as of `end_offset`.

    supported_features: name -> the levels (min, max) that this software supports, other features supporting 0 alone;
    None accepts all. knows_config: whether this software knows a config key, by resource type and name. rows_min: at
    least so many committed records of one shape in a batch are replayed by columns.
    """

    def __init__(
        self,
        *,
        supported_features: Mapping[str, tuple[int, int]] | None = None,
        knows_config: Callable[[int, str], bool] = lambda _type, _name: True,
    ) -> None:
        self.supported_features = supported_features
        self.knows_config = knows_config
        self.undo = undo = Undo()
        self.features: Table[str, int] = Table(undo, "features")
        self.brokers: Table[int, Broker] = Table(undo, "brokers")
        self.registration_offsets: Table[int, int] = Table(undo, "registration_offsets")
        self.directory_owners: Table[bytes, int] = Table(undo, "directory_owners")
        self.controllers: Table[int, Controller] = Table(undo, "controllers")
        self.partitions = Partitions(undo)
        self.topics = Topics(undo, self.partitions)
        self.topic_ids: Table[str, bytes] = Table(undo, "topic_ids")
        self.similar_names: Table[str, tuple[str, ...]] = Table(undo, "similar_names")
        self.configs: Table[tuple[int, str], Mapping[str, str]] = Table(undo, "configs")
        self.quotas = Quotas(undo, "quotas")
        self.producer_ids: Table[str, ProducerIds] = Table(undo, "producer_ids")
        self.acls = Acls(undo, "acls")
        self.scram: Table[tuple[str, int], ScramCredential] = Table(undo, "scram")
        self.tokens: Table[str, DelegationToken] = Table(undo, "tokens")
        self.transaction: Table[str, int] = Table(undo, "transaction")
        self.elections: Table[str, int] = Table(undo, "elections")
        # Transactions whose changes may yet be undone, or which may be reopened; the last may be open.
        self.spans: list[Span] = []
        self.loading = False
        self.rows_min = ROWS_MIN
        self.end_offset = 0
        self.committed_end_offset = 0
        self.stable_end_offset = 0

    def tables(self) -> dict[str, Table[Any, Any]]:
        """The tables by name, without partitions."""
        return {value.log.name: value for value in vars(self).values() if isinstance(value, Table)}

    @property
    def metadata_version(self) -> int:
        """The level of metadata.version; 0 if there is none."""
        return self.features.get(METADATA_VERSION, 0)

    @property
    def is_elr_enabled(self) -> bool:
        """Whether eligible leader replicas are kept (KIP-966)."""
        return self.features.get(ELR_VERSION, 0) >= 1

    @property
    def transaction_start(self) -> int:
        """The offset at which the open metadata transaction began; -1 if none is open."""
        return self.transaction.get(OPEN, -1)

    def topic(self, name: str) -> Topic | None:
        """The topic of this name."""
        topic_id = self.topic_ids.get(name)
        return None if topic_id is None else self.topics[topic_id]

    def contents(self) -> dict[str, Any]:
        """All metadata as plain values: equal for equal states, whether they come from the log or from a snapshot.

        Left out is what this node alone keeps, or what a snapshot loses: the offsets of registrations, the broker that
        got the last producer ids, and the counts of elections.
        """
        tables: dict[str, Any] = {name: dict(table) for name, table in self.tables().items() if name not in _LOCAL}
        tables["topics"] = {
            topic.topic_id: (topic.name, dict(self.partitions.of_topic(topic))) for topic in self.topics.values()
        }
        tables["partition_count"] = self.partitions.count
        tables["producer_ids"] = {key: value.next_id for key, value in self.producer_ids.items()}
        tables["similar_names"] = {name: sorted(names) for name, names in self.similar_names.items()}
        return tables

    def digest(self) -> str:
        """A hash of `contents`, equal on every node and in every run."""
        return blake2b(repr(_sort_entries(self.contents())).encode(), digest_size=16).hexdigest()

    def replay(self, record: Any, offset: int) -> None:
        """Replay one record. Raises ReplayError if it contradicts the state, which must not be used afterwards."""
        self.begin_record(offset)
        try:
            REPLAY[type(record)](self, record, offset)
        except ValueError as error:
            raise ReplayError(offset, type(record), str(error)) from error
        self.end_offset = offset + 1

    def replay_changes(self, changes: PartitionChanges, base_offset: int) -> None:
        """Replay changes of many partitions; the first record has `base_offset`."""
        replay_changes(self, changes, base_offset)

    def begin_record(self, offset: int) -> None:
        """Changes from now on are made by the record of this offset."""
        undo = self.undo
        undo.offset = offset
        undo.recording = offset >= self.committed_end_offset or bool(self.transaction)

    def commit(self, end_offset: int) -> None:
        """All records below `end_offset` are committed. Records that are not replayed yet count as committed when they
        are.
        """
        end_offset = self.committed_end_offset = max(self.committed_end_offset, end_offset)
        self.spans = [span for span in self.spans if span.close == -1 or span.close >= end_offset]
        if self.spans:
            end_offset = min(end_offset, self.spans[0].begin)
        # What is committed but not replayed yet is not in the state, and may begin a transaction.
        end_offset = min(end_offset, self.end_offset)
        self.stable_end_offset = max(self.stable_end_offset, end_offset)
        assert self.stable_end_offset <= self.committed_end_offset, (self.stable_end_offset, self.committed_end_offset)
        self.undo.forget(end_offset)
        self.partitions.sweep(end_offset)

    def revert(self, start: int | None = None) -> None:
        """Undo all changes that are not committed. start: those from this offset on alone."""
        start = self.committed_end_offset if start is None else max(start, self.committed_end_offset)
        assert start >= self.stable_end_offset, (start, self.stable_end_offset)
        if self.end_offset <= start:
            return
        self.undo.revert(start)
        self.spans = [span for span in self.spans if span.begin < start]
        for span in self.spans:
            if span.close >= start:
                span.close = -1
        self.end_offset = start

    def begin_load(self, end_offset: int) -> None:
        """Remove everything; the records of a snapshot of the state as of `end_offset` follow.

        They are replayed with the last offset that the snapshot contains.
        """
        self.undo.clear()
        for table in self.tables().values():
            table.reset()
        self.partitions.reset(unsettled=True)
        self.spans = []
        self.end_offset = self.committed_end_offset = end_offset
        self.stable_end_offset = 0
        self.loading = True

    def end_load(self) -> None:
        """All records of the snapshot were replayed."""
        assert self.loading, "no snapshot was begun"
        self.loading = False
        self.partitions.sort_loaded_rows()
        self.acls.settle()
        self.stable_end_offset = self.end_offset = self.committed_end_offset
        self.undo.forget(self.stable_end_offset)


def _sort_entries(value: Any) -> Any:
    """The value with the entries of its dicts sorted, and with plain numbers: a record made here may have an IntEnum
    where a decoded one has its number.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, dict):
        return sorted((repr(_sort_entries(key)), _sort_entries(entry)) for key, entry in value.items())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, tuple):
        return tuple([_sort_entries(part) for part in value])
    return value


# Values that are equal in every process.
_PLAIN = frozenset({bool, bytes, float, int, str, type(None)})

# What this node alone keeps.
_LOCAL = {"registration_offsets", "elections"}
