"""What the nodes of a local quorum answer on `/quorum`, each its own view."""

from __future__ import annotations

import contextlib
import json
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple

ANSWER_BYTES_MAX = 1 << 22
ANSWER_S = 1.0


class NodeView(NamedTuple):
    """A node's own view. leader_id: -1 if it knows none; not_ready: the reason, empty when the node is ready."""

    cluster_id: str
    role: str
    is_active: bool
    leader_id: int
    epoch: int
    high_watermark: int
    end_offset: int
    not_ready: str


class NodeViews:
    """Asks nodes over kept connections. ports: node -> the HTTP port on loopback."""

    def __init__(self, host: str, ports: dict[int, int], cluster_id: str) -> None:
        self._host = host
        self._ports = ports
        self._cluster_id = cluster_id
        self._connections: dict[int, HTTPConnection] = {}

    def ask(self, node: int) -> NodeView | None:
        """None: the node does not answer, or belongs to another cluster."""
        connection = self._connections.get(node)
        if connection is None:
            connection = HTTPConnection(self._host, self._ports[node], timeout=ANSWER_S)
            self._connections[node] = connection
        try:
            connection.request("GET", "/quorum")
            view = parse_view(json.loads(connection.getresponse().read(ANSWER_BYTES_MAX)))
        except (OSError, HTTPException, ValueError, LookupError, TypeError):
            self.close(node)
            return None
        return view if view.cluster_id == self._cluster_id else None

    def ask_all(self) -> dict[int, NodeView]:
        """The views of the nodes that answer."""
        views = {node: self.ask(node) for node in self._ports}
        return {node: view for node, view in views.items() if view is not None}

    def close(self, node: int) -> None:
        """Close the connection to a node; the next question opens a new one."""
        connection = self._connections.pop(node, None)
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.close()


def parse_view(answer: dict[str, Any]) -> NodeView:
    """Raises LookupError, TypeError for an answer that is none of `/quorum`."""
    node, quorum = answer["node"], answer["quorum"]
    failed = [check["reason"] for check in answer["checks"] if not check["ok"]]
    return NodeView(
        cluster_id=node["cluster_id"],
        role=node["role"],
        is_active=node["is_active_controller"],
        leader_id=-1 if quorum["leader_id"] is None else quorum["leader_id"],
        epoch=quorum["epoch"],
        high_watermark=-1 if quorum["high_watermark"] is None else quorum["high_watermark"],
        end_offset=answer["log"]["end_offset"],
        not_ready=failed[0] if failed else "",
    )


def leader_of(views: dict[int, NodeView]) -> int | None:
    """The node that leads the newest epoch by its own view; None if none does."""
    leaders = [(view.epoch, node) for node, view in views.items() if view.role == "leader"]
    return max(leaders)[1] if leaders else None
