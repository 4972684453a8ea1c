"""What Trogdor's run looks for in logs and processes; `make trogdor` runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from simulations.chaos.log_events import log_events
from tests.trogdor.faults import is_stopped
from tests.trogdor.play import is_error
from tests.trogdor.processes import error_lines

if TYPE_CHECKING:
    from pathlib import Path


def test_an_error_in_a_log_is_found(tmp_path: Path) -> None:
    lines = [{"level": level, "event": "policy_failed"} for level in ("info", "warn", "error", "critical")]
    lines.append({"level": "critical", "event": "node_failed"})
    (tmp_path / "node-1.log").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    error = "[2026-11-28 11:52:58,560] ERROR SendRecordsCallback: error (c)"
    said = "[2026-11-28 11:52:58,561] ERROR delete-3-1: (stderr):a warning of the tool (c)"
    text = f"[2026-11-28 11:52:58,559] INFO fine (c)\n{error}\n{said}\n"

    found = [event.fields["level"] for event in log_events(tmp_path, 1) if is_error(event)]

    assert found == ["error", "critical"]
    assert error_lines(text) == [error]


def test_a_stopped_process_is_told_from_one_that_runs() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        before = is_stopped(process.pid)
        process.send_signal(signal.SIGSTOP)
        end = time.monotonic() + 10
        while not is_stopped(process.pid):
            assert time.monotonic() < end
        process.kill()

    assert not before
    assert not is_stopped(process.pid)
