"""A node that has not completed its start."""

from __future__ import annotations

import asyncio
import io

from controller.node.logs import Log
from controller.node.node import Node


def test_a_disconnection_before_the_node_has_started_does_no_harm() -> None:
    async def knock() -> Node:
        node = Node(asyncio.get_running_loop(), wall_ms=lambda: 0, log=Log("json", "INFO", io.StringIO()), on_end=print)
        node.on_disconnected(1)  # a listener takes connections while the next one is being opened
        return node

    node = asyncio.run(knock())

    assert (node.failure, node.is_ending) == (None, False)
