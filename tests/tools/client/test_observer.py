"""Reading the log as an observer: requests that fail are repeated at the leader of that time, refusals are not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from records.errors import Error
from records.messages.fetch import FetchResponse
from records.messages.fetch_snapshot import FetchSnapshotResponse
from tests.tools.client.test_admin import nodes
from tests.tools.client.test_quorum import answer, at, quorum
from tools.client.observer import Observer
from tools.client.quorum import NoLeader, NotAnswered, Refused

if TYPE_CHECKING:
    from tests.tools.client.test_admin import Node

FETCH, FETCH_SNAPSHOT = 1, 59


def fetched(code: int = 0, top: int = 0) -> FetchResponse:
    partition = FetchResponse.FetchableTopicResponse.PartitionData(
        partition_index=0, error_code=code, high_watermark=40, records=b"records"
    )
    topic = FetchResponse.FetchableTopicResponse(partitions=(partition,))
    return FetchResponse(error_code=top, responses=(topic,))


def part(data: bytes, size: int) -> FetchSnapshotResponse:
    kind = FetchSnapshotResponse.TopicSnapshot
    partition = kind.PartitionSnapshot(
        index=0, error_code=0, snapshot_id=kind.PartitionSnapshot.SnapshotId(end_offset=9, epoch=2), size=size,
        position=0, unaligned_records=data,
    )  # fmt: skip
    return FetchSnapshotResponse(
        throttle_time_ms=0, error_code=0, topics=(kind(name="__cluster_metadata", partitions=(partition,)),)
    )


def lead(node: Node, response: Any) -> None:
    answer(node, quorum())
    node.versions[FETCH] = 17
    node.answers[FETCH] = lambda: response


def test_a_fetch_is_repeated_at_the_leader_of_that_time() -> None:
    with nodes({}, {}) as (one, two):
        lead(one, fetched(Error.NOT_LEADER_OR_FOLLOWER))
        lead(two, fetched())

        with Observer(at(one, two), "test", 5.0) as observer:

            def fetch() -> Any:
                try:
                    return observer.fetch(5)
                finally:
                    answer(one, quorum(Error.NOT_LEADER_OR_FOLLOWER))

            found = observer.repeat(fetch)

            assert (bytes(found.records), observer.leader) == (b"records", f"127.0.0.1:{two.port}")
            assert (one.asked.count(FETCH), two.asked.count(FETCH)) == (1, 1)


def test_what_the_leader_answers_is_said_when_the_time_is_over() -> None:
    with nodes({}) as (one,):
        lead(one, fetched(Error.UNKNOWN_SERVER_ERROR))

        with Observer(at(one), "test", 0.2) as observer, pytest.raises(NoLeader) as error:
            observer.repeat(partial(observer.fetch, 5))

    assert type(error.value) is NoLeader
    assert str(error.value) == (
        f"no leader of the quorum answered within 0.2 s: 127.0.0.1:{one.port}: Fetch: UNKNOWN_SERVER_ERROR"
    )


def test_a_refused_fetch_is_not_repeated() -> None:
    with nodes({}) as (one,):
        lead(one, fetched(top=Error.CLUSTER_AUTHORIZATION_FAILED))

        with Observer(at(one), "test", 5.0) as observer, pytest.raises(Refused, match="needs ClusterAction"):
            observer.repeat(partial(observer.fetch, 5))

    assert one.asked.count(FETCH) == 1


def test_a_snapshot_is_put_together_and_one_that_ends_early_is_an_error() -> None:
    with nodes({}) as (one,):
        lead(one, fetched())
        one.versions[FETCH_SNAPSHOT] = 1
        parts = iter([part(b"abc", 5), part(b"de", 5), part(b"abc", 5), part(b"", 5)])
        one.answers[FETCH_SNAPSHOT] = lambda: next(parts)

        with Observer(at(one), "test", 5.0) as observer:
            assert observer.fetch_snapshot(9, 2) == b"abcde"
            with pytest.raises(NotAnswered, match="snapshot 9-2 ends after 3 of 5 bytes"):
                observer.fetch_snapshot(9, 2)
