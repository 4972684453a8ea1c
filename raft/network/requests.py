"""Decoding of requests: header and body of a frame, in the versions that are served."""

from __future__ import annotations

from struct import Struct as Layout
from typing import TYPE_CHECKING, Any, NamedTuple

from records.codec import decode_lenient, decode_within, encode_parts
from records.errors import Error
from records.headers import RequestHeader, request_header_version, response_header_version
from records.messages.versions import ApiVersionsResponse
from records.registry import request_class
from records.wire import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from raft.interface.inputs import Source

API_VERSIONS = 18
# Below this size entries are not counted.
COUNTED_BYTES_MIN = 64 << 10
# The entries of a request that is decoded on the loop.
ENTRIES_MAX = 30_000
# The tagged fields of a header.
HEADER_ENTRIES_MAX = 100
_START = Layout(">hhi")  # api key, api version, correlation id
_CORRELATION = Layout(">i")
_LENGTH = Layout(">i")


class BadRequest(ValueError):
    """A frame that is not a request of a served API; the connection is closed, as in Kafka."""


class Incoming(NamedTuple):
    """A request. message: decoded at `version`, None for one that the caller decodes (`decode_request`); frame: as
    received; its body begins at `body_at`.

    listener: the name of the listener it came in on; peer: the `host:port` it came from; identity: the identity that
    the listener's security gives the authenticated connection, None without authentication.
    """

    source: Source
    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    message: Any
    frame: bytes
    body_at: int
    listener: str
    peer: str
    identity: Any = None

    @property
    def body(self) -> bytes:
        """The bytes of the message."""
        return self.frame[self.body_at :]


class Parsed(NamedTuple):
    """The content of a frame; the message is None for an ApiVersions of a version that is not served, and for one
    that is decoded later.
    """

    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    message: Any
    body_at: int


def parse_request(
    frame: bytes,
    versions: Mapping[int, tuple[int, int]],
    is_left: Callable[[int, int], bool] = lambda _key, _size: False,
    entries_max: int = ENTRIES_MAX,
) -> Parsed:
    """Header and message of a request; raises BadRequest. is_left: whether a message is decoded later, by its API key
    and the size of its frame; entries_max: as of `decode_message`.
    """
    if len(frame) < _START.size:
        raise BadRequest(f"{len(frame)} bytes are no request")
    api_key, version, correlation_id = _START.unpack_from(frame)
    served = versions.get(api_key)
    if served is None:
        raise BadRequest(f"API key {api_key}, version {version}, is not served here")
    cls = request_class(api_key)
    is_served = served[0] <= version <= served[1]
    if not is_served and api_key != API_VERSIONS:
        raise BadRequest(f"version {version} of API key {api_key} is not served here, only {served[0]} to {served[1]}")
    try:
        header, position = decode_header(cls, version, frame)
        if not is_served:
            # The client cannot know the served versions yet: the answer has version 0 (KIP-511).
            return Parsed(api_key, version, correlation_id, header.client_id, None, position)
        if is_left(api_key, len(frame)):
            return Parsed(api_key, version, correlation_id, header.client_id, None, position)
        # As in Kafka, bytes after the message are ignored, and malformed text is no error.
        message = decode_message(cls, version, frame, position, entries_max)
    except DecodeError as error:
        raise BadRequest(str(error)) from None
    return Parsed(api_key, version, correlation_id, header.client_id, message, position)


def decode_header(cls: type[Any], version: int, data: bytes) -> tuple[RequestHeader, int]:
    """The header of a request of this class and version, and the position after it. Raises DecodeError."""
    return decode_within(RequestHeader, request_header_version(cls, version), data, 0, HEADER_ENTRIES_MAX)


def decode_message(cls: type[Any], version: int, data: bytes, position: int, entries_max: int) -> Any:
    """The message that starts at `position`. entries_max: the elements that its arrays may have; they are not counted
    where it is small, unless they are to be fewer than `ENTRIES_MAX`. Raises DecodeError.
    """
    if len(data) - position < COUNTED_BYTES_MIN and entries_max >= ENTRIES_MAX:
        return decode_lenient(cls, version, data, position)[0]
    return decode_within(cls, version, data, position, entries_max)[0]


def decode_request(incoming: Incoming, entries_max: int) -> Any:
    """The message of a request that was left undecoded, as `decode_message`; raises BadRequest."""
    try:
        cls = request_class(incoming.api_key)
        return decode_message(cls, incoming.version, incoming.frame, incoming.body_at, entries_max)
    except DecodeError as error:
        raise BadRequest(str(error)) from None


def unsupported_api_versions(versions: Mapping[int, tuple[int, int]]) -> ApiVersionsResponse:
    """The answer, in version 0, to an ApiVersions request of an unserved version; it names the served versions."""
    first, last = versions[API_VERSIONS]
    known = ApiVersionsResponse.ApiVersion(api_key=API_VERSIONS, min_version=first, max_version=last)
    return ApiVersionsResponse(error_code=int(Error.UNSUPPORTED_VERSION), api_keys=(known,))


def response_frame(response: Any, version: int, correlation_id: int) -> list[bytes | bytearray | memoryview]:
    """The bytes of an answer with its length and header, in pieces; raises EncodeError."""
    parts = encode_parts(response, version)
    header = _CORRELATION.pack(correlation_id)
    if response_header_version(type(response), version):
        header += b"\0"  # no tagged fields
    size = len(header) + sum(map(len, parts))
    head = _LENGTH.pack(size) + header
    if len(parts) == 1:
        return [head + parts[0]]
    return [head + parts[0], *parts[1:]]
