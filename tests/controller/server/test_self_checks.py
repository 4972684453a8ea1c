"""What a node finds wrong with itself: the same words in its log and in its readiness, while it lasts."""

from __future__ import annotations

import io
import json
import os
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from controller.node.logging.logs import Log
from controller.server.http.probes import problems_of, ready
from controller.server.self_checks import (
    FREE_BYTES_MIN,
    LEADERLESS_S,
    SELDOM,
    SLOW_S,
    Certificate,
    SelfChecks,
    Space,
)
from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.rig import Rig
from tests.controller.server.http.bundle import node_of
from tests.controller.server.processes import (
    format_directory,
    free_port,
    running,
    start_command,
    write_properties,
)
from tests.deploy.watched import eventually
from tests.raft.building import prospective, unattached
from tests.raft.network.certificates import authority, certificate, needs_openssl
from tools.kraftctl.main import main

ROOT = Path(__file__).parents[3]
DAY_S = 24 * 3600
NOW_S = 1_700_000_000


class Trial:
    """Self-checks over real problems and a real log, with a clock, a disk, voters and certificates that a test sets."""

    def __init__(self) -> None:
        self.out = io.StringIO()
        self.now_s = 100.0
        self.wall_ms = NOW_S * 1000
        self.jobs = (0, 0)
        self.space = Space(1 << 40, 1 << 40)
        self.certificates: list[Certificate] = []
        self.unreachable: dict[int, tuple[str, float]] = {}
        self.bench = prospective()
        self.node: Any = node_of(self.bench, Rig())
        self.node.loop = SimpleNamespace(time=lambda: self.now_s)
        self.node.storage = SimpleNamespace(jobs=lambda: self.jobs)
        self.node.channels = SimpleNamespace(failures=lambda: self.unreachable)
        self.log = Log("json", "INFO", self.out, lambda: self.now_s)
        self.checks = SelfChecks(
            self.node, self.log, "/var/lib/kafka", wall_ms=lambda: self.wall_ms,
            certificates=lambda: self.certificates, space=lambda _directory: self.space,
        )  # fmt: skip

    def pass_seconds(self, count: int) -> None:
        for _ in range(count):
            self.checks.look()
            self.now_s += 1
            self.wall_ms += 1000

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.getvalue().splitlines()]

    def shown(self) -> list[str]:
        return [problem.text for problem in problems_of(self.node, self.log.problems)]


@pytest.fixture(name="trial")
def _trial() -> Trial:
    return Trial()


def test_nothing_wrong_is_nothing_said(trial: Trial) -> None:
    trial.pass_seconds(2 * SELDOM)

    assert (trial.lines(), trial.shown()) == ([], [])


def test_a_clock_that_was_set_is_one_line_with_the_size_of_the_jump(trial: Trial) -> None:
    trial.pass_seconds(2)
    trial.wall_ms -= 3_600_000
    trial.pass_seconds(5)

    (line,) = trial.lines()
    assert (line["event"], line["by_ms"]) == ("clock_jumped", -3_600_000)
    assert line["text"].startswith("the wall clock of this host moved by -3600000 ms between two seconds.")
    assert trial.shown() == [line["text"]]


def test_a_clock_that_drifts_is_not_reported(trial: Trial) -> None:
    for _ in range(20):
        trial.pass_seconds(1)
        trial.wall_ms += 500

    assert trial.lines() == []


def test_a_slow_disk_is_one_line_and_is_over_when_a_write_completes(trial: Trial) -> None:
    trial.jobs = (7, 6)
    trial.pass_seconds(int(SLOW_S) + 30)
    (line,) = trial.lines()
    assert line["event"] == "disk_slow"
    assert line["text"].startswith(
        "the disk of /var/lib/kafka has completed no write for 2 s, although one is pending."
    )
    assert trial.shown() == [line["text"]]

    trial.jobs = (8, 7)
    trial.pass_seconds(1)

    assert trial.shown() == []


def test_a_busy_disk_is_not_slow(trial: Trial) -> None:
    for done in range(20):
        trial.jobs = (done + 3, done)
        trial.pass_seconds(1)

    assert trial.lines() == []


def test_a_disk_with_little_space_is_one_line_and_is_over_when_there_is_more(trial: Trial) -> None:
    trial.space = Space(FREE_BYTES_MIN - 1, 1 << 40)
    trial.pass_seconds(3 * SELDOM)
    (line,) = trial.lines()
    assert line["event"] == "disk_nearly_full"
    assert line["text"].startswith("less than 256 MiB are free on the file system of /var/lib/kafka.")
    assert trial.shown() == [line["text"]]

    trial.space = Space(FREE_BYTES_MIN, 1 << 40)
    trial.pass_seconds(SELDOM)

    assert trial.shown() == []


def test_a_certificate_is_reported_once_before_its_end_and_again_after_it(trial: Trial) -> None:
    trial.certificates = [Certificate("CONTROLLER", "/etc/node.pem", NOW_S + 15 * DAY_S)]
    trial.pass_seconds(SELDOM)
    assert trial.lines() == []

    trial.certificates = [Certificate("CONTROLLER", "/etc/node.pem", NOW_S + 100)]
    trial.pass_seconds(90)
    (line,) = trial.lines()
    assert line["event"] == "certificate_expires"
    assert "of CONTROLLER in /etc/node.pem is valid until 2023-11-14 22:15:00 UTC" in line["text"]
    assert trial.shown() == [line["text"]]

    trial.pass_seconds(30)
    assert [line["event"] for line in trial.lines()] == ["certificate_expires", "certificate_expired"]
    assert trial.shown() == [trial.lines()[1]["text"]]

    trial.certificates = [Certificate("CONTROLLER", "/etc/node.pem", NOW_S + 90 * DAY_S)]
    trial.pass_seconds(SELDOM)
    assert trial.shown() == []


def test_a_missing_majority_is_one_line_that_names_the_voters(trial: Trial) -> None:
    trial.unreachable = {2: ("10.0.0.2:9093: Connection refused", 100.0), 3: ("10.0.0.3:9093: timed out", 100.0)}
    trial.pass_seconds(int(LEADERLESS_S) + 30)

    (line,) = trial.lines()
    assert (line["event"], line["reached"], line["needed"]) == ("majority_missing", 1, 2)
    assert line["text"] == (
        "there is no leader: 1 of 3 voters can be reached, this node included, and a majority is 2. Start the voters "
        "2, 3, or repair the network to them"
    )
    joined = ready(trial.node, trial.bench.now, problems_of(trial.node, trial.log.problems))[1]
    assert not joined.passed
    assert line["text"] in joined.reason

    trial.unreachable = {}
    trial.pass_seconds(1)
    assert trial.shown() == []


def test_an_observer_without_a_leader_reports_no_missing_majority(trial: Trial) -> None:
    trial.bench = unattached(9, epoch=1)
    trial.node.replica = trial.bench.replica
    trial.unreachable = {2: ("10.0.0.2:9093: Connection refused", 100.0), 3: ("10.0.0.3:9093: timed out", 100.0)}
    trial.pass_seconds(int(LEADERLESS_S) + 5)

    assert trial.lines() == []


@needs_openssl
def test_a_certificate_near_its_end_has_the_same_words_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pem, port = certificate("/CN=near", days=3), free_port()
    tls = {"kraft_http_tls_certificate_path": str(pem), "kraft_http_tls_key_path": str(pem)}
    context = ssl.create_default_context(cafile=str(authority() / "ca.pem"))
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # of Python 3.13; the authority has no key usage

    def get(path: str) -> Any:
        try:
            with urllib.request.urlopen(f"https://localhost:{port}{path}", context=context, timeout=5) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            error.close()
            raise

    with running(tmp_path, free_port(), kraft_http_listener=f"localhost:{port}", kraft_log_format="json", **tls):
        eventually(lambda: get("/readyz"), "the node is ready")
        (problem,) = get("/quorum")["problems"]
        reasons = [check["reason"] for check in get("/readyz")["checks"]]
        code = main(["status", "-c", str(tmp_path / "controller.properties"), "--ca", str(authority() / "ca.pem")])

    logged = [json.loads(line) for line in (tmp_path / "node.log").read_text().splitlines() if line.startswith("{")]
    text = problem["text"]
    assert text.startswith(f"the certificate of kraft.http.listener in {pem} is valid until 20")
    assert [line["text"] for line in logged if line["event"] == "certificate_expires"] == [text]
    assert reasons[-1] == text
    assert code == 0
    assert f"node 1: {text} (for " in capsys.readouterr().out


CAN_MOUNT = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


needs_mount = pytest.mark.skipif(
    sys.platform != "linux" or not CAN_MOUNT, reason="mounting a small file system is not allowed here"
)
FULL = (
    "the file system is full. Free space on it, or enlarge it, and start the node again. No acknowledged record is lost"
)
FILL = "head -c 1m /dev/zero > data/f"


def on_a_small_disk(root: Path, commands: str, **keys: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The end of a shell that runs these commands with `data` on a file system of 1 MiB, and the node's log.

    "$@" in the commands starts the node, whose directory is formatted.
    """
    properties = write_properties(root, free_port(), kraft_log_format="json", **keys)
    format_directory(properties)
    (root / "data").rename(root / "formatted")
    (root / "data").mkdir()
    (root / "log").touch()
    mounted = f"mount -t tmpfs -o size=1m none data && cp -a formatted/. data/ && {commands}"
    ended = subprocess.run(
        ["unshare", "-m", "sh", "-c", mounted, "sh", *start_command(properties)],
        cwd=root, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return ended, root / "log"


def events_of(log: Path, name: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, log.read_text().splitlines()) if line["event"] == name]


@needs_mount
def test_a_full_disk_ends_the_node_with_one_line_that_says_so(tmp_path: Path) -> None:
    # The fill comes when the node has elected itself.
    commands = f'{{ {{ until grep -q controller_active log; do sleep 0.1; done; {FILL}; }} & exec "$@" 2>log; }}'

    ended, log = on_a_small_disk(tmp_path, commands, metadata_max_idle_interval_ms="1")

    (failed,) = events_of(log, "node_failed")
    assert (ended.returncode, failed["text"]) == (1, FULL)
    assert "No space left on device" in failed["error"]


@needs_mount
def test_a_disk_that_is_full_at_the_start_refuses_the_start_in_one_line(tmp_path: Path) -> None:
    ended, _ = on_a_small_disk(tmp_path, f'{{ {FILL}; exec "$@"; }}')

    (line,) = [json.loads(line) for line in ended.stderr.splitlines() if line.startswith("{")]
    assert (ended.returncode, line["event"], line["command"]) == (1, "start_refused", "kraftctl start")
    assert line["reason"].startswith(f"{tmp_path}/data/__cluster_metadata-0 cannot be opened: ")
    assert line["reason"].endswith(f"No space left on device; {FULL}")


@needs_mount
def test_a_disk_that_is_full_when_the_node_is_stopped_is_one_line_too(tmp_path: Path) -> None:
    commands = (
        '{ "$@" 2>log & node=$!; until grep -q controller_active log; do sleep 0.1; done; '
        f"{FILL}; kill -TERM $node; wait $node; }}"
    )

    ended, log = on_a_small_disk(tmp_path, commands, metadata_max_idle_interval_ms="0")

    (closing,) = events_of(log, "closing_failed") or events_of(log, "node_failed")
    assert (ended.returncode, closing["text"]) == (1, FULL)
    assert "No space left on device" in closing["error"]


def test_a_node_without_a_majority_says_so_in_its_log_and_views(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = free_ports_in_a_row(3)
    voters = f"1@127.0.0.1:{first},2@127.0.0.1:{first + 1}"
    listener = f"127.0.0.1:{first + 2}"
    keys = {"controller_quorum_voters": voters, "kraft_http_listener": listener, "kraft_log_format": "json"}

    def view_of() -> Any:
        with urllib.request.urlopen(f"http://{listener}/quorum", timeout=5) as answer:
            return json.load(answer)

    def is_shown() -> bool:
        return any(one["text"].startswith("there is no leader") for one in view_of()["problems"])

    with running(tmp_path, first, **keys):
        eventually(is_shown, "the missing majority is shown")
        view = view_of()
        code = main(["status", "-c", str(tmp_path / "controller.properties"), "--json"])

    texts = [one["text"] for one in view["problems"] if one["text"].startswith("there is no leader: 1 of 2 voters")]
    logged = [json.loads(line) for line in (tmp_path / "node.log").read_text().splitlines() if line.startswith("{")]
    (joined,) = [check["reason"] for check in view["checks"] if check["check"] == "joined"]
    assert len(texts) == 1
    assert texts == [line["text"] for line in logged if line["event"] == "majority_missing"]
    assert texts[0] in joined
    assert code == 2
    assert texts[0] in json.loads(capsys.readouterr().out)["nodes"][0]["error"]
