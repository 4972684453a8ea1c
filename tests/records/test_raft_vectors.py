"""Each row of `raft-vectors.tsv`: what Kafka's raft classes wrote is what ours write (4.2.0)."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest

from records.batch import batches, build_batch, build_control_batch, records_of
from records.codec import decode, encode
from records.control import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from records.control_batch import LEADER_CHANGE, control_key, control_records_of, encode_control
from records.data import QuorumStateData
from records.frame import decode_record, encode_record
from records.headers import RequestHeader, request_header_version, response_header_version
from records.messages.elections import VoteRequest
from records.messages.fetch_snapshot import FetchSnapshotResponse
from records.metadata.configs import FeatureLevelRecord
from records.metadata.transactions import NoOpRecord
from records.printing.json_form import from_json, to_json
from records.printing.json_text import json_text
from records.registry import APIS, find_class, request_class, response_class
from records.schema import default_of, schema_of
from records.uuids import METADATA_TOPIC_ID, ZERO_UUID, parse_uuid, uuid_text
from records.wire import EncodeError
from tests.records.golden import GOLDEN

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
DIRECTORY_1 = parse_uuid("J8aAPcfLQt2bqs1JT_rMgQ")
DIRECTORY_2 = parse_uuid("MvDxzVmcRsaTz33bUuRU6A")
TIMESTAMP_MS = 1700000000000
VOTER = VotersRecord.Voter
VOTERS = VotersRecord(
    version=0,
    voters=(
        VOTER(
            voter_id=1,
            voter_directory_id=DIRECTORY_1,
            endpoints=(VOTER.Endpoint(name="CONTROLLER", host="localhost", port=9093),),
            kraft_version_feature=VOTER.KRaftVersionFeature(min_supported_version=0, max_supported_version=1),
        ),
    ),
)
LEADER = LeaderChangeMessage(
    version=0,
    leader_id=1,
    voters=tuple(LeaderChangeMessage.Voter(voter_id=voter) for voter in (1, 2, 3)),
    granting_voters=tuple(LeaderChangeMessage.Voter(voter_id=voter) for voter in (1, 3)),
)
HEADER = SnapshotHeaderRecord(version=0, last_contained_log_timestamp=TIMESTAMP_MS)
FOOTER = SnapshotFooterRecord(version=0)
KRAFT_VERSION = KRaftVersionRecord(version=0, kraft_version=1)


@cache
def rows() -> dict[str, str]:
    lines = (GOLDEN / "raft-vectors.tsv").read_text().splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))


def data_of(name: str) -> bytes:
    return bytes.fromhex(rows()[name])


MESSAGE = re.compile(r"(\w+(?:Request|Response|Record|Message))\b.* v(\d+)$")
MESSAGES = [name for name, value in rows().items() if MESSAGE.match(name) and re.fullmatch(r"[0-9a-f]+", value)]


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_body_is_decoded_and_encoded_again(name: str) -> None:
    match = MESSAGE.match(name)
    assert match
    cls, version = find_class(match[1]), int(match[2])

    assert encode(decode(cls, version, data_of(name)), version) == data_of(name)


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("VotersRecord v0", VOTERS),
        ("KRaftVersionRecord v0", KRAFT_VERSION),
        ("SnapshotHeaderRecord v0", HEADER),
        ("SnapshotFooterRecord v0", FOOTER),
        ("LeaderChangeMessage v0", LEADER),
    ],
)
def test_a_control_record_has_the_bytes_of_stock(name: str, record: object) -> None:
    assert encode(record, 0) == data_of(name)


def test_a_pre_vote_has_the_bytes_of_stock() -> None:
    topic = VoteRequest.TopicData
    request = VoteRequest(
        cluster_id=CLUSTER_ID,
        voter_id=2,
        topics=(
            topic(
                topic_name="__cluster_metadata",
                partitions=(
                    topic.PartitionData(
                        partition_index=0,
                        replica_epoch=3,
                        replica_id=1,
                        replica_directory_id=DIRECTORY_1,
                        voter_directory_id=DIRECTORY_2,
                        last_offset_epoch=2,
                        last_offset=42,
                        pre_vote=True,
                    ),
                ),
            ),
        ),
    )

    assert encode(request, 2) == data_of("VoteRequest preVote v2")


def test_uuids_are_those_of_stock() -> None:
    assert uuid_text(METADATA_TOPIC_ID) == rows()["metadata topic id"]
    assert uuid_text(ZERO_UUID) == rows()["zero uuid"]
    assert f"{DIRECTORY_1[:8].hex()} {DIRECTORY_1[8:].hex()}" == rows()["uuid d1"]


@pytest.mark.parametrize(
    ("name", "record", "offset", "epoch"),
    [
        ("LeaderChange batch off=0 epoch=1", LEADER, 0, 1),
        ("VotersRecord batch off=7 epoch=2", VOTERS, 7, 2),
    ],
)
def test_a_control_batch_has_the_bytes_of_stock(name: str, record: object, offset: int, epoch: int) -> None:
    built = build_control_batch(
        [encode_control(record)], base_offset=offset, leader_epoch=epoch, timestamp_ms=TIMESTAMP_MS
    )

    assert built == data_of(name)
    assert [value for _, _, value in control_records_of(built, next(batches(built)))] == [record]


def test_the_key_of_a_leader_change_is_its_type_behind_version_0() -> None:
    assert control_key(LEADER_CHANGE) == bytes.fromhex("00000002")


def test_a_batch_of_metadata_records_has_the_bytes_of_stock() -> None:
    name = "data batch off=10 epoch=3 [FeatureLevel(metadata.version=25) v0, NoOp v0]"
    records = [(FeatureLevelRecord(name="metadata.version", feature_level=25), 0), (NoOpRecord(), 0)]

    built = build_batch(
        [encode_record(record, version) for record, version in records],
        base_offset=10,
        leader_epoch=3,
        timestamp_ms=TIMESTAMP_MS,
    )

    assert built == data_of(name)
    assert [decode_record(record.value or b"") for record in records_of(built, next(batches(built)))] == records


@pytest.mark.parametrize(
    ("name", "epoch", "records"),
    [
        ("00000000000000000000-0000000000", 0, []),
        ("00000000000000000100-0000000004", 4, [FeatureLevelRecord(name="metadata.version", feature_level=25)]),
    ],
)
def test_a_snapshot_has_the_bytes_of_stock(name: str, epoch: int, records: list[object]) -> None:
    """Its offsets count from 0, and its epoch is that of its name."""
    place = {"leader_epoch": epoch, "timestamp_ms": TIMESTAMP_MS}
    first = [encode_control(HEADER), encode_control(KRAFT_VERSION), encode_control(VOTERS)]

    written = build_control_batch(first, base_offset=0, **place)
    if records:
        written += build_batch([encode_record(record, 0) for record in records], base_offset=3, **place)
    written += build_control_batch([encode_control(FOOTER)], base_offset=3 + len(records), **place)

    assert written == data_of(f"file {name}.checkpoint")


@pytest.mark.parametrize("name", [name for name in rows() if name.startswith("quorum-state")])
def test_quorum_state_is_its_schema_as_json(name: str) -> None:
    """The file has the data's version as a last key; reading and writing the file is `raft.storage`'s."""
    tree = json.loads(rows()[name])
    version = tree.pop("data_version")
    state = from_json(QuorumStateData, version, tree)

    assert json_text({**to_json(state, version), "data_version": version}) == rows()[name]


@pytest.mark.parametrize("version", [0, 1])
def test_an_answer_without_snapshot_bytes_is_refused_where_stock_fails_too(version: int) -> None:
    partition = FetchSnapshotResponse.TopicSnapshot.PartitionSnapshot
    answer = FetchSnapshotResponse(
        throttle_time_ms=0,
        error_code=98,
        topics=(FetchSnapshotResponse.TopicSnapshot(name="__cluster_metadata", partitions=(default_of(partition),)),),
    )

    assert rows()[f"FetchSnapshotResponse SNAPSHOT_NOT_FOUND (no records) v{version}"] == "NPE while serializing"
    with pytest.raises(EncodeError, match="unalignedRecords"):
        encode(answer, version)


@pytest.mark.parametrize("name", [name for name in rows() if name.startswith("header versions")])
def test_header_versions_are_those_of_stock(name: str) -> None:
    _, _, api, tag = name.split()
    api_key = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", known).upper(): key for key, (known, _) in APIS.items()}[api]
    version = int(tag[1:])

    request = request_header_version(request_class(api_key), version)
    response = response_header_version(response_class(api_key), version)

    assert f"request header v{request}, response header v{response}" == rows()[name]


def test_a_request_header_has_the_bytes_of_stock() -> None:
    header = RequestHeader(request_api_key=52, request_api_version=2, correlation_id=7, client_id="raft-client-1")

    assert encode(header, 2) == data_of("RequestHeader VOTE v2 client=raft-client-1 corr=7")


def test_every_version_that_a_stock_controller_offers_is_known() -> None:
    offered = re.findall(r"(\d+):(\w+)\[(\d+)-(\d+)\]", rows()["controller listener APIs (4.2.0)"])

    assert len(offered) > 30
    for api_key, name, first, last in offered:
        served = schema_of(request_class(int(api_key))).served
        assert name == APIS[int(api_key)][0]
        assert served
        assert served[0] <= int(first) <= int(last) <= served[1]


def test_every_row_is_tested() -> None:
    shown = {
        *MESSAGES,
        "uuid d1",
        "metadata topic id",
        "zero uuid",
        "LeaderChange batch off=0 epoch=1",
        "VotersRecord batch off=7 epoch=2",
        "data batch off=10 epoch=3 [FeatureLevel(metadata.version=25) v0, NoOp v0]",
        "file 00000000000000000000-0000000000.checkpoint",
        "file 00000000000000000100-0000000004.checkpoint",
        "FetchSnapshotResponse SNAPSHOT_NOT_FOUND (no records) v0",
        "FetchSnapshotResponse SNAPSHOT_NOT_FOUND (no records) v1",
        "RequestHeader VOTE v2 client=raft-client-1 corr=7",
        "controller listener APIs (4.2.0)",
        *(name for name in rows() if name.startswith(("quorum-state", "header versions"))),
    }

    assert set(rows()) - shown == set()
