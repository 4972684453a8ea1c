"""The cluster in a copy of the log equals the controller's image; errors name the file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from pipeline.planner.cluster import BadCluster, Broker
from pipeline.planner.image import Image, image_of
from records.batch import build_batch
from records.frame import encode_record
from records.metadata.brokers import RegisterBrokerRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from tools.offline.load import load_image

if TYPE_CHECKING:
    from tools.offline.image import Image as Replayed

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
LOG = "__cluster_metadata-0/00000000000000000000.log"
TOPIC, OTHER = UUID(int=5).bytes, UUID(int=6).bytes


def plain(image: Image) -> tuple[list[Broker], dict[tuple[str, int], list[int]]]:
    cluster = image.cluster
    names = [cluster.topics[number] for number in cluster.topic]
    partitions = {
        (name, int(cluster.partition_id[row])): cluster.replicas_of(row) for row, name in enumerate(names)
    }  # fmt: skip
    return list(cluster.brokers), partitions


def replayed(found: Replayed) -> tuple[list[Broker], dict[tuple[str, int], list[int]]]:
    brokers = [Broker(one.broker_id, one.rack, one.fenced) for _, one in sorted(found.brokers.items())]
    partitions = {
        (topic.name, number): list(partition.replicas)
        for topic in found.topics.values()
        for number, partition in topic.partitions.items()
    }
    return brokers, partitions


@pytest.mark.parametrize("directory", ["4.3-static/node-1", "4.0-static/node-2"])
def test_the_image_of_a_stock_directory_equals_a_replay_record_by_record(directory: str) -> None:
    found = image_of(str(GOLDEN / directory))

    log = load_image(str(GOLDEN / directory / LOG))
    assert plain(found) == replayed(log)
    assert found.end_offset == log.last_offset + 1


def test_of_a_folder_of_nodes_the_most_advanced_is_read() -> None:
    ends = [image_of(str(GOLDEN / f"4.3-static/node-{node}")).end_offset for node in (1, 2, 3)]

    assert image_of(str(GOLDEN / "4.3-static")).end_offset == max(ends)


def log_of(path: Path, records: list[object], base_offset: int = 0) -> Path:
    """A copy of a log of one batch."""
    path.mkdir()
    versions = {RegisterBrokerRecord: 1}
    values = [encode_record(record, versions.get(type(record), 0)) for record in records]
    batch = build_batch(values, base_offset=base_offset, leader_epoch=1, timestamp_ms=0)
    (path / f"{base_offset:020}.log").write_bytes(batch)
    return path


def broker(number: int) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=number, incarnation_id=UUID(int=number).bytes, broker_epoch=number, end_points=[], features=[],
        rack=f"r{number % 2}", fenced=number == 3,
    )  # fmt: skip


def partition(topic: bytes, number: int, replicas: list[int]) -> PartitionRecord:
    return PartitionRecord(
        partition_id=number, topic_id=topic, replicas=replicas, isr=replicas, removing_replicas=[], adding_replicas=[],
        leader=replicas[0], leader_epoch=0, partition_epoch=0,
    )  # fmt: skip


def test_partitions_in_reassignment_have_their_target_replicas(tmp_path: Path) -> None:
    many = list(range(10))
    log = log_of(tmp_path / "copy", [
        *map(broker, many),
        TopicRecord(name="t", topic_id=TOPIC), TopicRecord(name="gone", topic_id=OTHER),
        partition(TOPIC, 0, [1, 2]), partition(TOPIC, 1, many), partition(TOPIC, 2, [4]), partition(OTHER, 0, many),
        RemoveTopicRecord(topic_id=OTHER),
        PartitionChangeRecord(
            partition_id=0, topic_id=TOPIC, replicas=[3, 4, 1, 2], removing_replicas=[1, 2], adding_replicas=[3, 4]
        ),
    ])  # fmt: skip

    found = image_of(str(log), "a-cluster")

    brokers = [Broker(number, f"r{number % 2}", fenced=number == 3) for number in many]
    assert plain(found) == (brokers, {("t", 0): [3, 4], ("t", 1): many, ("t", 2): [4]})
    assert found.reassigning == 1


def test_an_invalid_log_is_refused_with_its_name(tmp_path: Path) -> None:
    copy = tmp_path / "node"
    shutil.copytree(GOLDEN / "4.3-dynamic" / "node-1", copy)
    log = copy / LOG
    data = bytearray(log.read_bytes())
    data[-1] ^= 1
    log.write_bytes(data)
    unnamed = log_of(tmp_path / "copy", [broker(1)])

    with pytest.raises(BadCluster, match=str(log)):
        image_of(str(copy))
    with pytest.raises(BadCluster, match=r"copy.*of which cluster"):
        image_of(str(unnamed))
    with pytest.raises(BadCluster, match=r"nowhere: No such file"):
        image_of(str(tmp_path / "nowhere"))


def test_a_torn_tail_is_ignored(tmp_path: Path) -> None:
    copy = tmp_path / "node"
    shutil.copytree(GOLDEN / "4.0-static" / "node-1", copy)
    whole = image_of(str(copy))
    with (copy / LOG).open("ab") as log:
        log.write(b"\0" * 7)

    assert plain(image_of(str(copy))) == plain(whole)


def test_a_log_without_its_beginning_is_refused(tmp_path: Path) -> None:
    log = log_of(tmp_path / "copy", [broker(1)], base_offset=70)

    with pytest.raises(BadCluster, match="offsets 0 to 69 are in no file before it"):
        image_of(str(log), "a-cluster")
