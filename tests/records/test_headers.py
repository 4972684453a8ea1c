"""Headers of requests and responses, and their versions."""

from __future__ import annotations

from records.codec import decode, encode
from records.headers import RequestHeader, ResponseHeader, request_header_version, response_header_version
from records.registry import request_class, response_class

CREATE_TOPICS, CONTROLLED_SHUTDOWN, API_VERSIONS = 19, 7, 18


def test_flexible_messages_have_flexible_headers() -> None:
    assert [request_header_version(request_class(CREATE_TOPICS), version) for version in (4, 5)] == [1, 2]
    assert [response_header_version(response_class(CREATE_TOPICS), version) for version in (4, 5)] == [0, 1]


def test_the_header_of_an_api_with_flexible_versions_alone_is_flexible_in_any_version() -> None:
    # API 93 is flexible from its first version, ApiVersions from its version 3.
    for version in (-32768, -1, 0, 99):
        assert request_header_version(request_class(93), version) == 2
        assert response_header_version(response_class(93), version) == 1
        assert request_header_version(request_class(18), min(version, 2)) == 1


def test_the_response_to_api_versions_always_has_header_version_0() -> None:
    assert request_header_version(request_class(API_VERSIONS), 3) == 2
    assert [response_header_version(response_class(API_VERSIONS), version) for version in range(6)] == [0] * 6


def test_the_first_controlled_shutdown_had_no_client_id() -> None:
    assert [request_header_version(request_class(CONTROLLED_SHUTDOWN), version) for version in (0, 1)] == [0, 1]


def test_the_client_id_keeps_its_plain_length_in_a_flexible_header() -> None:
    header = RequestHeader(request_api_key=3, request_api_version=12, correlation_id=5, client_id="ab")

    assert encode(header, 2) == bytes.fromhex("0003 000c 00000005 0002 6162 00")
    assert encode(RequestHeader(3, 12, 5, None), 2) == bytes.fromhex("0003 000c 00000005 ffff 00")  # type: ignore[call-arg]
    assert decode(RequestHeader, 2, encode(header, 2)) == header


def test_a_response_header_is_the_correlation_id() -> None:
    assert encode(ResponseHeader(correlation_id=-2), 0) == bytes.fromhex("fffffffe")
    assert encode(ResponseHeader(correlation_id=-2), 1) == bytes.fromhex("fffffffe 00")
