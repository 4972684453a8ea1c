"""The manifests at work: pods as processes that form a quorum, are scaled, lose a volume, and get other names."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING

import pytest

from tests.deploy.checks.kustomized import KUBERNETES, by_kind, overlay_with, rendered
from tests.deploy.checks.stateful_pods import StatefulPods
from tests.deploy.watched import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OVERLAY = KUBERNETES / "overlays" / "production"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a process other names in /etc/hosts")


@pytest.fixture(name="pods")
def _pods(tmp_path: Path) -> Iterator[StatefulPods]:
    pods = StatefulPods(tmp_path, by_kind(rendered(OVERLAY)), "kafka")
    yield pods
    pods.close()


def test_three_pods_form_a_quorum_that_is_scaled_to_five_and_back_loses_a_volume_and_moves(pods: StatefulPods) -> None:
    pods.scale(3)
    formed_s = pods.await_voters(range(3))
    pods.scale(5)
    grown_s = pods.await_voters(range(5))
    pods.scale(3)
    shrunk_s = max(pods.took_s)
    assert shrunk_s < pods.grace_s / 2, pods.took_s
    pods.await_voters(range(3))
    assert "voter_left" in pods.log(3)
    assert "voter_left" in pods.log(4)
    before = pods.voters()
    begin = time.monotonic()
    pods.wipe(1)
    eventually(lambda: pods.voters().get(1) not in {before[1], None}, "the new directory of pod 1")
    pods.await_voters(range(3))
    healed_s = time.monotonic() - begin
    assert pods.voters().keys() == before.keys()
    assert pods.lost() == set()

    pods.stop(0, 1, 2)
    pods.namespace = "other"
    pods.scale(3)
    moved_s = pods.await_voters(range(3))
    eventually(lambda: pods.voter_hosts() == set(map(pods.host, range(3))), "the new names in the log")
    assert pods.lost() == set()
    assert len(pods.written) > 20
    print(
        f"formed {formed_s:.1f} grown {grown_s:.1f} shrunk {shrunk_s:.1f} healed {healed_s:.1f} moved {moved_s:.1f} s"
    )


def test_volumes_with_static_voters_are_not_ready_without_their_component_and_go_on_with_it(tmp_path: Path) -> None:
    pods = StatefulPods(tmp_path, by_kind(rendered(OVERLAY)), "kafka")
    dynamic = pods.environment
    static = by_kind(rendered(overlay_with("static-voters", tmp_path)))["ConfigMap"]["data"]
    before = {name: value for name, value in static.items() if not re.search("BOOTSTRAP|AUTOPILOT", name)}
    try:
        for environment in (before, static):  # the manifests before, and now
            pods.environment = environment
            pods.scale(3)
            pods.await_voters(range(3))
            assert pods.lost() == set()
            pods.stop(2, 1, 0)
        pods.environment = dynamic
        pods.scale(1)
        eventually(lambda: "this node knows no voters, and does not vote" in pods.log(0), "a warning")
    finally:
        pods.close()
