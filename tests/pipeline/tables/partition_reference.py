"""The tables by the controller's own replay: record by record, partition by partition, in plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.state.state import State
from records.metadata.topics import ClearElrRecord, PartitionChangeRecord, PartitionRecord, RemoveTopicRecord
from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord
from records.uuids import uuid_text

if TYPE_CHECKING:
    from controller.state.partitions.partition import Partition

    Key = tuple[bytes, int]
    Row = dict[str, Any]


class PartitionReference:
    """Replays records, and records the changes.

    rows: by table; open intervals have an end of None. partitions: the present ones.
    """

    def __init__(self) -> None:
        self.state = State()
        self.rows: dict[str, list[Row]] = {
            name: [] for name in ("leadership", "isr_changes", "unavailability", "under_replication", "reassignments")
        }
        self.open: dict[tuple[str, Key], Row] = {}
        self.partitions: dict[Key, Partition] = {}
        self.names: dict[bytes, str] = {}
        self.some_leader: dict[Key, int] = {}

    def replay(self, record: Any, offset: int, time_us: int) -> None:
        """Replay a record that counts."""
        state = self.state
        touched: list[Key] = []
        if isinstance(record, PartitionRecord | PartitionChangeRecord):
            touched = [(record.topic_id, record.partition_id)]
        elif isinstance(record, RemoveTopicRecord):
            touched = [key for key in self.partitions if key[0] == record.topic_id]
        elif isinstance(record, ClearElrRecord):
            touched = list(self.partitions)
        self.names |= {topic.topic_id: topic.name for topic in state.topics.values()}
        state.commit(offset + 1)
        state.end_offset = offset
        state.replay(record, offset)
        state.commit(offset + 1)
        for key in touched:
            after = None
            if key[0] in state.topics:
                after = state.partitions.find(state.topics[key[0]], key[1])
            before = self.partitions.get(key)
            if after is None:
                self.partitions.pop(key, None)
            else:
                self.partitions[key] = after
            self._changed(key, before, after, record, offset, time_us)

    def _changed(
        self, key: Key, before: Partition | None, after: Partition | None, record: Any, offset: int, time_us: int
    ) -> None:
        recovering = getattr(record, "leader_recovery_state", 0) == 1
        moment = (offset, time_us)
        self._tenure(key, before, after, recovering, moment)
        self._offline(key, before, after, recovering, moment)
        self._short(key, after, moment)
        self._moving(key, before, after, moment)
        if after is not None and after.leader >= 0:
            self.some_leader[key] = after.leader
        if before is not None and after is not None and before.isr != after.isr:
            row = {
                **self._key(key), "offset": offset, "time": time_us, "leader": after.leader,
                "leader_epoch": after.leader_epoch, "partition_epoch": after.partition_epoch,
                "replica_count": len(after.replicas), "isr_before": list(before.isr), "isr": list(after.isr),
                "shrunk": sorted(set(before.isr) - set(after.isr)), "grown": sorted(set(after.isr) - set(before.isr)),
            }  # fmt: skip
            self.rows["isr_changes"].append(row)

    def _tenure(
        self, key: Key, before: Partition | None, after: Partition | None, recovering: bool, moment: tuple[int, int]
    ) -> None:
        if after is None:
            self._end("leadership", key, moment, end_reason="deleted")
            return
        if before is not None and (before.leader, before.leader_epoch) == (after.leader, after.leader_epoch):
            return
        self._end("leadership", key, moment, end_reason="elected")
        self._begin(
            "leadership", key, moment, leader=after.leader, leader_epoch=after.leader_epoch,
            previous_leader=None if before is None else before.leader,
            preferred=after.leader >= 0 and after.leader == after.preferred_leader,
            unclean=recovering and after.leader >= 0, end_reason=None,
        )  # fmt: skip

    def _offline(
        self, key: Key, before: Partition | None, after: Partition | None, recovering: bool, moment: tuple[int, int]
    ) -> None:
        was = before is not None and before.leader == -1
        if after is None:
            self._end("unavailability", key, moment, end_reason="deleted", unclean=False)
        elif was and after.leader != -1:
            self._end("unavailability", key, moment, end_reason="elected", next_leader=after.leader, unclean=recovering)
        elif not was and after.leader == -1:
            self._begin(
                "unavailability", key, moment, last_leader=self.some_leader.get(key), next_leader=None, unclean=None,
                end_reason=None,
            )  # fmt: skip

    def _short(self, key: Key, after: Partition | None, moment: tuple[int, int]) -> None:
        row = self.open.get(("under_replication", key))
        if after is None:
            self._end("under_replication", key, moment, end_reason="deleted")
            return
        due = len(after.replicas) - len(after.adding)
        if len(after.isr) >= due:
            self._end("under_replication", key, moment, end_reason="replicated")
        elif row is None:
            self._begin("under_replication", key, moment, replica_count=due, isr_min=len(after.isr), end_reason=None)
        else:
            row["isr_min"] = min(row["isr_min"], len(after.isr))

    def _moving(self, key: Key, before: Partition | None, after: Partition | None, moment: tuple[int, int]) -> None:
        row = self.open.get(("reassignments", key))
        if after is None:
            self._end("reassignments", key, moment, outcome="deleted")
        elif after.is_reassigning:
            target = [replica for replica in after.replicas if replica not in after.removing]
            if row is None:
                held = [one for one in after.replicas if one not in after.adding] if before is None else before.replicas
                self._begin(
                    "reassignments", key, moment, replicas_before=list(held), target=target, replicas_after=None,
                    outcome=None,
                )  # fmt: skip
            else:
                row["target"] = target
        elif row is not None:
            outcome = "completed" if set(row["target"]) == set(after.replicas) else "cancelled"
            self._end("reassignments", key, moment, replicas_after=list(after.replicas), outcome=outcome)

    def _key(self, key: Key) -> Row:
        return {
            "cluster": "", "topic_id": uuid_text(key[0]), "topic": self.names[key[0]], "partition": key[1]
        }  # fmt: skip

    def _begin(self, table: str, key: Key, moment: tuple[int, int], **columns: Any) -> None:
        self.names |= {topic.topic_id: topic.name for topic in self.state.topics.values()}
        row = {
            **self._key(key), "start_offset": moment[0], "start_time": moment[1], "end_offset": None, "end_time": None,
            "duration_ms": None, **columns,
        }  # fmt: skip
        self.open[table, key] = row
        self.rows[table].append(row)

    def _end(self, table: str, key: Key, moment: tuple[int, int], **columns: Any) -> None:
        row = self.open.pop((table, key), None)
        if row is not None:
            row.update(columns)
            row["end_offset"], row["end_time"] = moment
            row["duration_ms"] = (moment[1] - row["start_time"]) // 1000


def counting(records: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
    """The records, with their offsets, but for those of transactions that are aborted or open (KIP-868)."""
    out: list[tuple[Any, int]] = []
    held: list[tuple[Any, int]] | None = None
    for record, offset in records:
        if isinstance(record, BeginTransactionRecord):
            held = []
        elif isinstance(record, EndTransactionRecord):
            out += held or []
            held = None
        elif isinstance(record, AbortTransactionRecord):
            held = None
        elif held is not None:
            held.append((record, offset))
        else:
            out.append((record, offset))
    return out
