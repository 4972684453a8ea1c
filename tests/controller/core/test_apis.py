"""The table of APIs, and the error response of each."""

import pytest

from controller.core.apis import APIS, SERVED_VERSIONS, Kind, served_versions
from controller.interface.refusals import error_response
from controller.state.tables.acl import AclOperation
from records.codec import decode, encode
from records.errors import ApiError, Error, error_text
from records.features.levels import KAFKA_4_3, KAFKA_4_4
from records.registry import response_class
from records.schema import default_of, schema_of

# KIP-590 and later: the APIs that brokers may forward.
FORWARDABLE = {19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 46, 49, 51, 55, 57, 64, 67, 80, 81, 94}
WITHOUT_PERMISSION_OF_THE_WHOLE = {17, 18, 19, 20, 32, 33, 36, 37, 38, 39, 40, 41, 44, 50}


def test_exactly_these_apis_are_announced():
    assert sorted(APIS) == [
        1, 17, 18, 19, 20, 29, 30, 31, 32, 33, 36, 37, 38, 39, 40, 41, 43, 44, 45, 46, 49, 50, 51, 52, 53, 54, 55, 56,
        57, 58, 59, 60, 62, 63, 64, 67, 70, 73, 80, 81, 82, 94,
    ]  # fmt: skip


def test_a_release_serves_the_apis_and_versions_of_that_release():
    api = APIS[94]

    assert served_versions(KAFKA_4_4) == SERVED_VERSIONS
    of_4_3 = {key: each for key, each in SERVED_VERSIONS.items() if key != 94} | {18: (0, 4)}
    assert served_versions(KAFKA_4_3) == of_4_3
    assert (api.kind, api.needs, api.forwardable) == (Kind.WRITE, AclOperation.ALTER, True)


def test_each_announced_version_can_be_decoded_and_encoded():
    for api in APIS.values():
        for cls in (api.request, response_class(api.api_key)):
            low, high = schema_of(cls).versions
            assert low <= api.versions[0] <= api.versions[1] <= high, api


def test_apis_of_the_quorum_have_no_handler_and_all_others_have_one():
    assert {key for key, api in APIS.items() if api.kind == Kind.RAFT} == {1, 52, 53, 54, 55, 59, 80, 81, 82}
    assert {key for key, api in APIS.items() if api.handler is None} == {1, 52, 53, 54, 55, 58, 59, 80, 81, 82}


def test_brokers_may_forward_the_same_apis_as_in_kafka():
    assert {key for key, api in APIS.items() if api.forwardable} == FORWARDABLE


def test_each_api_needs_the_same_operation_as_in_kafka():
    assert {key for key, api in APIS.items() if api.needs is None} == WITHOUT_PERMISSION_OF_THE_WHOLE
    assert {key for key, api in APIS.items() if api.needs == AclOperation.ALTER} == {
        30,
        31,
        43,
        45,
        51,
        57,
        60,
        94,
        64,
        80,
        81,
    }
    assert {key for key, api in APIS.items() if api.needs == AclOperation.DESCRIBE} == {29, 46, 55}
    assert {key for key, api in APIS.items() if api.needs == AclOperation.ALTER_CONFIGS} == {49}


SERVED = [
    (key, version)
    for key, api in APIS.items()
    if api.handler
    for version in range(api.versions[0], api.versions[1] + 1)
]


@pytest.mark.parametrize(("key", "version"), SERVED)
def test_an_error_response_can_be_encoded_in_every_version(key, version):
    request = default_of(APIS[key].request)

    response = error_response(request, ApiError(Error.UNSUPPORTED_VERSION, "because"), version)

    assert type(response) is response_class(key)
    assert decode(type(response), version, encode(response, version)) is not None


@pytest.mark.parametrize(
    ("key", "code", "text", "said"),
    [
        (57, Error.INVALID_REQUEST, "why", "why"),
        # An exception's message is in the answer, if it has one.
        (57, Error.INVALID_REQUEST, None, None),
        (57, Error.UNKNOWN_SERVER_ERROR, "a secret", None),
        (64, Error.BROKER_ID_NOT_REGISTERED, None, error_text(102)),
        (64, Error.BROKER_ID_NOT_REGISTERED, "why", "why"),
        (70, Error.UNSUPPORTED_VERSION, "why", error_text(35)),
    ],
)
def test_an_error_response_has_kafkas_code_and_message(key, code, text, said):
    response = error_response(default_of(APIS[key].request), ApiError(code, text), 0)

    assert (response.error_code, response.error_message) == (code, said)
