"""Probes, metrics and /quorum during faults: each fault on three real nodes."""

from __future__ import annotations

import resource
import signal
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest

from simulations.chaos.clocks import move
from simulations.chaos.disks import Disks
from simulations.chaos.quorum import NODES
from tests.benchmarks.client import Connection
from tests.controller.server.alterations import BROKER, alteration
from tests.deploy.faketime import clock_of_its_own
from tests.deploy.watched import Watched, eventually, watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
LEADER = "kafka_server_raftmetrics_current_leader"
EPOCH = "kafka_server_raftmetrics_current_epoch"
DISK_BYTES = 4 << 20
# More than a node logs, so that it can still log the failure.
FILE_BYTES_MAX = 64 << 10
# A dynamic default for all brokers, which nothing uses.
KEY = "test.of.a.full.disk"


@pytest.fixture(name="quorum", scope="module")
def _quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched(tmp_path_factory.mktemp("quorum")) as quorum:
        yield quorum


def test_the_probes_show_a_killed_leader_its_successor_and_its_restart(quorum: Watched) -> None:
    first = quorum.await_leader()
    others = [node for node in NODES if node != first]
    before = quorum.metrics(others[0])

    quorum.signal(first, signal.SIGKILL)
    eventually(lambda: quorum.leader() in others, "another leads")
    quorum.await_ready(*others)
    second = quorum.await_leader()
    while_away = {node: quorum.view(node)["quorum"] for node in others}
    after = {node: quorum.metrics(node) for node in others}

    assert quorum.status(first, "/livez") == 0
    assert [quorum.status(node, "/livez") for node in others] == [200, 200]
    assert {view["leader_id"] for view in while_away.values()} == {second}
    assert {figures[LEADER] for figures in after.values()} == {second}
    assert before[LEADER] == first
    assert all(figures[EPOCH] > before[EPOCH] for figures in after.values())
    assert {quorum.live_view(node)["quorum"]["leader_id"] for node in others} == {second}
    lags = {voter["id"]: voter["lag"] for voter in while_away[second]["voters"]}
    assert lags[second] == 0

    quorum.start(first)
    quorum.await_ready(*NODES)
    assert quorum.view(first)["quorum"]["leader_id"] == second
    assert quorum.metrics(first)["kraft_behind_records"] <= 1


def test_a_cut_off_leader_is_live_and_not_ready_and_still_serves_its_view(quorum: Watched) -> None:
    old = quorum.await_leader()
    others = [node for node in NODES if node != old]

    quorum.cut_off(old)
    eventually(lambda: quorum.status(old, "/readyz") == 503, "the leader that is cut off knows it")
    quorum.await_ready(*others)
    view = quorum.view(old)

    assert quorum.status(old, "/livez") == quorum.status(old, "/startupz") == 200
    assert quorum.status(old, "/") == quorum.status(old, "/metrics") == 200
    assert not all(check["ok"] for check in quorum.live_view(old)["checks"])
    assert quorum.failed_checks(old) >= {"joined"}
    assert view["node"]["role"] != "leader"
    assert not view["node"]["is_active_controller"]
    assert [voter["id"] for voter in view["quorum"]["voters"]] == list(NODES)
    assert quorum.leader() in others

    quorum.network.heal()
    quorum.await_ready(*NODES)
    assert quorum.view(old)["quorum"]["leader_id"] in others


def test_a_full_disk_stops_only_its_node_which_restarts_once_there_is_room(tmp_path: Path) -> None:
    with disks(tmp_path) as fill, watched(tmp_path) as quorum:
        full = quorum.await_leader()
        others = [node for node in NODES if node != full]
        process = quorum.processes[full]

        free = fill(quorum, full)
        write_until_it_ends(quorum, full)
        code = process.wait(20)
        quorum.await_ready(*others)

        assert code == 1
        assert "node_failed" in quorum.said(full)
        assert "No space left on device" in quorum.said(full) or "File too large" in quorum.said(full)
        assert quorum.status(full, "/livez") == 0
        assert quorum.leader() in others
        assert {quorum.live_view(node)["quorum"]["leader_id"] for node in others} == {quorum.leader()}
        assert all(quorum.metrics(node)[EPOCH] > 1 for node in others)

        free()
        del quorum.processes[full]
        quorum.start(full)
        quorum.await_ready(*NODES)


def test_a_changed_wall_clock_does_not_change_the_leader(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    with clock_of_its_own(clock), watched(tmp_path) as quorum:
        leader = quorum.await_leader()
        epoch = quorum.view(leader)["quorum"]["epoch"]

        for hours in (5, -5):
            move(clock, hours)
            eventually(partial(is_ahead, quorum, leader, hours), "another time")
            end_offset = quorum.view(leader)["log"]["end_offset"]
            eventually(partial(is_longer, quorum, leader, end_offset), "the log goes on")

            views = [quorum.view(node) for node in NODES]
            assert quorum.are_ready(*NODES)
            assert {quorum.metrics(node)[LEADER] for node in NODES} == {leader}
            assert abs(quorum.live_view(leader)["node"]["time_ms"] / 1000 - time.time() - hours * 3600) < 60
            assert {(view["quorum"]["epoch"], view["quorum"]["leader_id"]) for view in views} == {(epoch, leader)}
            # The uptime does not depend on the wall clock.
            assert all(0 < view["node"]["uptime_ms"] < 600_000 for view in views)


def ahead_ms(quorum: Watched, node: int) -> float:
    """How far the node's wall clock is ahead of this machine's."""
    return float(quorum.view(node)["node"]["time_ms"] - time.time() * 1000)


def is_ahead(quorum: Watched, node: int, hours: int) -> bool:
    return abs(ahead_ms(quorum, node) - hours * 3_600_000) < 60_000


def is_longer(quorum: Watched, node: int, end_offset: int) -> bool:
    return bool(quorum.view(node)["log"]["end_offset"] > end_offset)


@contextmanager
def disks(directory: Path) -> Iterator[Callable[[Watched, int], Callable[[], None]]]:
    """A small disk for each node, and a function that fills one and returns how to free it again.

    If this process may not mount, a limit on the file size of a process simulates the full disk.
    """
    try:
        small = Disks(directory, NODES, DISK_BYTES)
    except OSError:
        small = None

    def fill(quorum: Watched, node: int) -> Callable[[], None]:
        if small is None:
            limit = (FILE_BYTES_MAX, resource.RLIM_INFINITY)
            resource.prlimit(quorum.processes[node].pid, resource.RLIMIT_FSIZE, limit)
            return lambda: None
        small.fill(node)
        return partial(small.free, node)

    try:
        yield fill
    finally:
        if small is not None:
            small.close()


def write_until_it_ends(quorum: Watched, node: int) -> None:
    """Configurations, until the node has no room for one more."""
    connection = Connection(quorum.ports[node], 5.0)
    try:
        for number in range(10_000):
            assert (
                connection.ask(alteration(BROKER, "", KEY, f"{number}-" + "x" * 4000), 1).responses[0].error_code == 0
            )
    except OSError:
        return
    finally:
        connection.close()
