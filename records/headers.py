"""Headers of requests and responses."""

from records.schema import message, since
from records.wire import int16, int32, nullable, string


@message(kind="header", versions=(0, 2), served=(1, 2), flexible=2)
class RequestHeader:
    """Stands before every request (KIP-482 for version 2).

    request_api_key: the API's number.
    request_api_version: the version of the request behind it.
    client_id: as the client names itself; its length is an int16 in every version.
    """

    request_api_key: int16
    request_api_version: int16
    correlation_id: int32
    client_id: nullable[string] = since(1, default="", ignorable=True, compact=False)


@message(kind="header", versions=(0, 1), flexible=1)
class ResponseHeader:
    """Stands before every response (KIP-482 for version 1)."""

    correlation_id: int32
