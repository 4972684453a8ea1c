"""What a node shows of the quorum: a contradiction is detected."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from controller.server.http.probes import Check
from simulations.cluster import views
from simulations.cluster.views import Views
from simulations.world.violation import Violation
from tests.controller.rig import Rig
from tests.controller.server.http.bundle import node_of
from tests.raft.building import Bench, active, leader, prospective


def process_of(bench: Bench) -> Any:
    node: Any = node_of(bench, Rig())
    return SimpleNamespace(
        node=SimpleNamespace(id=bench.replica.key.id), life=1, replica=bench.replica, controller=node.controller,
        driver=node, now_ms=lambda: bench.now,
    )  # fmt: skip


@pytest.mark.parametrize("build", [leader, active, prospective])
def test_what_a_node_shows_agrees(build) -> None:
    Views().look(process_of(build()))


def test_a_leader_that_is_shown_without_the_role_is_detected(monkeypatch) -> None:
    monkeypatch.setattr(views, "known_leader", lambda replica: replica.key.id)
    process = process_of(prospective())

    with pytest.raises(Violation, match="shows the role prospective and the leader 1"):
        Views().look(process)


def test_a_node_that_is_ready_without_a_leader_is_detected(monkeypatch) -> None:
    monkeypatch.setattr(views, "ready", lambda *_: [Check("joined", True, "no leader is known, epoch 1")])

    with pytest.raises(Violation, match="is ready without a leader"):
        Views().look(process_of(prospective()))
