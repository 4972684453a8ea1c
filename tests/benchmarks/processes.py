"""Measured nodes: their modules are compiled before they start; what a process has used, from /proc."""

from __future__ import annotations

import compileall
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.interop.cluster import NodeProcess

TICKS = os.sysconf("SC_CLK_TCK")
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("records", "raft", "controller", "tools", "kraft_quorum")


@cache
def compile_modules() -> None:
    """Compile the modules of nodes, as an installation does; otherwise most of what a start costs is that."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for package in PACKAGES:
        assert compileall.compile_dir(ROOT / package, quiet=1), package


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
