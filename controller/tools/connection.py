"""A tool's connection to one node: blocking, one request at a time, versions negotiated first."""

from __future__ import annotations

import socket
from typing import Self

from records.codec import decode, decode_prefix, encode
from records.errors import ApiError, Error, error_name
from records.headers import RequestHeader, ResponseHeader
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.registry import response_class
from records.schema import schema_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

API_VERSIONS_KEY = 18
FRAME_BYTES_MAX = 1 << 28


class Connection:
    """One TCP connection; use it as a context manager. Raises OSError if the node does not answer in time."""

    def __init__(self, host: str, port: int, client_id: str, seconds: float = 5.0) -> None:
        self.socket = socket.create_connection((host, port), timeout=seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.client_id = client_id
        self.correlation = 0
        try:
            self.versions = self._negotiate()
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, request: Any) -> Any:
        """The response, in the newest version that both sides know.

        Raises ApiError(UNSUPPORTED_VERSION) if there is none, DecodeError, EncodeError, OSError.
        """
        schema = schema_of(type(request))
        assert schema.api_key is not None
        low, high = self.versions.get(schema.api_key, (0, -1))
        known = schema.served or schema.versions
        version = min(high, known[1])
        if version < max(low, known[0]):
            text = (
                f"the node speaks versions {low} to {high} of API {schema.api_key}, this tool {known[0]} to {known[1]}"
            )
            raise ApiError(Error.UNSUPPORTED_VERSION, text)
        answer, _ = self.exchange(request, version)
        return answer

    def exchange(self, request: Any, version: int) -> tuple[Any, bytes]:
        """The response to a request in this version, and its bytes."""
        schema = schema_of(type(request))
        assert schema.api_key is not None
        flexible = schema.is_flexible(version)
        self.correlation += 1
        header = RequestHeader(
            request_api_key=schema.api_key,
            request_api_version=version,
            correlation_id=self.correlation,
            client_id=self.client_id,
        )
        data = encode(header, 2 if flexible else 1) + encode(request, version)
        self.socket.sendall(len(data).to_bytes(4, "big") + data)
        frame = self._frame()
        # The header of an ApiVersions response is always in version 0, since the client may know no other.
        header_version = 1 if flexible and schema.api_key != API_VERSIONS_KEY else 0
        answered, position = decode_prefix(ResponseHeader, header_version, frame, 0)
        if answered.correlation_id != self.correlation:
            raise ConnectionError(f"the answer is to request {answered.correlation_id}, not {self.correlation}")
        body = frame[position:]
        if schema.api_key == API_VERSIONS_KEY and body[:2] == b"\x00\x23":
            # An unsupported version is answered in version 0.
            return decode(ApiVersionsResponse, 0, body), body
        return decode(response_class(schema.api_key), version, body), body

    def _negotiate(self) -> dict[int, tuple[int, int]]:
        request = ApiVersionsRequest(client_software_name="kraft-quorum", client_software_version="1")
        answer, _ = self.exchange(request, 4)
        if answer.error_code == Error.UNSUPPORTED_VERSION:
            answer, _ = self.exchange(ApiVersionsRequest(), 0)
        if answer.error_code:
            raise ConnectionError(f"the node answers ApiVersions with {error_name(answer.error_code)}")
        return {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}

    def _frame(self) -> bytes:
        size = int.from_bytes(self._exactly(4), "big", signed=True)
        if not 0 <= size <= FRAME_BYTES_MAX:
            raise ConnectionError(f"an answer of {size} bytes: this is no Kafka listener")
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            part = self.socket.recv(min(size - len(found), 1 << 20))
            if not part:
                raise ConnectionError(f"the connection ended after {len(found)} of {size} bytes")
            found += part
        return bytes(found)
