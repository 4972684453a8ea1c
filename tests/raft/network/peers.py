"""Loops, and bare ends of connections, for tests of the network on real loopback sockets."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import uvloop

from raft.interface.config import Endpoint
from raft.network.server import Server
from records.codec import encode
from records.headers import RequestHeader, request_header_version
from records.messages.quorum import DescribeQuorumRequest
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.registry import APIS, request_class, response_class
from records.schema import schema_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine

    from raft.network.requests import Incoming

Loop = Callable[[], asyncio.AbstractEventLoop]
LOOPS: list[Loop] = [asyncio.new_event_loop, uvloop.new_event_loop]

# Every API of the tests' servers, in all versions that Kafka 4.x serves.
VERSIONS: dict[int, tuple[int, int]] = {
    key: served for key in APIS if (served := schema_of(request_class(key)).served) is not None
}


def run_on(loop: Loop, test: Coroutine[Any, Any, None]) -> None:
    """Run a test to its end, and no longer than 60 s: a busy machine may take long, and a hang ends."""

    async def bounded() -> None:
        try:
            await asyncio.wait_for(test, 60)
        finally:
            for writer in WRITERS:
                writer.transport.abort()
                with contextlib.suppress(OSError):
                    await asyncio.wait_for(writer.wait_closed(), 1)
            WRITERS.clear()
            # What was closed just now learns that in the next iterations of the loop.
            for _ in range(5):
                await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(bounded())


# Those of the test that runs: it may leave them open.
WRITERS: list[asyncio.StreamWriter] = []


async def until(holds: Callable[[], object]) -> None:
    """Wait for what other ends of connections do."""
    while not holds():
        await asyncio.sleep(0.002)


class Bare:
    """A client that writes what bytes it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        WRITERS.append(writer)

    @classmethod
    async def to(cls, port: int, limit: int = 1 << 24, host: str = "127.0.0.1") -> Self:
        """limit: about how many bytes it takes from the socket before they are asked for; host: where it is."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=limit, local_addr=(host, 0)))

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def frame(self) -> bytes:
        size = int.from_bytes(await self.reader.readexactly(4), "big")
        return await self.reader.readexactly(size)

    async def is_closed(self) -> bool:
        """Whether the other end closes without another byte."""
        try:
            return await self.reader.read(1) == b""
        except ConnectionError:
            return True

    def close(self) -> None:
        self.writer.close()


def request_frame(request: Any, version: int, correlation_id: int = 7, client_id: str | None = "test") -> bytes:
    """A request as it goes over the wire."""
    cls = type(request)
    api_key = schema_of(cls).api_key
    assert api_key is not None
    header = RequestHeader(
        request_api_key=api_key, request_api_version=version, correlation_id=correlation_id, client_id=client_id
    )
    body = encode(header, request_header_version(cls, version)) + encode(request, version)
    return len(body).to_bytes(4, "big") + body


def api_versions(correlation_id: int = 7, version: int = 4) -> bytes:
    return request_frame(
        ApiVersionsRequest(client_software_name="test", client_software_version="1"), version, correlation_id
    )


def describe_quorum(name: str = "__cluster_metadata") -> DescribeQuorumRequest:
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name=name, partitions=(partition,))
    return DescribeQuorumRequest(topics=(topic,))


def versions_answer(ranges: dict[int, tuple[int, int]], error_code: int = 0) -> ApiVersionsResponse:
    entries = [
        ApiVersionsResponse.ApiVersion(api_key=key, min_version=first, max_version=last)
        for key, (first, last) in ranges.items()
    ]
    return ApiVersionsResponse(error_code=error_code, api_keys=tuple(entries))


class Serving:
    """A server, and the requests that it received. answers: whether each is answered at once, with an empty answer."""

    def __init__(self, *, answers: bool = True, **limits: int) -> None:
        self.requests: list[Incoming] = []
        self.gone: list[int] = []
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.answers = answers
        self.server = Server(
            asyncio.get_running_loop(), VERSIONS, on_request=self.on_request, on_disconnected=self.gone.append,
            note=lambda name, fields: self.notes.append((name, fields)), **limits,
        )  # fmt: skip
        self.port = 0

    async def __aenter__(self) -> Self:
        self.port = await self.server.listen("CONTROLLER", "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        await until(lambda: not self.server.connections)

    def on_request(self, incoming: Incoming) -> None:
        self.requests.append(incoming)
        if self.answers:
            self.answer(incoming)

    def answer(self, incoming: Incoming, **fields: Any) -> None:
        if incoming.api_key == 18:
            self.server.reply(incoming.source, versions_answer(VERSIONS))
        else:
            self.server.reply(
                incoming.source, response_class(incoming.api_key)(**({"error_code": 0, "topics": ()} | fields))
            )

    def has_more_than(self, count: int) -> bool:
        return len(self.requests) > count

    @property
    def reasons(self) -> list[str]:
        return [fields["reason"] for _, fields in self.notes]

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint("CONTROLLER", "127.0.0.1", self.port)


async def serve_script(script: Callable[[Bare], Awaitable[None]]) -> tuple[asyncio.AbstractServer, int]:
    """A peer that treats each of its connections as a script says."""

    async def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await script(Bare(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(on_connection, "127.0.0.1", 0)
    return server, int(server.sockets[0].getsockname()[1])
