"""Headers of requests and responses."""

from records.schema import Schema, message, schema_of, since
from records.wire import int16, int32, nullable, string

_CONTROLLED_SHUTDOWN = 7
_API_VERSIONS = 18


@message(kind="header", versions=(0, 2), served=(1, 2), flexible=2)
class RequestHeader:
    """The header of every request (KIP-482 for version 2).

    request_api_key: the API's number.
    request_api_version: the version of the request that follows.
    client_id: the client's own name for itself; its length is an int16 in every version.
    """

    request_api_key: int16
    request_api_version: int16
    correlation_id: int32
    client_id: nullable[string] = since(1, default="", ignorable=True, compact=False)


@message(kind="header", versions=(0, 1), flexible=1)
class ResponseHeader:
    """The header of every response (KIP-482 for version 1)."""

    correlation_id: int32


def request_header_version(cls: type, version: int) -> int:
    """The header version that a request of this class and version has: 2 in flexible versions, else 1 (KIP-482)."""
    schema = schema_of(cls)
    if schema.api_key == _CONTROLLED_SHUTDOWN and version == 0:
        return 0  # the one request whose first version had no client id
    return 2 if _is_flexible(schema, version) else 1


def response_header_version(cls: type, version: int) -> int:
    """The header version that a response of this class and version has: 1 in flexible versions, else 0 (KIP-482)."""
    schema = schema_of(cls)
    if schema.api_key == _API_VERSIONS:
        return 0  # so that a client that knows no version in common can read it (KIP-511)
    return 1 if _is_flexible(schema, version) else 0


def _is_flexible(schema: Schema, version: int) -> bool:
    """Whether the header of this version has tagged fields; of an API whose served versions all are flexible, of any.

    Kafka does not look at the version of such an API, which may be negative in a request that it then refuses.
    """
    return schema.is_flexible(version) or (schema.served is not None and schema.is_flexible(schema.served[0]))
