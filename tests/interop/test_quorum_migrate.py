"""From static to dynamic voters: the wrong order stops a stock quorum, `kraftctl quorum migrate` leads through it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.interop.cluster import OURS, STOCK, cluster, eventually
from tests.interop.kraftctl import kraftctl
from tests.interop.test_voters import QUORUMS

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.interop.cluster import Cluster
    from tests.interop.stock import Stock

VOTERS, SERVERS = "controller.quorum.voters", "controller.quorum.bootstrap.servers"


def configure(found: Cluster, node_id: int, *lines: str) -> None:
    """Restart a controller with these lines in the place of both keys."""
    node = found.controllers[node_id]
    node.stop()
    kept = [line for line in node.properties.read_text().splitlines() if not line.startswith((VOTERS, SERVERS))]
    node.properties.write_text("\n".join([*kept, *lines]) + "\n")
    node.start()


@pytest.mark.parametrize("kind", [STOCK, OURS])
def test_the_configuration_before_the_level_ends_without_a_leader(tmp_path: Path, stock: Stock, kind: str) -> None:
    with cluster(tmp_path, stock, [kind] * 3, 0) as found:
        voters, servers = f"{VOTERS}={found.voters}", f"{SERVERS}={found.bootstrap_controller}"
        # A stock controller without voters does not even answer; its file is read, while the others are a majority.
        configure(found, 1, servers)
        found.await_leader()
        file = str(found.controllers[1].properties)
        warned = ask(found, "--dry-run", "--check", file)
        # The pain: after the others there is no leader, and there will be none.
        for node_id in (2, 3):
            configure(found, node_id, servers)
        with pytest.raises(AssertionError, match="an active controller"):
            found.await_leader(20)
        stuck = kraftctl(found, "quorum", "migrate", "--to", "dynamic", "--yes")

        for node_id in found.controllers:
            configure(found, node_id, voters, servers)
        eventually(lambda: migrate(found, "--dry-run") == 0, "all voters answer")
        both = kraftctl(found, "quorum", "migrate", "--to", "dynamic", "--dry-run")

    assert warned.returncode == 1
    assert (
        f"{file}: {VOTERS} is not set, and kraft.version is 0: it knows no voters, and does not vote" in warned.stdout
    )
    assert (stuck.returncode, "no leader" in stuck.stderr) == (1, True)
    assert (both.returncode, both.stderr) == (0, "")
    assert f"controller 2: it runs with {VOTERS} and {SERVERS}" in both.stdout
    assert "no way leads back to static voters" in both.stdout


@pytest.mark.parametrize("name", ["stock", "ours", "both, ours leads"])
def test_a_static_quorum_becomes_dynamic(tmp_path: Path, stock: Stock, name: str) -> None:
    with cluster(tmp_path, stock, QUORUMS[name], 0) as found:
        servers = f"{SERVERS}={found.bootstrap_controller}"
        files = [part for node in found.controllers.values() for part in ("--check", str(node.properties))]
        found.controllers[3].stop()
        absent = ask(found, "--yes")
        found.controllers[3].start()
        eventually(lambda: migrate(found, "--dry-run") == 0, "all voters answer")
        early = kraftctl(found, "quorum", "migrate", "--to", "dynamic", "--verify", "--json")
        done = kraftctl(found, "quorum", "migrate", "--to", "dynamic", "--yes", *files)
        between = kraftctl(found, "quorum", "migrate", "--to", "dynamic", "--verify")
        for node_id in found.controllers:
            configure(found, node_id, servers)
            eventually(lambda: found.leader() and migrate(found, "--verify") in {0, 2}, "the node is back")
            eventually(lambda: "it does not answer" not in verified(found), "the node answers")
        after = kraftctl(found, "quorum", "migrate", "--to", "dynamic", "--verify", "--json", *files)
        described = found.tool("features", "--bootstrap-controller", found.bootstrap_controller, "describe")

    assert absent.returncode == 1
    assert "controller 3: it does not answer" in absent.stdout
    assert json.loads(early.stdout)["exit_code"] == early.returncode == 2
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kraft.version is 1" in done.stdout
    assert f"    + {servers}" in done.stdout
    assert between.returncode == 2
    assert f"controller 1: it runs with {VOTERS}=" in between.stdout
    assert after.returncode == 0, after.stdout
    said = json.loads(after.stdout)
    assert said["kraft_version"] == 1
    assert all(not setting["voters"] and setting["servers"] for setting in said["settings"].values())
    assert len(said["settings"]) == 3
    assert re.search(r"Feature: kraft\.version\s.*FinalizedVersionLevel: 1\s", described)


def ask(found: Cluster, *options: str) -> subprocess.CompletedProcess[str]:
    """The answer of the command. It is run again while an election leaves it without a leader that answers."""
    answers = []

    def run() -> str:
        answers.append(kraftctl(found, "quorum", "migrate", "--to", "dynamic", *options))
        return answers[-1].stdout

    eventually(run, "a leader answers")
    return answers[-1]


def migrate(found: Cluster, *options: str) -> int:
    return kraftctl(found, "quorum", "migrate", "--to", "dynamic", *options).returncode


def verified(found: Cluster) -> str:
    return kraftctl(found, "quorum", "migrate", "--to", "dynamic", "--verify").stdout
