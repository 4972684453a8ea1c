"""The record versions of an active controller, and the timestamps of its batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.batch import read_header, records_of
from records.frame import read_frame
from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord
from simulations.cluster.metadata.image import decode_batch
from simulations.cluster.metadata.member_rules import CORDONED_SINCE, DIRECTORIES_SINCE, ELR_SINCE
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable

# (metadata.version, the record version from it on), the highest first.
_REGISTRATION = ((CORDONED_SINCE, 4), (DIRECTORIES_SINCE, 3), (8, 2), (7, 1))
_PARTITION = ((ELR_SINCE, 2), (DIRECTORIES_SINCE, 1))


def log_rules(node_id: int, level: int, batch: bytes, moment_ms: int) -> None:
    """Check the records of a batch. Raises Violation. level: of metadata.version. batch: a data batch, written at this
    time of the wall clock.
    """
    header = read_header(batch)
    assert header is not None, "a whole batch"
    if (header.base_timestamp, header.max_timestamp) != (moment_ms, moment_ms):
        stamps = header.base_timestamp, header.max_timestamp
        raise Violation("C21", f"node {node_id} writes at {moment_ms}, but its batch has the timestamps {stamps}")
    for record, (_, decoded) in zip(records_of(batch, header), decode_batch(batch), strict=True):
        version, wanted = read_frame(record.value or b"")[1], _version(decoded, level)
        if version != wanted:
            text = f"node {node_id} writes {decoded} in version {version}"
            raise Violation("C21", f"{text}; at metadata.version {level} it is {wanted}")


def _version(record: Any, level: int) -> int:
    kind = type(record)
    return _VERSIONS[kind](record, level) if kind in _VERSIONS else 0


def _of_level(rows: tuple[tuple[int, int], ...]) -> Callable[[Any, int], int]:
    return lambda _record, level: next((version for since, version in rows if level >= since), 0)


def _change(record: BrokerRegistrationChangeRecord, _level: int) -> int:
    """The least version that has the fields of the record."""
    if record.cordoned_log_dirs is not None:
        return 3
    if record.log_dirs:
        return 2
    return 1 if record.in_controlled_shutdown else 0


_VERSIONS: dict[type, Callable[[Any, int], int]] = {
    RegisterBrokerRecord: _of_level(_REGISTRATION),
    PartitionRecord: _of_level(_PARTITION),
    PartitionChangeRecord: _of_level(_PARTITION),
    BrokerRegistrationChangeRecord: _change,
}
