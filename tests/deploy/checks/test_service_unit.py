"""The systemd unit: systemd's own tools accept it, and it allows every system call of a node."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

from tests.controller.server.processes import await_port, format_directory, free_port, start_command, write_properties

UNIT = Path(__file__).parents[3] / "deploy" / "systemd" / "kraft-controller.service"
# 0: the service can do nothing; 10: it can do everything.
EXPOSURE_MAX = 2.0


def test_systemd_finds_nothing_wrong_with_it(tmp_path: Path) -> None:
    # The command of the unit is not installed here; a substitute lets systemd check the rest.
    unit = tmp_path / UNIT.name
    unit.write_text(re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text()))

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )

    assert [line for line in done.stderr.splitlines() if UNIT.name in line] == []


def test_it_is_hardened() -> None:
    command = ["systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE_MAX * 10:.0f}", str(UNIT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout.splitlines()[-1]


def allowed_calls() -> set[str]:
    """The system calls that the unit's filters allow, by systemd's own tables."""
    tables = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager"], capture_output=True, text=True, check=True
    ).stdout
    groups: dict[str, list[str]] = {}
    for line in tables.splitlines():
        text = line.split("#")[0].rstrip()
        if text.startswith("@"):
            groups[text] = current = []
        elif text.startswith("    ") and groups:
            current.append(text.strip())

    def members(name: str) -> set[str]:
        if not name.startswith("@"):
            return {name}
        return {call for part in groups[name] for call in members(part)}

    found: set[str] = set()
    for given in re.findall(r"(?m)^SystemCallFilter=(.*)$", UNIT.read_text()):
        named = {call for part in given.lstrip("~").split() for call in members(part)}
        found = found - named if given.startswith("~") else found | named
    return found


def test_a_node_makes_no_system_call_that_the_unit_forbids(tmp_path: Path) -> None:
    port = free_port()
    properties = write_properties(tmp_path, port, kraft_http_listener=f"127.0.0.1:{free_port()}")
    format_directory(properties)
    counts = tmp_path / "calls"

    command = ["strace", "-f", "-c", "-U", "name", "-o", str(counts), *start_command(properties)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            await_port(process, port)
            child = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]
            os.kill(int(child), signal.SIGTERM)  # strace ends with what it traces
            process.wait(20)
        finally:
            process.kill()

    made = {line.strip() for line in counts.read_text().splitlines()[2:] if line.strip().isidentifier()} - {"total"}
    assert {"execve", "accept4", "fdatasync", "ftruncate"} & made, made
    assert made - allowed_calls() == set()
