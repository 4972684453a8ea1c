"""A voter's disk is lost: stock's tools want the directory id that is gone, `kraftctl quorum replace` finds it."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.interop.ask import describe_quorum
from tests.interop.cluster import BIN, OURS, STOCK, cluster, eventually
from tests.interop.dynamic import Dynamic, directory_id, format_node
from tests.interop.kraftctl import kraftctl
from tests.interop.writer import SESSION, Writer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.interop.kraftctl import Done
    from tests.interop.stock import Stock

QUORUMS = {
    "stock": [STOCK, STOCK, STOCK],
    "ours": [OURS, OURS, OURS],
    "both": [STOCK, OURS, STOCK],
}


@contextlib.contextmanager
def three_voters(root: Path, stock: Stock, kinds: list[str]) -> Iterator[Dynamic]:
    found = Dynamic(root, stock, settings=SESSION)
    with contextlib.closing(found):
        found.begin(kinds)
        for node_id in (2, 3):
            found.await_caught_up(node_id)
            added = found.quorum("add-controller", config=node_id)
            assert added.returncode == 0, added.stderr
        yield found


def lose_disk(found: Dynamic, node_id: int) -> str:
    """Kill a controller, delete its directory and format a new one; the lost directory id."""
    node = found.controllers[node_id]
    lost = directory_id(node)
    node.kill()
    shutil.rmtree(node.directory)
    format_node(found, node_id, "--no-initial-controllers")
    return lost


def directories(found: Dynamic) -> dict[int, bytes]:
    voters = describe_quorum(found.controllers[found.await_leader()].port).current_voters
    return {voter.replica_id: voter.replica_directory_id for voter in voters}


def replace(found: Dynamic, *options: str) -> Done:
    return kraftctl(found, "quorum", "replace", *options)


@pytest.mark.parametrize("name", QUORUMS)
def test_a_lost_disk_is_replaced_by_one_command(tmp_path: Path, stock: Stock, name: str) -> None:
    with three_voters(tmp_path, stock, QUORUMS[name]) as found:
        with Writer(found) as writer:
            lost = lose_disk(found, 3)
            new = directory_id(found.controllers[3])
            found.controllers[3].start()
            eventually(lambda: observes(found, 3), "the new directory fetches")
            # The pain: stock's tool refuses the new directory, and to remove the old one it wants the id that is gone.
            refused = found.add_when_ready(3)
            without = found.quorum("remove-controller", "--controller-id", "3")

            planned = replace(found, "--id", "3", "--dry-run")
            asked = replace(found, "--id", "3")
            before = directories(found)
            done = replace(found, "--id", "3", "--yes")
            again = replace(found, "--id", "3", "--yes", "--json")
        after = directories(found)
        assert writer.missing() == []

    assert (refused.returncode, "DuplicateVoterException" in refused.stderr) == (1, True), refused
    assert (without.returncode, "controller-directory-id" in without.stderr) == (1, True)
    assert (planned.returncode, planned.stderr) == (0, "")
    assert (
        f"1. remove voter 3 with directory id {lost}: 2 of 2 voters alive, 2 needed, 0 more may fail" in planned.stdout
    )
    assert f"2. wait until directory id {new} has the committed records" in planned.stdout
    assert (asked.returncode, "--yes confirms the plan" in asked.stderr) == (1, True)
    assert done.returncode == 0, done.stderr
    assert f"controller 3 is a voter with directory id {new}, and fetches; voters: 1, 2, 3" in done.stdout
    assert {node for node in before if before[node] != after[node]} == {3}
    assert (again.returncode, json.loads(again.stdout)["done"]) == (0, [])


def observes(found: Dynamic, node_id: int) -> bool:
    observers = describe_quorum(found.controllers[found.await_leader()].port).observers
    return node_id in {each.replica_id for each in observers}


def test_it_is_run_again_after_a_kill_between_the_steps(tmp_path: Path, stock: Stock) -> None:
    with three_voters(tmp_path, stock, QUORUMS["both"]) as found:
        lose_disk(found, 3)
        # The new controller is not started: the command removes the voter, and waits.
        servers = ",".join(f"127.0.0.1:{found.controllers[node].port}" for node in (1, 2))
        command = [str(BIN / "kraftctl"), "quorum", "replace", "--id", "3", "--yes", "--bootstrap-controller", servers]
        first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            eventually(lambda: found.voters_now() == [1, 2], "the voter is removed")
        finally:
            first.send_signal(signal.SIGKILL)
            first.communicate()
        early = replace(found, "--id", "3", "--yes")
        found.controllers[3].start()
        # The former directory may be among the observers for a while, before the new one fetches.
        runs: list[subprocess.CompletedProcess[str]] = []

        def is_done() -> bool:
            runs.append(replace(found, "--id", "3", "--yes", "--json"))
            return runs[-1].returncode == 0

        eventually(is_done, "the new directory is added")
        done = runs[-1]

        assert (early.returncode, "3 is not a voter (voters: 1, 2)" in early.stderr) == (1, True)
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        assert [step["action"] for step in said["done"]] == ["add"]
        assert [voter["id"] for voter in said["voters"] if voter["fetches"]] == [1, 2, 3]


def test_what_would_break_the_quorum_is_refused(tmp_path: Path, stock: Stock) -> None:
    with three_voters(tmp_path, stock, QUORUMS["both"]) as found:
        alive = replace(found, "--id", "2", "--yes")
        unknown = replace(found, "--id", "7", "--yes")
        before = directories(found)

        leader = found.await_leader()
        first, second = (node for node in (1, 2, 3) if node != leader)
        lose_disk(found, first)
        found.controllers[second].signal(signal.SIGSTOP)
        # One of three voters is left: nothing can be committed, and soon there is no leader.
        refused = replace(found, "--id", str(first), "--yes")
        found.controllers[second].signal(signal.SIGCONT)
        eventually(found.leader, "a leader")
        after = directories(found)

    assert (alive.returncode, "controller 2 is a voter and alive" in alive.stdout) == (0, True)
    assert (unknown.returncode, "7 is not a voter (voters: 1, 2, 3)" in unknown.stderr) == (1, True)
    assert refused.returncode == 1
    assert "no leader" in refused.stderr or "needs 2 that are alive and caught up" in refused.stderr
    assert before == after


def test_static_voters_are_explained(tmp_path: Path, stock: Stock) -> None:
    with cluster(tmp_path, stock, [OURS], 0) as found:
        done = kraftctl(found, "quorum", "replace", "--id", "1", "--yes")

    assert done.returncode == 1
    assert "the voters 1 are static (kraft.version 0)" in done.stderr
    assert "kraftctl quorum migrate --to dynamic" in done.stderr
