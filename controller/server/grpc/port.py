"""The gRPC port: its server, its limits, and the function of each method."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio

from controller.server.grpc import health, metadata
from controller.server.grpc.certificates import Certificates
from controller.server.grpc.messages import REQUEST_BYTES_MAX
from controller.server.grpc.reflection import METHOD, NAMES, Reflection
from controller.server.grpc.time_slices import TimeSlices
from controller.server.http.probes import check_startup, ready
from controller.server.http.watchdog import Watchdog
from raft.network.connection import address_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from controller.node.node import Node
    from controller.security.edges import EdgeSecurity

# Watches of the health service, in addition to those of metadata; they are cheap.
HEALTH_STREAMS_MAX = 64
CLOSE_S = 0.3
COLLECT_CALLS = 50

OPTIONS = [
    ("grpc.so_reuseport", 0),  # so that a port in use is an error
    ("grpc.max_receive_message_length", REQUEST_BYTES_MAX),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_metadata_size", 8 << 10),
    ("grpc.max_concurrent_streams", 128),
    ("grpc.server_handshake_timeout_ms", 10_000),
    ("grpc.max_connection_idle_ms", 60_000),
    # The stream of a client that has disappeared is ended after this time.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
]


class GrpcPort:
    """Serves after `listen`; until `serve` gives it a node, calls that need one get UNAVAILABLE.

    port: the bound port. Everything runs on the node's event loop.
    """

    def __init__(self, limits: metadata.Limits, security: EdgeSecurity, note: Callable[..., None]) -> None:
        """note: writes a log event."""
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._security = security
        self._note = note
        self._closing: asyncio.Future[None] = self._loop.create_future()
        self._watchdog = Watchdog(self._loop)
        self._node: Node | None = None
        self._metadata: metadata.Metadata | None = None
        self._slices = TimeSlices()
        self._calls = 0
        self.port = 0
        checks = {
            "": self._is_ready,
            "live": lambda: all(check.passed for check in self._watchdog.live()),
            "started": self._is_started,
            "ready": self._is_ready,
            "leader": self._is_leader,
            metadata.NAME: self._is_started,
        }
        self._health = health.Health(checks, self._closing)
        self._reflection = Reflection(self._slices)
        calls_max = limits.watchers_max + HEALTH_STREAMS_MAX
        self._server = grpc.aio.server(
            # A connection takes a file descriptor and some 20 KB; connections above the limit are closed.
            options=[*OPTIONS, ("grpc.max_allowed_incoming_connections", calls_max)],
            maximum_concurrent_rpcs=calls_max,
        )
        self._server.add_generic_rpc_handlers(
            (
                _handler(health.NAME, {"Check": (self._check, False), "Watch": (self._health.watch, True)}),
                _handler(
                    metadata.NAME,
                    {
                        "Watch": (self._make_handler("watch"), True),
                        "Snapshot": (self._make_handler("snapshot"), True),
                        "Status": (self._make_handler("status"), False),
                    },
                ),
                *(_reflection_handler(name, self._reflection) for name in NAMES),
            )
        )

    async def listen(self, host: str, port: int) -> None:
        """Accept connections. host: empty for all addresses; port: 0 for any. Raises OSError, with the address."""
        where = address_text(host or "::", port)
        try:
            if not self._security.has_tls:
                self.port = self._server.add_insecure_port(where)
            else:
                self.port = self._server.add_secure_port(where, Certificates(self._security).credentials())
        except RuntimeError:
            where = address_text(host, port)
            reason = "the port is in use, or the host is not an address of this machine"
            raise OSError(f"kraft.grpc.listener cannot listen on {where}: {reason}") from None
        await self._server.start()

    def certificate(self) -> tuple[str, int] | None:
        """The file of the port's certificate, and when it expires, in s since 1970; None without TLS."""
        return self._security.certificate()

    def serve(self, node: Node) -> None:
        """Serve this node, which has started."""
        self._node = node
        self._metadata = metadata.Metadata(node, self._limits, self._security, self._slices, self._closing)
        self._watchdog.watch(node.storage)

    async def close(self) -> None:
        """Accept no more calls, and end the streams with the offset to resume from."""
        self._watchdog.close()
        if not self._closing.done():
            self._closing.set_result(None)
        await self._server.stop(CLOSE_S)
        if self._metadata is not None:
            self._metadata.close()

    # Calls.

    def _make_handler(self, method: str) -> Callable[[bytes, Any], Awaitable[Any]]:
        async def call(body: bytes, context: Any) -> Any:
            if self._metadata is None or self._closing.done():
                await context.abort(grpc.StatusCode.UNAVAILABLE, "the node is starting or stopping")
            try:
                async with self._slices.slice():
                    pass  # each call waits for a time slice, so calls cannot starve the quorum
                return await getattr(self._metadata, method)(body, context)
            except grpc.aio.AbortError:
                raise
            except Exception as error:  # a bug in a call must not stop the node; the client gets INTERNAL
                self._note("watch_failed", {"method": method, "error": repr(error)})
                await context.abort(grpc.StatusCode.INTERNAL, f"{method} failed: {error}")
            finally:
                self._collect()

        return call

    async def _check(self, body: bytes, context: Any) -> bytes:
        try:
            async with self._slices.slice():
                pass
            return await self._health.check(body, context)
        finally:
            self._collect()

    def _collect(self) -> None:
        """Collect garbage after some calls: each leaves a reference cycle, and the node collects only every 10 s."""
        self._calls += 1
        if self._calls % COLLECT_CALLS == 0:
            gc.collect(1)

    # Health.

    def _is_started(self) -> bool:
        return self._node is not None and all(check.passed for check in check_startup(self._node))

    def _is_leader(self) -> bool:
        return self._node is not None and self._node.controller.is_active

    def _is_ready(self) -> bool:
        node = self._node
        return node is not None and all(check.passed for check in ready(node, node.now_ms()))


def _handler(name: str, methods: dict[str, tuple[Callable[..., Any], bool]]) -> grpc.GenericRpcHandler:
    """A handler of methods with raw bytes. methods: name -> function, and whether it streams."""
    return grpc.method_handlers_generic_handler(
        name,
        {
            method: (grpc.unary_stream_rpc_method_handler if streams else grpc.unary_unary_rpc_method_handler)(call)
            for method, (call, streams) in methods.items()
        },
    )


def _reflection_handler(name: str, reflection: Reflection) -> grpc.GenericRpcHandler:
    """The one method of reflection, whose requests are a stream too."""
    return grpc.method_handlers_generic_handler(name, {METHOD: grpc.stream_stream_rpc_method_handler(reflection.info)})
