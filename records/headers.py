"""Headers of requests and responses."""

from records.schema import message, since
from records.wire import int16, int32, nullable, string


@message(kind="header", versions=(0, 2), served=(1, 2), flexible=2)
class RequestHeader:
    """RequestHeader"""

    request_api_key: int16
    request_api_version: int16
    correlation_id: int32
    client_id: nullable[string] = since(1, default="", ignorable=True, compact=False)


@message(kind="header", versions=(0, 1), flexible=1)
class ResponseHeader:
    """ResponseHeader"""

    correlation_id: int32
