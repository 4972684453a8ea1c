"""The answer of `/autopilot`: the state of each node, the next step, and what keeps it, as plain values for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.server.http.probes import known_leader
from records.uuids import uuid_text

if TYPE_CHECKING:
    from controller.node.node import Node
    from raft.autopilot.report import NodeState


def autopilot_view(node: Node) -> dict[str, Any]:
    """Times are wall-clock times, in ms. healthy: null, and no nodes, where this node is not the active controller."""
    task = node.autopilot
    if not task.rules.enabled:
        task.look()  # there is no timer then, and so no step
    report = task.report
    step = None if report is None else report.step
    return {
        "node_id": node.replica.key.id,
        "is_active_controller": report is not None,
        "leader_id": known_leader(node.replica),
        "enabled": task.rules.enabled,
        "paused": task.is_paused,
        "healthy": None if report is None else report.is_healthy,
        "nodes": [] if report is None else [_node(each, node.replica.wall_offset_ms) for each in report.nodes],
        "next_step": None
        if step is None
        else {
            "step": step.kind.value, "node": step.key.id, "directory_id": uuid_text(step.key.directory_id),
            "reason": step.reason,
        },
        "held_by": [] if report is None else list(report.held_by),
        "steps": task.steps,
        "failed_steps": task.failed_steps,
    }  # fmt: skip


def _node(state: NodeState, wall_offset_ms: int) -> dict[str, Any]:
    return {
        "node": state.key.id,
        "directory_id": uuid_text(state.key.directory_id),
        "role": "voter" if state.is_voter else "observer",
        "health": state.health.value,
        "since_ms": state.since_ms + wall_offset_ms,
        "reason": state.reason,
    }
