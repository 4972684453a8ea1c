"""The faults of real nodes: each kind occurs in a short run; disks are full and clocks are wrong for a while."""

from __future__ import annotations

import time
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING, cast

import pytest

from simulations.chaos.clocks import Clocks, library
from simulations.chaos.disks import Disks
from simulations.chaos.equipment import Equipment
from simulations.chaos.nemesis import FAULTS, HOURS, Fault, Nemesis, Wait
from simulations.chaos.quorum import NODES, Quorum
from simulations.chaos.syncs import Syncs
from simulations.chaos.verdict import check_processes
from tools.offline.log_file import LogFile

if TYPE_CHECKING:
    from pathlib import Path


class Idle:
    """Nodes that no fault affects."""

    disks = clocks = syncs = None

    def leader(self) -> int:
        return 1

    def look(self) -> None:
        pass


class Recorded(Nemesis):
    """Faults that only take their time."""

    def __init__(self, seed: int) -> None:
        super().__init__(cast("Quorum", Idle()), Random(seed), lambda _: None)
        self.faults = dict.fromkeys(self.faults, self.last)

    def last(self, _quorum: Quorum, fault: Fault, wait: Wait) -> None:
        wait(fault.seconds)

    def mend(self) -> None:
        pass


@pytest.mark.parametrize("seed", range(3))
def test_each_kind_of_fault_is_in_a_short_run(seed: int) -> None:
    nemesis = Recorded(seed)

    nemesis.run(time.monotonic() + 1.5)

    assert nemesis.counts.keys() == FAULTS.keys()
    assert all(nemesis.counts.values())


@pytest.mark.slow
def test_a_node_whose_disk_was_full_is_started_again_and_a_moved_clock_is_seen_in_its_records(tmp_path: Path) -> None:
    if library() is None:
        pytest.skip("libfaketime is not installed: apt-get install faketime")
    with ExitStack() as ending:
        try:
            disks = Disks(tmp_path, NODES, 4 << 20)
        except OSError as error:
            pytest.skip(f"no disk can be mounted here: {error}")
        ending.callback(disks.close)
        quorum = Quorum(tmp_path, equipment=Equipment(disks, Clocks(tmp_path, NODES), Syncs(tmp_path, NODES)))
        ending.callback(quorum.close)
        for node in NODES:
            quorum.start(node)
        nemesis = Nemesis(quorum, Random(1), lambda _: None)

        full = await_leader(quorum)
        inject(nemesis, "full disk", full)
        moved = await_leader(quorum)
        now_ms = time.time() * 1000
        inject(nemesis, "clock ahead", moved)
        inject(nemesis, "clock behind", moved)
        inject(nemesis, "slow disk", moved)
        inject(nemesis, "stalled disk", moved)
        times_h = {round((each - now_ms) / 3_600_000) for each in timestamps_ms(quorum, moved)}

        assert quorum.died == []
        assert moved != full
        assert check_processes(quorum) == []
        assert quorum.failures == {node: int(node == full) for node in NODES}
        assert "disk_slow" in (tmp_path / f"node-{moved}.log").read_text()
        assert quorum.lives == {node: 2 if node == full else 1 for node in NODES}
        assert "No space left on device" in (tmp_path / f"node-{full}.log").read_text()
        assert times_h == {-HOURS, 0, HOURS}
        assert {name: count for name, count in nemesis.counts.items() if count} == {
            "full disk": 1, "clock ahead": 1, "clock behind": 1, "slow disk": 1, "stalled disk": 1,
        }  # fmt: skip


def await_leader(quorum: Quorum) -> int:
    """The leader, once there is one."""
    end = time.monotonic() + 30
    while not (leader := quorum.leader()):
        assert time.monotonic() < end, "no leader within 30 s"
        time.sleep(0.05)
    return leader


def inject(nemesis: Nemesis, name: str, node: int) -> None:
    others = (each for each in NODES if each != node)
    nemesis.inject(Fault(name, (node, *others), 3.0), time.monotonic() + 60)


def timestamps_ms(quorum: Quorum, node: int) -> list[int]:
    times = []
    for path in quorum.log_directory(node).glob("*.log"):
        with LogFile(str(path)) as log:
            times += [batch.max_timestamp for batch in log.batches()]
    return times
