"""Changes of partitions in the logs of both nodes, and those that stock finds by an index of ELRs which is stale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.metadata.brokers import RegisterBrokerRecord, UnregisterBrokerRecord
from records.metadata.topics import ClearElrRecord, PartitionChangeRecord
from records.printing.json_form import to_json
from records.schema import replace
from records.uuids import ZERO_UUID
from tools.offline.image import Image
from tools.offline.log_file import LogFile
from tools.offline.metadata_values import metadata_record
from tools.offline.stored_records import records_of
from tools.offline.take_in import take_batch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from tools.offline.log_file import StoredBatch

Place = tuple[bytes, int]
# The newest version of PartitionChangeRecord, which has all fields.
NEWEST = 2


def stale_changes(directory: Path, offset: int) -> int:
    """How many changes, from an offset of the log on, are of partitions that the index of ELRs names wrongly.

    They stand in a batch with a registration or an unregistration of a broker that a ClearElrRecord removed from the
    partition's ELR; or they are of partition 0 of such a topic, which the index names after another left it twice.
    """
    image = Image()
    cleared: dict[Place, set[int]] = {}
    count = 0
    for batch in batches(directory):
        records = values(batch)
        if batch.base_offset >= offset:
            count += named_wrongly(records, cleared)
        if any(isinstance(record, ClearElrRecord) for record in records):
            remember(image, cleared)
        take_batch(image, batch)
    return count


def changes_since(directory: Path, offset: int) -> list[dict[str, Any]]:
    """The changes of partitions from an offset of a log on, but for topic ids, which differ between the nodes."""
    found = []
    for batch in batches(directory):
        if batch.base_offset >= offset:
            changes = (record for record in values(batch) if isinstance(record, PartitionChangeRecord))
            found += [to_json(replace(record, topic_id=ZERO_UUID), NEWEST) for record in changes]
    return sorted(found, key=str)


def batches(directory: Path) -> Iterator[StoredBatch]:
    """All batches of a node's metadata log. directory: that of `log.dirs`."""
    for path in sorted((directory / "__cluster_metadata-0").glob("*.log")):
        with LogFile(str(path)) as log:
            yield from log.batches()


def values(batch: StoredBatch) -> list[Any]:
    """The metadata records of a batch."""
    return [] if batch.is_control else [metadata_record(record.value)[0] for record in records_of(batch)]


def remember(image: Image, cleared: dict[Place, set[int]]) -> None:
    """Add the brokers in the ELRs of now, before they are cleared."""
    for id_, topic in image.topics.items():
        for index, partition in topic.partitions.items():
            brokers = {*partition.elr, *partition.last_known_elr}
            if brokers:
                cleared.setdefault((id_, index), set()).update(brokers)


def named_wrongly(records: list[Any], cleared: dict[Place, set[int]]) -> int:
    """How many of the records are changes that the index leads to."""
    kinds = (RegisterBrokerRecord, UnregisterBrokerRecord)
    brokers = {record.broker_id for record in records if isinstance(record, kinds)}
    stale = {place for place, former in cleared.items() if former & brokers}
    stale |= {(topic_id, 0) for topic_id, _ in stale}
    changes = [record for record in records if isinstance(record, PartitionChangeRecord)]
    return sum((record.topic_id, record.partition_id) in stale for record in changes)
