"""`kraftctl autopilot`: its lines, from the answer of `/autopilot`; with nodes in tests/controller/server."""

from __future__ import annotations

from typing import Any

from tools.kraftctl.cluster.autopilot import lines_of

NODE = {
    "node": 2, "directory_id": "AgICAgICAgICAgICAgICAg", "role": "voter", "health": "silent", "since_ms": 1_000,
    "reason": "it does not fetch",
}  # fmt: skip


def view(**changes: Any) -> dict[str, Any]:
    return {
        "node_id": 1, "is_active_controller": True, "leader_id": 1, "enabled": True, "paused": False,
        "healthy": False, "nodes": [NODE], "next_step": None, "held_by": [], **changes,
    }  # fmt: skip


def test_each_node_has_a_line_with_its_health_since_when_and_why() -> None:
    assert lines_of(view()) == [
        "the autopilot of the active controller 1 is enabled",
        "voter    2@AgICAgICAgICAgICAgICAg  silent since 1970-01-01T00:00:01.000Z: it does not fetch",
        "nothing is to be done",
    ]


def test_the_next_step_what_keeps_others_and_a_pause_are_named() -> None:
    step = {"step": "remove", "node": 2, "directory_id": NODE["directory_id"], "reason": "it is dead"}

    assert lines_of(view(nodes=[], next_step=step))[1:] == ["next: remove 2, because it is dead"]
    assert lines_of(view(nodes=[], held_by=["a\x1b", "b"]))[1:] == ["kept: a\\x1b", "kept: b"]
    assert lines_of(view(paused=True))[0].endswith("is paused")
    assert lines_of(view(enabled=False))[0].endswith("is off (kraft.autopilot.enable)")
