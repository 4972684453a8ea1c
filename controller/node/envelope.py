"""Envelope: a broker forwards a client's request, and gets the response that the client would have got (KIP-590).

The node unwraps an envelope on arrival, passes the request inside to the controller or to raft as if the client had
sent it to this node, and wraps the response.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.core.apis import APIS, served_versions
from controller.interface.inputs import Forwarder, Principal
from raft.network.requests import HEADER_ENTRIES_MAX, decode_header, decode_message
from records.codec import decode_within, encode
from records.data import DefaultPrincipalData
from records.errors import ApiError, Error
from records.features.levels import CURRENT
from records.headers import RequestHeader, ResponseHeader, response_header_version
from records.messages.envelope import EnvelopeResponse
from records.messages.quorum import DescribeQuorumResponse
from records.registry import APIS as NAMES
from records.registry import request_class
from records.schema import Message, schema_of
from records.wire import DecodeError

if TYPE_CHECKING:
    from controller.core.apis import Api
    from controller.interface.inputs import RequestContext
    from records.features.levels import Release
    from records.messages.envelope import EnvelopeRequest

PRINCIPAL_VERSION = 0


class Forwarded(NamedTuple):
    """The content of an envelope, with the client's request as bytes: it begins at `body_at`."""

    context: RequestContext
    header: RequestHeader
    api: Api
    data: bytes
    body_at: int


def unwrap(envelope: EnvelopeRequest, context: RequestContext, release: Release = CURRENT) -> Forwarded:
    """The client's request before it is decoded, with a context that has the client's principal and address.

    context: of the envelope, whose listener, connection and time of arrival stay; its sender becomes the forwarder.
    release: whose APIs this node serves.
    Raises ApiError with the code that the envelope is answered with: PRINCIPAL_DESERIALIZATION_FAILURE, INVALID_REQUEST
    for an address or an API that cannot be, UNSUPPORTED_VERSION for a header that cannot be read.
    """
    principal = principal_of(envelope.request_principal)
    address = address_text(envelope.client_host_address)
    header, position = header_of(envelope.request_data, release)
    api_key, version = header.request_api_key, header.request_api_version
    api = APIS.get(api_key) if api_key in served_versions(release) else None
    if api is None or not api.forwardable:
        name = NAMES[api_key][0]
        raise ApiError(Error.INVALID_REQUEST, f"API {name} is not enabled or is not eligible for forwarding")
    low, high = api.versions
    if not low <= version <= high:
        raise unreadable(f"version {version} of API {NAMES[api_key][0]} is not within {low} to {high}")
    inner = replace(
        context,
        api_key=api_key,
        version=version,
        principal=principal,
        client_address=address,
        client_id=header.client_id or "",
        forwarded=True,
        forwarder=Forwarder(context.principal, context.client_address),
        decisions=None,
    )
    return Forwarded(inner, header, api, envelope.request_data, position)


def request_in(forwarded: Forwarded, entries_max: int) -> Any:
    """The client's request. Raises ApiError(UNSUPPORTED_VERSION) where it cannot be read, or has more entries."""
    api, version = forwarded.api, forwarded.context.version
    try:
        # As in Kafka, bytes behind the request are no error.
        request = decode_message(api.request, version, forwarded.data, forwarded.body_at, entries_max)
    except DecodeError as error:
        raise unreadable(str(error)) from None
    if api.unreadable is not None and (reason := api.unreadable(request)) is not None:
        raise unreadable(reason)
    return request


def seal(header: RequestHeader, response: Any) -> EnvelopeResponse:
    """The response to the envelope around a request with this header.

    A response that contains NOT_CONTROLLER anywhere is not passed on: the envelope itself gets that error, and the
    broker asks another controller.
    """
    wrong = Error.NOT_LEADER_OR_FOLLOWER if isinstance(response, DescribeQuorumResponse) else Error.NOT_CONTROLLER
    if has_error(response, wrong):
        return EnvelopeResponse(response_data=None, error_code=Error.NOT_CONTROLLER)
    version = header.request_api_version
    head = ResponseHeader(correlation_id=header.correlation_id)
    data = encode(head, response_header_version(type(response), version)) + encode(response, version)
    return EnvelopeResponse(response_data=data, error_code=Error.NONE)


def principal_of(data: bytes | None) -> Principal:
    """The principal that the broker authenticated, in the form of Kafka's default builder."""
    try:
        if data is None or len(data) < 2:
            raise ValueError("there is no principal")
        version = int.from_bytes(data[:2], "big", signed=True)
        if version != PRINCIPAL_VERSION:
            raise ValueError(f"its version is {version}, only {PRINCIPAL_VERSION} is read")
        decoded, _ = decode_within(DefaultPrincipalData, version, data, 2, HEADER_ENTRIES_MAX)
    except (ValueError, DecodeError) as error:
        text = f"Failed to deserialize client principal from envelope: {error}"
        raise ApiError(Error.PRINCIPAL_DESERIALIZATION_FAILURE, text) from None
    return Principal(decoded.type, decoded.name, decoded.token_authenticated)


def address_text(data: bytes) -> str:
    """An address as Java prints it: IPv6 without any shortening, IPv4 in IPv6 as IPv4."""
    if len(data) == 16 and data[:12] == bytes(10) + b"\xff\xff":
        data = data[12:]
    if len(data) == 4:
        return ".".join(map(str, data))
    if len(data) == 16:
        return ":".join(f"{int.from_bytes(data[at : at + 2], 'big'):x}" for at in range(0, 16, 2))
    raise ApiError(
        Error.INVALID_REQUEST, f"Failed to parse client address from envelope: it has {len(data)} bytes, not 4 or 16"
    )


def header_of(data: bytes, release: Release = CURRENT) -> tuple[RequestHeader, int]:
    """The header of the client's request, and where the request begins."""
    if len(data) < 4:
        raise unreadable(f"{len(data)} bytes are no header")
    api_key = int.from_bytes(data[:2], "big", signed=True)
    version = int.from_bytes(data[2:4], "big", signed=True)
    if api_key not in NAMES or api_key > release.api_key_max or schema_of(request_class(api_key)).served is None:
        raise unreadable(f"there is no API key {api_key}")
    try:
        return decode_header(request_class(api_key), version, data)
    except DecodeError as error:
        raise unreadable(str(error)) from None


def unreadable(reason: str) -> ApiError:
    return ApiError(Error.UNSUPPORTED_VERSION, f"Failed to parse the forwarded request: {reason}")


def has_error(message: Any, error: Error) -> bool:
    """Whether the code is that of a message or of anything in it."""
    if getattr(message, "error_code", None) == error:
        return True
    for field in message.__schema__.fields:
        value = getattr(message, field.name)
        if isinstance(value, tuple) and value and isinstance(value[0], Message):
            if any(has_error(item, error) for item in value):
                return True
        elif isinstance(value, Message) and has_error(value, error):
            return True
    return False
