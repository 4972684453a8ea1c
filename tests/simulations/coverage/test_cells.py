"""The outcome of a message is named by its content, and by what was done with it."""

from __future__ import annotations

from typing import Any

import pytest

from raft.interface import effects as do
from raft.interface.inputs import Source
from records.errors import Error
from records.messages.elections import VoteResponse
from records.messages.fetch import FetchResponse
from records.schema import replace
from records.uuids import METADATA_TOPIC_ID
from simulations.coverage.cells import outcome_of_answer, outcome_of_reply

Topic = FetchResponse.FetchableTopicResponse
Data = Topic.PartitionData
WHO = Source(1, 1)


def fetched(**fields: Any) -> FetchResponse:
    said: dict[str, Any] = {
        "partition_index": 0, "error_code": Error.NONE, "high_watermark": 3, "log_start_offset": 0,
        "diverging_epoch": Data.EpochEndOffset(epoch=-1, end_offset=-1),
        "current_leader": Data.LeaderIdAndEpoch(leader_id=1, leader_epoch=2),
        "snapshot_id": Data.SnapshotId(end_offset=-1, epoch=-1), "records": b"",
    }  # fmt: skip
    topic = Topic(topic_id=METADATA_TOPIC_ID, partitions=(Data(**said | fields),))
    return FetchResponse(error_code=Error.NONE, responses=(topic,))


@pytest.mark.parametrize(
    ("response", "grown", "outcome"),
    [
        (fetched(), 0, "nothing"),
        (fetched(records=b"some"), 2, "records"),
        (fetched(records=b"some"), 0, "damaged"),
        (fetched(diverging_epoch=Data.EpochEndOffset(epoch=1, end_offset=5)), -2, "diverging"),
        (fetched(diverging_epoch=Data.EpochEndOffset(epoch=1, end_offset=5)), 0, "unused"),
        (fetched(snapshot_id=Data.SnapshotId(end_offset=5, epoch=1)), 0, "snapshot"),
        (fetched(error_code=Error.NOT_LEADER_OR_FOLLOWER), 0, "NOT_LEADER_OR_FOLLOWER"),
        (fetched(error_code=Error.SNAPSHOT_NOT_FOUND), 0, "another error"),
        (replace(fetched(), responses=()), 0, "malformed"),
        (replace(fetched(), error_code=Error.INVALID_REQUEST, responses=()), 0, "INVALID_REQUEST"),
    ],
)
def test_an_answer_is_named_by_its_content_and_its_effect(response: FetchResponse, grown: int, outcome: str) -> None:
    assert outcome_of_answer("Fetch", response, [], grown) == outcome


def test_a_request_is_named_by_its_answer() -> None:
    refused = VoteResponse(error_code=Error.INCONSISTENT_CLUSTER_ID, topics=())

    assert outcome_of_reply(do.Reply(WHO, refused)) == "INCONSISTENT_CLUSTER_ID"
    assert outcome_of_reply(do.Reply(WHO, fetched())) == "nothing"
    assert outcome_of_reply(do.ReplyRecords(WHO, fetched(), 0, 1, 100)) == "records"
