"""The records that stock Kafka wrote when brokers registered, were fenced or shut down; this controller writes the
same.

The golden logs are replayed record by record. Wherever stock fenced or unfenced a broker, started its controlled
shutdown, or registered it again, our handlers are called on the state before, and must return stock's records.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from controller.core.activation import activation_records
from controller.handlers import brokers, heartbeats
from controller.interface.env import Env
from controller.interface.settings import Settings
from controller.state.partitions.bulk_changes import PartitionChanges
from controller.state.state import State
from controller.state.tables.brokers import FENCE, UNFENCE
from records.batch import batches, records_of
from records.frame import decode_record, encode_record
from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord
from records.metadata.topics import PartitionChangeRecord
from records.metadata.transactions import EndTransactionRecord

GOLDEN = Path(__file__).parent.parent / "data" / "golden"
LOGS = sorted(GOLDEN.glob("*/node-*/__cluster_metadata-0/00000000000000000000.log"))


def read(path: Path) -> list[list[tuple[int, bytes]]]:
    """The data batches of a log: offset and value of each record."""
    data = path.read_bytes()
    return [
        [(record.offset, record.value or b"") for record in records_of(data, batch)]
        for batch in batches(data)
        if not batch.is_control
    ]


def changes(state: State, items: Any) -> list[PartitionChangeRecord]:
    """The partition changes among what a handler wrote, sorted: the order of stock's is that of a hash map."""
    found = []
    for item in items:
        if isinstance(item, PartitionChanges):
            found += item.records(state.partitions)
        elif isinstance(item[0], PartitionChangeRecord):
            found.append(item[0])
    return in_order(found)


def in_order(records: list[PartitionChangeRecord]) -> list[PartitionChangeRecord]:
    return sorted(records, key=lambda record: (record.topic_id, record.partition_id))


class Replay:
    """A log, replayed up to the next operation to compare. checked: how many changes were compared, by operation."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self.batches = read(path)
        self.state = State()
        self.env = Env("c", 3000, Random(0), Settings(**settings))
        self.checked: dict[str, list[int]] = {}

    def run(self) -> None:
        for batch in self.batches:
            records = [(offset, decode_record(value)[0]) for offset, value in batch]
            at = 0
            while at < len(records):
                at = self.one(records, at)

    def replay(self, records: list[tuple[int, Any]]) -> None:
        for offset, record in records:
            self.state.commit(offset)
            self.state.replay(record, offset)

    def one(self, records: list[tuple[int, Any]], at: int) -> int:
        """Replay one operation; returns the position of the next."""
        end = at
        while end < len(records) and isinstance(records[end][1], PartitionChangeRecord):
            end += 1
        behind = records[end][1] if end < len(records) else None
        if comes_last(behind):
            self.cleaned_up(records, at, end)
        elif end > at:
            self.replay(records[at:end])
            return end
        elif isinstance(behind, BrokerRegistrationChangeRecord):
            return self.followed(records, at)
        self.replay(records[end : end + 1])
        return end + 1

    def cleaned_up(self, records: list[tuple[int, Any]], at: int, end: int) -> None:
        """The changes that a fencing or a registration ends; other operations may be before them in the batch."""
        record = records[end][1]
        for start in range(at, end + 1):
            ours = self.ours(record)
            if len(ours) == end - start:
                stock = in_order([change for _, change in records[start:end]])
                assert ours == stock
                what = "registered" if isinstance(record, RegisterBrokerRecord) else "fenced"
                self.checked.setdefault(what, []).append(len(ours))
                self.replay(records[start:end])
                return
            self.replay(records[start : start + 1])
        raise AssertionError(f"{record} comes after {end - at} changes, which are not ours")

    def ours(self, record: Any) -> list[PartitionChangeRecord]:
        """The records that this controller would write here."""
        state, env = self.state, self.env
        if isinstance(record, BrokerRegistrationChangeRecord):
            return changes(state, heartbeats.fence(state, env, state.brokers[record.broker_id]))
        registered = state.brokers.get(record.broker_id)
        if registered is not None and registered.incarnation_id == record.incarnation_id:
            return []
        return changes(state, brokers.shut_down(state, env, record.broker_id, is_clean=True))

    def followed(self, records: list[tuple[int, Any]], at: int) -> int:
        """The changes that an unfencing or a controlled shutdown begins."""
        record = records[at][1]
        broker = self.state.brokers[record.broker_id]
        if record.fenced == UNFENCE:
            what = "unfenced"
            ours = changes(self.state, heartbeats.unfence(self.state, self.env, broker))
        elif record.in_controlled_shutdown:
            what = "shut down"
            ours = changes(self.state, heartbeats.in_controlled_shutdown(self.state, self.env, broker)[0])
        else:
            what, ours = "directories reported", []
        end = at + 1 + len(ours)
        stock = [change for _, change in records[at + 1 : end]]
        assert all(isinstance(change, PartitionChangeRecord) for change in stock)
        assert ours == in_order(stock)
        self.checked.setdefault(what, []).append(len(ours))
        self.replay(records[at:end])
        return end


def comes_last(record: Any) -> bool:
    """Whether the partition changes of an operation stand before this record of it."""
    return isinstance(record, RegisterBrokerRecord) or (
        isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == FENCE
    )


# What happened in both quorums: four registrations, and one broker that shut down cleanly and restarted.
CHANGES = {
    "4.0-static": {"registered": [0] * 4, "unfenced": [0, 0, 0, 17], "shut down": [28], "fenced": [0]},
    "4.1-static": {"registered": [0], "unfenced": [0]},
    "4.3-static": {
        "registered": [0] * 4,
        "directories reported": [0] * 4,
        "unfenced": [0, 0, 0, 17],
        "shut down": [27],
        "fenced": [0, 0],
    },
    "4.3-dynamic": {},
}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: "-".join(path.parts[-4:-2]))
def test_broker_changes_write_the_records_of_stock_kafka(path):
    replay = Replay(path)

    replay.run()

    assert replay.checked == CHANGES[path.parts[-4]]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: "-".join(path.parts[-4:-2]))
def test_an_empty_log_gets_the_first_records_of_stock_kafka(path):
    first = read(path)[0]
    stock = [value for _, value in first]
    bootstrap = [decode_record(value) for value in stock[1:-1]]
    bootstrap = [(record, version) for record, version in bootstrap if not hasattr(record, "resource_type")]

    ours = activation_records(State(), Env("c", 1, Random(0), Settings()), bootstrap)

    end = stock.index(encode_record(EndTransactionRecord(), 0))
    assert [encode_record(*each) for each in ours] == stock[: end + 1]
