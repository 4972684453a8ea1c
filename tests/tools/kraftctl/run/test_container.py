"""A node as the image starts it: configured by its environment, formatted once, stopped by SIGTERM."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.controller.server.processes import CLUSTER_ID, free_port
from tests.interop.ask import describe_quorum
from tests.interop.cluster import eventually

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = [sys.executable, "-m", "tools.kraftctl.main", "container"]


def environment(data: Path, port: int, **changes: str) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("KAFKA_")},
        "CLUSTER_ID": CLUSTER_ID,
        "KAFKA_NODE_ID": "1",
        "KAFKA_PROCESS_ROLES": "controller",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": f"1@127.0.0.1:{port}",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_LISTENERS": f"CONTROLLER://127.0.0.1:{port}",
        "KAFKA_LOG_DIRS": str(data),
        **changes,
    }


def run_once(given: dict[str, str], port: int, *arguments: str) -> tuple[int, str]:
    """Start, wait until the node leads, stop it with SIGTERM; the exit code and the output."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    eventually(lambda: process.poll() is not None or describe_quorum(port).leader_id == 1, "the node leads", 20)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=20)
    return process.returncode, said


def refusal(given: dict[str, str]) -> str:
    done = subprocess.run(COMMAND, env=given, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 1
    return done.stderr


def test_the_first_start_formats_and_the_second_uses_the_same_data(tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()

    first = run_once(environment(data, port), port)
    meta = (data / "meta.properties").read_text()
    second = run_once(environment(data, port), port)

    assert (first[0], second[0]) == (0, 0)
    assert f"Formatting metadata directory {data} with metadata.version" in first[1]
    assert "Formatting" not in second[1]
    assert f"cluster.id={CLUSTER_ID}\n" in meta
    assert (data / "meta.properties").read_text() == meta


def test_a_health_check_finds_the_http_port_in_the_same_environment(tmp_path: Path) -> None:
    port, http = free_port(), free_port()
    given = environment(tmp_path / "data", port, KAFKA_KRAFT_HTTP_LISTENER=f":{http}")
    probe = [sys.executable, "-m", "tools.kraftctl.main", "probe"]

    process = subprocess.Popen(COMMAND, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(lambda: describe_quorum(port).leader_id == 1, "the node leads", 20)
    eventually(lambda: subprocess.run([*probe, "ready"], env=given, check=False).returncode == 0, "it is ready", 20)
    live = subprocess.run([*probe, "live"], env=given, capture_output=True, text=True, check=False)
    process.send_signal(signal.SIGTERM)
    process.wait(20)
    after = subprocess.run([*probe, "live"], env=given, capture_output=True, text=True, check=False)

    assert (live.returncode, json.loads(live.stdout)["status"]) == (0, "alive")
    assert (after.returncode, after.stdout) == (1, "")


def test_arguments_override_the_environment(tmp_path: Path) -> None:
    port = free_port()
    given = environment(tmp_path / "not-this", port)

    code, _ = run_once(given, port, f"KAFKA_LOG_DIRS={tmp_path / 'data'}")

    assert code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_the_directory_of_another_cluster_is_refused_and_not_changed(tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    run_once(environment(data, port), port)
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}

    said = refusal(environment(data, port, CLUSTER_ID="another"))

    assert said == (
        f"kraftctl container: Invalid cluster.id in: {data}/meta.properties. Expected another, but read {CLUSTER_ID}\n"
    )
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"KRAFT_FORMAT": "never"}, "No readable meta.properties files found"),
        ({"KRAFT_FORMAT": "always"}, "it must be one of missing, never"),
        (
            {
                "KAFKA_PROCESS_ROLES": "broker,controller",
                "KAFKA_LISTENERS": "CONTROLLER://127.0.0.1:9093,PLAINTEXT://127.0.0.1:9092",
            },
            "KRaft controller and nothing else",
        ),
        (
            {"KAFKA_CONTROLLER_QUORUM_VOTERS": "", "KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS": "127.0.0.1:9093"},
            "formats directories for static voters only",
        ),
    ],
)
def test_a_node_that_cannot_start_prints_one_line(tmp_path: Path, changes: dict[str, str], text: str) -> None:
    said = refusal(environment(tmp_path / "data", free_port(), **changes))

    assert text in said
    assert said.count("\n") == 1
    assert not (tmp_path / "data").exists()


def test_a_quorum_forms_itself_without_a_format(tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    given = environment(
        data, port,
        KAFKA_CONTROLLER_QUORUM_VOTERS="", KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS=f"127.0.0.1:{port}",
        KAFKA_KRAFT_QUORUM_BOOTSTRAP_EXPECT="1",
    )  # fmt: skip

    first, second = run_once(given, port), run_once(given, port)

    assert (first[0], second[0]) == (0, 0)
    assert "quorum_formed" in first[1]
    assert "Formatting" not in first[1]
    assert "quorum_form" not in second[1]
