"""The answer of `/autopilot`, and the metrics of the autopilot."""

from __future__ import annotations

from typing import Any

from controller.server.http.autopilot import autopilot_view
from controller.server.http.rows import OWN
from raft.autopilot.view import Rules
from records.uuids import uuid_text
from tests.controller.rig import Rig
from tests.controller.server.http.bundle import node_of, reading_of
from tests.raft.building import key
from tests.raft.changing import leading


def test_a_node_where_it_is_off_says_what_it_knows_when_it_is_asked() -> None:
    bench, rig = leading(1, 2), Rig().lead()
    node: Any = node_of(bench, rig)
    node.autopilot.rules = Rules()
    bench.replica.wall_offset_ms = 1_000_000

    view = autopilot_view(node)

    assert view["is_active_controller"]
    assert (view["enabled"], view["paused"], view["healthy"], view["next_step"]) == (False, False, True, None)
    assert view["held_by"] == ["kraft.autopilot.enable is false on the active controller"]
    assert view["nodes"][0] == {
        "node": 1, "directory_id": uuid_text(key(1).directory_id), "role": "voter", "health": "healthy",
        "since_ms": bench.now + 1_000_000, "reason": "",
    }  # fmt: skip


def test_a_node_that_does_not_lead_names_the_leader_and_has_no_nodes() -> None:
    bench, rig = leading(1, 2), Rig().lead()
    node: Any = node_of(bench, rig)
    bench.replica.shutting_down = True

    view = autopilot_view(node)

    assert (view["is_active_controller"], view["leader_id"], view["healthy"], view["nodes"]) == (False, 1, None, [])


def test_metrics_count_voters_that_are_not_healthy_and_steps_by_their_outcome() -> None:
    bench, rig = leading(1, 2), Rig().lead()
    reading = reading_of(bench, rig)
    reading.node.autopilot.steps = 3
    reading.node.autopilot.look()
    rows: dict[str, Any] = {row.own: row.read(reading) for row in OWN if row.own.startswith("kraft_autopilot")}

    assert [each.value for each in rows["kraft_autopilot_steps_total"]] == [3, 0]
    assert len(rows["kraft_autopilot_unhealthy_voters"]) == 1
