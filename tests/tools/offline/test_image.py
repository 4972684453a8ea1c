from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.state.partitions.partition import Partition
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord
from tests.tools.kafka.cases import GOLDEN
from tools.offline.image import Image
from tools.offline.load import load_image

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = b"t" * 16
BEGIN, END, ABORT = BeginTransactionRecord(), EndTransactionRecord(), AbortTransactionRecord()


def topic(name: str = "orders", topic_id: bytes = TOPIC) -> TopicRecord:
    return TopicRecord(name=name, topic_id=topic_id)


def partition(**fields: Any) -> PartitionRecord:
    given = {"replicas": (1, 2), "isr": (1, 2), "removing_replicas": (), "adding_replicas": (), "leader": 1}
    return PartitionRecord(partition_id=0, topic_id=TOPIC, leader_epoch=0, partition_epoch=0, **{**given, **fields})


def image_of(*batches: list[Any]) -> Image:
    image = Image()
    offset = 0
    for number, records in enumerate(batches):
        with_offsets = [(record, offset + index) for index, record in enumerate(records)]
        offset += len(records)
        image.take_batch(with_offsets, offset - 1, 5, 1000 + number)
    return image


def names(image: Image) -> list[str]:
    return sorted(image.topic_ids)


def test_the_last_batch_gives_the_offset_epoch_and_time_of_the_image() -> None:
    image = image_of([topic()], [topic("b", b"b" * 16), topic("c", b"c" * 16)])

    assert (image.last_offset, image.last_epoch, image.last_time_ms) == (2, 5, 1001)


def test_a_change_is_merged_into_its_partition() -> None:
    image = image_of(
        [topic(), partition()], [PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(2,), leader=2)]
    )

    assert image.topics[TOPIC].partitions == {
        0: Partition((1, 2), (2,), leader=2, leader_epoch=1, partition_epoch=1, directories=(bytes(16),) * 2)
    }


def test_a_removed_topic_loses_its_partitions_and_configuration() -> None:
    config = ConfigRecord(resource_type=2, resource_name="orders", name="retention.ms", value="5")

    image = image_of([topic(), partition(), config], [RemoveTopicRecord(topic_id=TOPIC)])

    assert (image.topics, image.topic_ids, image.configs, image.problems) == ({}, {}, {}, [])


def test_a_topic_id_that_is_used_again_has_its_last_name_alone() -> None:
    records = [topic(), topic("another")]

    assert image_of(records).topic_ids == {"another": TOPIC}
    assert image_of([*records, RemoveTopicRecord(topic_id=TOPIC)]).topic_ids == {}


@pytest.mark.parametrize(("name", "cleared"), [("orders", True), ("", True), ("other", False)])
def test_eligible_leader_replicas_are_cleared_by_topic_or_everywhere(name: str, cleared: bool) -> None:
    image = image_of(
        [topic(), topic("other", b"o" * 16), partition(isr=(), leader=-1, eligible_leader_replicas=(1,))],
        [ClearElrRecord(topic_name=name)],
    )

    found = image.topics[TOPIC].partitions[0]
    assert (found.elr, found.partition_epoch) == (((), 1) if cleared else ((1,), 0))


def test_the_last_known_leader_is_cleared_also_where_no_replica_is_eligible() -> None:
    """The partition epoch rises as on brokers and controllers, with which the image is compared."""
    last_known = partition(isr=(), leader=-1, last_known_elr=(2,))

    found = image_of([topic(), last_known], [ClearElrRecord(topic_name="")]).topics[TOPIC].partitions[0]
    other = image_of([topic(), partition()], [ClearElrRecord(topic_name="")]).topics[TOPIC].partitions[0]

    assert (found.last_known_elr, found.partition_epoch) == ((), 1)
    assert other.partition_epoch == 0


def test_an_unknown_key_is_ignored() -> None:
    records = [
        ConfigRecord(resource_type=kind, resource_name="x", name="no.such.key", value="1") for kind in (2, 4, 8, 16, 32)
    ]

    assert image_of(records).configs == {(4, "x"): {"no.such.key": "1"}}


def test_records_of_a_transaction_take_effect_when_it_ends() -> None:
    begun = image_of([topic("a", b"a" * 16)], [BEGIN, topic()])
    ended = image_of([topic("a", b"a" * 16)], [BEGIN, topic()], [END])
    aborted = image_of([topic("a", b"a" * 16)], [BEGIN, topic()], [ABORT])

    assert [names(begun), names(ended), names(aborted)] == [["a"], ["a", "orders"], ["a"]]
    assert [begun.last_offset, ended.last_offset, aborted.last_offset] == [0, 3, 3]


def test_a_transaction_that_begins_within_a_batch_leaves_the_image_before_it() -> None:
    image = image_of([topic(), BEGIN, topic("b", b"b" * 16)])

    assert (names(image), image.last_offset) == (["orders"], 0)


def test_a_record_that_contradicts_the_image_is_reported_and_skipped() -> None:
    image = image_of(
        [
            PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(1,)),
            topic(),
            PartitionChangeRecord(partition_id=7, topic_id=TOPIC, isr=(1,)),
            FeatureLevelRecord(name="metadata.version", feature_level=99),
            END,
        ]
    )

    assert names(image) == ["orders"]
    assert [problem.partition(":")[0] for problem in image.problems] == ["offset 0", "offset 2", "offset 3", "offset 4"]
    assert "orders-7" in image.problems[1]


def test_a_log_and_its_snapshots_give_the_same_image() -> None:
    """The newest golden snapshot was taken at offset 1036, and no later record changes the image."""
    partition_directory = GOLDEN / "4.3-static/node-2/__cluster_metadata-0"

    by_log = load_image(str(partition_directory / "00000000000000000000.log"))
    by_snapshot = load_image(str(partition_directory / "00000000000000001036-0000000002.checkpoint"))

    assert by_log.problems == by_snapshot.problems == []
    for table in ("features", "brokers", "controllers", "topic_ids", "configs", "quotas", "acls", "scram", "tokens"):
        assert getattr(by_log, table) == getattr(by_snapshot, table), table
    assert {topic.name: topic.partitions for topic in by_log.topics.values()} == {
        topic.name: topic.partitions for topic in by_snapshot.topics.values()
    }
    assert len(by_log.topics) > 5


def test_a_batch_with_a_wrong_checksum_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "changed.checkpoint"
    data = bytearray((GOLDEN / "4.3-dynamic/node-1/bootstrap.checkpoint").read_bytes())
    data[data.index(b"group.version")] ^= 1
    file.write_bytes(bytes(data))

    assert load_image(str(file)).problems == ["offset 1: the CRC of this batch does not fit its bytes"]
