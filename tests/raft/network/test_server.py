"""A server on real sockets: order, limits, bad bytes, and connections that open and close."""

from __future__ import annotations

import asyncio
import random
import socket
from functools import partial
from heapq import nsmallest
from typing import Any

import pytest

from raft.network import silent_connections, turns
from raft.network.mechanisms import PlainClient
from raft.network.server import IDLE_MS_MAX
from raft.network.turns import ITERATION_BYTES_MAX
from records.codec import decode
from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.quorum import DescribeQuorumRequest, DescribeQuorumResponse
from records.messages.sasl import SaslAuthenticateRequest, SaslAuthenticateResponse
from records.messages.versions import ApiVersionsResponse
from tests.raft.network.peers import (
    LOOPS,
    Bare,
    Loop,
    Serving,
    api_versions,
    describe_quorum,
    request_frame,
    run_on,
    until,
)
from tests.raft.network.test_sasl_gate import Client, Secured

pytestmark = pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])


def correlation(frame: bytes) -> int:
    return int.from_bytes(frame[:4], "big", signed=True)


def test_a_request_is_passed_on_and_answered(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            client = await Bare.to(serving.port)
            await client.write(request_frame(describe_quorum(), 2, 41, "me"))

            frame = await client.frame()

            assert (correlation(frame), frame[4:5]) == (41, b"\0")
            assert decode(DescribeQuorumResponse, 2, frame[5:]).topics == ()
            incoming = serving.requests[0]
            assert (incoming.api_key, incoming.version, incoming.client_id) == (55, 2, "me")
            assert incoming.message == describe_quorum()
            port = client.writer.get_extra_info("sockname")[1]
            assert (incoming.listener, incoming.peer) == ("CONTROLLER", f"127.0.0.1:{port}")
            client.close()
            await until(lambda: serving.gone == [incoming.source.connection])

    run_on(loop, test())


def test_a_request_is_handled_when_the_one_before_it_is_answered(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=False) as serving:
            client = await Bare.to(serving.port)
            await client.write(b"".join(request_frame(describe_quorum(), 2, number) for number in range(10)))
            await until(lambda: serving.requests)
            (connection,) = serving.server.connections.values()
            await until(lambda: len(connection._backlog) == 9)

            for number in range(10):
                assert len(serving.requests) == number + 1
                serving.answer(serving.requests[number])
                assert correlation(await client.frame()) == number

            client.close()

    run_on(loop, test())


def test_requests_behind_one_without_an_answer_stay_in_the_socket(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=False) as serving:
            client = await Bare.to(serving.port)
            total = 300
            data = b"".join(request_frame(describe_quorum(), 2, number, "x" * 10_000) for number in range(total))
            writing = asyncio.create_task(client.write(data))
            await until(lambda: serving.requests)
            (connection,) = serving.server.connections.values()
            await until(lambda: connection._is_read_paused)
            read_ahead = sum(map(len, connection._backlog))
            serving.answers = True

            serving.answer(serving.requests[0])

            assert read_ahead < len(data) / 4
            assert [correlation(await client.frame()) for _ in range(total)] == list(range(total))
            await writing
            client.close()

    run_on(loop, test())


def test_a_connection_above_the_limit_replaces_the_one_idle_for_longest_on_the_server(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(connections_max=2) as serving:
            first, second = await Bare.to(serving.port), await Bare.to(serving.port)
            await until(lambda: len(serving.server.connections) == 2)
            await asyncio.sleep(0.01)
            await first.write(request_frame(describe_quorum(), 2, 1))
            await first.frame()

            third = await Bare.to(serving.port)
            await until(lambda: serving.gone)

            assert await second.is_closed()
            for client in (first, third):
                await client.write(request_frame(describe_quorum(), 2, 7))
                assert correlation(await client.frame()) == 7
                client.close()
            assert [name for name, _ in serving.notes] == ["connection_refused"]

    run_on(loop, test())


def test_connections_above_the_limit_are_not_each_compared_with_all(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def counting(size: int, others: list[tuple[float, int]]) -> list[tuple[float, int]]:
        looks.append(size)
        return nsmallest(size, others)

    monkeypatch.setattr(silent_connections, "nsmallest", counting)

    async def test() -> None:
        async with Serving(connections_max=128) as serving:
            clients = [await Bare.to(serving.port) for _ in range(134)]
            await until(lambda: len(serving.gone) == 6)

            assert looks == [3, 3]
            assert [await client.is_closed() for client in clients[:6]] == [True] * 6
            for client in clients[6:]:
                client.close()

    run_on(loop, test())


def test_a_correlation_id_may_occur_twice(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=False) as serving:
            client = await Bare.to(serving.port)
            await client.write(request_frame(describe_quorum(), 2, 5) * 2)
            for number in range(2):
                await until(partial(serving.has_more_than, number))
                serving.answer(serving.requests[number], error_code=number + 1)

            serving.answer(serving.requests[0], error_code=3)  # it is answered already

            assert serving.requests[0].source != serving.requests[1].source
            answers = [decode(DescribeQuorumResponse, 2, (await client.frame())[5:]) for _ in range(2)]
            assert [answer.error_code for answer in answers] == [1, 2]
            client.close()

    run_on(loop, test())


def test_the_end_of_a_connection_is_noticed_while_its_request_waits(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=False) as serving:
            client = await Bare.to(serving.port)
            await client.write(request_frame(describe_quorum(), 2))
            await until(lambda: serving.requests)

            client.close()

            await until(lambda: serving.gone)

    run_on(loop, test())


def test_an_answer_to_a_closed_connection_is_dropped(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=False) as serving:
            client = await Bare.to(serving.port)
            await client.write(request_frame(describe_quorum(), 2))
            await until(lambda: serving.requests)
            client.close()
            await until(lambda: serving.gone)

            serving.answer(serving.requests[0])

            assert serving.server.connections == {}

    run_on(loop, test())


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            client = await Bare.to(serving.port)
            await client.write(bytes.fromhex("0000000e 0012 0063 00000007 0004 74657374".replace(" ", "") + "00")[:4]
                               + bytes.fromhex("0012 0063 00000007 0003 746573 00".replace(" ", "")))  # fmt: skip

            frame = await client.frame()

            answer = decode(ApiVersionsResponse, 0, frame[4:])
            assert (correlation(frame), answer.error_code) == (7, 35)
            assert [(entry.api_key, entry.min_version, entry.max_version) for entry in answer.api_keys] == [(18, 0, 5)]
            assert serving.requests == []
            await client.write(api_versions(8))
            assert correlation(await client.frame()) == 8
            client.close()

    run_on(loop, test())


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
        b"\x7f\xff\xff\xff" + bytes(100),
        b"\xff\xff\xff\xff",
        b"\0\0\0\0",
        b"\0\0\0\x05hello",
        b"\0\0\0\x08\0\0\0\x03\0\0\0\x01",  # a Produce request: an API, but none of this server's
        request_frame(describe_quorum(), 2)[:-1] + b"\xff",
    ],
    ids=["http", "tls", "huge", "negative", "empty", "short", "not served", "malformed"],
)
def test_bad_bytes_close_their_connection_with_a_note_and_no_other(loop: Loop, data: bytes) -> None:
    async def test() -> None:
        async with Serving() as serving:
            good, bad = await Bare.to(serving.port), await Bare.to(serving.port)
            serving.server._versions = {key: value for key, value in serving.server._versions.items() if key != 3}

            await bad.write(data)

            assert await bad.is_closed()
            await good.write(api_versions(3))
            assert correlation(await good.frame()) == 3
            assert [name for name, _ in serving.notes] == ["connection_refused"]
            assert serving.notes[0][1]["peer"].startswith("127.0.0.1:")
            good.close()

    run_on(loop, test())


def test_random_bytes_do_not_stop_the_server(loop: Loop) -> None:
    async def test() -> None:
        rng = random.Random(11)
        async with Serving() as serving:
            for _ in range(60):
                client = await Bare.to(serving.port)
                data = rng.randbytes(rng.randint(1, 300))
                if rng.random() < 0.5:
                    data = (
                        len(data).to_bytes(4, "big")
                        + rng.choice(sorted(serving.server._versions)).to_bytes(2, "big")
                        + data
                    )
                await client.write(data)
                client.close()
            client = await Bare.to(serving.port)
            await client.write(api_versions(3))

            assert correlation(await client.frame()) == 3
            client.close()
            await until(lambda: not serving.server.connections)
            assert serving.server.held_bytes == 0

    run_on(loop, test())


def test_pending_answers_are_sent_before_a_bad_request_closes_the_connection(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            client = await Bare.to(serving.port)

            await client.write(api_versions(1) + api_versions(2) + b"\0\0\0\x01x" + api_versions(3))

            assert [correlation(await client.frame()) for _ in range(2)] == [1, 2]
            assert await client.is_closed()
            assert len(serving.requests) == 2

    run_on(loop, test())


def test_a_request_that_gets_no_answer_closes_the_connection_behind_the_answers_before_it(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=False) as serving:
            client = await Bare.to(serving.port)
            await client.write(b"".join(request_frame(describe_quorum(), 2, number) for number in range(3)))
            await until(lambda: serving.requests)
            serving.answer(serving.requests[0])
            await until(lambda: len(serving.requests) == 2)

            serving.server.disconnect(serving.requests[1].source, "it asks too much")

            assert correlation(await client.frame()) == 0
            assert await client.is_closed()
            assert [fields["reason"] for _, fields in serving.notes] == ["it asks too much"]
            assert len(serving.requests) == 2

    run_on(loop, test())


def test_a_hundred_half_frames_hold_only_the_received_bytes(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            clients = [await Bare.to(serving.port) for _ in range(100)]
            for client in clients:
                await client.write((100 << 20).to_bytes(4, "big") + bytes(1000))
            await until(lambda: serving.server.held_bytes == 100 * 1004)

            good = await Bare.to(serving.port)
            await good.write(api_versions(3))

            assert correlation(await good.frame()) == 3
            for client in (*clients, good):
                client.close()
            await until(lambda: serving.server.held_bytes == 0)

    run_on(loop, test())


def test_too_many_half_frames_close_the_largest_first(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(held_bytes_max=100_000) as serving:
            clients = [await Bare.to(serving.port) for _ in range(30)]
            for number, client in enumerate(clients):
                await client.write((1 << 20).to_bytes(4, "big") + bytes(1000 * number))
            await until(lambda: serving.notes)
            most = 0
            for _ in range(50):
                most = max(most, serving.server.held_bytes)
                await asyncio.sleep(0.002)

            assert most <= 100_000
            assert "unfinished and waiting requests hold" in serving.reasons[0]
            smallest = clients[1]
            assert smallest.writer.get_extra_info("sockname")[1] in {
                int(connection.peer.rpartition(":")[2]) for connection in serving.server.connections.values()
            }
            for client in clients:
                client.close()

    run_on(loop, test())


def test_whole_frames_that_wait_behind_an_unanswered_request_count(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=False, held_bytes_max=100_000) as serving:
            clients = [await Bare.to(serving.port) for _ in range(4)]
            body = request_frame(describe_quorum(), 2)[4:] + bytes(30_000)
            waiting = len(body).to_bytes(4, "big") + body

            for number, client in enumerate(clients[:3]):
                await client.write(request_frame(describe_quorum(), 2) + waiting)
                await until(partial(serving.has_more_than, number))
            await until(lambda: serving.server.held_bytes == 3 * len(body))
            await clients[3].write(waiting + waiting)
            await until(lambda: serving.notes)

            assert await clients[0].is_closed()
            assert serving.server.held_bytes == 3 * len(body)
            serving.answer(serving.requests[1])
            await until(lambda: serving.server.held_bytes == 2 * len(body))
            clients[2].close()

    run_on(loop, test())


def test_only_requests_of_large_apis_have_the_largest_frames(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(small_bytes_max=1_000, request_bytes_max=5_000, large=frozenset({55})) as serving:
            large, small, larger = [await Bare.to(serving.port) for _ in range(3)]
            padding = bytes(4_000)  # bytes after a message are ignored
            described, versions = request_frame(describe_quorum(), 2), api_versions(3)

            for client, frame, extra in ((large, described, b""), (small, versions, b""), (larger, described, padding)):
                body = frame[4:] + padding + extra
                await client.write(len(body).to_bytes(4, "big") + body)
            await until(lambda: serving.requests and len(serving.notes) == 2)

            assert [request.api_key for request in serving.requests] == [55]
            assert sorted(serving.reasons) == [
                f"a frame of {len(versions) - 4 + 4_000} bytes with API key 18, which has at most 1000",
                f"a frame of {len(described) - 4 + 8_000} bytes; at most 5000 are taken",
            ]
            large.close()

    run_on(loop, test())


def test_many_small_holders_of_one_host_close_before_the_large_request_of_another(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(held_bytes_max=100_000) as serving:
            broker = await Bare.to(serving.port, host="127.0.0.2")
            await broker.write((40_004).to_bytes(4, "big") + bytes(40_000))

            hostile = [await Bare.to(serving.port) for _ in range(40)]
            for client in hostile:
                await client.write((1 << 20).to_bytes(4, "big") + bytes(3000))
            await until(lambda: len(serving.notes) >= 20)

            assert {fields["peer"].rpartition(":")[0] for _, fields in serving.notes} == {"127.0.0.1"}
            assert max(one.held for one in serving.server.connections.values()) == 40_004

    run_on(loop, test())


def test_a_large_request_in_small_pieces_is_served(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            client = await Bare.to(serving.port)
            request = DescribeQuorumRequest(topics=describe_quorum("x" * 2000).topics * 100)
            frame = request_frame(request, 2, 9)
            for at in range(0, len(frame), 7001):
                await client.write(frame[at : at + 7001])

            assert correlation(await client.frame()) == 9
            assert serving.requests[0].message == request
            client.close()

    run_on(loop, test())


FETCH = request_frame(FetchRequest(max_wait_ms=0, min_bytes=0, topics=()), 17)


def fetched(size: int) -> FetchResponse:
    """An answer with so many bytes of records."""
    topic = FetchResponse.FetchableTopicResponse
    partition = topic.PartitionData(
        partition_index=0, error_code=0, high_watermark=5, aborted_transactions=(), records=bytes(size)
    )
    return FetchResponse(responses=(topic(topic_id=bytes(16), partitions=(partition,)),))


def test_a_peer_that_does_not_read_is_not_read_from(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            serving.answer = lambda incoming, **_: serving.server.reply(incoming.source, fetched(1 << 20))  # type: ignore[method-assign]
            client = await Bare.to(serving.port, limit=1000)
            await client.write(FETCH * 60)
            await until(lambda: serving.requests)
            await asyncio.sleep(0.05)
            connection = next(iter(serving.server.connections.values()))
            stuck, unsent = len(serving.requests), connection.unsent_bytes

            sizes = [len(await client.frame()) for _ in range(60)]

            assert stuck < 30
            assert unsent <= 3 << 20
            assert len(serving.requests) == 60
            assert min(sizes) > 1 << 20

    run_on(loop, test())


def test_when_unread_answers_exceed_the_limit_the_oldest_such_connection_is_closed(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=False, unsent_bytes_max=20 << 20) as serving:
            clients = []
            for number in range(3):
                clients.append(await Bare.to(serving.port, limit=1000))
                await clients[-1].write(FETCH)
                await until(partial(serving.has_more_than, number))
                serving.server.reply(serving.requests[number].source, fetched(15 << 20))
            await until(lambda: serving.gone)
            await asyncio.sleep(0.02)

            # How many depends on what the system takes; the last one began last.
            assert serving.gone in ([1], [1, 2])
            assert "read nothing for longest" in serving.reasons[0]
            assert sum(one.unsent_bytes for one in serving.server.connections.values()) <= 20 << 20
            for client in clients:
                client.writer.transport.abort()

    run_on(loop, test())


def test_large_answers_take_many_iterations_of_the_loop_and_small_ones_go_first(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By their bytes alone, however long a busy machine takes for them.
    monkeypatch.setattr(turns, "_LIMITS_S", (60.0, 60.0, 60.0))

    async def test() -> None:
        async with Serving() as serving:
            large = 2 << 20
            taken: list[str] = []

            def answer(incoming: Any, **_: Any) -> None:
                is_fetch = incoming.api_key == 1
                taken.append("fetch" if is_fetch else "describe")
                response = fetched(large) if is_fetch else DescribeQuorumResponse(error_code=0, topics=())
                serving.server.reply(incoming.source, response)

            serving.answer = answer  # type: ignore[method-assign]
            light = await Bare.to(serving.port)
            for number in range(3):
                await light.write(request_frame(describe_quorum(), 2, number))
                await light.frame()
            many = [await Bare.to(serving.port) for _ in range(20)]
            await until(lambda: len(serving.server.connections) == 21)
            taken.clear()
            light_connection, *others = serving.server.connections.values()

            for connection in others:  # all in one iteration, as if all had been ready at once
                connection.data_received(FETCH)
            at_once = len(taken)
            light_connection.data_received(request_frame(describe_quorum(), 2, 9))

            assert at_once == ITERATION_BYTES_MAX // large
            assert taken[at_once:] == ["describe"]
            for client in many:
                assert len(await client.frame()) > large
            assert taken.count("fetch") == 20
            for client in (light, *many):
                client.close()

    run_on(loop, test())


def test_after_10_ms_of_requests_in_an_iteration_only_urgent_ones_are_handled(loop: Loop) -> None:
    async def test() -> None:
        now_s = [0.0]
        async with Serving(clock=lambda: now_s[0], urgent=frozenset({1})) as serving:
            taken: list[int] = []

            def answer(incoming: Any, **_: Any) -> None:
                taken.append(incoming.api_key)
                now_s[0] += 0.004
                is_fetch = incoming.api_key == 1
                response = fetched(10) if is_fetch else DescribeQuorumResponse(error_code=0, topics=())
                serving.server.reply(incoming.source, response)

            serving.answer = answer  # type: ignore[method-assign]
            clients = [await Bare.to(serving.port) for _ in range(6)]
            await until(lambda: len(serving.server.connections) == 6)
            *others, follower = serving.server.connections.values()

            for connection in others:  # all in one iteration, as if all had been ready at once
                connection.data_received(request_frame(describe_quorum(), 2, 9))
            follower.data_received(FETCH)
            at_once = list(taken)
            for client in clients:
                await client.frame()

            assert at_once == [55, 55, 55, 1]
            assert sorted(taken) == [1, 55, 55, 55, 55, 55]
            for client in clients:
                client.close()

    run_on(loop, test())


@pytest.mark.parametrize(("cost_s", "at_once"), [(0.004, [55, 55, 55, 18, 1]), (0.06, [55, 1])])
def test_prompt_requests_wait_for_the_second_limit_of_an_iteration_and_urgent_ones_do_not(
    loop: Loop, cost_s: float, at_once: list[int]
) -> None:
    async def test() -> None:
        now_s = [0.0]
        async with Serving(clock=lambda: now_s[0], urgent=frozenset({1}), prompt=frozenset({18})) as serving:
            taken: list[int] = []
            answer_usually = serving.answer

            def answer(incoming: Any, **_: Any) -> None:
                taken.append(incoming.api_key)
                now_s[0] += cost_s
                if incoming.api_key == 1:
                    serving.server.reply(incoming.source, fetched(10))
                else:
                    answer_usually(incoming)

            serving.answer = answer  # type: ignore[method-assign]
            clients = [await Bare.to(serving.port) for _ in range(6)]
            await until(lambda: len(serving.server.connections) == 6)
            *others, broker, follower = serving.server.connections.values()

            for connection in others:
                connection.data_received(request_frame(describe_quorum(), 2, 9))
            broker.data_received(api_versions())
            follower.data_received(FETCH)

            assert taken == at_once
            for client in clients:
                await client.frame()
                client.close()
            assert sorted(taken) == [1, 18, 55, 55, 55, 55]

    run_on(loop, test())


def test_the_first_api_versions_of_a_connection_is_as_prompt_as_what_comes_behind_it(loop: Loop) -> None:
    async def test() -> None:
        now_s = [0.0]
        async with Serving(clock=lambda: now_s[0]) as serving:
            taken: list[int] = []
            answer_usually = serving.answer

            def answer(incoming: Any, **_: Any) -> None:
                taken.append(incoming.api_key)
                now_s[0] += 0.004
                answer_usually(incoming)

            serving.answer = answer  # type: ignore[method-assign]
            clients = [await Bare.to(serving.port) for _ in range(4)]
            await until(lambda: len(serving.server.connections) == 4)
            *others, broker = serving.server.connections.values()

            for connection in others:
                connection.data_received(request_frame(describe_quorum(), 2, 9))
            broker.data_received(api_versions() * 2)
            at_once = list(taken)
            await clients[-1].frame()
            await clients[-1].frame()

            assert at_once == [55, 55, 55, 18]
            assert taken == [55, 55, 55, 18, 18]
            for client in clients:
                client.close()

    run_on(loop, test())


def test_idle_connections_are_closed_and_busy_ones_stay(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(idle_ms_max=300) as serving:
            idle, busy = await Bare.to(serving.port), await Bare.to(serving.port)
            await idle.write(b"\0\0\0\x50half")

            for number in range(8):
                await busy.write(api_versions(number))
                assert correlation(await busy.frame()) == number
                await asyncio.sleep(0.1)

            assert await idle.is_closed()
            assert len(serving.server.connections) == 1
            assert serving.server.held_bytes == 0
            busy.close()

    run_on(loop, test())


def test_a_connection_that_is_closing_ends_when_its_peer_has_read_nothing_for_long(loop: Loop) -> None:
    async def test() -> None:
        async with Serving(answers=False) as serving:
            client = await Bare.to(serving.port, limit=1000)
            await client.write(FETCH)
            await until(lambda: serving.requests)
            serving.server.reply(serving.requests[0].source, fetched(15 << 20))
            (connection,) = serving.server.connections.values()
            connection.close()
            await asyncio.sleep(0.05)
            before = list(serving.gone)

            connection.last_active -= 2 * IDLE_MS_MAX / 1000
            serving.server._close_idle()
            for _ in range(10):
                await asyncio.sleep(0)
            after = list(serving.gone)
            client.writer.transport.abort()

            assert (before, after) == ([], [connection.number])

    run_on(loop, test())


def test_connections_that_come_at_once_above_the_limit_replace_as_many_that_are_not_authenticated(loop: Loop) -> None:
    async def test() -> None:
        async with Secured(connections_max=2) as serving:
            for number in range(2):
                waiting = await Bare.to(serving.port)
                await waiting.write(api_versions(number))
                await waiting.frame()

            # Both are there before the loop accepts the first of them.
            sockets = [socket.create_connection(("127.0.0.1", serving.port)) for _ in range(2)]
            for sock in sockets:
                client = Bare(*await asyncio.open_connection(sock=sock))
                await client.write(api_versions(7))
                assert correlation(await client.frame()) == 7

            assert serving.gone == [1, 2]
            assert sorted(serving.server.connections) == [3, 4]

    run_on(loop, test())


def test_the_first_bytes_of_a_token_do_not_count_as_unauthenticated_behind_it(loop: Loop) -> None:
    async def test() -> None:
        async with Secured(unauthenticated_bytes_max=50) as serving:
            for _ in range(3):
                client = await Client.to(serving.port)
                await client.shake()
                token = request_frame(SaslAuthenticateRequest(auth_bytes=PlainClient("alice", "hush").first()), 2)
                await client.write(token[:20])
                await until(lambda: serving.server.held_bytes == 20)
                await client.write(token[20:])

                assert (await client.response(SaslAuthenticateResponse, 2)).error_code == 0
            assert (serving.server.held_bytes, serving.server._unauthenticated_bytes) == (0, 0)
            assert serving.notes == []

    run_on(loop, test())


def test_a_port_in_use_is_reported_with_its_address(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            with pytest.raises(
                OSError, match=rf"^\[Errno 98\] CONTROLLER cannot listen on 127\.0\.0\.1:{serving.port}: ."
            ):
                await serving.server.listen("CONTROLLER", "127.0.0.1", serving.port)

    run_on(loop, test())


def test_a_host_name_that_is_not_found_is_reported(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            with pytest.raises(OSError, match=r"NAMED cannot listen on no\.such\.host\.invalid:1: .*[Nn]ame"):
                await serving.server.listen("NAMED", "no.such.host.invalid", 1)
            with pytest.raises(OSError, match=r"NAMED cannot listen on a\.\.b:1: that is no name of a host"):
                await serving.server.listen("NAMED", "a..b", 1)

    run_on(loop, test())


def test_it_listens_on_ipv6(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            try:
                port = await serving.server.listen("SIX", "::1", 0)
            except OSError:
                pytest.skip("no IPv6 here")
            reader, writer = await asyncio.open_connection("::1", port)
            client = Bare(reader, writer)
            await client.write(api_versions(3))

            assert correlation(await client.frame()) == 3
            assert serving.requests[0].peer.startswith("[::1]:")
            assert serving.requests[0].listener == "SIX"
            client.close()

    run_on(loop, test())


def test_without_a_host_it_listens_on_all_addresses(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]

            assert await serving.server.listen("ALL", "", port) == port

            client = await Bare.to(port)
            await client.write(api_versions(3))
            assert correlation(await client.frame()) == 3

    run_on(loop, test())


def test_no_delay_is_set(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            client = await Bare.to(serving.port)
            await client.write(api_versions(3))
            await client.frame()
            connection = next(iter(serving.server.connections.values()))
            sock = connection._transport.get_extra_info("socket")

            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            client.close()

    run_on(loop, test())


def test_a_closed_server_sends_pending_answers_and_accepts_no_more(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            client = await Bare.to(serving.port)
            await client.write(api_versions(3))
            await until(lambda: serving.requests)

            serving.server.close()

            assert correlation(await client.frame()) == 3
            assert await client.is_closed()
            with pytest.raises(ConnectionRefusedError):
                await Bare.to(serving.port)

    run_on(loop, test())
