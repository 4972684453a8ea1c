"""Opens the gRPC port from the configuration."""

from __future__ import annotations

import asyncio
import ctypes
from typing import TYPE_CHECKING, Any

from controller.config.edges import GRPC
from controller.config.values.addresses import parse_address
from controller.security.edges import EdgeSecurity
from controller.server.grpc.metadata import Limits
from controller.server.grpc.port import GrpcPort
from raft.security.files import FileError

if TYPE_CHECKING:
    from controller.config.node import NodeConfig
    from controller.node.logging.logs import Log


async def open_port(config: NodeConfig, address: str, log: Log) -> GrpcPort:
    """The watch service at this address, without a node yet. Raises OSError, with a text that says what to do."""
    limits = Limits(config.number("kraft.grpc.watchers.max"), config.number("kraft.grpc.write.timeout.ms") / 1000)
    loop = asyncio.get_running_loop()

    def note(name: str, fields: dict[str, Any]) -> None:
        log(name, **fields)

    def note_from_any_thread(name: str, fields: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(note, name, fields)

    try:
        security = EdgeSecurity(config, GRPC, now=loop.time, note=note_from_any_thread)
    except FileError as error:
        raise OSError(f"{GRPC.listener}: {error}") from None
    port = GrpcPort(limits, security, note)
    _give_back()
    parsed = parse_address(address)
    assert parsed is not None, address
    try:
        await port.listen(*parsed)
    except OSError:
        await port.close()
        raise
    return port


def _give_back() -> None:
    """Return the memory freed after loading gRPC to the system: since Python 3.13 glibc would keep 5 MiB of it."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return  # another C library, without this function
