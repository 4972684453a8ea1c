"""The audit log of a node as a process, and `kraftctl history` with it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from records.errors import Error
from tests.controller.server.alterations import BROKER, alteration
from tests.controller.server.processes import free_port, run_to_end, running, write_properties
from tests.interop.ask import ask
from tests.tools.kraftctl.history.test_watch import Watching

if TYPE_CHECKING:
    from pathlib import Path

KEY, SECRET_KEY, SECRET = "log.retention.ms", "ssl.key.password", "hunter2-of-the-operator"


def put(port: int, key: str, value: str, name: str = "") -> int:
    """The error code of a change of a broker's config, once the node leads."""
    end = time.monotonic() + 30
    while True:
        code = int(ask(port, alteration(BROKER, name, key, value), 1).responses[0].error_code)
        if code != 41:
            return code
        assert time.monotonic() < end, "the node does not lead"
        time.sleep(0.05)


def history(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable, "-m", "tools.kraftctl.main", "history", "--type", "config",
            "--directory", str(root / "data"), *arguments,
        ],
        capture_output=True, text=True, check=True,
    )  # fmt: skip


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    assert process.wait(30) == 0


def test_a_node_says_who_changed_what_and_history_shows_it(tmp_path: Path) -> None:
    port, audit = free_port(), tmp_path / "audit.log"
    audit.write_text('{"api": "cut short')  # by a crash before
    with running(tmp_path, port, kraft_audit_log=str(audit)) as process:
        codes = [put(port, KEY, "1000"), put(port, KEY, "1", "no-id"), put(port, SECRET_KEY, SECRET)]
        stop(process)
    lines = audit.read_text().splitlines()
    shown = history(tmp_path, "--audit", str(audit))
    packed = tmp_path / "audit.log.1.gz"
    packed.write_bytes(gzip.compress(audit.read_bytes()))
    audit.write_text("")
    found = json.loads(history(tmp_path, "--audit", str(audit), str(packed), "--json").stdout)
    plain = json.loads(history(tmp_path, "--json").stdout)

    asked = [each for each in map(json.loads, lines[1:]) if each["api"] == "IncrementalAlterConfigs"]
    assert codes == [0, Error.INVALID_REQUEST, 0]
    assert [
        (each["principal"], each["outcome"], each["resources"][0]["configs"], each["resources"][0].get("error"))
        for each in asked
    ] == [
        ("User:ANONYMOUS", "committed", [f"set {KEY}"], None),
        ("User:ANONYMOUS", "refused", [f"set {KEY}"], "INVALID_REQUEST"),
        ("User:ANONYMOUS", "committed", [f"set {SECRET_KEY}"], None),
    ]
    assert SECRET not in "".join(lines)
    who = "[IncrementalAlterConfigs by User:ANONYMOUS, client test, from 127.0.0.1]"
    # The first is of the formatter, and written by the controller itself when it becomes active.
    assert [line.rpartition("  ")[2] for line in shown.stdout.splitlines()] == [
        "config broker:default created: min.insync.replicas 1", who, who,
    ]  # fmt: skip
    assert "1 lines are not of an audit log" in shown.stderr
    assert "3 changes, of which 2 have a request" in shown.stderr
    requests = [each.pop("request") for each in found["changes"]]
    assert requests.pop(0) is None
    assert [(each["api"], each["principal"], each["client_id"]) for each in requests] == [
        ("IncrementalAlterConfigs", "User:ANONYMOUS", "test")
    ] * 2
    assert found["changes"] == plain["changes"]


def test_watch_shows_who_asked_for_a_change(tmp_path: Path) -> None:
    port, audit = free_port(), tmp_path / "audit.log"
    with running(tmp_path, port, kraft_audit_log=str(audit)):
        put(port, KEY, "1000")
        arguments = ["--bootstrap-controller", f"127.0.0.1:{port}", "--type", "config", "--audit", str(audit)]
        text, values = Watching(*arguments), Watching(*arguments, "--json")
        put(port, KEY, "2000")
        line, value = text.line(), json.loads(values.line())
        text.end()
        values.end()

    assert line.endswith(
        f"{KEY} 1000 -> 2000  [IncrementalAlterConfigs by User:ANONYMOUS, client test, from 127.0.0.1]\n"
    )
    assert (value["request"]["principal"], value["request"]["node_id"]) == ("User:ANONYMOUS", 1)


def test_a_disk_that_is_full_for_the_audit_log_stops_nothing(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port, kraft_audit_log="/dev/full", kraft_log_format="json") as process:
        codes = [put(port, KEY, str(number)) for number in range(3)]
        stop(process)
    events: list[dict[str, Any]] = [json.loads(line) for line in (tmp_path / "node.log").read_text().splitlines()]

    assert codes == [0, 0, 0]
    failed = [each for each in events if each["event"] == "audit_log_failed"]
    assert [(each["path"], each["error"]) for each in failed] == [("/dev/full", "No space left on device")]
    assert "Free space" in failed[0]["text"]


def test_a_node_whose_audit_log_can_never_be_written_does_not_start(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "audit.log"
    with running(tmp_path, free_port()):
        pass  # its directory is formatted now

    done = run_to_end(write_properties(tmp_path, free_port(), kraft_audit_log=str(path)))

    assert (done.returncode, str(path) in done.stderr, "No such file or directory" in done.stderr) == (1, True, True)
