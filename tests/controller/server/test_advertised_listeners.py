"""Nodes whose advertised.listeners differ from controller.quorum.voters: a leader is where it says that it is."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import await_port, running
from tests.deploy.watched import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NODES = (1, 2, 3)


# Forwards connections from one loopback port to another, until it is killed.
FORWARDER = """
import asyncio, contextlib, sys

async def copy(reader, writer):
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()

async def forward(reader, writer):
    try:
        there, back = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
    except OSError:
        writer.close()
        return
    await asyncio.gather(copy(reader, back), copy(there, writer))

async def main():
    server = await asyncio.start_server(forward, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
"""


@contextmanager
def forwarding(port: int, target: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", FORWARDER, str(port), str(target)])
    try:
        await_port(process, port)
        yield process
    finally:
        process.kill()
        process.wait()


def events(root: Path, node: int) -> list[dict[str, object]]:
    return [json.loads(line) for line in (root / str(node) / "node.log").read_text().splitlines() if line[:1] == "{"]


def test_a_leader_keeps_its_followers_where_the_addresses_of_the_voters_refuse_connections(tmp_path: Path) -> None:
    first = free_ports_in_a_row(6)
    voters = ",".join(f"{node}@127.0.0.1:{first + 2 + node}" for node in NODES)

    def epochs() -> set[object]:
        """The epochs in which a node became active."""
        return {
            event["epoch"]
            for node in NODES
            for event in events(tmp_path, node)
            if event["event"] == "controller_active"
        }

    with ExitStack() as stack:
        forwarders = [stack.enter_context(forwarding(first + 2 + node, first - 1 + node)) for node in NODES]
        for node in NODES:
            (tmp_path / str(node)).mkdir()
            stack.enter_context(
                running(
                    tmp_path / str(node), first - 1 + node, node_id=str(node), controller_quorum_voters=voters,
                    kraft_log_format="json",
                    # Many records, so that a follower often has no Fetch in flight, because it saves one.
                    metadata_max_idle_interval_ms="3",
                )
            )  # fmt: skip
        eventually(epochs, "an active controller")
        time.sleep(1)
        before = epochs()

        for forwarder in forwarders:
            forwarder.kill()
        time.sleep(4)

        assert epochs() == before
        noted = [event["event"] for node in NODES for event in events(tmp_path, node)]
        assert "leader_gone" not in noted
