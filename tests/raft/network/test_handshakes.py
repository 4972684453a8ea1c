"""Hostile handshakes on real loopback sockets: what they may hold together, and that none reaches a handler."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import subprocess
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from controller.security.edges import names_of_session
from raft.interface.inputs import Answered, Failed
from raft.network import handshakes
from raft.network.mechanisms import PlainServer
from raft.network.security import ListenerSecurity, Sasl
from raft.network.tls import HANDSHAKE_BYTES_MAX, TlsConnection
from raft.security.names import subject_of
from records.messages.sasl import SaslHandshakeRequest
from tests.raft.network.certificates import (
    certificate,
    certificate_with_nul,
    client_context,
    needs_openssl,
    server_context,
)
from tests.raft.network.peers import LOOPS, Bare, request_frame, run_on, until
from tests.raft.network.test_tls import NODE, Asking, Secured, client, security

pytestmark = [needs_openssl, pytest.mark.parametrize("loop", LOOPS)]


def sasl_security() -> ListenerSecurity:
    mechanisms = {"PLAIN": lambda: PlainServer({"alice": "hush"})}
    return ListenerSecurity(
        sasl=Sasl(mechanisms, {"PLAIN": 0}, 1, 1000, lambda name, _: f"User:{name}", lambda: 0)
    )  # fmt: skip


def test_stalled_handshakes_are_limited_in_number(loop):
    async def test():
        async with Secured(security(), connections_max=64) as serving:
            stalled = [await Bare.to(serving.port) for _ in range(40)]
            await until(lambda: len(serving.server._handshakes) == 40)
            for bare in stalled:
                await bare.write(b"\x16")
            asking = Asking(client())
            assert isinstance(await asking.ask(serving), Answered)
            assert len(serving.server._handshakes._begun) <= 16
            asking.channels.close()
        assert all([await bare.is_closed() for bare in stalled])
        assert not serving.server.connections
        assert len(serving.notes) <= 24 + 1  # the number under way differs in the text

    run_on(loop, test())


def test_stalled_handshakes_are_limited_in_time(loop):
    async def test():
        async with Secured(security(), connections_max=64, handshake_s_max=0.3) as serving:
            stalled = [await Bare.to(serving.port) for _ in range(40)]
            for bare in stalled:
                await bare.write(b"\x16")
            assert all([await bare.is_closed() for bare in stalled])
            await until(lambda: len(serving.server._handshakes) == 0)
            asking = Asking(client())
            assert isinstance(await asking.ask(serving), Answered)
            asking.channels.close()

    run_on(loop, test())


def test_one_handshake_step_runs_per_iteration_of_the_loop(loop):
    async def test():
        found = handshakes.Handshakes(asyncio.get_running_loop(), 10, lambda *_: None)
        done: list[int] = []
        for number in range(3):
            found._schedule(object(), partial(done.append, number))  # type: ignore[arg-type]
        counts = []
        while len(done) < 3:
            counts.append(len(done))
            await asyncio.sleep(0)
        assert max(after - before for before, after in pairwise(counts)) <= 1
        assert done == [2, 1, 0]  # the newest begins first

    run_on(loop, test())


def test_steps_take_as_much_time_of_an_iteration_as_requests_do(loop):
    async def test():
        now_s = 0.0
        done: list[int] = []

        def step(number: int) -> None:
            nonlocal now_s
            now_s += 0.004
            done.append(number)

        found = handshakes.Handshakes(
            asyncio.get_running_loop(), 10, lambda *_: None, clock=lambda: now_s, share_s=lambda: 0.01
        )
        for number in range(7):
            found._schedule(object(), partial(step, number))  # type: ignore[arg-type]
        counts = []
        while len(done) < 7:
            await asyncio.sleep(0)
            counts.append(len(done))
        assert sorted({0, *counts}) == [0, 3, 6, 7]

    run_on(loop, test())


def test_a_step_that_fails_does_not_keep_others_from_theirs(loop):
    async def test():
        running = asyncio.get_running_loop()
        running.set_exception_handler(lambda _loop, _context: None)
        found = handshakes.Handshakes(running, 10, lambda *_: None)
        done: list[int] = []
        found._schedule(object(), lambda: 1 // 0)  # type: ignore[arg-type]
        found._schedule(object(), partial(done.append, 1))  # type: ignore[arg-type]
        await until(lambda: done)

    run_on(loop, test())


def test_connections_that_have_ended_leave_no_step_behind(loop):
    async def test():
        async with Secured(security(), connections_max=64) as serving:
            found = serving.server._handshakes
            most = 0
            for _ in range(10):
                burst = [await Bare.to(serving.port) for _ in range(30)]
                for bare in burst:
                    await bare.write(b"\x16\x03")
                    most = max(most, len(found._steps))
                for bare in burst:
                    bare.writer.transport.abort()
            assert most <= 16
            await until(lambda: not len(found))
            assert found._steps == {}

    run_on(loop, test())


def test_clients_that_wait_for_this_side_are_not_ended(loop):
    """As many as may be under way, and more than twice as many besides, connect at once."""

    async def test():
        async with Secured(security(), connections_max=64) as serving:
            clients = [Asking(client()) for _ in range(40)]
            answers = await asyncio.gather(*(each.ask(serving) for each in clients))
            reasons = serving.reasons
            for each in clients:
                each.channels.close()
        assert all(isinstance(answer, Answered) for answer in answers)
        assert reasons == []

    run_on(loop, test())


def test_the_time_of_a_handshake_ends_when_its_client_is_late_not_this_side(loop):
    async def test():
        found = handshakes.Handshakes(asyncio.get_running_loop(), 10, lambda *_: None, 0.02)
        late = Failing()
        found._first_steps[late] = lambda: None  # type: ignore[index]
        found._on_started(late)  # type: ignore[arg-type]
        await asyncio.sleep(0.1)
        waiting = list(late.reasons)
        found._run_soon()
        await until(lambda: late.reasons)

        assert waiting == []
        assert late.reasons == ["the handshake is not done within 0.02 s"]

    run_on(loop, test())


class Failing:
    """A connection that keeps the reasons for which it was ended."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def fail(self, reason: str) -> None:
        self.reasons.append(reason)


def test_a_silent_client_makes_way_for_one_that_waits(loop):
    async def test():
        async with Secured(security(), connections_max=64) as serving:
            found = serving.server._handshakes
            silent = [await Bare.to(serving.port) for _ in range(16)]
            for bare in silent:
                await bare.write(b"\x16")
            await until(lambda: len(found._begun) == 16)
            asking = Asking(client())
            assert isinstance(await asking.ask(serving), Answered)
            reasons = serving.reasons
            asking.channels.close()
        assert reasons == ["16 handshakes are under way, and the client of this one was silent for longest"]

    run_on(loop, test())


def resident_kib() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


# The first records of a hello that never ends, almost as much as one may have.
HELLO = (
    b"\x16\x03\x01\x40\x00\x01\x00\x7f\xff" + bytes((16 << 10) - 4) + b"\x16\x03\x01\x3e\x00" + bytes(15 << 10)
)  # fmt: skip
assert HANDSHAKE_BYTES_MAX - 1024 < len(HELLO) < HANDSHAKE_BYTES_MAX
BASE_KIB = 80  # of the server's end and the client's, in this process


@pytest.mark.parametrize("size", [6, 3000, len(HELLO)])
def test_a_handshake_that_is_not_done_holds_twice_what_was_sent_beside_its_own_state(loop, size):
    count, first = 200, 20

    async def test():
        async with Secured(security(), connections_max=4 * count) as serving:
            found = serving.server._handshakes

            async def stall(more: int, until_there_are: int) -> int:
                for _ in range(more):
                    bare = await Bare.to(serving.port)
                    await bare.write(HELLO[:size])
                await until(lambda: len(found) == until_there_are and not found._steps)
                return resident_kib()

            before = await stall(first, first)  # what is allocated once
            held_kib = (await stall(count - first, count) - before) / (count - first)
            assert serving.requests == []
            assert held_kib <= BASE_KIB + 2.5 * size / 1024

    run_on(loop, test())


def test_one_byte_at_a_time_does_not_lengthen_a_handshake(loop):
    async def test():
        async with Secured(security(), handshake_s_max=0.3) as serving:
            bare = await Bare.to(serving.port)
            for byte in b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20:
                with contextlib.suppress(ConnectionError):
                    await bare.write(bytes([byte]))
                if serving.notes:
                    break
                await asyncio.sleep(0.01)
            await until(lambda: serving.notes)
        assert serving.reasons == ["the handshake is not done within 0.3 s"]

    run_on(loop, test())


def test_a_client_that_sends_one_byte_at_a_time_is_not_waited_for_in_sasl(loop):
    async def test():
        async with Secured(sasl_security(), authentication_s_max=0.3) as serving:
            bare = await Bare.to(serving.port)
            for byte in request_frame(SaslHandshakeRequest(mechanism="PLAIN"), 1) * 20:
                with contextlib.suppress(ConnectionError):
                    await bare.write(bytes([byte]))
                if serving.notes:
                    break
                await asyncio.sleep(0.01)
            await until(lambda: not serving.server.connections)
        assert serving.reasons == ["it is not authenticated within 0.3 s"]
        assert serving.requests == []

    run_on(loop, test())


def test_clients_that_do_not_authenticate_are_bounded_and_go_before_all_others(loop):
    """The oldest of too many ends; and one more connection than there may be ends one of theirs, however busy it is."""

    async def test():
        async with Secured(sasl_security(), connections_max=24) as serving:
            trusted = await Bare.to(serving.port)
            await trusted.write(request_frame(SaslHandshakeRequest(mechanism="PLAIN"), 1))
            await trusted.frame()
            await trusted.write(request_frame(authenticate(b"\0alice\0hush"), 2))
            await trusted.frame()
            for _ in range(60):
                bare = await Bare.to(serving.port)
                await bare.write(b"\0")
            await until(lambda: len(serving.server.connections) <= 17)
            assert len(serving.server._unauthenticated) == 16
            served = next(iter(serving.server.connections.values()))
            assert served.identity == "User:alice"

    run_on(loop, test())


def authenticate(token: bytes) -> Any:
    from records.messages.sasl import SaslAuthenticateRequest

    return SaslAuthenticateRequest(auth_bytes=token)


async def s_client(port: int, *options: str) -> asyncio.subprocess.Process:
    """OpenSSL's client, which takes commands from its input: R renegotiates, K updates the keys."""
    return await asyncio.create_subprocess_exec(
        "openssl", "s_client", "-connect", f"127.0.0.1:{port}", *options, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def strict_security() -> ListenerSecurity:
    """As the node's own contexts are (`controller.security.contexts`)."""
    context = server_context(certificate(NODE))
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_TICKET
    return ListenerSecurity(lambda: context)


def test_renegotiation_is_refused(loop):
    async def test():
        async with Secured(strict_security()) as serving:
            process = await s_client(serving.port, "-tls1_2")
            await until(lambda: serving.server.connections)
            handshakes_done = len(serving.server._handshakes)
            assert process.stdin is not None
            process.stdin.write(b"R\n")
            await asyncio.wait_for(process.wait(), 20)
            await until(lambda: not serving.server.connections)
        assert handshakes_done == 0
        assert process.returncode != 0
        assert serving.requests == []

    run_on(loop, test())


class Raw:
    """The loop's transport, which writes to a client in memory. calls: the other calls."""

    def __init__(self, client_reads: ssl.MemoryBIO) -> None:
        self.calls: list[str] = []
        self._client_reads = client_reads

    def write(self, data: bytes) -> None:
        self._client_reads.write(data)

    def readings(self) -> list[str]:
        """The calls that begin or end reading."""
        return [call for call in self.calls if call.endswith("_reading")]

    def __getattr__(self, name: str) -> Any:
        return lambda *_arguments, **_limits: self.calls.append(name)


class Inner(asyncio.Protocol):
    """What is above TLS."""

    def __init__(self) -> None:
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data


def test_a_client_that_reads_nothing_is_not_read_from(loop):
    """Else what TLS answers by itself, such as to key updates, would grow without bound."""

    async def test():
        running, inner = asyncio.get_running_loop(), Inner()
        to_client, from_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        raw = Raw(to_client)
        found = TlsConnection(
            running, server_context(certificate(NODE)), lambda _tls: inner, hostname=None, server_side=True,
            schedule=lambda step: step(), on_started=lambda _tls: None, on_done=lambda _tls, _reason: None,
        )  # fmt: skip
        found.connection_made(raw)  # type: ignore[arg-type]
        session = client_context().wrap_bio(to_client, from_client, server_hostname="localhost")
        while not found.is_open:
            with contextlib.suppress(ssl.SSLWantReadError):
                session.do_handshake()
            found.data_received(from_client.read())
        raw.calls.clear()

        found.pause_writing()
        session.write(b"first")
        found.data_received(from_client.read())
        while_stuck = inner.received, raw.readings()
        found.resume_writing()
        await asyncio.sleep(0)

        assert while_stuck == (b"", ["pause_reading"])
        assert (inner.received, raw.readings()) == (b"first", ["pause_reading", "resume_reading"])

    run_on(loop, test())


def test_handshakes_hold_a_bounded_number_of_bytes_together(loop, monkeypatch):
    monkeypatch.setattr(handshakes, "HELD_BYTES_MAX", 100_000)

    async def test():
        async with Secured(security(), connections_max=256) as serving:
            found = serving.server._handshakes
            most = 0
            for number in range(20):
                bare = await Bare.to(serving.port)
                await bare.write(HELLO[: 10_000 + number])
                await until(lambda: not found._steps)
                most = max(most, found._held)
            assert 80_000 < most <= 100_000 + 20_000
            await until(lambda: serving.notes)
            assert "unfinished handshakes hold" in serving.reasons[0]
            serving.server._handshakes.close()
            await until(lambda: not len(found))
            assert found._held == 0

    run_on(loop, test())


def test_a_thousand_connections_at_once_keep_no_client_out(loop):
    async def test():
        async with Secured(security(), connections_max=256) as serving:
            open_ = Asking(client())
            assert isinstance(await open_.ask(serving), Answered)
            found = serving.server._handshakes
            most = 0
            for _ in range(10):
                burst = await asyncio.gather(*(Bare.to(serving.port) for _ in range(100)))
                for bare in burst:
                    await bare.write(b"\x16\x03\x01")
                most = max(most, len(found._begun))
                for bare in burst:
                    bare.writer.transport.abort()
            assert isinstance(await open_.ask(serving, 2), Answered)
            new = Asking(client())
            assert isinstance(await new.ask(serving), Answered)
            assert most <= 64
            assert {each.api_key for each in serving.requests} == {18, 55}
            for asking in (open_, new):
                asking.channels.close()

    run_on(loop, test())


def test_a_server_with_a_nul_in_its_name_is_not_the_one_before_the_nul(loop):
    pem = certificate_with_nul("/O=Test/CN=localhost!.evil", names="DNS:localhost!.evil")

    async def test():
        context = server_context(pem)
        async with Secured(ListenerSecurity(lambda: context)) as serving:
            asking = Asking(client())
            assert isinstance(await asking.ask(serving), Failed)
            asking.channels.close()
        assert "its certificate is for another name" in asking.notes[0][1]["reason"]

    run_on(loop, test())


def test_a_client_with_a_nul_in_its_name_is_not_the_one_before_the_nul(loop):
    """Neither by its subject, which names the principal, nor by the names that `kraft.http.allow` lists."""
    pem = certificate_with_nul("/O=Test/CN=admin!evil", names="DNS:admin!evil")
    found = []

    def identity_of(session: ssl.SSLObject) -> str:
        found.append(names_of_session(session))
        return subject_of(session.getpeercert(binary_form=True) or b"")

    async def test():
        context = server_context(certificate(NODE), asks=True)
        async with Secured(ListenerSecurity(lambda: context, None, identity_of)) as serving:
            asking = Asking(client(pem))
            assert isinstance(await asking.ask(serving), Answered)
            asking.channels.close()
            assert serving.requests[0].identity == "CN=admin\\00evil,O=Test"
        assert "CN=admin" not in found[0]
        assert "DNS=admin" not in found[0]
        assert found[0][0] == "CN=admin\0evil"

    run_on(loop, test())
