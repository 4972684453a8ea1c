"""Opens the gRPC port from the configuration."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from controller.config.values.addresses import parse_address
from controller.config.watch_service import ALLOW, CERTIFICATE, CLIENT_CA, KEY
from controller.server.grpc.certificates import Paths
from controller.server.grpc.metadata import Limits
from controller.server.grpc.port import GrpcPort

if TYPE_CHECKING:
    from controller.config.node import NodeConfig
    from controller.node.logs import Log


async def open_port(config: NodeConfig, address: str, log: Log) -> GrpcPort:
    """The watch service at this address, without a node yet. Raises OSError, with a text that says what to do."""
    limits = Limits(
        config.list(ALLOW),
        config.number("kraft.grpc.watchers.max"),
        config.number("kraft.grpc.write.timeout.ms") / 1000,
    )
    chain, key = config.text(CERTIFICATE), config.text(KEY)
    certificates = None if chain is None or key is None else Paths(chain, key, config.text(CLIENT_CA))
    port = GrpcPort(limits, certificates, lambda name, fields: log(name, **fields))
    _give_back()
    found = parse_address(address)
    assert found is not None, address
    try:
        await port.listen(*found)
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
