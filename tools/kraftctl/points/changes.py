"""Changes of the metadata, before -> after: comparing two images, and the forms in which a change is shown."""

from __future__ import annotations

from typing import NamedTuple

from records.hidden_text import HIDDEN
from records.plain_text import plain_text
from tools.kraftctl.points.entries import PARTITION, TOPIC, Secret, fields_of, key_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from tools.kraftctl.points.entries import Fields, Table

NOT_SET = "not set"


class Change(NamedTuple):
    """An entry before and after; None where there is none. kind, name, topic_id: those of `Entry`."""

    kind: str
    name: str
    topic_id: str
    before: Fields | None
    after: Fields | None

    @property
    def what(self) -> str:
        """`created`, `deleted` or `changed`."""
        return "created" if self.before is None else "deleted" if self.after is None else "changed"

    def fields(self) -> dict[str, tuple[Any, Any]]:
        """The fields that differ: (before, after), None where a field is not there."""
        before, after = self.before or {}, self.after or {}
        names = [*before, *(name for name in after if name not in before)]
        pairs = {name: (before.get(name), after.get(name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


class Committed(NamedTuple):
    """A change, and the record of the log that made it. time_ms: of its batch; record: the name of its class."""

    offset: int
    time_ms: int
    epoch: int
    record: str
    change: Change


def compare(one: Iterable[Table], other: Iterable[Table], wanted: Callable[[Change], bool]) -> list[Change]:
    """What is different in the other state, in the order of its entries; deletions come first."""
    before, after = ({table.identity: table for table in state} for state in (one, other))
    # Of a topic whose partitions are all equal, none is looked at.
    for identity in [
        identity for identity, table in before.items() if has_equal_partitions(table, after.get(identity))
    ]:
        del before[identity], after[identity]
    gone = (change for identity, table in before.items() for change in _find_deleted(table, after.get(identity)))
    new = (change for identity, table in after.items() for change in _find_written(before.get(identity), table))
    return [change for changes in (gone, new) for change in changes if wanted(change)]


def has_equal_partitions(table: Table, other: Table | None) -> bool:
    """Whether both are of one topic and have the same partitions."""
    return other is not None and table.kind == PARTITION and table.values == other.values


def _find_deleted(table: Table, after: Table | None) -> Iterator[Change]:
    """The values that are not there any more."""
    left = () if after is None else after.values
    for key in sorted((key for key in table.values if key not in left), key=key_order):
        fields = fields_of(table.kind, key, table.values[key])
        yield Change(table.kind, table.name_of(key), table.topic_id, fields, None)


def _find_written(before: Table | None, table: Table) -> Iterator[Change]:
    """The values that were created or changed. Fields are made for them alone: those of 1,000,000 partitions take
    1.3 GiB.
    """
    old = {} if before is None else before.values
    differing = [key for key, value in table.values.items() if key not in old or old[key] != value]
    for key in sorted(differing, key=key_order):
        fields = fields_of(table.kind, key, table.values[key])
        was = fields_of(table.kind, key, old[key]) if key in old else None
        if was != fields:
            yield Change(table.kind, table.name_of(key), table.topic_id, was, fields)


def line_of(change: Change) -> str:
    """A change on one line."""
    named = f" (id {change.topic_id})" if change.topic_id else ""
    head = f"{change.kind} {plain_text(change.name)}{named} {change.what}"
    if change.kind == TOPIC:
        return head
    if change.what == "changed":
        return f"{head}: " + ", ".join(
            f"{plain_text(key)} {value_text(old)} -> {value_text(new)}" for key, (old, new) in change.fields().items()
        )
    there = change.after if change.before is None else change.before
    known = fields_text(there or {})
    return f"{head}: {known}" if known else head


def fields_text(fields: Fields) -> str:
    """The fields of an entry on one line, without those that are empty or false."""
    full = {name: value for name, value in fields.items() if value is not False and value not in (None, [], {})}
    return ", ".join(f"{plain_text(name)} {value_text(value)}" for name, value in full.items())


def json_of(change: Change) -> dict[str, Any]:
    """A change as values of JSON."""
    said: dict[str, Any] = {"kind": change.kind, "name": change.name, "change": change.what}
    if change.topic_id:
        said["topic_id"] = change.topic_id
    said["fields"] = {
        name: {"before": plain_value(old), "after": plain_value(new)} for name, (old, new) in change.fields().items()
    }
    return said


def committed_line(committed: Committed) -> str:
    """A change on one line, with the offset and the time of its record."""
    return f"{committed.offset:>8}  {time_text(committed.time_ms)}  {line_of(committed.change)}"


def committed_json(committed: Committed) -> dict[str, Any]:
    """A change as values of JSON, with the offset and the time of its record."""
    said = {"offset": committed.offset, "time": time_text(committed.time_ms), "time_ms": committed.time_ms}
    return {**said, "epoch": committed.epoch, "record": committed.record, **json_of(committed.change)}


def value_text(value: Any) -> str:
    """A value of a field as text."""
    if value is None:
        return NOT_SET
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{plain_text(key)}: {value_text(each)}" for key, each in value.items()) + "}"
    if isinstance(value, float):
        return f"{value:g}"
    return plain_text(value)


def plain_value(value: Any) -> Any:
    """A value of a field for JSON."""
    return HIDDEN if isinstance(value, Secret) else value


def time_text(time_ms: int) -> str:
    """A time in ms since 1970 as `2026-11-22T16:00:00.123Z`; `-` if unknown."""
    from time import gmtime, strftime

    if not 0 <= time_ms < 1 << 47:
        return "-"
    seconds, milliseconds = divmod(time_ms, 1000)
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(seconds))}.{milliseconds:03}Z"
