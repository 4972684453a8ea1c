"""Events of the listeners before the node is made, and before it starts."""

from __future__ import annotations

import asyncio
import io
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from controller.node.logging.logs import Log
from controller.server.door import Door
from controller.server.start import build
from raft.interface.config import Endpoint, ReplicaKey
from raft.interface.inputs import Source
from raft.network.requests import Incoming
from raft.storage.flusher import AtOnce
from records.messages.versions import ApiVersionsRequest
from tests.controller.rig import levels
from tests.controller.server.processes import CLUSTER_ID, write_properties
from tests.raft.storage.disk import Disk
from tools.config_file import read_config

if TYPE_CHECKING:
    from pathlib import Path

    from controller.node.node import Node


def test_events_of_the_listeners_wait_until_the_node_is_made() -> None:
    """A listener takes connections while the next one is being opened."""
    passed: list[tuple[str, Any]] = []
    node: Any = SimpleNamespace(
        on_request=lambda incoming: passed.append(("request", incoming)),
        on_disconnected=lambda number: passed.append(("disconnected", number)),
        controller=SimpleNamespace(state="state"),
    )
    door, request = Door(), cast("Any", object())

    door.on_request(request)
    door.on_disconnected(1)
    before, state = list(passed), door.state()
    door.lead_to(node)
    door.on_disconnected(2)

    assert (before, state, door.state()) == ([], None, "state")
    assert passed == [("request", request), ("disconnected", 1), ("disconnected", 2)]


def test_events_that_come_before_the_start_of_a_node_wait_for_it(tmp_path: Path) -> None:
    async def knock() -> tuple[Node, list[Any], int]:
        answers: list[Any] = []
        node = unstarted(tmp_path, answers)
        request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
        node.on_request(Incoming(Source(1, 1), 18, 4, 1, "test", request, b"", 0, "CONTROLLER", "127.0.0.1:9"))
        node.on_disconnected(2)
        early = len(answers)
        node.controller.bootstrap = levels()
        node.start()
        return node, answers, early

    node, answers, early = asyncio.run(knock())

    assert (node.failure, node.is_ending) == (None, False)
    assert (early, [type(each).__name__ for each in answers]) == (0, ["ApiVersionsResponse"])


def unstarted(root: Path, answers: list[Any]) -> Node:
    """A node on a disk in memory, which has not started. answers: filled by its listener."""
    identity: Any = SimpleNamespace(directory="data", cluster_id=CLUSTER_ID, key=ReplicaKey(1, b"d" * 16))
    server: Any = SimpleNamespace(reply=lambda _source, response: answers.append(response))
    return build(
        read_config(write_properties(root, 1)), identity, loop=asyncio.get_running_loop(),
        log=Log("json", "INFO", io.StringIO()), on_end=lambda: None, wall_ms=lambda: 0, files=Disk(), executor=AtOnce(),
        rng=Random(1), endpoints=(Endpoint("CONTROLLER", "127.0.0.1", 1),), server=server,
    )  # fmt: skip
