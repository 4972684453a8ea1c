"""Rows equal the output of the scalar decoder, for any records, batches and compression."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from controller.state.state import State
from pipeline.arrow import encoded_schema
from pipeline.schemas import RECORDS
from pipeline.source.columns import batch_of, schema_of
from pipeline.source.ranges import Range
from pipeline.source.rows import rows_of
from records.batch import HEADER_BYTES, batches, build_batch, seal
from records.frame import encode_record
from records.metadata.configs import ConfigRecord
from records.metadata.security import UserScramCredentialRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord
from records.printing.json_form import to_json
from records.registry import METADATA_RECORDS, metadata_class
from records.schema import schema_of as message_schema_of
from records.strategies import messages
from records.uuids import uuid_text
from tests.controller.lives import bursts
from tests.records.test_compression import compressed

if TYPE_CHECKING:
    from collections.abc import Sequence

FIELDS = {
    "replicas": "replicas", "isr": "isr", "removing": "removing_replicas", "adding": "adding_replicas",
    "elr": "eligible_leader_replicas", "last_known_elr": "last_known_elr",
}  # fmt: skip


def table_of(data: bytes) -> list[dict[str, Any]]:
    found = rows_of(data, list(batches(data, check=False)), file_position=0)
    source = Range("c", 1, "f", 0, len(data), 0, 1, 0, 0)
    return list(batch_of(found, None, source, schema_of(RECORDS.names)).to_pylist())


def expected(record: Any, version: int, offset: int) -> dict[str, Any]:
    """The expected columns of a record, from the scalar decoder's values."""
    kind = record.__schema__.api_key
    row: dict[str, Any] = {
        "offset": offset, "kind": "record", "type": kind, "name": type(record).__name__, "version": version,
        "topic_id": None, "partition": None, "leader": None, "leader_epoch": None, "partition_epoch": None,
        "recovery": None, "directories": None, "problem": None, **dict.fromkeys(FIELDS),
    }  # fmt: skip
    if not isinstance(record, PartitionRecord | PartitionChangeRecord):
        return row
    row |= {"topic_id": uuid_text(record.topic_id), "partition": record.partition_id}
    for column, name in FIELDS.items():
        values = getattr(record, name)
        row[column] = None if values is None else list(values)
    whole = isinstance(record, PartitionRecord)
    if record.directories is not None and (version >= 1 or not whole):
        row["directories"] = [uuid_text(one) for one in record.directories]
    row["leader"] = None if not whole and record.leader == -2 else record.leader
    row["recovery"] = None if not whole and record.leader_recovery_state == -1 else record.leader_recovery_state
    if isinstance(record, PartitionRecord):
        row |= {"leader_epoch": record.leader_epoch, "partition_epoch": record.partition_epoch}
    return row


def check(values: Sequence[tuple[Any, int]], data: bytes) -> None:
    rows = table_of(data)
    assert len(rows) == len(values)
    for (record, version), row, offset in zip(values, rows, range(100, 100 + len(values)), strict=True):
        wanted = expected(record, version, offset)
        assert {name: row[name] for name in wanted} == wanted
        if row["json"] is not None and not isinstance(record, ConfigRecord | UserScramCredentialRecord):
            assert json.loads(row["json"]) == json.loads(json.dumps(to_json(record, version)))
            assert row["value"] == encode_record(record, version)


def any_record() -> st.SearchStrategy[tuple[Any, int]]:
    """A record of any type in any of its versions; more often one of a partition."""
    pairs = [
        (metadata_class(number), version)
        for number in METADATA_RECORDS
        for version in range(
            message_schema_of(metadata_class(number)).versions[0],
            message_schema_of(metadata_class(number)).versions[1] + 1,
        )
    ]
    of_partitions = [
        (PartitionRecord, 0),
        (PartitionRecord, 1),
        (PartitionRecord, 2),
        (PartitionChangeRecord, 0),
        (PartitionChangeRecord, 1),
        (PartitionChangeRecord, 2),
    ]
    return st.sampled_from(pairs + of_partitions * 6).flatmap(
        lambda pair: st.tuples(messages(pair[0], pair[1]), st.just(pair[1]))
    )


# A failure is not shrunk: that takes minutes.
@settings(phases=(Phase.explicit, Phase.generate))
@given(st.lists(any_record(), min_size=1, max_size=12))
def test_any_records_have_the_rows_of_the_scalar_decoder(values: list[tuple[Any, int]]) -> None:
    encoded = [encode_record(record, version) for record, version in values]

    data = build_batch(encoded, base_offset=100, leader_epoch=3, timestamp_ms=5_000)

    check(values, data)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_compressed_batches_are_read_like_others(codec: int) -> None:
    lived = bursts(Random(codec), 12, State())[:300]
    values = [(record, message_schema_of(type(record)).versions[1]) for record in lived]
    encoded = [encode_record(record, version) for record, version in values]
    pieces = []
    for number, start in enumerate(range(0, len(encoded), 30)):
        some = encoded[start : start + 30]
        plain = build_batch(some, base_offset=100 + start, leader_epoch=3, timestamp_ms=5_000)
        if number % 2:
            body = compressed(codec, plain[HEADER_BYTES:])
            plain = seal(body, len(some), 100 + start, 3, 5_000, attributes=codec)
        pieces.append(plain)

    check(values, b"".join(pieces))


def test_a_secret_is_in_no_column() -> None:
    scram = UserScramCredentialRecord(
        name="alice", mechanism=1, salt=b"do-not-tell", stored_key=b"do-not-tell", server_key=b"do-not-tell",
        iterations=4096,
    )  # fmt: skip
    config = ConfigRecord(resource_type=4, resource_name="1", name="ssl.key.password", value="do-not-tell")

    rows = table_of(
        build_batch([encode_record(scram, 0), encode_record(config, 0)], base_offset=0, leader_epoch=0, timestamp_ms=0)
    )

    assert "do-not-tell" not in repr(rows)
    assert "ZG8tbm90LXRlbGw" not in repr(rows)
    assert [json.loads(row["json"])["name"] for row in rows] == ["alice", "ssl.key.password"]


def test_a_dictionary_holds_nothing_of_records_that_lack_the_column() -> None:
    """A file of Parquet has the whole dictionary, and the bytes of another record may be secret."""
    scram = UserScramCredentialRecord(
        name="alice", mechanism=1, salt=b"do-not-tell", stored_key=b"do-not-tell", server_key=b"do-not-tell",
        iterations=4096,
    )  # fmt: skip
    data = build_batch([encode_record(scram, 0)], base_offset=0, leader_epoch=0, timestamp_ms=0)
    found = rows_of(data, list(batches(data)), file_position=0)

    batch = batch_of(found, None, Range("c", 1, "f", 0, len(data), 0, 1, 0, 0), encoded_schema(RECORDS.columns))

    assert batch.column("topic_id").dictionary.to_pylist() == []
    assert batch.column("cluster").dictionary.to_pylist() == ["c"]
    assert batch.to_pylist() == table_of(data)


def test_under_a_null_there_are_no_bytes_of_a_record() -> None:
    """Spark gets an Arrow column with what is under its nulls."""
    values = [b"\x01\x7f\x00tell-nobody", b"\x01\x03\x02tell-nobody"]
    data = build_batch(values, base_offset=0, leader_epoch=0, timestamp_ms=0)
    data += bytes([*data[:-1], data[-1] ^ 1])  # its CRC does not fit

    rows = rows_of(data, list(batches(data, check=False)), file_position=0)
    batch = batch_of(rows, None, Range("c", 1, "f", 0, len(data), 0, 1, 0, 0), schema_of(RECORDS.names))

    assert [row["kind"] for row in batch.to_pylist()] == ["unknown", "unknown", "corrupt"]
    for name in ("partition", "leader", "leader_epoch", "partition_epoch", "recovery"):
        assert batch.column(name).null_count == 3
        assert not any(bytes(batch.column(name).buffers()[1]))


def test_an_invalid_record_is_a_row_with_a_problem() -> None:
    values = [
        b"",
        b"\1",
        b"\2\3\4",
        b"\1\x63\0",
        b"\1\2\0\5",
        b"\1\3\2" + b"\0" * 30,
        b"\1\5\1\0\0\0\1" + b"\7" * 16 + b"\xff",
    ]

    rows = table_of(build_batch(values, base_offset=0, leader_epoch=0, timestamp_ms=0))

    assert [row["kind"] for row in rows] == ["unknown"] * len(values)
    assert all(row["problem"] and "\n" not in row["problem"] for row in rows)
    assert all(row["value"] is None for row in rows)


@given(
    st.binary(min_size=0, max_size=80), st.integers(min_value=0, max_value=60), st.integers(min_value=0, max_value=255)
)
def test_any_bytes_in_a_batch_give_only_a_row(body: bytes, at: int, byte: int) -> None:
    """With a CRC that fits: so they come to the decoder."""
    value = bytearray(encode_record(PartitionRecord(
        topic_id=b"\3" * 16, replicas=(1, 2), isr=(1,), removing_replicas=(), adding_replicas=()
    ), 0))  # fmt: skip
    value[at % len(value)] = byte
    for data in (
        seal(body, 3, 0, 0, 0),
        build_batch([bytes(value), body], base_offset=0, leader_epoch=0, timestamp_ms=0),
    ):
        rows = table_of(data)

        assert all(row["kind"] in ("record", "unknown", "corrupt") for row in rows)
        assert rows or not body
