"""A log is replayed as a controller does it, up to the first record that cannot be replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.records.golden import CLUSTERS, GOLDEN
from tests.tools.offline.stock_directories import PARTITION, SEGMENT, append_unreplayable, stock_directory
from tools.offline.examined import Fault, examine
from tools.offline.replayed import Replay

if TYPE_CHECKING:
    from pathlib import Path

NODES = sorted(path for cluster in CLUSTERS for path in (GOLDEN / cluster).glob("node-?"))


@pytest.mark.parametrize("node", NODES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_log_of_stock_is_replayed_and_equals_its_checkpoints(node: Path) -> None:
    found = examine(str(node))

    replayed = Replay(found).run()

    assert replayed.fault is None
    assert replayed.end_offset == found.end_offset
    assert replayed.compared == [snapshot for snapshot in found.snapshots if snapshot[0] > 0]


def test_the_first_record_that_cannot_be_replayed_is_named(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    position = append_unreplayable(directory, 1039, 2)

    replayed = Replay(examine(str(directory))).run()

    assert replayed.end_offset == 1039
    assert replayed.fault is not None
    assert replayed.fault[:3] == (str(directory / SEGMENT), position, 1039)
    assert replayed.fault.reason.startswith("FenceBrokerRecord cannot be replayed: ")


def test_a_log_that_starts_later_is_replayed_from_its_checkpoint(tmp_path: Path) -> None:
    whole = Replay(examine(str(stock_directory(tmp_path)))).run()
    directory = stock_directory(tmp_path / "second")
    log = directory / SEGMENT
    cut = log.read_bytes().index((712).to_bytes(8, "big") + b"\0\0")
    log.rename(directory / PARTITION / "whole")
    (directory / PARTITION / "00000000000000000712.log").write_bytes(
        (directory / PARTITION / "whole").read_bytes()[cut:]
    )

    found = examine(str(directory))
    replayed = Replay(found).run()

    assert (found.start_offset, replayed.start_offset, replayed.end_offset, replayed.fault) == (712, 712, 1039, None)
    assert replayed.state.contents() == whole.state.contents()


def test_a_checkpoint_with_other_content_than_the_log_is_a_fault(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    partition = directory / PARTITION
    (partition / "00000000000000000712-0000000002.checkpoint").replace(
        partition / "00000000000000000580-0000000002.checkpoint"
    )

    replayed = Replay(examine(str(directory))).run()

    assert replayed.fault == Fault(
        str(partition / "00000000000000000580-0000000002.checkpoint"), 0, -1,
        replayed.fault.reason if replayed.fault else "",
    )  # fmt: skip
    assert "its content differs from that of the log below offset 580" in str(replayed.fault)


def test_a_replay_ends_before_an_offset(tmp_path: Path) -> None:
    replayed = Replay(examine(str(stock_directory(tmp_path)))).run(600)

    assert (replayed.end_offset, replayed.fault) == (580, None)


def test_the_oldest_checkpoint_that_covers_the_start_is_loaded_and_the_next_compared(tmp_path: Path) -> None:
    directory = stock_directory(tmp_path)
    log = directory / SEGMENT
    data = log.read_bytes()
    cut = data.index((262).to_bytes(8, "big") + b"\0\0")
    log.unlink()
    (directory / PARTITION / "00000000000000000262.log").write_bytes(data[cut:])

    replayed = Replay(examine(str(directory))).run()

    assert (replayed.start_offset, replayed.compared, replayed.fault) == (262, [(533, 2), (712, 2)], None)
