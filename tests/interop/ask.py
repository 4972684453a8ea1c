"""Asking a node one question over a blocking socket, with the project's own codecs."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from records.codec import decode_prefix, encode
from records.headers import RequestHeader, ResponseHeader
from records.messages.quorum import DescribeQuorumRequest
from records.registry import response_class
from records.schema import schema_of

if TYPE_CHECKING:
    from ssl import SSLContext


def connected(port: int, seconds: float = 5.0, context: SSLContext | None = None) -> socket.socket:
    """A connection to a loopback port; context: for TLS. Raises OSError."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=seconds)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if context is None:
        return connection
    try:
        return context.wrap_socket(connection, server_hostname="127.0.0.1")
    except OSError:
        connection.close()
        raise


def ask(port: int, request: Any, version: int, seconds: float = 5.0, context: SSLContext | None = None) -> Any:
    """The answer of the node at this loopback port; context: for TLS. Raises OSError if it does not answer."""
    with connected(port, seconds, context) as connection:
        return ask_on(connection, request, version)


def ask_on(connection: socket.socket, request: Any, version: int, correlation: int = 1) -> Any:
    """The answer over an open connection."""
    schema = schema_of(type(request))
    assert schema.api_key is not None
    flexible = schema.is_flexible(version)
    header = RequestHeader(
        request_api_key=schema.api_key, request_api_version=version, correlation_id=correlation, client_id="test"
    )
    body = encode(header, 2 if flexible else 1) + encode(request, version)
    connection.sendall(len(body).to_bytes(4, "big") + body)
    frame = receive(connection)
    answer_header, position = decode_prefix(ResponseHeader, 1 if flexible and schema.api_key != 18 else 0, frame, 0)
    assert answer_header.correlation_id == correlation
    answer, end = decode_prefix(response_class(schema.api_key), version, frame, position)
    assert end == len(frame)
    return answer


def receive(connection: socket.socket) -> bytes:
    """One whole frame without its length."""
    size = int.from_bytes(_exactly(connection, 4), "big")
    return _exactly(connection, size)


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise ConnectionError(f"the connection ended after {len(parts)} of {size} bytes")
        parts += part
    return bytes(parts)


def describe_quorum(port: int, context: SSLContext | None = None) -> Any:
    """The metadata partition's part of a DescribeQuorum answer."""
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name="__cluster_metadata", partitions=(partition,))
    answer = ask(port, DescribeQuorumRequest(topics=(topic,)), 2, context=context)
    return answer.topics[0].partitions[0]
