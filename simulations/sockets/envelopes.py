"""How a node must serve requests in envelopes, and very large requests.

W07: the request in an envelope is served with the principal of its sender, and answered as a direct one; NOT_CONTROLLER
is an error of the envelope, and an envelope that cannot be read is refused with the error of KIP-590. A request that
holds more than is allowed is refused, or not answered at all.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.core.apis import APIS
from records.codec import decode_prefix
from records.data import DefaultPrincipalData
from records.errors import Error, error_name
from records.headers import RequestHeader, ResponseHeader, request_header_version, response_header_version
from records.messages.quorum import DescribeQuorumResponse
from records.registry import request_class, response_class
from records.wire import DecodeError
from simulations.cluster.metadata.answers import errors_of
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from controller.interface.inputs import RequestContext
    from records.messages.envelope import EnvelopeRequest

# The outcome of a request that gets no error response.
CLOSED = -1


class Envelope(NamedTuple):
    """The content of an envelope, or why it cannot be read. client_id: of its header. request: in it."""

    error: int
    principal: DefaultPrincipalData | None = None
    address: str = ""
    client_id: str = ""
    api_key: int = -1
    version: int = -1
    correlation_id: int = -1
    request: Any = None


def read(envelope: EnvelopeRequest) -> Envelope:
    """Read an envelope, by the rules of KIP-590: first the principal, then the address, then the request."""
    principal, address, data = (
        envelope.request_principal,
        bytes(envelope.client_host_address),
        bytes(envelope.request_data),
    )
    try:
        if principal is None or bytes(principal[:2]) != bytes(2):
            return Envelope(Error.PRINCIPAL_DESERIALIZATION_FAILURE)
        principal_data = decode_prefix(DefaultPrincipalData, 0, bytes(principal), 2)[0]
    except DecodeError:
        return Envelope(Error.PRINCIPAL_DESERIALIZATION_FAILURE)
    if len(address) not in (4, 16):
        return Envelope(Error.INVALID_REQUEST)
    api_key, version = int.from_bytes(data[:2], "big", signed=True), int.from_bytes(data[2:4], "big", signed=True)
    try:
        cls = request_class(api_key)
        header, position = decode_prefix(RequestHeader, request_header_version(cls, version), data, 0)
        if api_key not in APIS or not APIS[api_key].forwardable:
            return Envelope(Error.INVALID_REQUEST)
        low, high = APIS[api_key].versions
        if not low <= version <= high:
            return Envelope(Error.UNSUPPORTED_VERSION)
        request = decode_prefix(cls, version, data, position)[0]
    except (DecodeError, KeyError):
        return Envelope(Error.UNSUPPORTED_VERSION)
    return Envelope(
        Error.NONE, principal_data, print_address(address), header.client_id or "", api_key, version,
        header.correlation_id, request,
    )  # fmt: skip


def print_address(address: bytes) -> str:
    """As Java prints it: an IPv6 address with every group, without leading zeros; an IPv4-mapped one as IPv4."""
    ip = ip_address(address)
    if not isinstance(ip, IPv6Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return ":".join(f"{int(group, 16):x}" for group in ip.exploded.split(":"))


def is_from(letter: Envelope, context: RequestContext) -> bool:
    """Whether a request is served with the principal of its first sender."""
    principal = letter.principal
    assert principal is not None, "it could be read"
    identity = context.principal
    return (
        context.forwarded
        and (context.client_address, context.client_id) == (letter.address, letter.client_id)
        and (identity.type, identity.name, identity.token)
        == (principal.type, principal.name, principal.token_authenticated)
    )


def check_answer(sender: str, envelope: EnvelopeRequest, response: Any) -> None:
    """Check the answer to an envelope. Raises Violation if an envelope does not get the right answer."""
    letter, error = read(envelope), response.error_code
    text = f"{sender} answers an envelope with {error_name(error)}"
    if letter.error != Error.NONE:
        if error != letter.error or response.response_data is not None:
            raise Violation("W07", f"{text}, not with {error_name(letter.error)}: {envelope}")
        return
    if error != Error.NONE:
        if error != Error.NOT_CONTROLLER or response.response_data is not None:
            raise Violation("W07", f"{text}, but the envelope is valid: {envelope}")
        return
    cls: Any = response_class(letter.api_key)
    data = bytes(response.response_data)
    head, position = decode_prefix(ResponseHeader, response_header_version(cls, letter.version), data, 0)
    inner, end = decode_prefix(cls, letter.version, data, position)
    elsewhere = Error.NOT_LEADER_OR_FOLLOWER if cls is DescribeQuorumResponse else Error.NOT_CONTROLLER
    if (head.correlation_id, end) != (letter.correlation_id, len(data)) or elsewhere in errors_of(inner):
        raise Violation("W07", f"{text} and {inner}, number {head.correlation_id}, to number {letter.correlation_id}")


def check_large(sender: str, expected: int, response: Any) -> None:
    """Check the answer to a request that is too large. Raises Violation for one but `expected`: an error, or CLOSED."""
    codes = set(errors_of(response)) - ({Error.NONE} if hasattr(response, "error_code") else set())
    if expected == CLOSED or codes != {expected}:
        raise Violation(
            "W07", f"{sender} answers what is too large with {sorted(codes)}, and {expected} was to be said"
        )
