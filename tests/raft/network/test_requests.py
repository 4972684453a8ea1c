"""Frames become requests, or are refused with the requested and the served versions."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raft.interface.inputs import Source
from raft.network.requests import BadRequest, Incoming, parse_request, response_frame, unsupported_api_versions
from records.codec import decode, encode
from records.messages.elections import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from records.messages.fetch import FetchResponse
from records.messages.quorum import DescribeQuorumResponse
from records.messages.versions import ApiVersionsResponse
from records.schema import replace
from tests.raft.network.peers import VERSIONS, api_versions, describe_quorum, request_frame

REQUEST = describe_quorum()


def test_a_request_is_read_with_its_header() -> None:
    frame = request_frame(REQUEST, 2, correlation_id=-5, client_id="é")[4:]

    found = parse_request(frame, VERSIONS)

    assert found[:5] == (55, 2, -5, "é", REQUEST)
    incoming = Incoming(Source(1, 2), 55, 2, -5, "é", found.message, frame, found.body_at, "CONTROLLER", "")
    assert incoming.body == encode(REQUEST, 2)


def test_versions_before_the_flexible_ones_have_the_older_header() -> None:
    request = BeginQuorumEpochRequest(cluster_id="c", topics=())

    found = parse_request(request_frame(request, 0)[4:], VERSIONS)

    assert (found.version, found.message.cluster_id) == (0, "c")


def test_a_client_without_a_name_is_served() -> None:
    assert parse_request(request_frame(REQUEST, 2, client_id=None)[4:], VERSIONS).client_id is None


def test_an_api_versions_request_of_an_unknown_version_is_not_read() -> None:
    frame = b"\x00\x12\x00\x63\x00\x00\x00\x07" + b"\x00\x04test" + b"\x00" + b"whatever comes then"

    found = parse_request(frame, VERSIONS | {18: (0, 4)})

    assert found[:5] == (18, 99, 7, "test", None)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"", "0 bytes are no request"),
        (b"\0" * 7, "7 bytes are no request"),
        (b"\x7f\xff\0\0\0\0\0\0", "API key 32767, version 0, is not served here"),
        (b"\xff\xff\0\0\0\0\0\0", "API key -1, version 0, is not served here"),
        (b"\0\x37\0\x03\0\0\0\0", "version 3 of API key 55 is not served here, only 0 to 2"),
        (b"\0\x37\xff\xff\0\0\0\0", "version -1 of API key 55 is not served here"),
        (b"\0\x37\0\x02\0\0\0\0", "RequestHeader v2 clientId"),
        (b"\0\x37\0\x02\0\0\0\0\xff\xff", "RequestHeader v2"),
        (request_frame(REQUEST, 2)[4:-1], "DescribeQuorumRequest v2"),
        (api_versions(version=4)[4:-3], "ApiVersionsRequest v4"),
    ],
)
def test_bytes_that_are_not_a_request_are_refused_with_the_reason(frame: bytes, reason: str) -> None:
    with pytest.raises(BadRequest) as error:
        parse_request(frame, VERSIONS)

    assert reason in str(error.value)


def test_a_header_has_a_bounded_number_of_tagged_fields() -> None:
    body = encode(REQUEST, 2)
    head = request_frame(REQUEST, 2)[4 : -len(body) - 1]

    found = parse_request(head + b"\x64" + b"\x05\0" * 100 + body, VERSIONS)

    assert found.message == REQUEST
    # Also where they are left undecoded, or are not whole.
    for tags in (b"\x05\0" * 101, b"\x05\xff" + bytes(300)):
        with pytest.raises(BadRequest, match="RequestHeader v2: it has more than 100 entries"):
            parse_request(head + b"\x65" + tags + body, VERSIONS, lambda _key, _size: True)


def test_a_small_request_may_have_a_lower_limit_of_entries_than_others() -> None:
    topics = REQUEST.topics * 3
    frame = request_frame(replace(REQUEST, topics=topics), 2)[4:]

    assert parse_request(frame, VERSIONS).message.topics == topics
    assert parse_request(frame, VERSIONS, entries_max=9).message.topics == topics
    with pytest.raises(BadRequest, match="DescribeQuorumRequest v2: it has more than 2 entries"):
        parse_request(frame, VERSIONS, entries_max=2)


def test_bytes_after_a_request_are_ignored_as_in_kafka() -> None:
    frame = request_frame(REQUEST, 2)[4:]

    assert parse_request(frame + b"more", VERSIONS) == parse_request(frame, VERSIONS)


@given(st.binary(max_size=60), st.sampled_from(sorted(VERSIONS)), st.integers(-1, 20))
def test_any_bytes_are_parsed_or_refused(body: bytes, api_key: int, version: int) -> None:
    frame = api_key.to_bytes(2, "big") + version.to_bytes(2, "big", signed=True) + body
    with contextlib.suppress(BadRequest):
        parse_request(frame, VERSIONS)


@pytest.mark.parametrize(
    ("response", "version", "header"),
    [
        (DescribeQuorumResponse(error_code=0, topics=()), 2, b"\0\0\0\x09\0"),
        (BeginQuorumEpochResponse(error_code=0, topics=()), 0, b"\0\0\0\x09"),
        (ApiVersionsResponse(error_code=0, api_keys=()), 4, b"\0\0\0\x09"),
    ],
)
def test_an_answer_has_the_header_of_its_version(response: object, version: int, header: bytes) -> None:
    frame = b"".join(response_frame(response, version, 9))

    assert frame[:4] == (len(frame) - 4).to_bytes(4, "big")
    assert frame[4:] == header + encode(response, version)


def test_the_records_of_an_answer_are_not_copied() -> None:
    records = bytes(100_000)
    partition = FetchResponse.FetchableTopicResponse.PartitionData(
        partition_index=0, error_code=0, high_watermark=5, aborted_transactions=(), records=records
    )
    topic = FetchResponse.FetchableTopicResponse(topic_id=bytes(16), partitions=(partition,))

    pieces = response_frame(FetchResponse(responses=(topic,)), 17, 9)

    assert any(piece is records for piece in pieces)
    frame = b"".join(pieces)
    assert decode(FetchResponse, 17, frame[9:]).responses[0].partitions[0].records == records


def test_the_answer_to_an_unknown_version_lists_the_served_ones() -> None:
    answer = unsupported_api_versions({18: (0, 4), 55: (0, 2)})

    # As stock 4.3.1 answers: error 35, one API, 18 from 0 to 4.
    assert encode(answer, 0) == bytes.fromhex("0023 00000001 0012 0000 0004")
