"""C24 ViewsAgree: what the ports of a node show of the quorum.

`/quorum` and the page show `known_leader` and `role_name`, `/readyz` and its gRPC counterpart the checks of `ready`.
They are looked at when the role of a node, or whether its controller is active, has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.server.http.probes import known_leader, ready, role_name
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from simulations.nodes.driver import ControllerProcess

FOLLOWING = ("follower", "observer")
NO_LEADER = "no leader is known"


class Views:
    """Checks the views of each node."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, object, bool]] = {}  # node id: life, role, whether its controller is active

    def look(self, process: ControllerProcess) -> None:
        """A process took a step. Raises Violation."""
        seen = (process.life, process.replica.role, process.controller.is_active)
        before = self._seen.get(process.node.id)
        if before is not None and before[0] == seen[0] and before[1] is seen[1] and before[2] == seen[2]:
            return
        self._seen[process.node.id] = seen
        wrong = self._wrong(process)
        if wrong is not None:
            raise Violation("C24", f"node {process.node.id} {wrong}")

    def _wrong(self, process: ControllerProcess) -> str | None:
        replica, node_id = process.replica, process.node.id
        leader, role = known_leader(replica), role_name(replica)
        if (role == "leader") != (leader == node_id):
            return f"shows the role {role} and the leader {leader}"
        if (role in FOLLOWING) != (leader is not None and leader != node_id):
            return f"shows the role {role} and the leader {leader}"
        checks = {check.name: check for check in ready(process.driver, process.now_ms())}
        if "joined" not in checks:
            return (
                None
                if not all(check.passed for check in checks.values())
                else "is stopping, and shows that it is ready"
            )
        joined = checks["joined"]
        if joined.passed and leader is None:
            return f"is ready without a leader: {joined.reason}"
        if (NO_LEADER in joined.reason) != (leader is None):
            return f"shows the leader {leader}, and {joined.reason}"
        if joined.passed and leader == node_id and not process.controller.is_active:
            return f"is ready as the leader, but its controller is not active: {joined.reason}"
        if f"epoch {replica.epoch}" not in joined.reason:
            return f"is in epoch {replica.epoch}, and shows: {joined.reason}"
        return None
