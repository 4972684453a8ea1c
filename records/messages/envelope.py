"""Requests that a broker forwards (KIP-590)."""

from records.schema import message
from records.wire import blob, int16, nullable


@message(api_key=58, kind="request", versions=(0, 0), flexible=0)
class EnvelopeRequest:
    """Asks: Envelope."""

    request_data: blob
    request_principal: nullable[blob]
    client_host_address: blob


@message(api_key=58, kind="response", versions=(0, 0), flexible=0)
class EnvelopeResponse:
    """Answers: Envelope."""

    response_data: nullable[blob] = None
    error_code: int16
