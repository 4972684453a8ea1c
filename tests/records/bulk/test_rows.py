"""Columns and record batches: the bytes of the scalar codec, and an order with the same result."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.batch import CorruptBatch, batches, build_batch, records_of, seal
from records.bulk.bulk_scan import LAZY_RECORDS
from records.bulk.rows import Columns, Rows, Single, batch_body, body_size, partition_changes, partitions, scan
from records.crc import crc32c
from records.frame import decode_record, encode_record
from records.metadata.configs import ConfigRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from records.schema import replace, schema_of
from records.wire import EncodeError, zigzag
from tests.records.golden import GOLDEN, files

LISTS = ("isr", "replicas", "removing_replicas", "adding_replicas", "eligible_leader_replicas", "last_known_elr")
SINCE = {"directories": 1, "eligible_leader_replicas": 2, "last_known_elr": 2}
IDS = [bytes([i]) * 16 for i in range(5)]


def as_records(found: Columns | Single) -> list[tuple[int, tuple[Any, int]]]:
    """Offset, record and version of each record that the scan yielded together."""
    if isinstance(found, Single):
        return [(found.offset, decode_record(found.value))]
    records = []
    for row in range(len(found)):
        fields: dict[str, Any] = {"topic_id": found.topic_ids[row].tobytes()}
        if found.names is not None:
            fields["name"] = found.names[row]
        else:
            assert found.partition_ids is not None
            fields["partition_id"] = int(found.partition_ids[row])
            for name in LISTS:
                if (column := getattr(found, name)) is not None:
                    fields[name] = tuple(column[row].tolist())
            for name in ("leader", "leader_epoch", "partition_epoch", "leader_recovery_state"):
                if (column := getattr(found, name)) is not None:
                    fields[name] = int(column[row])
            if found.directories is not None:
                fields["directories"] = tuple(uuid.tobytes() for uuid in found.directories[row])
        records.append((int(found.offsets[row]), (found.record(**fields), found.version)))
    return records


def columns_of(records: list[Any]) -> dict[str, Any]:
    """The columns of records of one shape, without those that all leave at their default."""
    columns: dict[str, Any] = {}
    for field in schema_of(type(records[0])).fields:
        values = [getattr(record, field.name) for record in records]
        if field.name in {"partition_id", "topic_id"} or (field.tag is not None and values[0] == field.default):
            continue
        if field.name == "directories":
            flat = np.frombuffer(b"".join(b"".join(value) for value in values), np.uint8)
            columns[field.name] = flat.reshape(len(records), len(values[0]), 16)
        elif field.is_array:
            columns[field.name] = np.array(values, np.int32).reshape(len(records), len(values[0]))
        else:
            columns[field.name] = np.array(values)
    return columns


def rows_of(records: list[Any], version: int) -> Rows:
    make = partitions if isinstance(records[0], PartitionRecord) else partition_changes
    topic_ids = np.frombuffer(b"".join(record.topic_id for record in records), np.uint8).reshape(-1, 16)
    columns = columns_of(records)
    if version == 0:
        columns.pop("directories", None)
    return make(version, topic_ids, np.array([record.partition_id for record in records]), **columns)


def changes(draw: st.DrawFn) -> tuple[list[Any], int]:
    version = draw(st.integers(0, 2))
    names = draw(st.sets(st.sampled_from([*LISTS, "leader", "leader_recovery_state", "directories"])))
    names = {name for name in names if SINCE.get(name, 0) <= version}
    sizes = {name: draw(st.sampled_from([0, 1, 3, 31, 32])) for name in sorted(names)}
    rng = Random(draw(st.integers()))
    records = []
    for _ in range(draw(st.sampled_from([1, 2, 70]))):
        fields: dict[str, Any] = {}
        for name in sorted(names):
            if name == "leader":
                fields[name] = rng.choice((-1, 0, 2**31 - 1))
            elif name == "leader_recovery_state":
                fields[name] = rng.choice((0, 1, 127))
            elif name == "directories":
                fields[name] = tuple(rng.choice(IDS) for _ in range(sizes[name]))
            else:
                fields[name] = tuple(rng.randrange(-1, 2**31) for _ in range(sizes[name]))
        records.append(PartitionChangeRecord(partition_id=rng.randrange(2**31), topic_id=rng.choice(IDS), **fields))
    return records, version


def whole(draw: st.DrawFn) -> tuple[list[Any], int]:
    """PartitionRecords of one shape, with the tags that some changes carry."""
    records, version = changes(draw)
    tags = ("eligible_leader_replicas", "last_known_elr")
    made = []
    for number, record in enumerate(records):
        fields: dict[str, Any] = {name: getattr(record, name) or () for name in LISTS if name not in tags}
        fields.update({name: getattr(record, name) for name in tags})
        fields["leader_recovery_state"] = max(record.leader_recovery_state, 0) and 1
        if version >= 1:
            fields["directories"] = record.directories or ()
        made.append(
            PartitionRecord(
                partition_id=record.partition_id,
                topic_id=record.topic_id,
                leader=record.leader,
                leader_epoch=number,
                partition_epoch=2**31 - 1 - number,
                **fields,
            )
        )
    state = made[0].leader_recovery_state
    return [replace(record, leader_recovery_state=state) for record in made], version


@given(st.composite(changes)() | st.composite(whole)())
def test_rows_have_the_bytes_of_the_scalar_codec(drawn: tuple[list[Any], int]) -> None:
    records, version = drawn

    rows = rows_of(records, version)

    assert rows.to_list() == [encode_record(record, version) for record in records]
    assert len(rows) == len(records)


@given(st.composite(changes)() | st.composite(whole)(), st.integers(1, 20))
def test_records_written_as_columns_are_read_as_columns(drawn: tuple[list[Any], int], rows_min: int) -> None:
    records, version = drawn
    body, count = batch_body([rows_of(records, version)])
    data = seal(body, count, 1000, 1, 5)

    columns = list(scan(data, next(batches(data)), rows_min=rows_min))
    found = [pair for part in columns for pair in as_records(part)]

    assert sorted(found, key=lambda pair: pair[0]) == [
        (1000 + place, (record, version)) for place, record in enumerate(records)
    ]
    for part in columns:
        if isinstance(part, Columns):
            some = list(part.parts(rows_min))
            assert max(map(len, some)) <= rows_min
            assert [pair for each in some for pair in as_records(each)] == as_records(part)


def test_a_batch_of_rows_and_values_equals_that_of_build_batch() -> None:
    """With more than 8192 records, so that offset deltas take one, two and three bytes."""
    change = [PartitionChangeRecord(partition_id=i, topic_id=IDS[0], leader=i % 5) for i in range(9000)]
    other = encode_record(ConfigRecord(resource_type=2, resource_name="a", name="b", value="c" * 100), 0)
    rows = rows_of(change, 2)
    parts: list[Rows | bytes] = [other, rows[:50], other, rows[50:], other]

    body, count = batch_body(parts)

    values = [other, *rows.to_list()[:50], other, *rows.to_list()[50:], other]
    assert seal(body, count, 7, 3, 1000) == build_batch(values, base_offset=7, leader_epoch=3, timestamp_ms=1000)
    assert (body_size(parts), count) == (len(body), 9003)


@given(st.lists(st.sampled_from([1, 60, 130, 8200]), max_size=3), st.sampled_from([0, 60, 8180, 2**20 - 5]))
def test_the_size_of_a_body_is_known_before_it_is_built(sizes: list[int], first_delta: int) -> None:
    topic_ids = np.zeros((8200, 16), np.uint8)
    parts = [partition_changes(0, topic_ids[:size], np.arange(size), leader=np.arange(size)) for size in sizes]

    mixed: list[Rows | bytes] = [b"x" * 30, *parts]

    body, count = batch_body(mixed, first_delta)

    assert (body_size(mixed, first_delta), count) == (len(body), 1 + sum(sizes))


def test_zero_rows_give_zero_bytes() -> None:
    rows = partition_changes(2, np.empty((0, 16), np.uint8), np.empty(0, np.int32), leader=np.empty(0, np.int32))

    assert batch_body([rows]) == (b"", 0)
    assert rows.to_list() == []


@pytest.mark.parametrize(
    ("version", "columns", "message"),
    [
        (3, {}, "PartitionChangeRecord has versions 0 to 2, not 3"),
        (0, {"directories": np.zeros((2, 1, 16), np.uint8)}, "v0 directories: comes with version 1"),
        (1, {"last_known_elr": [[1], [2]]}, "v1 last_known_elr: comes with version 2"),
        (2, {"leader": [1, -2]}, "v2 leader: -2 is not written; such rows have another shape"),
        (2, {"leader_recovery_state": [-1, 1]}, "v2 leader_recovery_state: -1 is not written"),
        (2, {"leader": [1, 2**31]}, "v2 leader: a value is not within -2147483648 to 2147483647"),
        (2, {"leader": [1]}, r"v2 leader: integers of shape \(2,\) are wanted"),
        (2, {"leader": [1.0, 2.0]}, "v2 leader: integers of shape .* not float64"),
        (2, {"isr": [1, 2]}, r"v2 isr: integers of shape \(2, k\) are wanted, not of \(2,\)"),
        (2, {"isr": [[1], [2**40]]}, "v2 isr: a value is not within"),
        (2, {"directories": np.zeros((2, 1, 15), np.uint8)}, r"v2 directories: uint8 of shape \(2, k, 16\) is wanted"),
    ],
)
def test_invalid_columns_are_refused(version: int, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(EncodeError, match=message):
        partition_changes(version, np.zeros((2, 16), np.uint8), np.arange(2), **columns)


def test_topic_ids_are_rows_of_sixteen_bytes() -> None:
    with pytest.raises(EncodeError, match=r"topic_id: uint8 of shape \(2, 16\) is wanted, not int64 of \(2,\)"):
        partition_changes(2, np.arange(2), np.arange(2))


def test_old_partitions_have_no_directories() -> None:
    one: dict[str, Any] = {"replicas": [[1]], "isr": [[1]], "leader": [1], "leader_epoch": [0], "partition_epoch": [0]}
    topic_ids = np.zeros((1, 16), np.uint8)

    with pytest.raises(EncodeError, match="PartitionRecord v0: directories come with version 1"):
        partitions(0, topic_ids, [0], **one, directories=np.zeros((1, 1, 16), np.uint8))
    with pytest.raises(EncodeError, match="leader_recovery_state: 0 is not written"):
        partitions(0, topic_ids, [0], **one, leader_recovery_state=[0])


def some_record(rng: Random) -> tuple[Any, int]:
    version, topic_id = rng.randrange(3), rng.choice(IDS)
    kind = rng.choice("cctpppp11111111")
    some = tuple(rng.randrange(9) for _ in range(rng.randrange(4)))
    if kind == "c":
        return rng.choice(
            [
                ConfigRecord(resource_type=2, resource_name="x", name="y", value="z"),
                RemoveTopicRecord(topic_id=topic_id),
            ]
        ), 0
    if kind == "t":
        return TopicRecord(name=rng.choice(("a", "bcd", "t" * 130, "ä")), topic_id=topic_id), 0
    fields: dict[str, Any] = {"partition_id": rng.randrange(300), "topic_id": topic_id, "isr": some}
    if version >= 2 and rng.random() < 0.3:
        fields["eligible_leader_replicas"] = some
    if kind == "p":
        fields.update(removing_replicas=(), adding_replicas=(), replicas=some, leader=rng.randrange(-1, 5))
        fields["leader_recovery_state"] = rng.choice((0, 0, 0, 1))
        return PartitionRecord(**fields), version
    if rng.random() < 0.5:
        fields["leader"] = rng.randrange(-2, 5)
    return PartitionChangeRecord(**fields), version


def key_of(record: Any) -> object:
    if isinstance(record, (PartitionRecord, PartitionChangeRecord)):
        return record.topic_id, record.partition_id
    return None


@pytest.mark.parametrize("seed", range(40))
def test_the_order_of_a_scan_has_the_same_result_as_the_order_of_the_log(seed: int) -> None:
    """Topics before what comes behind them, one partition's records in order, all others where they stand."""
    rng = Random(seed)
    records: list[tuple[Any, int]] = []
    while len(records) < 400:
        record, version = some_record(rng)
        for _ in range(rng.choice((1, 1, 30, 90))):
            if key_of(record) is not None:
                record = replace(record, partition_id=rng.randrange(rng.choice((300, 10**6))))
            records.append((record, version))
    values = [encode_record(*drawn) for drawn in records]
    data = build_batch(values, base_offset=50, leader_epoch=1, timestamp_ms=5)

    found = [pair for part in scan(data, next(batches(data))) for pair in as_records(part)]

    place = {offset: number for number, (offset, _) in enumerate(found)}
    assert sorted(found, key=lambda pair: pair[0]) == list(enumerate(records, start=50))
    last: dict[object, int] = {}
    for offset, (record, _) in enumerate(records, start=50):
        if (key := key_of(record)) is not None:
            assert place[last.get(key, offset)] <= place[offset]
            last[key] = offset
        elif isinstance(record, TopicRecord):
            following = (after for after in range(offset, 50 + len(records)))
            assert all(
                place[offset] <= place[after] or isinstance(records[after - 50][0], TopicRecord) for after in following
            )
        else:
            assert place[offset] == offset - 50


def test_records_of_one_shape_are_one_run() -> None:
    size = 9000
    rows = partition_changes(2, np.zeros((size, 16), np.uint8), np.arange(size), isr=[[1, 2]] * size)
    body, count = batch_body([rows])
    data = seal(body, count, 100, 1, 5)

    (run,) = scan(data, next(batches(data)))

    assert isinstance(run, Columns)
    assert (run.record, run.version, len(run), run.leader, run.directories) == (
        PartitionChangeRecord,
        2,
        size,
        None,
        None,
    )
    assert run.offsets.tolist() == list(range(100, 100 + size))
    assert run.isr is not None
    assert run.isr.dtype == np.int32
    assert run.isr.shape == (size, 2)
    assert run.isr.tolist()[-1] == [1, 2]


def test_a_partition_that_changes_twice_ends_a_run() -> None:
    values = [PartitionChangeRecord(partition_id=i % 50, topic_id=IDS[0], leader=i) for i in range(100)]
    data = build_batch([encode_record(value, 2) for value in values], base_offset=0, leader_epoch=1, timestamp_ms=5)

    runs = list(scan(data, next(batches(data))))

    assert [run.offsets.tolist() for run in runs if isinstance(run, Columns)] == [
        list(range(50)),
        list(range(50, 100)),
    ]


def test_shapes_that_alternate_are_two_runs() -> None:
    values = [PartitionChangeRecord(partition_id=i, topic_id=IDS[0], isr=(1,) * (1 + i % 2)) for i in range(100)]
    data = build_batch([encode_record(value, 2) for value in values], base_offset=0, leader_epoch=1, timestamp_ms=5)

    runs = list(scan(data, next(batches(data))))

    assert [run.offsets.tolist() for run in runs if isinstance(run, Columns)] == [
        list(range(0, 100, 2)),
        list(range(1, 100, 2)),
    ]


def test_topics_come_before_their_partitions() -> None:
    records: list[Any] = []
    for i in range(20):
        topic_id = bytes([i]) * 16
        records.append(TopicRecord(name=f"topic-{i:02}", topic_id=topic_id))
        records += [
            PartitionRecord(
                partition_id=p, topic_id=topic_id, replicas=(1,), isr=(1,), removing_replicas=(), adding_replicas=()
            )
            for p in range(4)
        ]
    values = [encode_record(record, 0) for record in records]
    data = build_batch(values, base_offset=0, leader_epoch=1, timestamp_ms=5)

    topics, found = scan(data, next(batches(data)))

    assert isinstance(topics, Columns)
    assert isinstance(found, Columns)
    assert topics.names == [f"topic-{i:02}" for i in range(20)]
    assert (found.record, len(found)) == (PartitionRecord, 80)


def test_an_explicit_no_change_value_is_left_to_the_scalar_decoder() -> None:
    """Its leader is written although it is -2; in a column it would be taken for a leader."""
    plain = partition_changes(0, np.zeros((40, 16), np.uint8), np.arange(40), leader=np.full(40, 7)).to_list()
    values = [
        value.replace(b"\0\0\0\7", b"\xff\xff\xff\xfe") if i % 10 == 0 else value for i, value in enumerate(plain)
    ]
    data = build_batch(values, base_offset=0, leader_epoch=1, timestamp_ms=5)

    found = list(scan(data, next(batches(data))))

    assert [single.offset for single in found if isinstance(single, Single)] == [0, 10, 20, 30]
    assert [run.leader.tolist() for run in found if isinstance(run, Columns) and run.leader is not None] == [[7] * 36]


@pytest.mark.parametrize("path", [*files("*.log"), *files("*.checkpoint")], ids=lambda path: "/".join(path.parts[-4:]))
def test_a_scan_reads_all_records_of_stock_files(path: Any) -> None:
    data = path.read_bytes()
    for batch in batches(data):
        if not batch.is_control:
            found = [pair for part in scan(data, batch, rows_min=4) for pair in as_records(part)]

            assert sorted(found, key=lambda pair: pair[0]) == [
                (record.offset, decode_record(record.value or b"")) for record in records_of(data, batch)
            ]


def test_a_large_batch_of_stock_is_read_in_columns() -> None:
    data = (GOLDEN / "4.3-static" / "node-1" / "__cluster_metadata-0" / "00000000000000000000.log").read_bytes()
    largest = max(batches(data), key=lambda batch: batch.record_count)

    in_columns = sum(len(found) for found in scan(data, largest) if isinstance(found, Columns))

    assert largest.record_count > 100
    assert in_columns > largest.record_count * 0.9


def broken(change: str) -> bytes:
    values = [encode_record(PartitionChangeRecord(partition_id=i, topic_id=IDS[0], leader=1), 0) for i in range(40)]
    data = build_batch(values, base_offset=9, leader_epoch=1, timestamp_ms=5)
    first = data.index(values[3])
    if change == "length":
        data = data[: first - 6] + b"\x02" + data[first - 5 :]
    elif change == "delta":
        data = data[: first - 3] + zigzag(99)[:1] + data[first - 2 :]
    elif change == "left":
        data = seal(data[61:] + b"x", 40, 9, 1, 5)
    elif change == "null":
        inner = b"\0\0" + zigzag(3) + b"\1\1\0"
        data = seal(data[61 : first - 6] + zigzag(len(inner)) + inner + data[first + len(values[3]) + 1 :], 40, 9, 1, 5)
    return data[:17] + crc32c(data[21:]).to_bytes(4, "big") + data[21:]


@pytest.mark.parametrize(
    ("change", "message"),
    [("length", "records: "), ("delta", "records: "), ("left", "1 bytes are left"), ("null", "record 12 has no value")],
)
def test_a_broken_batch_is_refused_before_anything_is_yielded(change: str, message: str) -> None:
    data = broken(change)
    found = scan(data, next(batches(data)))

    with pytest.raises(CorruptBatch, match=message):
        next(found)


@pytest.mark.parametrize("change", ["length", "delta", "left", "null"])
def test_a_broken_batch_is_refused_by_a_lazy_scan(change: str) -> None:
    data = broken(change)

    with pytest.raises(CorruptBatch):
        list(scan(data, next(batches(data)), is_lazy=True))


def test_a_lazy_scan_reads_records_without_shapes_as_they_are_asked_for() -> None:
    values = [encode_record(RemoveTopicRecord(topic_id=bytes([i % 200]) * 16), 0) for i in range(2 * LAZY_RECORDS + 5)]
    data = build_batch(values, base_offset=7, leader_epoch=1, timestamp_ms=5)
    cut = data[:-1] + b"\1"  # the last record says that a header follows
    whole = scan(data, next(batches(data)), is_lazy=True)
    damaged = scan(cut, next(batches(cut, check=False)), is_lazy=True)

    assert list(whole) == [Single(7 + i, value) for i, value in enumerate(values)]
    assert [as_records(next(damaged))[0][0] for _ in range(2 * LAZY_RECORDS)] == list(range(7, 7 + 2 * LAZY_RECORDS))
    with pytest.raises(CorruptBatch):
        next(damaged)


def test_a_batch_with_gaps_is_read_one_by_one() -> None:
    value = encode_record(PartitionChangeRecord(topic_id=IDS[0], leader=1), 0)
    inner = [b"\0\0" + zigzag(2 * i) + b"\1" + zigzag(len(value)) + value + b"\0" for i in range(30)]
    data = seal(b"".join(zigzag(len(record)) + record for record in inner), 30, 0, 1, 5)
    data = data[:23] + (58).to_bytes(4, "big") + data[27:]

    found = list(scan(data, next(batches(data, check=False))))

    assert found == [Single(2 * i, value) for i in range(30)]


def test_columns_show_what_they_are() -> None:
    rows = partition_changes(1, np.zeros((20, 16), np.uint8), np.arange(20), leader=np.arange(20))
    body, count = batch_body([rows])
    data = seal(body, count, 0, 1, 5)

    (run,) = scan(data, next(batches(data)))

    assert repr(run) == "Columns(PartitionChangeRecord v1, 20 records)"
    assert repr(Single(3, b"x")) == "Single(3, b'x')"
    assert Single(3, b"x") == Single(3, b"x")
    assert hash(Single(3, b"x")) == hash(Single(3, b"x"))


@pytest.mark.parametrize(
    "value",
    [
        encode_record(replace(TopicRecord(name="a", topic_id=IDS[0]), unknown_tags=((5, b"x"),)), 0),
        encode_record(TopicRecord(name="", topic_id=IDS[0]), 0),
        encode_record(TopicRecord(name="ä", topic_id=IDS[0]), 0),
        encode_record(replace(PartitionChangeRecord(topic_id=IDS[0], leader=1), unknown_tags=((50, b"x"),)), 0),
        encode_record(PartitionChangeRecord(topic_id=IDS[0], isr=tuple(range(130))), 0),
        bytes.fromhex("010500 00000001") + IDS[0] + bytes.fromhex("01 00 01 00"),  # isr: null, although tagged
        bytes.fromhex("010500 00000001") + IDS[0] + bytes.fromhex("02 01 04 00000001 00 01 01"),  # tags descend
        bytes.fromhex("010500 00000001") + IDS[0] + bytes.fromhex("01 01 05 00000001 00"),  # size of tag
        bytes.fromhex("010500 00000001") + IDS[0] + bytes.fromhex("02 01 04 00000001"),  # ends too soon
        bytes.fromhex("010509 00000001") + IDS[0] + b"\0",  # version 9
        bytes.fromhex("010200 80"),
        bytes.fromhex("0105"),
        b"",
    ],
    ids=lambda value: value.hex()[:50],
)
def test_a_record_without_a_shape_is_yielded_unchanged(value: bytes) -> None:
    """Also what is malformed: the scalar decoder refuses it."""
    data = build_batch([value] * 30, base_offset=0, leader_epoch=1, timestamp_ms=5)

    assert list(scan(data, next(batches(data)))) == [Single(offset, value) for offset in range(30)]


def test_records_with_keys_headers_or_own_times_are_yielded_unchanged() -> None:
    value = encode_record(PartitionChangeRecord(topic_id=IDS[0], leader=1), 0)
    tail = zigzag(len(value)) + value
    for middle in (b"\0\2%b\2k" + tail + b"\0", b"\0\0%b\1" + tail + b"\2\2h\1", b"\0\0%b\2k" + tail + b"\0"):
        inner = [middle.replace(b"%b", zigzag(delta)) for delta in range(30)]
        data = seal(b"".join(zigzag(len(record)) + record for record in inner), 30, 0, 1, 5)

        assert list(scan(data, next(batches(data)))) == [Single(offset, value) for offset in range(30)]
