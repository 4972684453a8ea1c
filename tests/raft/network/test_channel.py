"""Channels to peers on real sockets: versions, failures, reconnects; and what stock Kafka answered."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from raft.interface.config import Endpoint
from raft.interface.effects import Send
from raft.interface.inputs import Answered, Failed, Refused
from raft.network.channel import Channel, is_refused
from raft.network.channels import Channels
from raft.network.requests import response_frame
from records.codec import encode
from records.errors import Error
from records.messages.elections import VoteRequest
from records.messages.quorum import DescribeQuorumResponse
from tests.controller.server.processes import free_port
from tests.raft.network.peers import (
    LOOPS,
    VERSIONS,
    Bare,
    Loop,
    Serving,
    describe_quorum,
    run_on,
    serve_script,
    until,
    versions_answer,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

RECORDED = Path(__file__).parents[2] / "data" / "stock-connection" / "describe-quorum.tsv"
REQUEST = describe_quorum()
each_loop = pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])


class Sending:
    """Channels, and the inputs that they made."""

    def __init__(self, client_id: str = "raft-client-9") -> None:
        self.inputs: list[Any] = []
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.channels = Channels(
            asyncio.get_running_loop(), client_id, Random(5), on_input=self.inputs.append,
            note=lambda name, fields: self.notes.append((name, fields)),
        )  # fmt: skip
        self.number = 0

    def send(self, endpoint: Endpoint, request: Any = REQUEST, peer: int = 2) -> int:
        self.number += 1
        self.channels.send(Send(peer, self.number, endpoint, request))
        return self.number

    async def ask(self, endpoint: Endpoint, request: Any = REQUEST) -> Any:
        """Send, and wait for what came of it."""
        before = len(self.inputs)
        self.send(endpoint, request)
        await until(lambda: len(self.inputs) > before)
        return self.inputs[before]


@contextlib.asynccontextmanager
async def sending() -> AsyncIterator[Sending]:
    made = Sending()
    try:
        yield made
    finally:
        made.channels.close()


def endpoint_of(port: int, host: str = "127.0.0.1") -> Endpoint:
    return Endpoint("CONTROLLER", host, port)


def header(frame: bytes) -> tuple[int, int, int, str]:
    """API key, version, correlation id and client id of a request's frame."""
    size = int.from_bytes(frame[8:10], "big")
    return (
        int.from_bytes(frame[:2], "big"), int.from_bytes(frame[2:4], "big"), int.from_bytes(frame[4:8], "big"),
        frame[10 : 10 + size].decode(),
    )  # fmt: skip


async def greet(peer: Bare, versions: dict[int, tuple[int, int]] = VERSIONS) -> None:
    """Answer the ApiVersions that a connection begins with."""
    frame = await peer.frame()
    _, version, correlation_id, _ = header(frame)
    await peer.write(b"".join(response_frame(versions_answer(versions), version, correlation_id)))


async def answer_describe(peer: Bare, correlation_shift: int = 0) -> None:
    _, version, correlation_id, _ = header(await peer.frame())
    answer = DescribeQuorumResponse(error_code=0, topics=())
    await peer.write(b"".join(response_frame(answer, version, correlation_id + correlation_shift)))


@each_loop
def test_recorded_answers_of_stock_kafka_are_understood(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raft.network.channel.API_VERSIONS_VERSION", 5)  # as when they were recorded
    rows = [line.split("\t") for line in RECORDED.read_text().splitlines()]
    written: list[str] = []

    async def stock(peer: Bare) -> None:
        for side, data in rows:
            if side == "ours":
                frame = await peer.frame()
                written.append((len(frame).to_bytes(4, "big") + frame).hex())
            else:
                await peer.write(bytes.fromhex(data))
        await peer.reader.read()

    async def test() -> None:
        server, port = await serve_script(stock)
        async with sending() as node:
            answered = await node.ask(endpoint_of(port))

            assert written == [data for side, data in rows if side == "ours"]
            assert (answered.peer, answered.number, type(answered)) == (2, 1, Answered)
            partition = answered.response.topics[0].partitions[0]
            assert (partition.leader_id, partition.high_watermark, answered.response.nodes[0].node_id) == (1, 62, 1)
            assert node.channels._channels[2].versions is not None
            assert node.channels._channels[2].versions[56] == (2, 3)
        server.close()

    run_on(loop, test())


def test_requests_and_answers_are_counted_with_the_bytes_of_their_frames() -> None:
    frames: list[bytes] = []

    async def peer(bare: Bare) -> None:
        for answer in (versions_answer(VERSIONS), DescribeQuorumResponse(error_code=0, topics=())):
            frame = await bare.frame()
            _, version, correlation_id, _ = header(frame)
            frames.append(frame)
            frames.append(b"".join(response_frame(answer, version, correlation_id)))
            await bare.write(frames[-1])

    async def test() -> None:
        server, port = await serve_script(peer)
        async with sending() as node:
            await node.ask(endpoint_of(port))

            traffic = node.channels.traffic
            assert (traffic.requests, traffic.responses) == (2, 2)
            assert traffic.outgoing_bytes == sum(4 + len(frame) for frame in frames[::2])
            assert traffic.incoming_bytes == sum(map(len, frames[1::2])), "an answer has its size in it here"
        server.close()

    asyncio.run(test())


@each_loop
def test_a_connection_is_opened_before_the_first_request(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving, sending() as node:
            node.channels.open(2, serving.endpoint)
            await until(lambda: node.channels._channels[2].is_ready)
            node.channels.open(2, serving.endpoint)
            await node.ask(serving.endpoint)

            assert [incoming.api_key for incoming in serving.requests] == [18, 55]
            assert len({incoming.source.connection for incoming in serving.requests}) == 1
            assert {incoming.version for incoming in serving.requests if incoming.api_key == 18} == {4}

    run_on(loop, test())


@each_loop
def test_an_open_connection_stays_at_the_address_that_requests_use(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as used, Serving() as other, sending() as node:
            await node.ask(used.endpoint)
            for _ in range(3):
                node.channels.open(2, other.endpoint)
                await asyncio.sleep(0)
            await node.ask(used.endpoint)

            assert [incoming.api_key for incoming in used.requests] == [18, 55, 55]
            assert other.requests == []

    run_on(loop, test())


@each_loop
def test_a_connection_that_is_lost_is_opened_at_the_other_address(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as new, sending() as node:
            async with Serving() as old:
                node.channels.open(2, old.endpoint)
                await until(lambda: node.channels._channels[2].is_ready)
            await until(lambda: not node.channels._channels[2].is_ready)
            node.channels.open(2, new.endpoint)
            await until(lambda: [incoming.api_key for incoming in new.requests] == [18])

            assert isinstance(await node.ask(new.endpoint), Answered)

    run_on(loop, test())


@each_loop
def test_a_request_under_way_is_not_disturbed_by_another_address(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving, sending() as node:
            node.send(serving.endpoint)
            node.channels.open(2, endpoint_of(1))
            await until(lambda: len(node.inputs) > 0)

            assert [type(each) for each in node.inputs] == [Answered]

    run_on(loop, test())


@each_loop
def test_a_peer_that_cannot_be_opened_is_reported_as_refused(loop: Loop) -> None:
    async def test() -> None:
        async with sending() as node:
            node.channels.open(2, endpoint_of(free_port()))
            await until(lambda: len(node.inputs) > 0)

            assert node.inputs == [Refused(2)]
            assert [name for name, _ in node.notes] == ["connect_failed"]

    run_on(loop, test())


@each_loop
def test_requests_go_over_one_connection(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving, sending() as node:
            for _ in range(5):
                assert isinstance(await node.ask(serving.endpoint), Answered)

            assert [incoming.api_key for incoming in serving.requests] == [18, 55, 55, 55, 55, 55]
            assert len({incoming.source.connection for incoming in serving.requests}) == 1
            assert {incoming.client_id for incoming in serving.requests} == {"raft-client-9"}
            assert [each.number for each in node.inputs] == [1, 2, 3, 4, 5]

    run_on(loop, test())


@each_loop
def test_the_highest_common_version_is_used(loop: Loop) -> None:
    async def old(peer: Bare) -> None:
        await greet(peer, VERSIONS | {55: (0, 1)})
        versions.append(header(await peer.frame())[:2])

    versions: list[tuple[int, int]] = []

    async def test() -> None:
        server, port = await serve_script(old)
        async with sending() as node:
            node.send(endpoint_of(port))
            await until(lambda: versions)

            assert versions == [(55, 1)]
        server.close()

    run_on(loop, test())


@each_loop
@pytest.mark.parametrize("theirs", [{18: (0, 4)}, {18: (0, 4), 52: (0, 1)}], ids=["no Vote", "Vote without pre-vote"])
def test_a_request_that_the_peer_does_not_support_fails(loop: Loop, theirs: dict[int, tuple[int, int]]) -> None:
    partition = VoteRequest.TopicData.PartitionData(
        partition_index=0, replica_epoch=1, replica_id=9, last_offset_epoch=0, last_offset=0, pre_vote=True
    )
    topic = VoteRequest.TopicData(topic_name="__cluster_metadata", partitions=(partition,))
    pre_vote = VoteRequest(cluster_id=None, topics=(topic,))

    async def old(peer: Bare) -> None:
        await greet(peer, theirs | {55: (0, 2)})
        await answer_describe(peer)
        await peer.reader.read()

    async def test() -> None:
        server, port = await serve_script(old)
        async with sending() as node:
            assert await node.ask(endpoint_of(port), pre_vote) == Failed(2, 1, Error.UNSUPPORTED_VERSION)
            assert [name for name, _ in node.notes] == ["peer_too_old"]
            assert isinstance(await node.ask(endpoint_of(port)), Answered)
        server.close()

    run_on(loop, test())


@each_loop
def test_a_vote_that_must_name_its_voter_is_not_sent_to_a_peer_that_cannot_read_the_name(loop: Loop) -> None:
    """A node of Vote v0 at the address of another one would grant a vote that is not that voter's."""
    partition = VoteRequest.TopicData.PartitionData(
        partition_index=0, replica_epoch=1, replica_id=9, last_offset_epoch=0, last_offset=0
    )
    vote = VoteRequest(
        cluster_id=None,
        voter_id=2,
        topics=(VoteRequest.TopicData(topic_name="__cluster_metadata", partitions=(partition,)),),
    )
    sent: list[bytes] = []

    async def old(peer: Bare) -> None:
        await greet(peer, {18: (0, 4), 52: (0, 0)})
        sent.append(await peer.reader.read())

    async def test() -> None:
        server, port = await serve_script(old)
        async with sending() as node:
            node.channels.send(Send(2, 7, endpoint_of(port), vote, least_version=1))
            await until(lambda: node.inputs)
            assert node.inputs == [Failed(2, 7, Error.UNSUPPORTED_VERSION)]
        await until(lambda: sent)
        assert sent == [b""]
        server.close()

    run_on(loop, test())


@each_loop
def test_a_failure_is_not_reported_from_within_send(loop: Loop) -> None:
    async def test() -> None:
        async with sending() as node:

            async def old(peer: Bare) -> None:
                await greet(peer, {18: (0, 4)})
                await peer.reader.read()

            server, port = await serve_script(old)
            assert isinstance(await node.ask(endpoint_of(port)), Failed)

            node.send(endpoint_of(port))
            inputs_before = len(node.inputs)
            await until(lambda: len(node.inputs) == 2)

            assert inputs_before == 1
            server.close()

    run_on(loop, test())


@each_loop
def test_a_refused_connection_is_reported_as_failed_and_refused(loop: Loop) -> None:
    async def test() -> None:
        async with sending() as node:
            port = free_port()
            node.send(endpoint_of(port))
            await until(lambda: len(node.inputs) == 2)

            assert node.inputs == [Failed(2, 1, Error.BROKER_NOT_AVAILABLE), Refused(2)]
            assert [name for name, _ in node.notes] == ["connect_failed"]

    run_on(loop, test())


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectionRefusedError(111, "x"), True),
        (
            OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 9), [Errno 111] Connect call failed"),
            True,
        ),
        (
            OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 9), [Errno 113] No route to host"),
            False,
        ),
        (OSError(113, "No route to host"), False),
        (TimeoutError(), False),
    ],
)
def test_a_connection_is_refused_if_each_address_refuses(error: OSError, expected: bool) -> None:
    assert is_refused(error) is expected


@each_loop
def test_the_channel_to_a_peer_that_left_the_quorum_is_closed(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving, sending() as node:
            node.send(serving.endpoint, peer=2)
            node.send(serving.endpoint, peer=3)
            await until(lambda: len(node.inputs) == 2)

            node.channels.retain({3})
            await until(lambda: serving.gone)

            assert len(serving.server.connections) == 1
            node.send(serving.endpoint, peer=2)
            await until(lambda: len(node.inputs) == 3)

    run_on(loop, test())


@each_loop
def test_a_name_with_two_addresses_is_refused_at_both(loop: Loop) -> None:
    async def test() -> None:
        async with sending() as node:
            node.send(endpoint_of(free_port(), "localhost"))
            await until(lambda: len(node.inputs) == 2)

            assert node.inputs == [Failed(2, 1, Error.BROKER_NOT_AVAILABLE), Refused(2)]

    run_on(loop, test())


@each_loop
def test_a_peer_that_dies_is_reported_as_failed_and_then_refused(loop: Loop) -> None:
    async def test() -> None:
        async with sending() as node:
            async with Serving(answers=True) as serving:
                assert isinstance(await node.ask(serving.endpoint), Answered)
                await asyncio.sleep(0.06)
                serving.answers = False
                node.send(serving.endpoint)
                await until(lambda: len(serving.requests) == 3)
                serving.server.stop_listening()
                await asyncio.sleep(0.01)
                for connection in list(serving.server.connections.values()):
                    connection.abort()
                await until(lambda: len(node.inputs) == 3)

            assert node.inputs[1:] == [Failed(2, 2, Error.BROKER_NOT_AVAILABLE), Refused(2)]

    run_on(loop, test())


@each_loop
def test_a_broken_idle_connection_shows_whether_the_peer_is_running(loop: Loop) -> None:
    async def test() -> None:
        async with sending() as node:
            async with Serving() as serving:
                await node.ask(serving.endpoint)
                await asyncio.sleep(0.06)
                serving.server.stop_listening()
                await asyncio.sleep(0.01)
            await until(lambda: len(node.inputs) == 2)

            assert node.inputs[1:] == [Refused(2)]

    run_on(loop, test())


@each_loop
def test_a_broken_connection_to_a_running_peer_is_reopened(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving, sending() as node:
            await node.ask(serving.endpoint)
            await asyncio.sleep(0.06)
            for connection in list(serving.server.connections.values()):
                connection.abort()
            await until(lambda: [incoming.api_key for incoming in serving.requests] == [18, 55, 18])

            assert isinstance(await node.ask(serving.endpoint), Answered)
            assert len(node.inputs) == 2

    run_on(loop, test())


@each_loop
def test_a_restarted_peer_is_connected_again(loop: Loop) -> None:
    async def test() -> None:
        async with sending() as node:
            port = free_port()
            assert isinstance(await node.ask(endpoint_of(port)), Failed)
            async with Serving() as serving:
                await serving.server.listen("CONTROLLER", "127.0.0.1", port)
                while not isinstance(await node.ask(endpoint_of(port)), Answered):
                    pass

    run_on(loop, test())


@each_loop
def test_attempts_are_delayed_by_a_backoff_that_grows_to_its_limit(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def test() -> None:
        running = asyncio.get_running_loop()
        async with sending() as node:
            port = free_port()

            def shortened(self: Channel, wait_ms: float, action: Callable[[], None]) -> None:
                waits.append(wait_ms)
                self._timer = running.call_later(0, action)

            monkeypatch.setattr(Channel, "_set_timer", shortened)
            for _ in range(7):
                assert isinstance(await node.ask(endpoint_of(port)), Failed)
                await asyncio.sleep(0.01)

    run_on(loop, test())

    bounds = [50, 100, 200, 400, 500, 500, 500]
    assert [0.8 * bound <= wait <= 1.2 * bound for wait, bound in zip(waits, bounds, strict=True)] == [True] * 7
    assert len(set(waits)) == 7


@each_loop
def test_a_later_request_replaces_the_earlier_and_uses_another_connection(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=True) as serving, sending() as node:
            await node.ask(serving.endpoint)
            serving.answers = False
            node.send(serving.endpoint)
            await until(lambda: len(serving.requests) == 3)
            serving.answers = True

            assert (await node.ask(serving.endpoint)).number == 3

            serving.answer(serving.requests[2])
            await asyncio.sleep(0.02)
            assert [each.number for each in node.inputs] == [1, 3]
            first, second = serving.requests[2].source.connection, serving.requests[-1].source.connection
            assert first != second

    run_on(loop, test())


@each_loop
def test_an_unsent_request_is_replaced(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving, sending() as node:
            for _ in range(4):
                node.send(serving.endpoint)
            await until(lambda: node.inputs)

            assert [each.number for each in node.inputs] == [4]
            assert [incoming.api_key for incoming in serving.requests] == [18, 55]

    run_on(loop, test())


@each_loop
def test_a_peer_with_a_new_address_is_reached(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as one, Serving() as other, sending() as node:
            await node.ask(one.endpoint)
            await node.ask(other.endpoint)

            assert (len(one.requests), len(other.requests)) == (2, 2)
            await until(lambda: one.gone)

    run_on(loop, test())


@each_loop
def test_a_host_name_is_resolved_at_each_connect(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    async def test() -> None:
        async with Serving() as serving, sending() as node:
            endpoint = endpoint_of(serving.port, "localhost")
            running = asyncio.get_running_loop()
            real = running.create_connection

            def watched(factory: Any, host: Any, port: Any, **options: Any) -> Any:
                asked.append(host)
                return real(factory, host, port, **options)

            if loop is LOOPS[0]:
                monkeypatch.setattr(running, "create_connection", watched)
            await node.ask(endpoint)
            await asyncio.sleep(0.06)
            for connection in list(serving.server.connections.values()):
                connection.abort()
            await node.ask(endpoint)

    run_on(loop, test())

    assert asked == (["localhost"] * 2 if loop is LOOPS[0] else [])


@each_loop
@pytest.mark.parametrize(
    ("host", "port"),
    [("no-such-host.invalid", 9), ("\0", 9), ("x" * 300, 9), ("a..b", 9), ("127.0.0.1", 70000), ("", 1), ("é" * 70, 1)],
)
def test_an_invalid_address_is_a_failure(loop: Loop, host: str, port: int) -> None:
    async def test() -> None:
        async with sending() as node:
            assert await node.ask(endpoint_of(port, host)) == Failed(2, 1, Error.BROKER_NOT_AVAILABLE)
            assert [name for name, _ in node.notes] == ["connect_failed"]

    run_on(loop, test())


async def close_at_once(_: Bare) -> None:
    """A peer that accepts, and closes."""


async def send_garbage(peer: Bare) -> None:
    await peer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")


async def refuse_versions(peer: Bare) -> None:
    _, _, correlation_id, _ = header(await peer.frame())
    await peer.write(b"".join(response_frame(versions_answer({18: (0, 5)}, 35), 0, correlation_id)))


async def fail_versions(peer: Bare) -> None:
    _, version, correlation_id, _ = header(await peer.frame())
    await peer.write(b"".join(response_frame(versions_answer({}, 42), version, correlation_id)))


async def answer_another(peer: Bare) -> None:
    await greet(peer)
    await answer_describe(peer, correlation_shift=1)


async def answer_torn(peer: Bare) -> None:
    await greet(peer)
    _, version, correlation_id, _ = header(await peer.frame())
    answer = encode(DescribeQuorumResponse(error_code=0, topics=()), version)[:-2]
    await peer.write((5 + len(answer)).to_bytes(4, "big") + correlation_id.to_bytes(4, "big") + b"\0" + answer)
    await peer.reader.read()


async def answer_too_much(peer: Bare) -> None:
    await greet(peer)
    _, version, correlation_id, _ = header(await peer.frame())
    answer = encode(DescribeQuorumResponse(error_code=0, topics=()), version) + b"more"
    await peer.write((5 + len(answer)).to_bytes(4, "big") + correlation_id.to_bytes(4, "big") + b"\0" + answer)
    await peer.reader.read()


async def answer_unasked(peer: Bare) -> None:
    await peer.write(b"\0\0\0\x04\0\0\0\1" * 3)


async def announce_much(peer: Bare) -> None:
    await greet(peer)
    await peer.frame()
    await peer.write(b"\x7f\xff\xff\xff")
    await peer.reader.read()


async def die_over_the_answer(peer: Bare) -> None:
    await greet(peer)
    await peer.frame()
    await peer.write(b"\0\0\0\x20\0\0")


@each_loop
@pytest.mark.parametrize(
    "script",
    [
        close_at_once, send_garbage, refuse_versions, fail_versions, answer_another, answer_torn, answer_too_much,
        answer_unasked, announce_much, die_over_the_answer,
    ],
)  # fmt: skip
def test_a_peer_that_misbehaves_is_a_failure(loop: Loop, script: Callable[[Bare], Any]) -> None:
    async def test() -> None:
        server, port = await serve_script(script)
        async with sending() as node:
            assert await node.ask(endpoint_of(port)) == Failed(2, 1, Error.BROKER_NOT_AVAILABLE)
            assert await node.ask(endpoint_of(port)) == Failed(2, 2, Error.BROKER_NOT_AVAILABLE)
            await asyncio.sleep(0.02)
            assert len(node.inputs) == 2
        server.close()

    run_on(loop, test())


class Late:
    """An event loop that returns each new connection later than the first bytes of the peer are read."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    async def create_connection(self, *args: Any) -> Any:
        made = await self._loop.create_connection(*args)
        await asyncio.sleep(0.02)
        return made


@contextlib.contextmanager
def channel_on(
    loop: Any, told: list[Any], notes: list[Any], on_answer: Callable[[int], None] = lambda _: None
) -> Iterator[Channel]:
    def answered(number: int, _: Any) -> None:
        told.append(number)
        on_answer(number)

    channel = Channel(
        loop, "test", Random(5), on_answer=answered, on_failure=lambda number, error: told.append((number, error)),
        on_refused=lambda: None, note=lambda name, fields: notes.append((name, fields)),
    )  # fmt: skip
    try:
        yield channel
    finally:
        channel.close()


@each_loop
def test_bytes_that_come_before_the_connection_is_handed_over_are_one_failure(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raft.network.channel.BACKOFF_MS", 10_000)

    async def speak_first(peer: Bare) -> None:
        await send_garbage(peer)
        await peer.reader.read()

    async def test() -> None:
        server, port = await serve_script(speak_first)
        told: list[Any] = []
        notes: list[Any] = []
        with channel_on(Late(asyncio.get_running_loop()), told, notes) as channel:
            channel.send(1, endpoint_of(port), REQUEST)
            assert channel._connecting is not None
            await channel._connecting  # raises what `_open` raised

            assert told == [(1, Error.BROKER_NOT_AVAILABLE)]
            assert [name for name, _ in notes] == ["peer_misbehaved", "connect_failed"]
        server.close()

    run_on(loop, test())


@each_loop
def test_bytes_behind_the_last_answer_of_a_connection_do_not_end_the_next(loop: Loop) -> None:
    async def answer_and_more(peer: Bare) -> None:
        await greet(peer)
        _, version, correlation_id, _ = header(await peer.frame())
        answer = b"".join(response_frame(DescribeQuorumResponse(error_code=0, topics=()), version, correlation_id))
        await peer.write(answer + b"\x7f\xff\xff\xff")
        await peer.reader.read()

    async def test() -> None:
        server, port = await serve_script(answer_and_more)
        told: list[Any] = []
        notes: list[Any] = []
        async with Serving() as other:

            def move(number: int) -> None:
                if number == 1:
                    channel.send(2, other.endpoint, REQUEST)

            with channel_on(asyncio.get_running_loop(), told, notes, move) as channel:
                channel.send(1, endpoint_of(port), REQUEST)
                await until(lambda: len(told) == 2)

                assert (told, notes) == ([1, 2], [])
        server.close()

    run_on(loop, test())


@each_loop
def test_a_peer_that_closes_each_connection_is_not_retried_in_a_busy_loop(loop: Loop) -> None:
    connections = []

    async def close_after_versions(peer: Bare) -> None:
        connections.append(peer)
        await greet(peer)

    async def test() -> None:
        server, port = await serve_script(close_after_versions)
        async with sending() as node:
            await node.ask(endpoint_of(port))
            await asyncio.sleep(0.2)

            assert len(connections) <= 2
        server.close()

    run_on(loop, test())


@each_loop
def test_a_peer_that_does_not_answer_api_versions_times_out(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raft.network.channel.VERSIONS_MS_MAX", 50)

    async def silent(peer: Bare) -> None:
        await peer.reader.read()

    async def test() -> None:
        server, port = await serve_script(silent)
        async with sending() as node:
            assert await node.ask(endpoint_of(port)) == Failed(2, 1, Error.BROKER_NOT_AVAILABLE)
            for _ in range(2):
                await node.ask(endpoint_of(port))
            assert [fields["reason"] for _, fields in node.notes] == ["it does not answer ApiVersions within 50 ms"]
        server.close()

    run_on(loop, test())


@each_loop
def test_the_version_of_api_versions_that_a_peer_knows_is_remembered(loop: Loop) -> None:
    asked: list[int] = []

    async def old(peer: Bare) -> None:
        while True:
            frame = await peer.frame()
            api_key, version, correlation_id, _ = header(frame)
            if api_key != 18:
                return
            asked.append(version)
            answer = versions_answer({18: (0, 3)}, 35) if version > 3 else versions_answer(VERSIONS)
            await peer.write(b"".join(response_frame(answer, min(version, 0 if version > 3 else 3), correlation_id)))

    async def test() -> None:
        server, port = await serve_script(old)
        async with sending() as node:
            await node.ask(endpoint_of(port))
            await node.ask(endpoint_of(port))

            assert asked == [4, 3, 3]
        server.close()

    run_on(loop, test())


@each_loop
def test_nothing_is_reported_after_the_close(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=False) as serving:
            node = Sending()
            node.send(serving.endpoint)
            node.send(endpoint_of(free_port()), peer=3)
            await until(lambda: serving.requests)

            node.channels.close()
            await asyncio.sleep(0.05)

            assert node.inputs == [] or node.inputs[0].peer == 3
            await until(lambda: serving.gone)

    run_on(loop, test())


@each_loop
def test_the_same_failure_is_noted_once(loop: Loop) -> None:
    async def test() -> None:
        async with sending() as node:
            port = free_port()
            for _ in range(3):
                await node.ask(endpoint_of(port))

            assert len(node.notes) == 1

    run_on(loop, test())


@each_loop
def test_bootstrap_servers_have_channels_of_their_own(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving, sending() as node:
            node.send(serving.endpoint, peer=2)
            node.send(serving.endpoint, peer=-2)
            await until(lambda: len(node.inputs) == 2)

            assert sorted(each.peer for each in node.inputs) == [-2, 2]
            assert len(serving.server.connections) == 2

    run_on(loop, test())
