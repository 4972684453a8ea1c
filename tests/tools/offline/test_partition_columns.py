"""An image whose partitions are in columns equals one of objects, and its partitions can be changed."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from records.batch import build_batch, seal
from records.frame import encode_record
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, TopicRecord
from records.metadata.transactions import NoOpRecord
from records.wire import zigzag
from tests.tools.offline.random_metadata import TIME_MS, RandomMetadata, batches_of, values_of
from tools.kraftctl.points.changes import compare
from tools.kraftctl.points.noting_image import NotingImage
from tools.offline import load as load_module
from tools.offline.image import Image
from tools.offline.log_file import DamagedLog
from tools.offline.partition_columns import StoredPartitions
from tools.offline.take_in import take_in

if TYPE_CHECKING:
    from pathlib import Path


def image_of(data: bytes, *, is_large: bool, image: Image | None = None) -> Image:
    image = Image() if image is None else image
    image.is_large = is_large
    assert take_in(image, data, 0, None).position == len(data)
    return image


def contents(image: Image) -> dict[str, Any]:
    """All tables, the topics with their partitions, the problems, and the place in the log."""
    known = {name: value for name, value in vars(image).items() if name not in ("columns", "is_large", "topics")}
    topics = {
        topic_id: (topic.name, topic.topic_id, dict(topic.read_partitions()))
        for topic_id, topic in image.topics.items()
    }
    return {**known, "topics": topics}


def stored_topics(image: Image) -> int:
    return sum(1 for topic in image.topics.values() if isinstance(topic.read_partitions(), StoredPartitions))


def changes(one: NotingImage, other: NotingImage) -> list[Any]:
    return compare(one.value_tables(), other.value_tables(), lambda _change: True)


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("faults", [0.0, 0.002])
def test_an_image_of_columns_equals_one_of_objects(seed: int, faults: float) -> None:
    rng = Random(seed)
    source = RandomMetadata(rng, faults)
    values = values_of(source.records(2000, of_checkpoint=True), rng)
    data, more = batches_of(values, 0, 1, rng), values_of(source.records(500), rng)

    by_columns, one_by_one = (image_of(data, is_large=is_large) for is_large in (True, False))

    assert (stored_topics(by_columns) > 0 or faults > 0, stored_topics(one_by_one)) == (True, 0)
    assert contents(by_columns) == contents(one_by_one)
    for image in (by_columns, one_by_one):
        take_in(image, batches_of(more, len(values), 1, Random(seed)), len(values), None)
    assert contents(by_columns) == contents(one_by_one)
    assert by_columns.problems == [] or faults


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file_gives_the_same_image_and_problems(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(seed)
    values = values_of(RandomMetadata(rng).records(1000, of_checkpoint=True), rng)
    data = bytearray(batches_of(values, 0, 1, rng))
    for _ in range(rng.choice((1, 3, 30))):
        data[rng.randrange(len(data))] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    file = tmp_path / "damaged"
    file.write_bytes(data)

    def load(large_bytes: int) -> Any:
        monkeypatch.setattr(load_module, "LARGE_BYTES", large_bytes)
        try:
            return contents(load_module.load_image(str(file)))
        except DamagedLog as error:
            return str(error)

    assert load(0) == load(1 << 62)


@pytest.mark.parametrize("seed", range(4))
def test_partitions_are_read_one_at_a_time(seed: int) -> None:
    rng = Random(seed)
    records = RandomMetadata(rng).records(2000, of_checkpoint=True)
    data = batches_of(values_of(records, rng), 0, 1, rng)
    by_columns, one_by_one = (image_of(data, is_large=is_large) for is_large in (True, False))

    for topic_id, topic in one_by_one.topics.items():
        partitions = by_columns.topics[topic_id].read_partitions()
        assert sorted(partitions) == sorted(topic.partitions)
        assert len(partitions) == len(topic.partitions)
        assert all(partitions[number] == topic.partitions[number] for number in topic.partitions)
        assert [number in partitions for number in (-1, 1 << 31)] == [False, False]
        assert partitions.get(1 << 31) is None


def test_a_changed_partition_makes_objects_of_its_topic_alone() -> None:
    source = RandomMetadata(Random(1))
    first, second = ([] for _ in range(2))
    while len(first) < 100:
        first = source.topic()
    while len(second) < 100:
        second = source.topic()
    image = image_of(batch_of([*first, *second]), is_large=True)
    topic, other = (image.topics[records[0].topic_id] for records in (first, second))
    before = dict(topic.read_partitions())

    image.take(PartitionChangeRecord(partition_id=3, topic_id=topic.topic_id, leader=77), 1000)

    after = topic.partitions
    assert after == {**before, 3: before[3]._replace(
        leader=77, leader_epoch=after[3].leader_epoch, partition_epoch=before[3].partition_epoch + 1
    )}  # fmt: skip
    assert (topic.stored, type(other.stored)) == (None, StoredPartitions)


def test_a_batch_behind_a_change_is_taken_in_by_columns_too() -> None:
    source = RandomMetadata(Random(5))
    first, second = ([] for _ in range(2))
    while len(first) < 100:
        first = source.topic()
    while len(second) < 100:
        second = source.topic()
    change = PartitionChangeRecord(partition_id=3, topic_id=first[0].topic_id, leader=77)
    again = [*second[1:], *first[1:]]
    batches = [[*first, second[0], second[1]], [change], again, second[2:]]
    data = b""
    offset = 0
    for records in batches:
        data += batch_of(records, offset)
        offset += len(records)

    by_columns, one_by_one = (image_of(data, is_large=is_large) for is_large in (True, False))

    assert contents(by_columns) == contents(one_by_one)


def test_partitions_before_their_topic_become_problems() -> None:
    source = RandomMetadata(Random(6))
    while len(records := source.topic()) < 100:
        pass
    topic, *partitions = records
    data = batch_of([*partitions, NoOpRecord(), topic, *partitions])

    by_columns, one_by_one = (image_of(data, is_large=is_large) for is_large in (True, False))

    assert contents(by_columns) == contents(one_by_one)
    assert len(by_columns.problems) == len(partitions)


def test_of_two_topics_of_one_name_the_last_counts() -> None:
    parts = []
    for number in range(100):
        name, topic_id = ("same", b"z" * 16) if number in (5, 90) else (f"{number:04}", b"y" * 16)
        value = encode_record(TopicRecord(name=name, topic_id=topic_id[:15] + bytes([number])), 0)
        # The first of them has its own time, so it is no part of the columns.
        body = b"\0" + zigzag(number == 5) + zigzag(number) + b"\1" + zigzag(len(value)) + value + b"\0"
        parts.append(zigzag(len(body)) + body)

    image = image_of(seal(b"".join(parts), len(parts), 0, 1, TIME_MS), is_large=True)

    assert image.topic_ids["same"] == b"z" * 15 + bytes([90])


def test_a_noting_image_notes_no_change_when_its_partitions_become_objects() -> None:
    records = [
        record
        for record in RandomMetadata(Random(2)).records(500, of_checkpoint=True)
        if not isinstance(record, TopicRecord)
    ]
    topics = [TopicRecord(name=f"topic-{number}", topic_id=topic_id) for number, topic_id in enumerate(
        {record.topic_id: None for record in records if isinstance(record, PartitionRecord)}
    )]  # fmt: skip
    partitions = [record for record in records if isinstance(record, PartitionRecord)]
    image = NotingImage()
    image_of(batch_of([*topics, *partitions]), is_large=True, image=image)
    image.notes = True
    assert stored_topics(image) == len(topics)

    record = PartitionChangeRecord(partition_id=0, topic_id=topics[0].topic_id, leader=1234)
    image.take_batch([(record, 9000)], 9000, 1, TIME_MS)

    assert [(each.offset, each.change.what) for each in image.changes] == [(9000, "changed")]


def test_equal_columns_are_compared_anew_after_a_change() -> None:
    source = RandomMetadata(Random(4))
    while len(records := source.topic()) < 100:
        pass
    one, other = (image_of(batch_of(records), is_large=True) for _ in range(2))
    topic_id = records[0].topic_id
    before = one.topics[topic_id].read_partitions() == other.topics[topic_id].read_partitions()
    columns = other.topics[topic_id].read_partitions()
    assert isinstance(columns, StoredPartitions)
    changed = columns[5]._replace(leader_epoch=columns[5].leader_epoch - 1)

    columns.partitions.change(columns._topic.row(5), columns[5], changed)

    assert before
    assert one.topics[topic_id].read_partitions() != other.topics[topic_id].read_partitions()


@pytest.mark.parametrize("seed", range(8))
def test_two_images_of_columns_differ_as_those_of_objects(seed: int) -> None:
    rng = Random(seed)
    source = RandomMetadata(rng)
    values = values_of(source.records(1500, of_checkpoint=True))
    more = values_of(source.records(200))
    one, other = batches_of(values, 0, 1, rng), batches_of([*values, *more], 0, 1, rng)

    def images(*, is_large: bool) -> list[NotingImage]:
        made = [NotingImage(), NotingImage()]
        for image, data in zip(made, (one, other), strict=True):
            image_of(data, is_large=is_large, image=image)
        return made

    assert changes(*images(is_large=True)) == changes(*images(is_large=False))
    assert changes(images(is_large=True)[0], images(is_large=True)[0]) == []
    assert changes(images(is_large=True)[1], images(is_large=False)[1]) == []


def batch_of(records: list[Any], base_offset: int = 0) -> bytes:
    return build_batch(values_of(records), base_offset=base_offset, leader_epoch=1, timestamp_ms=TIME_MS)
