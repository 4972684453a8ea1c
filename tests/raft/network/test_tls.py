"""TLS on listeners and channels, on real loopback sockets: what gets through, what does not and why, and its bounds."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from functools import partial
from random import Random
from typing import Any

import pytest

from raft.interface.effects import Send
from raft.interface.inputs import Answered, Failed
from raft.network.channels import Channels
from raft.network.security import ClientSecurity, ListenerSecurity
from tests.raft.network.certificates import certificate, client_context, needs_openssl, server_context
from tests.raft.network.peers import LOOPS, Bare, Serving, api_versions, describe_quorum, run_on, until

pytestmark = [needs_openssl, pytest.mark.parametrize("loop", LOOPS)]

NODE = "/O=Test/CN=node"


class Secured(Serving):
    """A server with a TLS listener."""

    def __init__(self, security: ListenerSecurity, **limits: Any) -> None:
        super().__init__(**limits)
        self.security = security

    async def __aenter__(self):
        self.port = await self.server.listen("CONTROLLER", "localhost", 0, self.security)
        return self


class Asking:
    """Channels, and what became of what was sent on them."""

    def __init__(self, security: ClientSecurity | None) -> None:
        self.inputs: list[Any] = []
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.channels = Channels(
            asyncio.get_running_loop(), "test", Random(1), on_input=self.inputs.append,
            note=lambda name, fields: self.notes.append((name, fields)), security=security,
        )  # fmt: skip

    async def ask(self, serving: Serving, number: int = 1) -> Any:
        self.channels.send(Send(1, number, serving.endpoint, describe_quorum()))
        await until(lambda: self.inputs)
        return self.inputs.pop(0)


def security(subject: str = NODE, *, asks: bool = False, **made: Any) -> ListenerSecurity:
    context = server_context(certificate(subject, **made), asks=asks)
    return ListenerSecurity(lambda: context, None, lambda session: session.getpeercert())


def client(*arguments: Any, **fields: Any) -> ClientSecurity:
    context = client_context(*arguments, **fields)
    return ClientSecurity(lambda: context)


def test_a_request_is_answered_over_tls(loop):
    async def test():
        async with Secured(security(asks=True)) as serving:
            asking = Asking(client(certificate("/O=Test/CN=broker")))
            answer = await asking.ask(serving)
            asking.channels.close()
        assert isinstance(answer, Answered)
        (*_, subject) = serving.requests[-1].identity["subject"]
        assert subject == (("commonName", "broker"),)

    run_on(loop, test())


def test_large_answers_are_complete_over_tls(loop):
    async def test():
        async with Secured(security(), answers=False) as serving:
            reader, writer = await asyncio.open_connection("localhost", serving.port, ssl=client_context())
            bare = Bare(reader, writer)
            await bare.write(api_versions() * 3)
            for number, size in enumerate((5 << 20, 1, 3 << 20)):
                await until(partial(serving.has_more_than, number))
                (connection,) = serving.server.connections.values()
                slot = connection.slot(serving.requests[number].source.correlation)
                connection.answer(slot, [size.to_bytes(4, "big"), bytes(size)])
                assert len(await bare.frame()) == size

    run_on(loop, test())


@pytest.mark.parametrize(
    ("listener", "secured", "said"),
    [
        ({}, lambda: client(trusts="other"), "its certificate is not trusted"),
        ({"names": "DNS:elsewhere"}, client, "its certificate is for another name"),
        ({"asks": True}, client, "it demands a certificate: set ssl.keystore here"),
        ({"days": -1}, client, "its certificate is not valid now"),
    ],
)
def test_a_client_logs_why_a_server_is_refused_and_what_to_do(loop, listener, secured, said):
    async def test():
        async with Secured(security(**listener)) as serving:
            asking = Asking(secured())
            answer = await asking.ask(serving)
            await until(lambda: asking.notes)
            asking.channels.close()
        assert isinstance(answer, Failed)
        assert said in asking.notes[0][1]["reason"]
        assert asking.notes[0][1]["peer"].endswith(str(serving.port))
        assert serving.requests == []

    run_on(loop, test())


@pytest.mark.parametrize(
    ("secured", "said"),
    [
        (lambda: client(trusts="other"), "it does not trust our certificate"),
        (client, "it sends no certificate, and ssl.client.auth=required here"),
        (lambda: client(certificate("/CN=old", days=-1)), "its certificate is not valid now"),
        (lambda: client(certificate("/CN=foreign", ca="other")), "its certificate is not trusted"),
        (lambda: None, "the client does not speak TLS: set its security.protocol to SSL"),
    ],
)
def test_a_server_logs_why_a_client_is_refused_and_what_to_do(loop, secured, said):
    async def test():
        async with Secured(security(asks=True)) as serving:
            asking = Asking(secured())
            answer = await asking.ask(serving)
            await until(lambda: serving.notes)
            asking.channels.close()
        assert isinstance(answer, Failed)
        name, fields = serving.notes[0]
        assert name == "handshake_failed"
        assert said in fields["reason"]
        assert fields["listener"] == "CONTROLLER"
        assert fields["peer"]

    run_on(loop, test())


def test_a_tls_client_on_a_plaintext_listener_gets_a_specific_log_line(loop):
    async def test():
        async with Serving() as serving:
            asking = Asking(client())
            assert isinstance(await asking.ask(serving), Failed)
            await until(lambda: serving.notes)
            asking.channels.close()
        assert "it speaks TLS, and this side does not" in serving.reasons[0]

    run_on(loop, test())


def test_a_client_that_sends_too_much_before_the_handshake_is_done_is_closed(loop):
    async def test():
        async with Secured(security()) as serving:
            bare = await Bare.to(serving.port)
            with contextlib.suppress(ConnectionError):
                await bare.write(b"\x16\x03\x01\x40\x00" + bytes(300 << 10))
                await bare.reader.read()  # an alert at most, then the end
            await until(lambda: serving.notes)
        assert serving.notes[0][0] == "handshake_failed"

    run_on(loop, test())


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="only Linux has it")
def test_the_end_of_a_handshake_is_acknowledged_at_once(loop):
    async def test():
        async with Secured(security()) as serving:
            context = client_context()
            _, writer = await asyncio.open_connection(
                "127.0.0.1", serving.port, ssl=context, server_hostname="localhost"
            )
            await until(lambda: serving.server.connections)
            (connection,) = serving.server.connections.values()
            sock = connection._transport.get_extra_info("socket")

            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK) == 1
            writer.close()

    run_on(loop, test())
