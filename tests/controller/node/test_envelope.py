"""Envelopes: the requests in them, and the responses to them; ControllerApisTest's and EnvelopeUtils' cases."""

from dataclasses import replace as replace_context

import pytest

from controller.interface.inputs import Forwarder, Principal, RequestContext
from controller.interface.refusals import error_response
from controller.node.envelope import address_text, seal
from raft.interface.inputs import Source
from records.codec import decode, decode_prefix, encode
from records.data import DefaultPrincipalData
from records.errors import ApiError, Error
from records.features.levels import KAFKA_4_3
from records.headers import RequestHeader, ResponseHeader
from records.messages.acls import CreateAclsRequest
from records.messages.brokers import UnregisterBrokerRequest, UnregisterBrokerResponse
from records.messages.controllers import UnregisterControllerRequest
from records.messages.envelope import EnvelopeRequest, EnvelopeResponse
from records.messages.quorum import DescribeQuorumRequest, DescribeQuorumResponse
from records.messages.topics import CreateTopicsRequest, CreateTopicsResponse
from records.schema import default_of, replace
from tests.controller.envelopes import open_envelope
from tests.controller.rig import Rig, new_topic

PRINCIPAL = b"\0\0" + encode(DefaultPrincipalData(type="User", name="ann", token_authenticated=True), 0)
CONTEXT = RequestContext(Source(4, 9), 58, 0, "CONTROLLER", arrived_ms=77)


def inner(request, version, header_version=2, *, api_key=None, correlation_id=31):
    from records.schema import schema_of

    key = schema_of(type(request)).api_key if api_key is None else api_key
    header = RequestHeader(
        request_api_key=key, request_api_version=version, correlation_id=correlation_id, client_id="tool"
    )
    return encode(header, header_version) + encode(request, version)


def envelope(data, principal=PRINCIPAL, address=bytes([10, 0, 0, 7])):
    return EnvelopeRequest(request_data=data, request_principal=principal, client_host_address=address)


ACL = CreateAclsRequest.AclCreation(
    resource_type=2, resource_name="t", resource_pattern_type=3, principal="User:ann", host="*", operation=3,
    permission_type=0,
)  # fmt: skip
UNREGISTER = inner(UnregisterBrokerRequest(broker_id=5), 0)


def test_a_forwarded_request_has_the_context_of_its_client():
    found = open_envelope(envelope(UNREGISTER), CONTEXT)

    assert found.request == UnregisterBrokerRequest(broker_id=5)
    assert found.context == RequestContext(
        Source(4, 9), 64, 0, "CONTROLLER", 77, Principal("User", "ann", True), "10.0.0.7", "tool", True,
        forwarder=Forwarder(CONTEXT.principal, CONTEXT.client_address),
    )  # fmt: skip
    assert found.header.correlation_id == 31


def test_what_was_decided_about_the_forwarder_is_not_decided_about_its_client():
    found = open_envelope(envelope(UNREGISTER), replace_context(CONTEXT, decisions={"any": True}))

    assert found.context.decisions is None


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (envelope(UNREGISTER, principal=None), Error.PRINCIPAL_DESERIALIZATION_FAILURE),
        (envelope(UNREGISTER, principal=b""), Error.PRINCIPAL_DESERIALIZATION_FAILURE),
        (envelope(UNREGISTER, principal=b"\0\1" + PRINCIPAL[2:]), Error.PRINCIPAL_DESERIALIZATION_FAILURE),
        (envelope(UNREGISTER, principal=PRINCIPAL[:5]), Error.PRINCIPAL_DESERIALIZATION_FAILURE),
        (envelope(UNREGISTER, address=b""), Error.INVALID_REQUEST),
        (envelope(UNREGISTER, address=bytes(5)), Error.INVALID_REQUEST),
        (envelope(b""), Error.UNSUPPORTED_VERSION),
        (envelope(UNREGISTER[:6]), Error.UNSUPPORTED_VERSION),
        (envelope(b"\x7f\xff" + UNREGISTER[2:]), Error.UNSUPPORTED_VERSION),
        (envelope(b"\xff\xff" + UNREGISTER[2:]), Error.UNSUPPORTED_VERSION),
        # Vote is none that may be forwarded; neither is what is not served.
        (envelope(b"\0\x34" + UNREGISTER[2:]), Error.INVALID_REQUEST),
        (envelope(b"\0\x10" + UNREGISTER[2:]), Error.INVALID_REQUEST),
        # The API key 93 is that of brokers, 95 is of a later release than 4.4.
        (envelope(b"\0\x5d" + UNREGISTER[2:]), Error.INVALID_REQUEST),
        (envelope(b"\0\x5f" + UNREGISTER[2:]), Error.UNSUPPORTED_VERSION),
        (envelope(UNREGISTER[:2] + b"\0\1" + UNREGISTER[4:]), Error.UNSUPPORTED_VERSION),
        (envelope(UNREGISTER[:-3]), Error.UNSUPPORTED_VERSION),
        # An ACL with the code 0 for its permission.
        (envelope(inner(CreateAclsRequest(creations=(ACL,)), 3)), Error.UNSUPPORTED_VERSION),
    ],
)
def test_an_invalid_envelope_gets_an_error_of_its_own(given, error):
    with pytest.raises(ApiError) as refusal:
        open_envelope(given, CONTEXT)

    assert refusal.value.code == error


def test_a_forwarded_unregistration_of_a_controller_is_unknown_to_a_node_of_4_3():
    given = envelope(inner(UnregisterControllerRequest(controller_id=7), 0))

    found = open_envelope(given, CONTEXT)
    refusals = []
    for each in (given, envelope(b"\0\x5d" + UNREGISTER[2:])):
        with pytest.raises(ApiError) as refusal:
            open_envelope(each, CONTEXT, KAFKA_4_3)
        refusals.append(refusal.value.code)

    assert (found.context.api_key, found.request) == (94, UnregisterControllerRequest(controller_id=7))
    assert refusals == [Error.UNSUPPORTED_VERSION, Error.UNSUPPORTED_VERSION]


def test_bytes_after_the_forwarded_request_are_ignored_as_in_kafka():
    assert open_envelope(envelope(UNREGISTER + b"\0"), CONTEXT) == open_envelope(envelope(UNREGISTER), CONTEXT)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (envelope(UNREGISTER[:-6] + b"\x65" + b"\x05\0" * 101 + UNREGISTER[-5:]), Error.UNSUPPORTED_VERSION),
        (envelope(UNREGISTER, PRINCIPAL[:-1] + b"\x65" + b"\x05\0" * 101), Error.PRINCIPAL_DESERIALIZATION_FAILURE),
    ],
)
def test_a_header_or_principal_with_very_many_tagged_fields_is_refused(given, error):
    with pytest.raises(ApiError, match="it has more than 100 entries") as refusal:
        open_envelope(given, CONTEXT)

    assert refusal.value.code == error


def test_a_forwarded_request_that_is_decoded_on_the_loop_has_a_bounded_number_of_entries():
    topic = DescribeQuorumRequest.TopicData(topic_name="t", partitions=())
    few, many = (inner(DescribeQuorumRequest(topics=(topic,) * count), 2) for count in (30_000, 30_001))

    assert len(open_envelope(envelope(few), CONTEXT).request.topics) == 30_000
    with pytest.raises(ApiError, match="it has more than 30000 entries") as refusal:
        open_envelope(envelope(many), CONTEXT)
    assert refusal.value.code == Error.UNSUPPORTED_VERSION


def test_the_first_error_of_an_envelope_counts():
    with pytest.raises(ApiError) as refusal:
        open_envelope(envelope(b"", principal=None, address=b""), CONTEXT)

    assert refusal.value.code == Error.PRINCIPAL_DESERIALIZATION_FAILURE


def test_the_envelope_contains_the_response_that_the_client_would_get():
    found = open_envelope(envelope(UNREGISTER), CONTEXT)
    response = UnregisterBrokerResponse(throttle_time_ms=0, error_code=0, error_message=None)

    answer = seal(found.header, response)

    assert answer.error_code == 0
    header, position = decode_prefix(ResponseHeader, 1, answer.response_data, 0)
    assert (header.correlation_id, decode(UnregisterBrokerResponse, 0, answer.response_data[position:])) == (
        31,
        response,
    )


@pytest.mark.parametrize("deep", [False, True])
def test_not_controller_in_a_response_becomes_the_error_of_the_envelope(deep):
    request = CreateTopicsRequest(topics=(new_topic("foo", (0,)),)) if deep else UnregisterBrokerRequest(broker_id=1)
    header = open_envelope(envelope(inner(request, 7 if deep else 0)), CONTEXT).header

    answer = seal(header, error_response(request, ApiError(Error.NOT_CONTROLLER), 7))

    assert answer == EnvelopeResponse(response_data=None, error_code=Error.NOT_CONTROLLER)


@pytest.mark.parametrize("codes", [(Error.NOT_CONTROLLER, 0), (0, Error.NOT_CONTROLLER), (0, 0)])
def test_not_controller_at_any_topic_becomes_the_error_of_the_envelope(codes):
    request = CreateTopicsRequest(topics=(new_topic("foo", (0,)), new_topic("bar", (0,))))
    header = open_envelope(envelope(inner(request, 7)), CONTEXT).header
    refused = error_response(request, ApiError(Error.INVALID_REQUEST), 7)
    topics = tuple(replace(topic, error_code=code) for topic, code in zip(refused.topics, codes, strict=True))

    answer = seal(header, replace(refused, topics=topics))

    assert answer.error_code == max(codes)
    assert (answer.response_data is None) == any(codes)


def test_a_describe_quorum_at_a_follower_becomes_not_controller():
    found = open_envelope(envelope(inner(DescribeQuorumRequest(topics=()), 2)), CONTEXT)
    response = replace(default_of(DescribeQuorumResponse), error_code=Error.NOT_LEADER_OR_FOLLOWER)

    assert seal(found.header, response).error_code == Error.NOT_CONTROLLER


def test_a_forwarded_request_is_served_like_any_other():
    rig = Rig().lead().brokers(0)
    request = CreateTopicsRequest(topics=(new_topic("foo", (0,)),))
    found = open_envelope(envelope(inner(request, 7)), CONTEXT)

    response = rig.ask(found.request, found.context.version, forwarded=True)

    assert isinstance(response, CreateTopicsResponse)
    assert seal(found.header, response).error_code == 0


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (bytes([127, 0, 0, 1]), "127.0.0.1"),
        (bytes(15) + b"\1", "0:0:0:0:0:0:0:1"),
        (bytes.fromhex("20010db8000000000000000000000a0b"), "2001:db8:0:0:0:0:0:a0b"),
        (bytes(10) + b"\xff\xff" + bytes([10, 1, 2, 3]), "10.1.2.3"),
    ],
)
def test_addresses_are_written_as_java_writes_them(data, text):
    assert address_text(data) == text
