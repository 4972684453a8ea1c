"""`python -m tests.benchmarks.handshakes`: how long a request of the quorum waits while many clients connect with TLS.

The first table is of one server: one client asks on an open TLS connection, one request after the other, while other
processes connect: not at all, with complete handshakes, and with handshakes that they do not finish. The server, the
client and the others are processes of their own.

The second is of a quorum of three whose listeners demand client certificates. The others connect to its leader, while
one client creates topics without pause: a commit takes a Fetch of a follower, so its time has the delay of the quorum's
own Fetches. The leader also says how long each follower has sent none.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import resource
import socket
import ssl
import time
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import uvloop

from raft.interface.config import Endpoint
from raft.interface.effects import Send
from raft.network.channels import Channels
from raft.network.security import ClientSecurity, ListenerSecurity
from raft.network.server import Server
from tests.benchmarks.fetches import FetchWatch
from tests.benchmarks.quorum import OURS
from tests.benchmarks.security import TLS, Protected
from tests.interop.stock import Stock
from tests.raft.network.certificates import authority, certificate
from tests.raft.network.peers import VERSIONS, describe_quorum

if TYPE_CHECKING:
    from multiprocessing.connection import Connection as Pipe

NODE = "/O=Test/CN=node"
KINDS = ("none", "complete", "stalled")
GAP_S = 0.002
# Processes that connect.
OTHERS = 4


def serve(pem: str, port: Pipe) -> None:
    """A server that answers each request at once, until it is killed."""

    async def run() -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        server: Server

        def answer(incoming: Any) -> None:
            from tests.raft.network.test_sasl_gate import versions

            server.reply(incoming.source, versions(VERSIONS) if incoming.api_key == 18 else empty())

        server = Server(
            asyncio.get_running_loop(), VERSIONS, on_request=answer, on_disconnected=lambda _: None,
            note=lambda _name, _fields: None,
        )  # fmt: skip
        port.send(await server.listen("CONTROLLER", "localhost", 0, ListenerSecurity(lambda: context)))
        await asyncio.Event().wait()

    uvloop.run(run())


def empty() -> Any:
    from records.messages.quorum import DescribeQuorumResponse

    return DescribeQuorumResponse(error_code=0, topics=())


def ask(port: int, ca: str, seconds: float, said: Pipe) -> None:
    """Send the latencies of requests on one connection, in s."""

    async def run() -> list[float]:
        loop, found, context = asyncio.get_running_loop(), list[float](), ssl.create_default_context(cafile=ca)
        answered: asyncio.Future[None] = loop.create_future()
        channels = Channels(
            loop, "bench", Random(1), on_input=lambda _: answered.set_result(None), note=lambda _name, _fields: None,
            security=ClientSecurity(lambda: context),
        )  # fmt: skip
        end, number = loop.time() + seconds, 0
        while loop.time() < end:
            number += 1
            answered = loop.create_future()
            begun = time.perf_counter()
            channels.send(Send(1, number, Endpoint("CONTROLLER", "localhost", port), describe_quorum()))
            await answered
            found.append(time.perf_counter() - begun)
            await asyncio.sleep(GAP_S)
        channels.close()
        return found[10:]

    said.send(uvloop.run(run()))


def connect(port: int, ca: str, kind: str, count: int, begin: float, pem: str | None = None) -> None:
    """Open so many connections at once. pem: the certificate of the client."""

    async def run() -> None:
        context = ssl.create_default_context(cafile=ca)
        if pem is not None:
            context.load_cert_chain(pem)
        await asyncio.sleep(max(begin - time.monotonic(), 0))

        async def one() -> None:
            with contextlib.suppress(OSError, ssl.SSLError):
                if kind == "complete":
                    _, writer = await asyncio.open_connection(
                        "127.0.0.1", port, ssl=context, server_hostname="localhost"
                    )
                else:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.write(b"\x16\x03\x01\x02\x00\x01")
                await asyncio.sleep(5)
                writer.transport.abort()

        await asyncio.gather(*(one() for _ in range(count)))

    uvloop.run(run())


def measure(kind: str, count: int, seconds: float) -> list[float]:
    """The sorted latencies while so many connect in this way."""
    ca = str(authority() / "ca.pem")
    spawn = multiprocessing.get_context("spawn")
    port_in, port_out = spawn.Pipe()
    said_in, said_out = spawn.Pipe()
    server = spawn.Process(target=serve, args=(str(certificate(NODE)), port_out))
    server.start()
    port = port_in.recv()
    asking = spawn.Process(target=ask, args=(port, ca, seconds, said_out))
    asking.start()
    others = []
    if kind != "none":
        others = [
            spawn.Process(target=connect, args=(port, ca, kind, count // OTHERS, time.monotonic() + 3))
            for _ in range(OTHERS)
        ]
    for other in others:
        other.start()
    found = said_in.recv()
    for process in (server, asking, *others):
        process.kill()
        process.join()
    return sorted(found)


class Row(NamedTuple):
    """Of a quorum. taken_ms: of the commits, sorted; ages_ms: see `FetchWatch`, sorted."""

    taken_ms: list[float]
    ages_ms: list[float]
    new_epochs: int


def measure_quorum(trial: Protected, kind: str, count: int, seconds: float) -> Row:
    """What the quorum does while so many connect in this way."""
    ca, pem = str(authority() / "ca.pem"), str(certificate("/O=Test/CN=client"))
    spawn = multiprocessing.get_context("spawn")
    port, begin = trial.leader.port, time.monotonic() + 3
    others = [
        spawn.Process(target=connect, args=(port, ca, kind, count // OTHERS, begin, pem))
        for _ in range(OTHERS if kind != "none" else 0)
    ]
    for other in others:
        other.start()
    while time.monotonic() < begin:
        trial.commit()
    trial.taken_ms.clear()
    with FetchWatch(port, trial.context) as watch:
        while time.monotonic() < begin + seconds:
            trial.commit()
    for other in others:
        other.kill()
        other.join()
    return Row(sorted(trial.taken_ms), sorted(watch.ages_ms), watch.new_epochs)


def table_of_quorum(connections: list[int], seconds: float) -> None:
    trial = Protected(OURS, Stock("4.3.1"), TLS)
    try:
        trial.start()
        trial.begin()
        print(
            "\n| connections | handshakes | commits | p50 ms | p99 ms | max ms | no Fetch for at most ms | new epochs |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for count in connections:
            for kind in KINDS:
                found = measure_quorum(trial, kind, count, seconds)
                taken = found.taken_ms
                at = [taken[len(taken) * share // 1000] for share in (500, 990)]
                shown = f"{at[0]:.2f} | {at[1]:.2f} | {taken[-1]:.2f} | {found.ages_ms[-1]:.0f} | {found.new_epochs}"
                print(f"| {count} | {kind} | {len(taken)} | {shown} |", flush=True)
        trial.connection.close()
        trial.fleet.end()
    finally:
        trial.end()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.handshakes", description=__doc__)
    parser.add_argument("--connections", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--only", choices=["server", "quorum"], help="one of the two tables")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    socket.setdefaulttimeout(10)
    if options.only != "quorum":
        table_of_server(options.connections, options.seconds)
    if options.only != "server":
        table_of_quorum(options.connections, options.seconds)


def table_of_server(connections: list[int], seconds: float) -> None:
    print("| connections | handshakes | requests | p50 ms | p99 ms | max ms |\n|---|---|---|---|---|---|")
    for count in connections:
        for kind in KINDS:
            found = measure(kind, count, seconds)
            at = [found[len(found) * share // 1000] * 1000 for share in (500, 990)]
            print(
                f"| {count} | {kind} | {len(found)} | {at[0]:.2f} | {at[1]:.2f} | {found[-1] * 1000:.2f} |", flush=True
            )


if __name__ == "__main__":
    main()
