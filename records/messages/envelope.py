"""Requests that a broker forwards (KIP-590)."""

from records.schema import message
from records.wire import blob, int16, nullable


@message(api_key=58, kind="request", versions=(0, 0), flexible=0)
class EnvelopeRequest:
    """A broker forwards a client's request to the controller, with the client's identity (KIP-590).

    request_data: the request, header first.
    request_principal: the client's principal, serialized by the broker; null if there is none.
    client_host_address: the client's address, 4 or 16 bytes.
    """

    request_data: blob
    request_principal: nullable[blob]
    client_host_address: blob


@message(api_key=58, kind="response", versions=(0, 0), flexible=0)
class EnvelopeResponse:
    """Contains the response for the client.

    response_data: the response, header first; null with an error.
    """

    response_data: nullable[blob] = None
    error_code: int16
