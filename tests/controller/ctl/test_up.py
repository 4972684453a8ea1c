"""`kraftctl up`: formats and runs three nodes, uses the same data again, and reports a node that exits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.controller.server.processes import free_ports_in_a_row

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def up(data: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "controller.ctl.main", "up", "--data", str(data), "--port", str(port)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=20)


def output_until_a_leader(process: subprocess.Popen[str]) -> list[str]:
    """The output up to the first line that names a leader."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if line.startswith("leader:"):
            return lines
    raise AssertionError(lines)


def process_of(properties: Path) -> int:
    """The process id of the node that runs with this file."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"start" in arguments and os.fsencode(properties) in arguments:
            return int(path.parent.name)
    raise AssertionError("no such process")


@pytest.fixture
def port() -> int:
    """The first of three free ports."""
    return free_ports_in_a_row(3)


def test_a_second_run_uses_the_data_of_the_first(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        first = output_until_a_leader(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
    cluster = (tmp_path / "data" / "node-1" / "meta.properties").read_text()

    with up(tmp_path / "data", port) as process:
        again = output_until_a_leader(process)

    assert first[:3] == again[:3] == [f"127.0.0.1:{port + number}" for number in range(3)]
    assert first[-1].endswith("epoch 1")
    assert not again[-1].endswith("epoch 1")
    assert (tmp_path / "data" / "node-1" / "meta.properties").read_text() == cluster


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the process by /proc")
def test_a_killed_node_is_reported_with_its_signal(tmp_path: Path, port: int) -> None:
    with up(tmp_path / "data", port) as process:
        output_until_a_leader(process)

        os.kill(process_of(tmp_path / "data" / "node-2.properties"), signal.SIGKILL)

        assert process.wait(15) == 1
        assert process.stderr is not None
        assert process.stderr.read() == "kraftctl up: node 2 exited: killed by SIGKILL\n"
