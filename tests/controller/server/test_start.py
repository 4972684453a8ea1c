"""Starting and stopping a node as a process: refused configurations, their one line of text, and exit codes."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import uvloop

from controller.server.start import SHUTDOWN_S_MAX, stop, voters_warning, wall_of_loop_ms
from raft.storage.files import OsFiles
from raft.storage.log import LogLimits
from raft.storage.opening import open_partition
from records.messages.versions import ApiVersionsRequest
from records.schema import replace
from simulations.chaos.brokers import heartbeat, registration
from simulations.chaos.ports import free_ports
from tests.benchmarks.client import FEATURES, create_topics
from tests.controller.server.processes import (
    CLUSTER_ID,
    await_port,
    format_directory,
    free_port,
    run_to_end,
    running,
    start_command,
    write_properties,
)
from tests.tools.offline.stock_directories import stock_directory
from tools.client.connection import Connection
from tools.config_file import read_config

if TYPE_CHECKING:
    from collections.abc import Callable

TLS = Path(__file__).parents[2] / "data" / "tls"


def refusal(properties: Path) -> str:
    """The one line on stderr of a refused start."""
    done = run_to_end(properties)
    lines = [line for line in done.stderr.splitlines() if "configuration_warning" not in line]
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"process_roles": "broker,controller"}, "this node is a KRaft controller and nothing else"),
        ({"process_roles": "broker"}, "this node is a KRaft controller and nothing else"),
        ({"node_id": "minus"}, "Invalid value minus for configuration broker.id"),
        ({"controller_quorum_election_timeout_ms": "soon"}, "controller.quorum.election.timeout.ms"),
        ({"listeners": None}, "listeners"),
        ({"listener_security_protocol_map": "CONTROLLER:SSL"}, "CONTROLLER has TLS and no certificate"),
        ({"authorizer_class_name": "com.example.Authorizer"}, "authorizer.class.name"),
        ({}, "No readable meta.properties files found"),
    ],
)
def test_a_node_that_cannot_start_prints_the_reason_in_one_line(
    tmp_path: Path, changes: dict[str, str | None], text: str
) -> None:
    properties = write_properties(tmp_path, free_port(), **changes)

    assert text in refusal(properties)


@pytest.mark.parametrize(
    ("changes", "text"),
    [({"node_id": "minus"}, "Invalid value minus for configuration broker.id"), ({}, "No readable")],
)
def test_with_a_log_in_json_the_reason_is_json_too(tmp_path: Path, changes: dict[str, str | None], text: str) -> None:
    properties = write_properties(tmp_path, free_port(), kraft_log_format="json", **changes)

    refused = json.loads(refusal(properties))

    assert {name: refused[name] for name in ("level", "event", "command")} == {
        "level": "fatal", "event": "start_refused", "command": "kraftctl start",
    }  # fmt: skip
    assert text in refused["reason"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none") == f"kraftctl start: {tmp_path}/none: No such file or directory"


def test_an_override_without_a_value_is_refused(tmp_path: Path) -> None:
    properties = write_properties(tmp_path, free_port())
    command = [*start_command(properties), "--override", "node.id"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    assert (done.returncode, done.stderr) == (1, "kraftctl start: --override node.id: KEY=VALUE is expected\n")


@pytest.mark.parametrize(
    ("changes", "code", "text"),
    [
        ({}, 0, "node 1 can run with this configuration"),
        ({"authorizer_class_name": "com.example.Authorizer"}, 1, "authorizer.class.name"),
    ],
)
def test_a_configuration_is_checked_without_a_start(
    tmp_path: Path, changes: dict[str, str | None], code: int, text: str
) -> None:
    properties = write_properties(tmp_path, free_port(), **changes)
    command = [*start_command(properties), "--check"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    assert done.returncode == code
    assert text in (done.stderr if code else done.stdout)


@pytest.mark.parametrize(
    ("changes", "code", "text"),
    [
        ({"ssl_keystore_location": f"{TLS}/none.pem"}, 1, "none.pem"),
        ({"ssl_keystore_location": f"{TLS}/node.pem"}, 1, "node.pem"),
        ({}, 0, "can run"),
        ({"kraft_http_listener": "127.0.0.1:1", "kraft_http_tls_certificate_path": f"{TLS}/node.pem",
          "kraft_http_tls_key_path": f"{TLS}/none.key"}, 1, "none.key"),
    ],
    ids=["no keystore", "no key in it", "both", "no key of the HTTP port"],
)  # fmt: skip
def test_a_check_reads_the_keystores(tmp_path: Path, changes: dict[str, str | None], code: int, text: str) -> None:
    both = tmp_path / "both.pem"
    both.write_text((TLS / "node.key").read_text() + (TLS / "node.pem").read_text())
    keys = {"ssl_keystore_location": str(both), **changes}
    properties = write_properties(
        tmp_path, free_port(), listener_security_protocol_map="CONTROLLER:SSL", ssl_keystore_type="PEM",
        ssl_truststore_type="PEM", ssl_truststore_location=f"{TLS}/ca.pem", **keys,
    )  # fmt: skip

    done = subprocess.run(
        [*start_command(properties), "--check"], capture_output=True, text=True, timeout=30, check=False
    )

    assert (done.returncode, text in (done.stderr if code else done.stdout)) == (code, True), done.stderr


def test_a_log_without_meta_properties_is_not_to_be_formatted(tmp_path: Path) -> None:
    properties = write_properties(tmp_path, free_port())
    directory = tmp_path / "data"
    (directory / "__cluster_metadata-0").mkdir(parents=True)
    (directory / "__cluster_metadata-0/00000000000000000000.log").write_bytes(b"")

    assert refusal(properties) == (
        f"kraftctl start: {directory}/meta.properties is missing, and the directory has a metadata log: do not format "
        "it. `kraftctl doctor -c FILE` prints how to restore the file"
    )


def test_a_directory_of_another_node_is_refused(tmp_path: Path) -> None:
    format_directory(write_properties(tmp_path, free_port()))
    other = write_properties(tmp_path, free_port(), node_id="2", controller_quorum_voters=f"2@127.0.0.1:{free_port()}")

    assert "Stored node id 1 doesn't match previous node id 2" in refusal(other)


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        properties = write_properties(tmp_path, port)
        format_directory(properties)

        assert refusal(properties) == (
            f"kraftctl start: CONTROLLER cannot listen on 127.0.0.1:{port}: Address already in use"
        )


def test_a_locked_directory_is_refused(tmp_path: Path) -> None:
    with running(tmp_path, free_port()):
        second = write_properties(tmp_path, free_port())

        assert "Failed to acquire lock on file .lock" in refusal(second)


def test_an_unknown_key_is_warned_about(tmp_path: Path) -> None:
    with running(tmp_path, free_port(), num_partitons="3"):
        said = (tmp_path / "node.log").read_text()

    assert "num.partitons" in said


@pytest.mark.parametrize(
    ("golden", "changes", "text"),
    [
        ("4.3-dynamic/node-1", {"controller_quorum_voters": "1@127.0.0.1:1,9@127.0.0.1:2"}, "(nodes 1, 9) is ignored"),
        ("4.3-static/node-1", {"controller_quorum_voters": None}, "this node knows no voters, and does not vote"),
        ("4.3-static/node-1", {"controller_quorum_voters": "1@127.0.0.1:1"}, ""),
        ("4.3-dynamic/node-1", {"controller_quorum_voters": None}, ""),
    ],
)
def test_a_node_explains_what_controller_quorum_voters_does_at_its_kraft_version(
    tmp_path: Path, golden: str, changes: dict[str, str | None], text: str
) -> None:
    servers = {"controller_quorum_bootstrap_servers": "127.0.0.1:25091"}
    config = read_config(write_properties(tmp_path, free_port(), **servers, **changes))
    directory = stock_directory(tmp_path, golden) / "__cluster_metadata-0"
    recovered = open_partition(OsFiles(), str(directory), LogLimits()).recovered

    warning = voters_warning(config, recovered)

    assert text in warning
    assert bool(warning) == bool(text)


def test_a_directory_with_static_voters_is_not_ready_where_a_quorum_forms_itself(tmp_path: Path) -> None:
    port, http_port = free_ports(2)
    with running(tmp_path, port) as first, Connection("127.0.0.1", port, "test"):
        first.send_signal(signal.SIGTERM)
        first.wait(5)

    forms = {
        "controller_quorum_bootstrap_servers": f"127.0.0.1:{port}", "kraft_quorum_bootstrap_expect": "1",
        "kraft_http_listener": f"127.0.0.1:{http_port}",
    }  # fmt: skip
    with running(tmp_path, port, controller_quorum_voters=None, **forms):
        with pytest.raises(HTTPError, match="503") as refused:
            urlopen(f"http://127.0.0.1:{http_port}/readyz", timeout=5)
        refused.value.close()

        assert "this node knows no voters, and does not vote" in (tmp_path / "node.log").read_text()
    with running(tmp_path, port):
        """With its static voters it starts as before."""


def test_sigterm_stops_a_node_within_five_seconds_and_it_can_start_again(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port) as first:
        first.send_signal(signal.SIGTERM)
        assert first.wait(5) == 0

    with running(tmp_path, port) as again, Connection("127.0.0.1", port, "test") as connection:
        answer = connection.ask(ApiVersionsRequest(client_software_name="test", client_software_version="1"))

        assert answer.error_code == 0
        assert again.poll() is None


def test_the_hard_end_of_a_stop_is_counted_from_the_end_of_leaving() -> None:
    left: list[Any] = []
    timers: list[tuple[float, Any]] = []
    node: Any = SimpleNamespace(shut_down=left.append, end_now=lambda: None)
    loop: Any = SimpleNamespace(call_later=lambda wait_s, act: timers.append((wait_s, act)))

    stop(node, loop, SimpleNamespace(stopping=lambda: None))  # type: ignore[arg-type]
    before = list(timers)
    left[0]()

    assert (before, timers) == ([], [(SHUTDOWN_S_MAX, node.end_now)])


def test_sigterm_leaves_a_snapshot_that_the_next_start_replays_from(tmp_path: Path) -> None:
    port = free_port()
    log = tmp_path / "node.log"
    with running(tmp_path, port) as first, Connection("127.0.0.1", port, "test") as connection:
        wait_for(log, "controller_active")
        broker = connection.ask(replace(registration(7, FEATURES), cluster_id=CLUSTER_ID))
        connection.ask(heartbeat(7, broker.broker_epoch))
        for name in ("first", "second"):
            assert connection.ask(create_topics([name], 9_900)).topics[0].error_code == 0
        first.send_signal(signal.SIGTERM)
        assert first.wait(5) == 0
    names = sorted(path.name for path in (tmp_path / "data" / "__cluster_metadata-0").glob("*.checkpoint"))
    # The first is what the formatter wrote.
    assert (len(names), names[0]) == (2, "00000000000000000000-0000000000.checkpoint")
    assert "snapshot_loaded" not in log.read_text()

    with running(tmp_path, port):
        wait_for(log, "snapshot_loaded")


def wait_for(path: Path, text: str) -> None:
    end = time.monotonic() + 20
    while text not in path.read_text():
        assert time.monotonic() < end, path.read_text()
        time.sleep(0.02)


def test_a_node_that_waits_for_a_majority_can_be_stopped(tmp_path: Path) -> None:
    """Without a majority a node waits without a timeout, and exits on SIGTERM."""
    ports = [free_port() for _ in range(3)]
    voters = ",".join(f"{number}@127.0.0.1:{port}" for number, port in enumerate(ports, start=1))
    properties = write_properties(tmp_path, ports[0], controller_quorum_voters=voters)
    format_directory(properties)
    process = subprocess.Popen(start_command(properties), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        await_port(process, ports[0])
        process.send_signal(signal.SIGTERM)

        assert process.wait(5) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("make_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_time_of_the_loop_is_never_after_the_wall_clock(make_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def shown_ahead_ms() -> int:
        """How far a time of the loop is after the wall clock, with the offset taken late in an iteration."""
        time.sleep(0.02)  # a long step: uvloop does not read the clock again in the same iteration
        offset_ms = wall_of_loop_ms(asyncio.get_running_loop()) - int(asyncio.get_running_loop().time() * 1000)
        await asyncio.sleep(0)
        return int(asyncio.get_running_loop().time() * 1000) + offset_ms - time.time_ns() // 1_000_000

    loop = make_loop()
    try:
        assert all(-20 < loop.run_until_complete(shown_ahead_ms()) <= 0 for _ in range(20))
    finally:
        loop.close()
