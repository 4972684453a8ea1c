"""An image that notes each change of an entry, before and after, with the record that made it."""

from __future__ import annotations

from typing import TypeVar

from records.uuids import uuid_text
from tools.kraftctl.points.changes import Change, Committed
from tools.kraftctl.points.entries import (
    ACL,
    BROKER,
    CONFIG,
    CONTROLLER,
    FEATURE,
    LEADER,
    PARTITION,
    PRODUCER_IDS,
    QUOTA,
    SCRAM,
    TOKEN,
    TOPIC,
    VOTER,
    Entry,
    Table,
    fields_of,
    key_order,
    name_of,
)
from tools.offline.image import Image, Values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from controller.state.partitions.partition import Partition
    from tools.kraftctl.points.entries import Fields
    from tools.offline.image import Topic
    from tools.offline.log_file import StoredBatch

K = TypeVar("K")
V = TypeVar("V")

# By the name of the table in `Image`: the kind of its entries.
_KINDS = {
    "configs": CONFIG, "brokers": BROKER, "controllers": CONTROLLER, "features": FEATURE, "quotas": QUOTA, "acls": ACL,
    "scram": SCRAM, "tokens": TOKEN, "producer_ids": PRODUCER_IDS,
}  # fmt: skip


class _Noted(Values[K, V]):
    """A table that reports its changes to the image."""

    def __init__(self, image: NotingImage, kind: str) -> None:
        super().__init__()
        self._image = image
        self._kind = kind

    def put(self, key: K, value: V) -> None:
        before = self.get(key)
        self[key] = value
        self._image.note(self._kind, key, before, value)

    def remove(self, key: K) -> None:
        before = self[key]
        del self[key]
        self._image.note(self._kind, key, before, None)

    def pop(self, key: K, default: Any = None) -> Any:
        before = super().pop(key, None)
        if before is not None:
            self._image.note(self._kind, key, before, None)
        return default if before is None else before


class _Partitions(dict[int, "Partition"]):
    """The partitions of a topic."""

    def __init__(self, image: NotingImage, topic: Topic) -> None:
        super().__init__()
        self._image = image
        self._topic = topic

    def __setitem__(self, number: int, partition: Partition) -> None:
        before = self.get(number)
        super().__setitem__(number, partition)
        self._image.note_partition(self._topic, number, before, partition)


class _Topics(Values[bytes, "Topic"]):
    """The topics; a deletion is one of all partitions too."""

    def __init__(self, image: NotingImage) -> None:
        super().__init__()
        self._image = image

    def put(self, key: bytes, value: Topic) -> None:
        value.partitions = _Partitions(self._image, value)
        self[key] = value
        self._image.note(TOPIC, key, None, value)

    def remove(self, key: bytes) -> None:
        topic = self[key]
        del self[key]
        self._image.note(TOPIC, key, topic, None)
        for number, partition in sorted(topic.partitions.items()):
            self._image.note_partition(topic, number, partition, None)


class NotingImage(Image):
    """An image with the voter set, which notes changes while `notes` is true.

    wanted: whether a change is noted. voters: by id; kraft.version is a feature.
    changes: what was noted; the caller may empty it.
    """

    def __init__(self, wanted: Callable[[Change], bool] = lambda _change: True) -> None:
        super().__init__()
        self.wanted = wanted
        self.notes = False
        self.changes: list[Committed] = []
        self.topics = _Topics(self)
        for name, kind in _KINDS.items():
            setattr(self, name, _Noted(self, kind))
        self.voters: Values[int, Fields] = _Noted(self, VOTER)
        self.leader: Fields = {}
        self._at = (-1, -1, -1, "")  # offset, time, epoch, record

    def tables(self) -> list[tuple[str, Values[Any, Any]]]:
        """Kind and table of all entries but topics and partitions."""
        return [*((kind, getattr(self, name)) for name, kind in _KINDS.items()), (VOTER, self.voters)]

    def entries(self) -> Iterator[Entry]:
        """All entries in a fixed order: topics with their partitions, then the other tables."""
        for table in self.value_tables():
            for key in sorted(table.values, key=key_order):
                fields = fields_of(table.kind, key, table.values[key])
                yield Entry(table.kind, table.name_of(key), table.topic_id, fields)

    def value_tables(self, *, by_name: bool = False) -> Iterator[Table]:
        """All values in the order of the entries. by_name: without topic ids, for a comparison of topics by name."""
        for name, topic_id in sorted(self.topic_ids.items()):
            topic, text = self.topics[topic_id], "" if by_name else uuid_text(topic_id)
            yield Table(TOPIC, name, text, {name: topic})
            yield Table(PARTITION, name, text, topic.read_partitions())
        for kind, values in self.tables():
            yield Table(kind, "", "", values)

    def is_open_to_columns(self) -> bool:
        return not self.notes and super().is_open_to_columns()

    def take_batch(self, records: list[tuple[Any, int]], last_offset: int, epoch: int, time_ms: int) -> None:
        self._at = (-1, time_ms, epoch, "")
        super().take_batch(records, last_offset, epoch, time_ms)

    def take(self, record: Any, offset: int) -> None:
        _, time_ms, epoch, _ = self._at
        self._at = (offset, time_ms, epoch, type(record).__name__)
        super().take(record, offset)

    def take_control(self, batch: StoredBatch) -> None:
        """Take the voter set, kraft.version and the leader from a control batch."""
        from records.batch import CorruptBatch, read_header
        from records.control_batch import KRAFT_VERSION, KRAFT_VOTERS, LEADER_CHANGE, control_records_of

        try:
            header = read_header(batch.data, 0)
            records = [] if header is None else control_records_of(batch.data, header)
        except CorruptBatch as error:
            self.problem(batch.base_offset, f"unable to read a control batch: {error.reason}")
            return
        for offset, kind, value in records:
            self._at = (offset, batch.max_timestamp, batch.leader_epoch, type(value).__name__)
            if kind == KRAFT_VOTERS:
                self._set_voters(value)
            elif kind == KRAFT_VERSION and value.kraft_version != self.features.get("kraft.version", 0):
                self.features.put("kraft.version", value.kraft_version)
            elif kind == LEADER_CHANGE:
                before, self.leader = self.leader, {"leader_id": value.leader_id, "epoch": batch.leader_epoch}
                self._add(Change(LEADER, "quorum", "", before, self.leader))

    def _set_voters(self, record: Any) -> None:
        voters = {each.voter_id: _voter(each) for each in record.voters}
        for number in sorted(self.voters.keys() - voters.keys()):
            self.voters.remove(number)
        for number, voter in sorted(voters.items()):
            if self.voters.get(number) != voter:
                self.voters.put(number, voter)

    def note(self, kind: str, key: Any, before: Any, after: Any) -> None:
        """Note a change of a table. before, after: None where there is no entry."""
        if not self.notes:
            return
        name, topic_id = name_of(kind, key), ""
        if kind == TOPIC:
            name, topic_id = (before or after).name, uuid_text(key)
        old, new = (None if value is None else fields_of(kind, key, value) for value in (before, after))
        self._add(Change(kind, name, topic_id, old, new))

    def note_partition(self, topic: Topic, number: int, before: Partition | None, after: Partition | None) -> None:
        """Note a change of a partition."""
        if not self.notes:
            return
        old, new = (None if value is None else fields_of(PARTITION, number, value) for value in (before, after))
        self._add(Change(PARTITION, f"{topic.name}-{number}", uuid_text(topic.topic_id), old, new))

    def _add(self, change: Change) -> None:
        if self.notes and change.before != change.after and self.wanted(change):
            self.changes.append(Committed(*self._at, change))


def _voter(voter: Any) -> Fields:
    directory_id = voter.voter_directory_id
    return {
        "directory_id": uuid_text(directory_id),
        "endpoints": {each.name: f"{each.host}:{each.port}" for each in voter.endpoints},
        "kraft_version": f"{voter.kraft_version_feature.min_supported_version}-"
        f"{voter.kraft_version_feature.max_supported_version}",
    }
