"""The lookups of a sequence: `broker_epoch(1)`, `partition_epoch(foo,0)+1`, `end()-1`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from records.uuids import uuid_text

if TYPE_CHECKING:
    from tests.oracle.ours import Ours

FORM = re.compile(r"(\w+)\(([^)]*)\)([+-]\d+)?")


def look_up(ours: Ours, text: str) -> Any:
    """The value of a lookup in our present state. Raises ValueError for an unknown form."""
    found = FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"${text} is no reference")
    name, arguments, offset = found.groups()
    value = KINDS[name](ours, *[part for part in arguments.split(",") if part])
    return value + int(offset) if offset and isinstance(value, int) else value


def _broker_epoch(ours: Ours, broker_id: str) -> int:
    broker = ours.broker(int(broker_id))
    return -1 if broker is None else int(broker.epoch)


def _topic_id(ours: Ours, name: str) -> str:
    return uuid_text(ours.topic_id(name) or bytes(15) + b"\xfe")


def _partition(ours: Ours, name: str, partition_id: str, field: str) -> int:
    partition = ours.partition(name, int(partition_id))
    return -1 if partition is None else int(getattr(partition, field))


KINDS: dict[str, Any] = {
    "broker_epoch": _broker_epoch,
    "topic_id": _topic_id,
    "leader": lambda ours, name, index: _partition(ours, name, index, "leader"),
    "leader_epoch": lambda ours, name, index: _partition(ours, name, index, "leader_epoch"),
    "partition_epoch": lambda ours, name, index: _partition(ours, name, index, "partition_epoch"),
    "recovery": lambda ours, name, index: _partition(ours, name, index, "recovery_state"),
    "token": lambda ours, number: ours.token_secret(int(number)),
    "end": lambda ours: ours.end_offset,
}
