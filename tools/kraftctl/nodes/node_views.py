"""What the nodes of a local quorum answer on `/quorum`, each its own view."""

from __future__ import annotations

from records.java.config_error import ConfigError
from tools.kraftctl.nodes.http_page import Caller, HttpPage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.kraftctl.nodes.http_page import NodeView

ANSWER_S = 1.0


class NodeViews:
    """Asks nodes over kept connections. ports: node -> the HTTP port on loopback."""

    def __init__(self, host: str, ports: dict[int, int], cluster_id: str) -> None:
        self._pages = {node: HttpPage((host, port), Caller(), ANSWER_S) for node, port in ports.items()}
        self._cluster_id = cluster_id

    def ask(self, node: int) -> NodeView | None:
        """None: the node does not answer, or belongs to another cluster."""
        try:
            view = self._pages[node].view()
        except (OSError, ConfigError, LookupError):
            self.close(node)
            return None
        return view if view.cluster_id == self._cluster_id else None

    def ask_all(self) -> dict[int, NodeView]:
        """The views of the nodes that answer."""
        views = {node: self.ask(node) for node in self._pages}
        return {node: view for node, view in views.items() if view is not None}

    def close(self, node: int) -> None:
        """Close the connection to a node; the next question opens a new one."""
        self._pages[node].close()


def leader_of(views: dict[int, NodeView]) -> int | None:
    """The node that leads the newest epoch by its own view; None if none does."""
    leaders = [(view.epoch, node) for node, view in views.items() if view.role == "leader"]
    return max(leaders)[1] if leaders else None
