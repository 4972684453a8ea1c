"""Envelopes and requests that are too large: the allowed answers of a node, and the detection of others."""

from __future__ import annotations

from typing import Any

import pytest

from controller.interface.inputs import RequestContext
from controller.node.envelope import seal
from raft.interface.inputs import Source
from records.codec import encode
from records.data import DefaultPrincipalData
from records.errors import ApiError, Error
from records.headers import RequestHeader
from records.messages.envelope import EnvelopeRequest, EnvelopeResponse
from records.messages.reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from records.schema import replace
from simulations.sockets.envelopes import CLOSED, check_answer, check_large, is_from, print_address, read
from simulations.sockets.rogue_envelopes import _WRONGS, ADDRESSES
from simulations.world.violation import Violation
from tests.controller.envelopes import open_envelope

HEADER = RequestHeader(request_api_key=46, request_api_version=0, correlation_id=7, client_id="a client")
REQUEST = ListPartitionReassignmentsRequest(topics=None, timeout_ms=1)
CONTEXT = RequestContext(Source(1, 1), 58, 0, "CONTROLLER")
PRINCIPAL = bytes(2) + encode(DefaultPrincipalData(type="User", name="me", token_authenticated=True), 0)


def envelope(**fields: Any) -> EnvelopeRequest:
    plain = EnvelopeRequest(
        request_data=encode(HEADER, 2) + encode(REQUEST, 0), request_principal=PRINCIPAL,
        client_host_address=ADDRESSES[0],
    )  # fmt: skip
    return replace(plain, **fields)


def answer(error: Error) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(throttle_time_ms=0, error_code=error, error_message=None, topics=())


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_request_in_an_envelope_is_served_with_the_principal_of_its_sender(address: bytes) -> None:
    sent = envelope(client_host_address=address)
    context = open_envelope(sent, CONTEXT).context

    assert is_from(read(sent), context)
    assert not is_from(read(sent), CONTEXT)


def test_addresses_are_printed_as_by_java() -> None:
    assert [print_address(each) for each in ADDRESSES] == [
        "10.0.0.9", "10.0.0.9", "0:0:0:0:0:0:0:1", "2001:db8:0:0:0:0:0:a0b1",
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", _WRONGS)
def test_an_invalid_envelope_gets_the_expected_error(wrong: Any) -> None:
    plain = envelope()
    sender, address, data = wrong(plain.request_principal, plain.client_host_address, plain.request_data)
    sent = envelope(request_principal=sender, client_host_address=address, request_data=data)

    with pytest.raises(ApiError) as raised:
        open_envelope(sent, CONTEXT)

    check_answer("node 1", sent, EnvelopeResponse(response_data=None, error_code=raised.value.code))
    with pytest.raises(Violation, match="W07"):
        check_answer("node 1", sent, EnvelopeResponse(response_data=None, error_code=Error.UNKNOWN_SERVER_ERROR))


def test_a_response_is_passed_on_unless_it_has_not_controller() -> None:
    sound, elsewhere = answer(Error.NONE), answer(Error.NOT_CONTROLLER)

    check_answer("node 1", envelope(), seal(HEADER, sound))
    check_answer("node 1", envelope(), seal(HEADER, elsewhere))

    passed_on = replace(seal(HEADER, sound), response_data=bytes((0, 0, 0, 7, 0)) + encode(elsewhere, 0))
    with pytest.raises(Violation, match="W07"):
        check_answer("node 1", envelope(), passed_on)


def test_a_request_that_is_too_large_gets_one_error_or_no_response() -> None:
    check_large("node 1", Error.POLICY_VIOLATION, answer(Error.POLICY_VIOLATION))

    with pytest.raises(Violation, match="W07"):
        check_large("node 1", Error.POLICY_VIOLATION, answer(Error.NONE))
    with pytest.raises(Violation, match="W07"):
        check_large("node 1", CLOSED, answer(Error.POLICY_VIOLATION))
