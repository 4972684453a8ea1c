"""What a process of a measured node has used, from /proc."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.interop.cluster import NodeProcess

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(node: NodeProcess) -> float:
    """The CPU time that a process has had, user and system, in steps of 1/TICKS s."""
    fields = _file(node, "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_mib(node: NodeProcess, key: str = "VmRSS") -> float:
    """A size of /proc/PID/status: VmRSS, resident now; VmHWM, at its peak."""
    lines = _file(node, "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:")) / 1024


def _file(node: NodeProcess, name: str) -> Path:
    assert node.process is not None
    return Path(f"/proc/{node.process.pid}/{name}")
