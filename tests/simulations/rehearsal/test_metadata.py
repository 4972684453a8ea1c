"""The nodes begin with an operator's own metadata, which is only read."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

import pytest

from simulations.rehearsal.layout import Layout
from simulations.rehearsal.metadata import BadMetadata, Metadata, read_metadata
from simulations.rehearsal.play import Rehearsal, play
from simulations.rehearsal.scenarios import scenarios
from tests.records.golden import GOLDEN

if TYPE_CHECKING:
    from pathlib import Path

NODE = GOLDEN / "4.3-static/node-1"
PARTITION = NODE / "__cluster_metadata-0"
LAYOUT = Layout({1: "a", 2: "a", 3: "b"})


@pytest.fixture(scope="module")
def metadata() -> Metadata:
    return read_metadata(str(NODE))


def digests(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_a_directory_of_stock_kafka_is_read_and_left_as_it_was(tmp_path: Path) -> None:
    copy = tmp_path / "node"
    shutil.copytree(NODE, copy)
    before = digests(copy)

    found = read_metadata(str(copy))

    assert (found.end_offset, len(found.brokers)) == (1039, 2)
    assert len(found.values) > 300
    assert digests(copy) == before


def test_a_checkpoint_is_read() -> None:
    found = read_metadata(str(PARTITION / "00000000000000000533-0000000002.checkpoint"))

    assert (found.end_offset, found.epoch) == (533, 2)
    assert found.values


@pytest.mark.parametrize("kraft_version", [0, 1])
def test_every_node_begins_with_the_metadata_and_registers_itself(metadata: Metadata, kraft_version: int) -> None:
    settled = Rehearsal(Layout(LAYOUT.sites, kraft_version=kraft_version), metadata, 1)

    for node in settled.run.nodes.values():
        state = node.process.controller.state
        assert sorted(state.brokers) >= [broker for broker, _ in metadata.brokers]
        assert len(state.topics) > 0
        assert state.end_offset > metadata.end_offset
        assert sorted(state.controllers) == [1, 2, 3]


def test_brokers_of_the_metadata_keep_their_sessions_over_a_failover(metadata: Metadata) -> None:
    (lost,) = [each for each in scenarios(LAYOUT) if each.name == "node-1"]

    found = play(LAYOUT, metadata, lost, 3)

    assert (found.led_by, found.goes_on, found.fenced, found.lost) == (1, True, 0, 0)


def test_a_start_takes_longer_with_more_records_to_replay(metadata: Metadata) -> None:
    slow = Layout(LAYOUT.sites, records_per_s=100.0)

    assert Rehearsal(slow, metadata, 1).run.start_us == 1_000_000 + int(len(metadata.values) / 100 * 1_000_000)
    assert Rehearsal(slow, None, 1).run.start_us == 1_000_000


def test_what_is_no_metadata_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    (empty / "__cluster_metadata-0").mkdir(parents=True)
    cases = {
        str(tmp_path / "nowhere"): "there is no such directory or file",
        str(tmp_path): "it has no __cluster_metadata-0",
        str(empty): "no log segment and no checkpoint",
        str(PARTITION / "quorum-state"): "neither a log directory nor a checkpoint, by its name",
    }

    for path, said in cases.items():
        with pytest.raises(BadMetadata, match=said):
            read_metadata(path)


@pytest.mark.parametrize("name", ["00000000000000000533-0000000002.checkpoint", "00000000000000000000.log"])
def test_a_flipped_bit_is_found(tmp_path: Path, name: str) -> None:
    copy = tmp_path / "node"
    shutil.copytree(NODE, copy)
    path = copy / "__cluster_metadata-0" / name
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[300] ^= 4
    path.write_bytes(data)
    target = path if name.endswith("checkpoint") else copy

    with pytest.raises(BadMetadata, match=name):
        read_metadata(str(target))


def test_a_cut_checkpoint_is_refused(tmp_path: Path) -> None:
    source = PARTITION / "00000000000000000533-0000000002.checkpoint"
    for size in (0, 1, 70, source.stat().st_size // 2, source.stat().st_size - 1):
        path = tmp_path / source.name
        path.write_bytes(source.read_bytes()[:size])

        with pytest.raises(BadMetadata):
            read_metadata(str(path))
