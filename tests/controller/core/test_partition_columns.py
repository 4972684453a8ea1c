"""The first partitions of a topic by columns: the same bytes, state and undoing as record by record."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from controller.core import partition_columns
from controller.core.partition_columns import in_columns
from controller.interface.slices import Slices
from controller.state.partitions.bulk_batches import messages
from controller.state.partitions.bulk_placing import TopicRuns, place
from controller.state.partitions.first_partitions import FirstPartitions
from controller.state.snapshots import batches as snapshot
from controller.state.view import stable_view
from records.batch import batches
from records.bulk.bulk_scan import ROWS_MIN
from records.errors import Error
from records.frame import encode_record
from records.messages.partitions import AlterPartitionRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.uuids import MIGRATING_DIRECTORY
from tests.controller.rig import Rig, new_topic, replayed

if TYPE_CHECKING:
    from controller.state.state import State
    from records.bulk.bulk_shapes import Columns

TopicData = AlterPartitionRequest.TopicData
NEVER = 1 << 30
BROKERS = range(1, 7)


def cluster(rows_min: int = 2, **settings: int) -> Rig:
    rig = Rig(auto=False, **settings).lead()
    rig.controller.state.rows_min = rows_min
    rig.auto = True
    rig.brokers(*BROKERS)
    rig.auto = False
    return rig


def many(count: int, width: int = 3, seed: int = 1) -> list[tuple[int, ...]]:
    rng = Random(seed)
    return [tuple(rng.sample(BROKERS, width)) for _ in range(count)]


def create(rig: Rig, *names: str, partitions: int = 40) -> int:
    topics = tuple(new_topic(name, *many(partitions, seed=number)) for number, name in enumerate(names))
    return rig.send(CreateTopicsRequest(topics=topics, timeout_ms=60_000, validate_only=False))


def snapshot_of(rig: Rig) -> list[bytes]:
    return list(snapshot(stable_view(rig.state), base_offset=0, leader_epoch=1, timestamp_ms=0))


@pytest.mark.parametrize("version", [1, 2])
def test_the_records_are_those_that_the_encoder_of_one_record_gives(version: int) -> None:
    directories = {broker_id: bytes([broker_id]) * 16 for broker_id in BROKERS}
    topics = [
        FirstPartitions(bytes([number]) * 16, version, many(count, width, number), directories)
        for number, (count, width) in enumerate([(2500, 3), (7, 2), (1, 3), (30, 2), (15, 4)])
    ]

    found = in_columns(topics, ROWS_MIN, Slices())

    assert [topic in found for topic in topics] == [True, True, True, True, False]
    for topic, parts in found.items():
        records = list(topic.records())
        assert [each for part in parts for each in messages(part.columns.part(slice(part.start, part.end)))] == records
        encoded = [value for part in parts for value in part.encoded_rows().to_list()]
        assert encoded == [encode_record(record, version) for record in records]
    assert {len(part.columns) for part in found[topics[0]]} == {500}


def test_records_without_directories_are_not_columns() -> None:
    topic = FirstPartitions(b"t" * 16, 0, many(100), dict.fromkeys(BROKERS, MIGRATING_DIRECTORY))

    assert in_columns([topic], ROWS_MIN, Slices()) == {}


@pytest.mark.parametrize("width", [1, 3, 6])
def test_an_active_controller_has_the_state_that_its_log_gives_record_by_record(width: int) -> None:
    rig = cluster()
    topics = (new_topic("wide", *many(40, width)), new_topic("few", (1,)), new_topic("wider", *many(100, width)))

    assert {topic.error_code for topic in ask(rig, CreateTopicsRequest(topics=topics)).topics} == {0}

    assert rig.state.contents() == replayed(rig.log).contents()
    assert rig.state.partitions.count == 141


def ask(rig: Rig, request: object) -> Any:
    correlation = rig.send(request)
    rig.commit()
    return rig.replies[correlation]


def test_columns_are_used_for_many_partitions_only_and_the_log_is_the_same() -> None:
    logs = []
    for rows_min in (ROWS_MIN, NEVER):
        rig = cluster(rows_min)
        create(rig, "a", "b", partitions=ROWS_MIN // 2)
        create(rig, "c", partitions=ROWS_MIN - 1)
        logs.append((rig.log, rig.state.contents(), len(rig.state.undo)))

    (by_columns, by_record) = logs
    assert by_columns[:2] == by_record[:2]
    assert by_record[2] - by_columns[2] == ROWS_MIN


def test_partitions_that_are_lost_with_their_topic_leave_nothing() -> None:
    rig = cluster()
    create(rig, "kept")
    rig.commit()
    before = rig.state.contents()
    create(rig, "lost", "lost-too")
    assert rig.state.partitions.count == 120

    rig.follow()

    assert rig.state.contents() == before
    assert (rig.state.partitions.count, len(rig.state.undo)) == (40, 0)
    rig.lead()
    rig.commit()
    create(rig, "next", partitions=100)
    rig.commit()
    assert rig.state.contents() == replayed(rig.log).contents()


def test_a_snapshot_has_no_partition_of_a_topic_that_is_not_committed() -> None:
    rig = cluster()
    create(rig, "kept")
    rig.commit()
    wanted = snapshot_of(rig)

    create(rig, "pending")
    pending = snapshot_of(rig)
    topic_id = rig.state.topic_ids["pending"]
    rig.send(DeleteTopicsRequest(topics=(DeleteTopicsRequest.DeleteTopicState(topic_id=topic_id),), timeout_ms=1000))
    deleted = snapshot_of(rig)

    assert (pending, deleted) == (wanted, wanted)
    assert rig.state.partitions.count == 40


def test_what_is_added_to_a_new_topic_is_lost_before_it_or_with_it() -> None:
    rig = cluster()
    before = rig.state.contents()
    create(rig, "grows")
    created = rig.end_offset
    contents = rig.state.contents()
    more = CreatePartitionsRequest.CreatePartitionsTopic(name="grows", count=50, assignments=None)
    rig.send(CreatePartitionsRequest(topics=(more,), timeout_ms=1000, validate_only=False))
    assert rig.state.partitions.count == 50
    rig.state.revert(created)
    grown = rig.state.contents()
    rig.state.revert()

    assert grown == contents
    assert rig.state.contents() == before


def test_topics_of_a_transaction_that_is_aborted_are_gone_and_come_back_if_the_abort_is_lost() -> None:
    rig = cluster(metadata_max_batch_size_in_bytes=3000)
    before = rig.state.contents()
    create(rig, "large", partitions=100)
    created = rig.state.contents()
    assert len(rig.state.spans) == 1
    start = rig.state.spans[0].begin

    rig.state.begin_record(rig.end_offset)
    rig.state.undo.abort(start)
    aborted = rig.state.contents()
    rig.state.undo.revert(rig.end_offset)

    assert {**aborted, "transaction": {}} == {**before, "transaction": {}}
    assert rig.state.contents() == created


def test_of_a_topic_that_is_cut_a_batch_may_be_lost_without_the_one_before_it() -> None:
    rig = cluster(metadata_max_batch_size_in_bytes=3000)
    create(rig, "large", partitions=100)
    (begin, *parts) = [data for data in rig.log if next(batches(data)).base_offset >= rig.state.spans[0].begin]
    kept = [*rig.log[: rig.log.index(begin)], begin, parts[0]]

    rig.commit(next(batches(parts[0])).last_offset + 1)
    rig.follow()

    assert len(parts) > 3
    assert rig.log == kept
    assert rig.state.contents() == replayed(kept).contents()
    assert 0 < rig.state.partitions.count < 100


def test_topics_of_two_numbers_of_replicas_in_turn_are_placed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = cluster()
    placed = []

    def watched(state: State, runs: TopicRuns, columns: Columns) -> bool:
        placed.append(len(columns))
        return place(state, runs, columns)

    monkeypatch.setattr(partition_columns, "place", watched)
    topics = tuple(new_topic(f"t{number}", *many(4, 2 + number % 2)) for number in range(100))

    ask(rig, CreateTopicsRequest(topics=topics))

    assert placed == [200, 200]
    assert rig.state.contents() == replayed(rig.log).contents()


def test_more_replicas_than_the_columns_hold_are_replayed_one_by_one() -> None:
    rig = Rig().lead()
    rig.state.rows_min = 2
    rig.brokers(*range(1, 11))

    rig.create("wide", *[tuple(range(1, 11))] * 20)

    assert rig.state.contents() == replayed(rig.log).contents()
    assert rig.partition("wide", 19).replicas == tuple(range(1, 11))


@pytest.mark.parametrize("metadata_version", [7, 10, 30])
def test_a_broker_that_is_fenced_is_in_no_isr_of_many_partitions(metadata_version: int) -> None:
    rig = Rig(metadata_version=metadata_version).lead()
    rig.state.rows_min = 2
    rig.brokers(1, 2, 3).fence(3)

    rig.create("t", *[(1, 2, 3)] * 20)

    assert {rig.partition("t", index).isr for index in range(20)} == {(1, 2)}
    assert rig.state.contents() == replayed(rig.log).contents()


def test_what_is_told_about_a_new_partition_waits_until_its_topic_is_committed() -> None:
    rig = cluster()
    create(rig, "new")
    partition = rig.partition("new", 7)
    member = TopicData.PartitionData.BrokerState(broker_id=partition.leader, broker_epoch=-1)
    asked = TopicData.PartitionData(partition_index=7, leader_epoch=9, partition_epoch=0, new_isr_with_epochs=(member,))
    data = TopicData(topic_id=rig.state.topic_ids["new"], partitions=(asked,))
    epoch = rig.state.brokers[partition.leader].epoch
    request = AlterPartitionRequest(broker_id=partition.leader, broker_epoch=epoch, topics=(data,))

    correlation = rig.send(request, 3)

    assert correlation not in rig.replies
    rig.commit()
    assert rig.replies[correlation].topics[0].partitions[0].error_code == Error.NOT_CONTROLLER


@pytest.mark.parametrize(("last", "error"), [(9_900, Error.NONE), (9_901, Error.POLICY_VIOLATION)])
def test_partitions_in_columns_count_as_the_records_of_a_request(last: int, error: Error) -> None:
    rig = cluster(16)
    topics = (new_topic("a", *many(98)), new_topic("b", *many(last)))

    response = ask(rig, CreateTopicsRequest(topics=topics))

    assert {topic.error_code for topic in response.topics} == {error}
