"""The standard health service of gRPC (grpc.health.v1), with several named services.

Its two messages have one field each and are encoded here: generated code would need protobuf.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import grpc

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

NAME = "grpc.health.v1.Health"
POLL_S = 0.5
NAME_BYTES_MAX = 200

SERVING, NOT_SERVING, SERVICE_UNKNOWN = b"\x08\x01", b"\x08\x02", b"\x08\x03"


def service_of(body: bytes) -> str | None:
    """The field `service` of a HealthCheckRequest; None if the bytes are not one."""
    name, position = b"", 0
    while position < len(body):
        # Field 1, of wire type 2; its length takes one byte or two.
        if body[position] != 0x0A or position + 1 >= len(body):
            return None
        length, position = body[position + 1], position + 2
        if length > 127:
            if position >= len(body) or body[position] > 127:
                return None
            length, position = (length & 127) | body[position] << 7, position + 1
        name, position = body[position : position + length], position + length
        if len(name) < length or length > NAME_BYTES_MAX:
            return None
    try:
        return name.decode()
    except UnicodeDecodeError:
        return None


class Health:
    """checks: name of a service -> whether it is SERVING. closing: done when the port closes."""

    def __init__(self, checks: dict[str, Callable[[], bool]], closing: asyncio.Future[None]) -> None:
        self._checks = checks
        self._closing = closing

    async def check(self, body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        status = self._status(await self._service(body, context))
        if status == SERVICE_UNKNOWN:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"unknown service; known services: {self._names()}")
        return status

    async def watch(self, body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> AsyncIterator[bytes]:
        """The status now and after each change; also for an unknown service, as the protocol requires."""
        service = await self._service(body, context)
        sent = b""
        while not self._closing.done():
            status = self._status(service)
            if status != sent:
                yield status
                sent = status
            await asyncio.wait([self._closing], timeout=POLL_S)
        await context.abort(grpc.StatusCode.UNAVAILABLE, "the node is stopping")

    async def _service(self, body: bytes, context: Any) -> str:
        service = service_of(body)
        if service is None:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the request is not a HealthCheckRequest")
            raise AssertionError("aborted")
        return service

    def _status(self, service: str) -> bytes:
        check = self._checks.get(service)
        if check is None:
            return SERVICE_UNKNOWN
        return SERVING if check() else NOT_SERVING

    def _names(self) -> str:
        return ", ".join(name or '""' for name in self._checks)
