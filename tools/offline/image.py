"""The metadata image that the records of a file produce, as plain values.

An image serves to inspect files that may be damaged: it reports a bad record and applies the rest, while a node must
stop at one. Records of a metadata transaction (KIP-868) take effect when it ends; records of an aborted transaction, or
of one that is still open at the end of the file, do not.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from controller.state.partitions.partition import Partition, apply_change, next_epoch, partition_of
from records.uuids import uuid_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from controller.state.tables.acl import Acl
    from controller.state.tables.brokers import Broker
    from controller.state.tables.controllers import Controller
    from controller.state.tables.producer_ids import ProducerIds
    from controller.state.tables.quotas import Entity
    from controller.state.tables.scram import ScramCredential
    from controller.state.tables.tokens import DelegationToken
    from records.metadata.configs import ConfigRecord, FeatureLevelRecord
    from records.metadata.producer_ids import ProducerIdsRecord
    from records.metadata.topics import (
        ClearElrRecord,
        PartitionChangeRecord,
        PartitionRecord,
        RemoveTopicRecord,
        TopicRecord,
    )
    from tools.offline.log_file import StoredBatch

K = TypeVar("K")
V = TypeVar("V")

_BEGIN, _END, _ABORT = 23, 24, 25
# Files below this size are read in a shorter time than the import of numpy takes.
LARGE_BYTES = 4 << 20
# Smaller batches are not worth the search for shapes.
COLUMNS_MIN = 64


class Values(dict[K, V], Generic[K, V]):
    """A table for the replay functions of `controller.state.tables`, without undo."""

    put = dict.__setitem__
    remove = dict.__delitem__


class _Owners(Values[bytes, int]):
    """Replaces the table of directory owners: an image does not check them."""

    put = remove = lambda *_: None  # type: ignore[assignment]


class Topic:
    """A topic, with its partitions by id. stored: those that are in columns, while none of them is an object."""

    __slots__ = ("_partitions", "name", "stored", "topic_id")

    def __init__(self, name: str, topic_id: bytes) -> None:
        self.name = name
        self.topic_id = topic_id
        self.stored: Mapping[int, Partition] | None = None
        self._partitions: dict[int, Partition] = {}

    @property
    def partitions(self) -> dict[int, Partition]:
        """The partitions as objects, which may be changed; for reading alone, `read_partitions` makes none."""
        stored, self.stored = self.stored, None
        if stored is not None:
            dict.update(self._partitions, stored)  # as read, so a subclass notes no change
        return self._partitions

    @partitions.setter
    def partitions(self, partitions: dict[int, Partition]) -> None:
        self.stored, self._partitions = None, partitions

    def read_partitions(self) -> Mapping[int, Partition]:
        """The partitions by id."""
        return self._partitions if self.stored is None else self.stored

    @property
    def can_be_stored(self) -> bool:
        """Whether more partitions may go to columns."""
        return self.stored is not None or not self._partitions


class Image:
    """The state after some records. All tables have the keys of those in `controller.state.state.State`.

    last_offset, last_epoch: of the last applied batch, -1 before the first. last_time_ms: when it was written.
    problems: a sentence for each record that could not be applied. is_large: whether taking in large batches by
    columns is worth the import of numpy. columns: the `PartitionColumns`, once there are some.
    """

    def __init__(self) -> None:
        self.features: Values[str, int] = Values()
        self.brokers: Values[int, Broker] = Values()
        self.registration_offsets: Values[int, int] = Values()
        self.directory_owners: Values[bytes, int] = _Owners()
        self.controllers: Values[int, Controller] = Values()
        self.topics: Values[bytes, Topic] = Values()
        self.topic_ids: Values[str, bytes] = Values()
        self.configs: Values[tuple[int, str], dict[str, str]] = Values()
        self.quotas: Values[Entity, dict[str, float]] = Values()
        self.producer_ids: Values[str, ProducerIds] = Values()
        self.acls: Values[bytes, Acl] = Values()
        self.scram: Values[tuple[str, int], ScramCredential] = Values()
        self.tokens: Values[str, DelegationToken] = Values()
        self.last_offset = self.last_epoch = self.last_time_ms = -1
        self.problems: list[str] = []
        self.is_large = False
        self.columns: Any = None
        self._open: list[tuple[Any, int]] | None = None  # the records of an open transaction, with their offsets

    @staticmethod
    def knows_config(resource_type: int, name: str) -> bool:
        """Whether a config is kept: keys unknown to this release are dropped, except those of brokers."""
        from controller.config.keys import client_metrics, group, topic
        from controller.state.tables.configs import BROKER, CLIENT_METRICS, GROUP, TOPIC

        known: Any = {TOPIC: topic.KEYS, CLIENT_METRICS: client_metrics.KEYS, GROUP: group.KEYS}.get(resource_type, ())
        return resource_type == BROKER or name in known

    def is_open_to_columns(self) -> bool:
        """Whether large batches may be taken in by columns now."""
        return self.is_large and self._open is None

    def take_batch(self, records: list[tuple[Any, int]], last_offset: int, epoch: int, time_ms: int) -> None:
        """Apply the records of a batch, each with its offset."""
        for number, (record, offset) in enumerate(records):
            kind = record.__schema__.api_key
            if kind == _BEGIN:
                if self._open is not None:
                    self.problem(offset, "a transaction begins while another is open")
                    continue
                self._open = []
                if number > 0:
                    self.last_offset, self.last_epoch, self.last_time_ms = offset - 1, epoch, time_ms
            elif kind in (_END, _ABORT):
                if self._open is None:
                    self.problem(offset, "a transaction ends that did not begin")
                    continue
                held, self._open = self._open, None
                for one, at in held if kind == _END else ():
                    self.take(one, at)
            elif self._open is None:
                self.take(record, offset)
            else:
                self._open.append((record, offset))
        if self._open is None:
            self.last_offset, self.last_epoch, self.last_time_ms = last_offset, epoch, time_ms

    def take(self, record: Any, offset: int) -> None:
        """Apply one record outside of an open transaction."""
        replay = _replay_of(record.__schema__.api_key)
        try:
            replay(self, record, offset)
        except ValueError as error:
            # Only the name of the record is shown: it may contain a secret.
            self.problem(offset, f"{type(record).__name__} cannot be taken in: {error}")

    def take_control(self, batch: StoredBatch) -> None:
        """Take the records of a control batch: an image without the voter set needs none of them."""

    def problem(self, offset: int, what: str) -> None:
        self.problems.append(f"offset {offset}: {what}")

    def topic(self, topic_id: bytes) -> Topic:
        """The topic with this id; raises ValueError if there is none."""
        topic = self.topics.get(topic_id)
        if topic is None:
            raise ValueError(f"there is no topic with id {uuid_text(topic_id)}")
        return topic


def _topic(image: Image, record: TopicRecord, _offset: int) -> None:
    known = image.topics.get(record.topic_id)
    if known is not None and known.name != record.name and image.topic_ids.get(known.name) == record.topic_id:
        del image.topic_ids[known.name]  # so that each name leads to a topic, also when this one is removed
    image.topics.put(record.topic_id, Topic(record.name, record.topic_id))
    image.topic_ids.put(record.name, record.topic_id)


def _partition(image: Image, record: PartitionRecord, _offset: int) -> None:
    image.topic(record.topic_id).partitions[record.partition_id] = partition_of(record)


def _partition_change(image: Image, record: PartitionChangeRecord, _offset: int) -> None:
    topic = image.topic(record.topic_id)
    partition = topic.partitions.get(record.partition_id)
    if partition is None:
        raise ValueError(f"there is no partition {topic.name}-{record.partition_id}")
    topic.partitions[record.partition_id] = apply_change(partition, record)


def _remove_topic(image: Image, record: RemoveTopicRecord, _offset: int) -> None:
    from controller.state.tables.configs import TOPIC

    name = image.topic(record.topic_id).name
    image.topics.remove(record.topic_id)
    image.topic_ids.pop(name, None)
    image.configs.pop((TOPIC, name), None)


def _clear_elr(image: Image, record: ClearElrRecord, _offset: int) -> None:
    """Clear the ELRs of one topic, or of all if the name is empty."""
    if record.topic_name and record.topic_name not in image.topic_ids:
        raise ValueError(f"there is no topic {record.topic_name}")
    for topic in image.topics.values():
        if record.topic_name in ("", topic.name):
            for partition_id, partition in topic.partitions.items():
                if partition.elr or partition.last_known_elr:
                    topic.partitions[partition_id] = partition._replace(
                        elr=(), last_known_elr=(), partition_epoch=next_epoch(partition.partition_epoch)
                    )


def _producer_ids(image: Image, record: ProducerIdsRecord, _offset: int) -> None:
    from controller.state.tables.producer_ids import NEXT, ProducerIds

    image.producer_ids.put(NEXT, ProducerIds(record.next_producer_id, record.broker_id, record.broker_epoch))


def _feature_level(image: Image, record: FeatureLevelRecord, _offset: int) -> None:
    if record.name == "kraft.version":  # it has a control record; early releases put it here by mistake
        return
    if record.name == "metadata.version":
        from records.features.levels import known_metadata_version

        known_metadata_version(record.feature_level)
        image.features.put(record.name, record.feature_level)
    elif record.feature_level:
        image.features.put(record.name, record.feature_level)
    else:
        image.features.pop(record.name, None)


def _config(image: Image, record: ConfigRecord, offset: int) -> None:
    from controller.state.tables.configs import replay_config

    replay_config(image, record, offset)  # type: ignore[arg-type]


def _nothing(_image: Image, _record: object, _offset: int) -> None:
    pass


# record type: the function, or its module and name under `controller.state.tables`, which is imported when first needed
_REPLAY: dict[int, Callable[[Image, Any, int], None] | str] = {
    0: "brokers.replay_register_broker",
    1: "brokers.replay_unregister_broker",
    2: _topic,
    3: _partition,
    4: _config,
    5: _partition_change,
    7: "brokers.replay_fence_broker",
    8: "brokers.replay_unfence_broker",
    9: _remove_topic,
    10: "tokens.replay_delegation_token",
    11: "scram.replay_user_scram_credential",
    12: _feature_level,
    14: "quotas.replay_client_quota",
    15: _producer_ids,
    17: "brokers.replay_broker_registration_change",
    18: "acls.replay_access_control_entry",
    19: "acls.replay_remove_access_control_entry",
    20: _nothing,
    21: _nothing,
    22: "scram.replay_remove_user_scram_credential",
    26: "tokens.replay_remove_delegation_token",
    27: "controllers.replay_register_controller",
    28: _clear_elr,
    29: "controllers.replay_unregister_controller",
}


_TABLES = f"{__package__.removesuffix('tools.offline')}controller.state.tables"


def _replay_of(record_type: int) -> Callable[[Image, Any, int], None]:
    replay = _REPLAY[record_type]
    if isinstance(replay, str):
        from importlib import import_module

        module, _, name = replay.partition(".")
        replay = _REPLAY[record_type] = getattr(import_module(f"{_TABLES}.{module}"), name)
    assert not isinstance(replay, str)
    return replay
