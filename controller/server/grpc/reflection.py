"""Server reflection of gRPC: clients such as grpcurl get the descriptors of the services from the node itself.

It tells any client that may connect what `docs/watch/metadata.proto` says, and nothing about the cluster.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio

from controller.server.grpc.descriptors import FILES, encode_file, symbols_of
from controller.server.grpc.protobuf import BadMessage, delimited_field, fields, number

if TYPE_CHECKING:
    from controller.server.grpc.time_slices import TimeSlices

# v1alpha is the same under the name that clients before 2022 call.
NAMES = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
METHOD = "ServerReflectionInfo"
REQUEST_BYTES_MAX = 4096
# A client asks at once for all it needs; a stream without a request for this time ends, and a client opens a new one.
IDLE_S = 30.0

# Fields of ServerReflectionRequest and of ServerReflectionResponse.
HOST, BY_NAME, BY_SYMBOL, BY_EXTENSION, EXTENSIONS_OF, SERVICES = 1, 3, 4, 5, 6, 7
VALID_HOST, ORIGINAL_REQUEST, FILE_ANSWER, EXTENSIONS_ANSWER, SERVICES_ANSWER, ERROR_ANSWER = 1, 2, 4, 5, 6, 7


@cache
def _files() -> dict[str, bytes]:
    """The encoded descriptors, by the name of the file; made when the first client asks."""
    return {file.name: encode_file(file) for file in FILES}


@cache
def _symbols() -> dict[str, str]:
    """The name of the file, by the full name of what it declares."""
    return {symbol: file.name for file in FILES for symbol in symbols_of(file)}


def answer(request: bytes) -> bytes:
    """The ServerReflectionResponse to a ServerReflectionRequest. Raises BadMessage."""
    host, asked, value = b"", 0, b""
    for field, content in fields(request):
        if not isinstance(content, bytes):
            raise BadMessage(f"field {field} of the ServerReflectionRequest is a number")
        if field == HOST:
            host = content
        else:
            asked, value = field, content
    return delimited_field(VALID_HOST, host) + delimited_field(ORIGINAL_REQUEST, request) + _answer(asked, value)


def _answer(asked: int, value: bytes) -> bytes:
    name = value.decode(errors="replace")
    if asked == SERVICES:
        services = (delimited_field(1, delimited_field(1, f"{file.package}.{file.service}")) for file in FILES)
        return delimited_field(SERVICES_ANSWER, b"".join(services))
    if asked in {BY_NAME, BY_SYMBOL}:
        descriptor = _files().get(name if asked == BY_NAME else _symbols().get(name, ""))
        if descriptor is None:
            kind = "file" if asked == BY_NAME else "symbol"
            return _error(grpc.StatusCode.NOT_FOUND, f"there is no {kind} {name}; list_services names the services")
        return delimited_field(FILE_ANSWER, delimited_field(1, descriptor))
    if asked == EXTENSIONS_OF and name in _symbols():
        return delimited_field(EXTENSIONS_ANSWER, delimited_field(1, name))
    if asked in {BY_EXTENSION, EXTENSIONS_OF}:
        return _error(grpc.StatusCode.NOT_FOUND, "there is no such extension; no message here has one")
    return _error(
        grpc.StatusCode.INVALID_ARGUMENT,
        "the ServerReflectionRequest has no known question; known are file_by_filename, file_containing_symbol, "
        "file_containing_extension, all_extension_numbers_of_type and list_services",
    )


def _error(status: grpc.StatusCode, text: str) -> bytes:
    return delimited_field(ERROR_ANSWER, number(1, status.value[0]) + delimited_field(2, text))


class Reflection:
    """Answers the requests of a stream one after the other, each in a time slice."""

    def __init__(self, slices: TimeSlices) -> None:
        self._slices = slices

    async def info(self, _requests: Any, context: grpc.aio.ServicerContext[bytes, bytes]) -> None:
        while True:
            try:
                body = await asyncio.wait_for(context.read(), IDLE_S)
            except TimeoutError:
                return
            if not isinstance(body, bytes):  # the client has ended the stream
                return
            async with self._slices.slice():
                pass
            try:
                if len(body) > REQUEST_BYTES_MAX:
                    raise BadMessage(f"the request has {len(body)} bytes; at most {REQUEST_BYTES_MAX} are read")
                await context.write(answer(body))
            except BadMessage as error:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
