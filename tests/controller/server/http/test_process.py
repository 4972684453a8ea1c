"""The metrics of the process are those of Prometheus' own client."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from prometheus_client import ProcessCollector

from controller.server.http.process import Process

# Values that change from one reading to the next.
CHANGING = {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes"}

STAT = "7 (a) b) S " + " ".join(str(number) for number in range(1, 50))
LIMITS = "Limit  Soft Limit  Hard Limit  Units\nMax open files  {}  4096  files\n"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
def test_names_kinds_meanings_and_values_are_those_of_prometheus_client() -> None:
    theirs = {
        sample.name: (family.type, family.documentation, sample.value)
        for family in ProcessCollector(registry=None).collect()
        for sample in family.samples
    }

    ours = {
        sample.name: (family.kind, family.meaning, sample.value)
        for family in Process().families()
        for sample in family.samples
    }

    assert {name: found[:2] for name, found in ours.items()} == {name: found[:2] for name, found in theirs.items()}
    assert {name: found for name, found in ours.items() if name not in CHANGING} == {
        name: found for name, found in theirs.items() if name not in CHANGING
    }


def write_proc(root: Path, limit: str) -> None:
    (root / "self" / "fd").mkdir(parents=True)
    (root / "self" / "fd" / "0").touch()
    (root / "self" / "stat").write_text(STAT)
    (root / "self" / "limits").write_text(LIMITS.format(limit))
    (root / "stat").write_text("cpu  1 2 3\nbtime 1000\n")


def test_a_name_with_parentheses_and_no_limit_of_files_are_read(tmp_path: Path) -> None:
    write_proc(tmp_path, "unlimited")

    values = {family.name: family.samples[0].value for family in Process(tmp_path).families()}

    ticks = os.sysconf("SC_CLK_TCK")
    assert values == {
        "process_virtual_memory_bytes": 20,
        "process_resident_memory_bytes": 21 * os.sysconf("SC_PAGE_SIZE"),
        "process_start_time_seconds": 1000 + 19 / ticks,
        "process_cpu_seconds_total": (11 + 12) / ticks,
        "process_open_fds": 1,
        "process_max_fds": float("inf"),
    }


def test_a_system_without_proc_has_no_metrics_of_the_process(tmp_path: Path) -> None:
    assert Process(tmp_path).families() == []
