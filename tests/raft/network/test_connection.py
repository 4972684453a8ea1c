"""One incoming connection."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import pairwise

import pytest

from raft.network.connection import REQUESTS_PER_ITERATION, BufferedConnection, Connection
from tests.raft.network.peers import (
    LOOPS,
    Bare,
    Loop,
    Serving,
    describe_quorum,
    request_frame,
    run_on,
    until,
)
from tests.raft.network.test_server import correlation

pytestmark = pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])


def test_the_loop_decides_how_bytes_are_read(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            expected = Connection if loop is LOOPS[1] else BufferedConnection

            assert serving.server._protocol is expected

    run_on(loop, test())


def test_a_client_with_very_many_requests_does_not_delay_others(loop: Loop) -> None:
    async def test() -> None:
        async with Serving() as serving:
            counts = [0]

            def count() -> None:
                counts.append(len(serving.requests))
                running.call_soon(count)

            running = asyncio.get_running_loop()
            running.call_soon(count)
            client = await Bare.to(serving.port)
            await client.write(b"".join(request_frame(describe_quorum(), 2, number) for number in range(500)))

            assert [correlation(await client.frame()) for _ in range(500)] == list(range(500))
            steps = [after - before for before, after in pairwise(counts)]
            assert max(steps) <= 2 * REQUESTS_PER_ITERATION  # the steps of the loop, and those of reading
            client.close()

    run_on(loop, test())


@pytest.mark.parametrize("bad", [b"\0\0\0\x01x", b"\xff\xff\xff\xff"], ids=["request", "length"])
def test_answers_that_take_longer_leave_before_a_bad_frame_closes_the_connection(loop: Loop, bad: bytes) -> None:
    async def test() -> None:
        async with Serving(answers=False) as serving:
            client = await Bare.to(serving.port)
            count = 2 * REQUESTS_PER_ITERATION
            requests = b"".join(request_frame(describe_quorum(), 2, number) for number in range(count))
            await client.write(requests + bad + request_frame(describe_quorum(), 2, count))
            for number in range(count):
                await until(partial(serving.has_more_than, number))
                assert serving.server.connections
                serving.answer(serving.requests[number])

            assert [correlation(await client.frame()) for _ in range(count)] == list(range(count))
            assert await client.is_closed()
            assert len(serving.requests) == count
            assert [name for name, _ in serving.notes] == ["connection_refused"]

    run_on(loop, test())
