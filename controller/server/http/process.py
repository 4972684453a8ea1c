"""The metrics of the process by the names that Prometheus' own clients use; none where there is no /proc."""

from __future__ import annotations

import os
from pathlib import Path

from controller.server.http.exposition import Family, Sample
from controller.server.http.names import COUNTER, GAUGE

PROC = Path("/proc")
# The fields of /proc/self/stat after the name of the process (proc(5)).
_USER_TICKS, _SYSTEM_TICKS, _START_TICKS, _VIRTUAL_BYTES, _RESIDENT_PAGES = 11, 12, 19, 20, 21


class Process:
    """Reads /proc of this process. proc: where it is mounted."""

    def __init__(self, proc: Path = PROC) -> None:
        self._own = proc / "self"
        try:
            lines = (proc / "stat").read_text().splitlines()
        except OSError:
            lines = []
        # Seconds since 1970.
        self._booted_s = next((float(line.split()[1]) for line in lines if line.startswith("btime ")), None)

    def families(self) -> list[Family]:
        """All metrics of the process that the system has."""
        return [*self._use(), *self._files()]

    def _use(self) -> list[Family]:
        if self._booted_s is None:
            return []
        try:
            # The name of the process is in parentheses, and may hold spaces and parentheses.
            fields = (self._own / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            return []
        ticks = os.sysconf("SC_CLK_TCK")
        virtual = int(fields[_VIRTUAL_BYTES])
        resident = int(fields[_RESIDENT_PAGES]) * os.sysconf("SC_PAGE_SIZE")
        started_s = self._booted_s + int(fields[_START_TICKS]) / ticks
        cpu_s = (int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS])) / ticks
        return [
            _family("process_virtual_memory_bytes", GAUGE, "Virtual memory size in bytes.", virtual),
            _family("process_resident_memory_bytes", GAUGE, "Resident memory size in bytes.", resident),
            _family(
                "process_start_time_seconds", GAUGE, "Start time of the process since unix epoch in seconds.", started_s
            ),
            _family(
                "process_cpu_seconds_total", COUNTER, "Total user and system CPU time spent in seconds.", cpu_s
            ),
        ]  # fmt: skip

    def _files(self) -> list[Family]:
        try:
            limits = (self._own / "limits").read_text().splitlines()
            files = sum(1 for _ in (self._own / "fd").iterdir())
        except OSError:
            return []
        most = next((line.split()[3] for line in limits if line.startswith("Max open files")), "unlimited")
        return [
            _family("process_open_fds", GAUGE, "Number of open file descriptors.", files),
            _family("process_max_fds", GAUGE, "Maximum number of open file descriptors.",
                    float("inf") if most == "unlimited" else int(most)),
        ]  # fmt: skip


def _family(name: str, kind: str, meaning: str, value: float) -> Family:
    return Family(name, kind, meaning, [Sample(name, (), value)])
