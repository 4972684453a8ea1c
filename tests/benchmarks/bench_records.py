"""`python -m tests.benchmarks.bench_records`: times of encoding and decoding, with other codecs in the same run.

Thread CPU time, the minimum of several rounds in which the codecs take turns. Compare the ratios: to an interpreter of
the field tables (`tests.records.field_tables`), to kio, and of the bulk path to the scalar codec.
"""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from kio.serial import entity_reader, entity_writer

from records.batch import batches, build_batch, records_of, seal
from records.bulk.rows import batch_body, partition_changes, scan
from records.codec import decode, decoder, encode, encode_parts, encoder
from records.frame import decode_record, encode_record
from records.messages.brokers import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.partitions import AlterPartitionRequest
from records.messages.topics import CreateTopicsRequest
from records.metadata.brokers import RegisterBrokerRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord
from records.printing.json_form import to_json
from records.printing.json_text import json_text
from records.schema import default_of
from tests.records import field_tables
from tests.records.test_field_tables import table_of
from tests.records.test_kio import kio_class

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7
TOPIC_ID = bytes(range(16))
RECORDS = 10_000


def messages() -> list[tuple[Any, int]]:
    """The messages of the hot paths, and their versions."""
    endpoint = RegisterBrokerRecord.BrokerEndpoint
    feature = RegisterBrokerRecord.BrokerFeature
    altered = AlterPartitionRequest.TopicData
    state = altered.PartitionData.BrokerState
    asked = FetchRequest.FetchTopic
    answered = FetchResponse.FetchableTopicResponse
    made = CreateTopicsRequest.CreatableTopic
    return [
        (
            PartitionRecord(
                partition_id=1, topic_id=TOPIC_ID, replicas=(1, 2, 3), isr=(1, 2, 3), removing_replicas=(),
                adding_replicas=(), leader=1, leader_epoch=1, partition_epoch=1, directories=(TOPIC_ID,) * 3,
            ),
            2,
        ),
        (PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID, isr=(1, 2), leader=2), 2),
        (
            RegisterBrokerRecord(
                broker_id=1, incarnation_id=TOPIC_ID, broker_epoch=5, log_dirs=(TOPIC_ID,),
                rack=None, end_points=tuple(
                    endpoint(name=f"L{i}", host="broker-1", port=9092, security_protocol=0) for i in (1, 2)
                ),
                features=tuple(feature(name=name, min_supported_version=0, max_supported_version=3)
                               for name in ("metadata.version", "kraft.version", "group.version")),
            ),
            3,
        ),
        (default_of(BrokerHeartbeatRequest), 1),
        (default_of(BrokerHeartbeatResponse), 1),
        (
            AlterPartitionRequest(
                broker_id=1, broker_epoch=2,
                topics=(altered(topic_id=TOPIC_ID, partitions=tuple(
                    altered.PartitionData(
                        partition_index=i, leader_epoch=1, partition_epoch=3,
                        new_isr_with_epochs=tuple(state(broker_id=b, broker_epoch=2) for b in (1, 2, 3)),
                    ) for i in range(1000)
                )),),
            ),
            3,
        ),
        (
            FetchRequest(
                max_wait_ms=500, min_bytes=0, topics=(asked(topic_id=TOPIC_ID, partitions=(
                    asked.FetchPartition(partition=0, fetch_offset=4, partition_max_bytes=1 << 20),
                )),),
            ),
            17,
        ),
        (
            FetchResponse(responses=(answered(topic_id=TOPIC_ID, partitions=(
                answered.PartitionData(partition_index=0, error_code=0, high_watermark=9, records=bytes(1 << 20)),
            )),)),
            17,
        ),
        (
            CreateTopicsRequest(topics=tuple(
                made(name=f"topic-{i}", num_partitions=10, replication_factor=3, assignments=(), configs=())
                for i in range(100)
            )),
            7,
        ),
    ]  # fmt: skip


def least(work: Callable[[], object], times: int) -> float:
    """Microseconds of thread CPU time for one call."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.thread_time()
        for _ in range(times):
            work()
        best = min(best, time.thread_time() - start)
    return best / times * 1e6


def against(mine: float, other: float) -> str:
    return f"{other / mine:.1f}x"


def codec_row(message: Any, version: int) -> list[str]:
    cls, data = type(message), encode(message, version)
    table, theirs = table_of(cls.__name__, version), kio_class(cls.__name__, version)
    assert table
    fields = field_tables.decode(table, version, data)
    times = max(3, min(3000, 200_000 // len(data)))
    few = max(1, times // 20)
    write, read = encoder(cls, version), decoder(cls, version)
    encoding = least(lambda: write(message, bytearray()), times)
    decoding = least(lambda: read(data, 0), times)
    row = [
        f"{cls.__name__} v{version} ({len(data)} B)", f"{encoding:.2f}", f"{decoding:.2f}",
        against(encoding, least(lambda: field_tables.encode(table, version, fields), few)),
        against(decoding, least(lambda: field_tables.decode(table, version, data), few)),
    ]  # fmt: skip
    if theirs is None:
        return [*row, "", ""]
    entity, _ = entity_reader(theirs)(data, 0)
    kio_read, kio_write = entity_reader(theirs), entity_writer(theirs)
    return [
        *row,
        against(encoding, least(lambda: kio_write(io.BytesIO(), entity), few)),
        against(decoding, least(lambda: kio_read(data, 0), few)),
    ]


def bulk_rows() -> list[list[str]]:
    """Per record: the scalar codec with its batches, and the same records as columns."""
    rng = np.random.default_rng(1)
    topic_ids = rng.integers(0, 255, (RECORDS // 20, 16), dtype=np.uint8).repeat(20, 0)
    ids, leader = np.arange(RECORDS, dtype=np.int32), rng.integers(0, 9, RECORDS, dtype=np.int32)
    isr = rng.integers(0, 9, (RECORDS, 2), dtype=np.int32)
    changes = [
        PartitionChangeRecord(
            partition_id=i, topic_id=topic_ids[i].tobytes(), isr=tuple(isr[i].tolist()), leader=int(leader[i])
        )
        for i in range(RECORDS)
    ]

    def in_columns() -> bytes:
        return seal(*batch_body([partition_changes(2, topic_ids, ids, isr=isr, leader=leader)]), 0, 1, 5)

    def one_by_one() -> bytes:
        return build_batch(
            [encode_record(change, 2) for change in changes], base_offset=0, leader_epoch=1, timestamp_ms=5
        )

    data = in_columns()
    assert data == one_by_one()
    values = [encode_record(change, 2) for change in changes]
    batch = next(batches(data))
    columns_in, scalar_in = least(in_columns, 3), least(one_by_one, 1)
    columns_out = least(lambda: list(scan(data, next(batches(data)))), 3)
    scalar_out = least(lambda: [decode_record(r.value or b"") for r in records_of(data, next(batches(data)))], 1)
    build = least(lambda: build_batch(values, base_offset=0, leader_epoch=1, timestamp_ms=5), 1)
    read = least(lambda: records_of(data, batch), 1)

    def per_record(micros: float) -> str:
        return f"{micros * 1000 / RECORDS:.0f}"

    return [
        ["encode, with its batch", per_record(scalar_in), per_record(columns_in), against(columns_in, scalar_in)],
        ["decode, with its batch", per_record(scalar_out), per_record(columns_out), against(columns_out, scalar_out)],
        ["frame a value in a batch", per_record(build), "", ""],
        ["find a value in a batch", per_record(read), "", ""],
    ]


def other_rows() -> list[list[str]]:
    fetch, version = messages()[7]
    whole, parts = least(lambda: encode(fetch, version), 20), least(lambda: encode_parts(fetch, version), 200)
    record = messages()[0][0]
    data = encode(record, 2)
    return [
        ["Fetch answer with 1 MiB, in one buffer", f"{whole:.1f}"],
        ["the same in parts", f"{parts:.1f}"],
        ["PartitionRecord through decode()", f"{least(lambda: decode(PartitionRecord, 2, data), 3000):.2f}"],
        ["PartitionRecord to JSON text", f"{least(lambda: json_text(to_json(record, 2)), 500):.1f}"],
    ]


def table(head: list[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def main() -> None:
    table(
        ["message", "encode µs", "decode µs", "interpreter, encode", "decode", "kio, encode", "decode"],
        [codec_row(message, version) for message, version in messages()],
    )
    table(["10,000 PartitionChangeRecords", "scalar ns", "columns ns", "columns are faster by"], bulk_rows())
    table(["other", "µs"], other_rows())


if __name__ == "__main__":
    main()
