"""What a connection is protected by."""

from __future__ import annotations

import asyncio

import pytest

from raft.interface.inputs import Answered
from raft.network.security import LIMIT_S, ListenerSecurity, NoteLimit
from tests.raft.network.certificates import certificate, client_context, server_context
from tests.raft.network.peers import LOOPS, run_on
from tests.raft.network.test_tls import NODE, Asking, Secured, client

pytestmark = pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])


def test_a_connection_continues_after_the_certificate_is_renewed(loop):
    async def test():
        first, second = (server_context(certificate(NODE, serial=number)) for number in (1, 2))
        contexts = [first]
        async with Secured(ListenerSecurity(lambda: contexts[-1])) as serving:
            open_ = Asking(client())
            assert isinstance(await open_.ask(serving), Answered)
            contexts.append(second)
            assert isinstance(await open_.ask(serving, 2), Answered)
            assert len(serving.server.connections) == 1
            _, writer = await asyncio.open_connection("localhost", serving.port, ssl=client_context())
            assert writer.get_extra_info("peercert")["serialNumber"] == f"{102:X}"
            writer.transport.abort()
            open_.channels.close()

    run_on(loop, test())


def test_an_event_is_written_once_a_minute_with_the_number_left_out(loop):
    now = [0.0]
    limit = NoteLimit(lambda: now[0])

    assert [limit.passes("a"), limit.passes("a"), limit.passes("b"), limit.passes("a")] == [0, None, 0, None]
    now[0] = LIMIT_S
    assert limit.passes("a") == 2
    assert limit.passes("a") is None


def test_no_more_than_a_hundred_events_are_written_in_a_minute(loop):
    now = [0.0]
    limit = NoteLimit(lambda: now[0])

    assert sum(limit.passes("authentication_failed", f"user {number}") is not None for number in range(1000)) == 100
    now[0] = LIMIT_S
    assert limit.passes("authentication_failed", "user 0") == 0
