"""The metadata shell on a live quorum and on a running node's directory: updates and errors."""

from __future__ import annotations

import io
import signal
import socket
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from records.messages.configs import IncrementalAlterConfigsRequest
from simulations.chaos.quorum import Quorum
from tests.controller.server.processes import CLUSTER_ID, free_port, running
from tools.client.connection import Connection
from tools.client.live_quorum import LiveQuorum
from tools.client.quorum import NoLeader
from tools.kafka.shell.live_shell import addresses_in, split
from tools.kafka.shell.metadata_shell import run
from tools.offline.live_directory import LiveDirectory, NoMetadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BROKER = 4
KEY = "log.retention.ms"
SNAPSHOTS: dict[str, Any] = {
    "metadata_log_max_record_bytes_between_snapshots": "1",
    "metadata_log_segment_bytes": "8388608",
}


def set_retention(port: int, value: int) -> None:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    change = resource.AlterableConfig(name=KEY, config_operation=0, value=str(value))
    request = IncrementalAlterConfigsRequest(
        resources=(resource(resource_type=BROKER, resource_name="", configs=(change,)),), validate_only=False
    )
    with Connection("127.0.0.1", port, "test") as connection:
        answer = connection.ask(request)
    assert answer.responses[0].error_code == 0, answer


def eventually(condition: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def led(port: int) -> bool:
    try:
        set_retention(port, 1)
    except (AssertionError, OSError):
        return False
    return True


@pytest.fixture(name="node", scope="module")
def _node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """Port and directory of a quorum of one node, which leads and takes snapshots as often as it can."""
    port, root = free_port(), tmp_path_factory.mktemp("node")
    with running(root, port, **SNAPSHOTS):
        eventually(lambda: led(port))
        yield port, root / "data"


def retention(image: Any) -> str:
    return str(image.configs[BROKER, ""][KEY])


def test_a_live_image_follows_the_quorum(node: tuple[int, Path]) -> None:
    with LiveQuorum([("127.0.0.1", node[0])], "test") as quorum:
        set_retention(node[0], 1000)
        first = retention(quorum.update())
        end_offset = quorum.position.end_offset
        set_retention(node[0], 2000)
        second = retention(quorum.update())

        assert (first, second, quorum.cluster_id) == ("1000", "2000", CLUSTER_ID)
        assert quorum.position.end_offset > end_offset
        assert quorum.image.last_offset == quorum.position.end_offset - 1


def test_a_live_image_starts_with_the_newest_snapshot(node: tuple[int, Path]) -> None:
    inner = node[1] / "__cluster_metadata-0"
    set_retention(node[0], 3000)
    eventually(lambda: any(not path.name.startswith("0" * 20) for path in inner.glob("*.checkpoint")))

    with LiveQuorum([("127.0.0.1", node[0])], "test") as quorum:
        quorum._step(None)  # the first answer names the snapshot
        loaded = quorum.position.end_offset

        assert loaded > 1
        assert quorum.image.last_offset == loaded - 1
        assert quorum.image.last_time_ms > 0
        assert retention(quorum.update()) == "3000"


def test_a_live_directory_follows_the_node_that_writes_it(node: tuple[int, Path]) -> None:
    directory = LiveDirectory(str(node[1]))
    set_retention(node[0], 4000)
    eventually(lambda: retention(directory.update()) == "4000")
    end_offset = directory.end_offset
    set_retention(node[0], 5000)

    eventually(lambda: retention(directory.update()) == "5000")
    assert directory.end_offset > end_offset


def test_a_truncated_log_is_read_again(node: tuple[int, Path], tmp_path: Path) -> None:
    source = max((node[1] / "__cluster_metadata-0").glob("*.log"))
    data = source.read_bytes()
    copy = tmp_path / ("0" * 20 + ".log")
    first = 12 + int.from_bytes(data[8:12], "big")
    copy.write_bytes(data)
    directory = LiveDirectory(str(tmp_path))
    whole = directory.update().last_offset

    copy.write_bytes(data[:first])
    cut = directory.update().last_offset
    copy.write_bytes(data + data[:30])  # and a batch that is only partly written

    assert cut < whole
    assert directory.update().last_offset == whole


def test_one_command_prints_the_tree_and_its_offset(node: tuple[int, Path], capsys: pytest.CaptureFixture[str]) -> None:
    set_retention(node[0], 6000)
    live = run(["--controllers", f"127.0.0.1:{node[0]}", "cat", f"/image/configs/BROKER/{KEY}"])
    printed = capsys.readouterr()
    there = run(["--directory", str(node[1]), "ls", "/image/cluster"])

    assert (live, printed.out, there) == (0, "6000\n", 0)
    assert printed.err.startswith("offset ")
    assert printed.err.endswith(f" of cluster {CLUSTER_ID}, from 127.0.0.1:{node[0]}\n")


def test_a_session_is_brought_up_to_date_before_each_command(
    node: tuple[int, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = iter((7000, 8000))

    def readline() -> str:
        value = next(lines, None)
        if value is None:
            return ""
        set_retention(node[0], value)
        return f"cat /image/configs/BROKER/{KEY}\n"

    typed = io.StringIO()
    monkeypatch.setattr(typed, "readline", readline)
    monkeypatch.setattr(sys, "stdin", typed)

    code = run(["-C", f"1@127.0.0.1:{node[0]}"])

    printed = [
        line for line in capsys.readouterr().out.splitlines() if not line.startswith(("Loading", "Starting", "["))
    ]
    assert code == 0
    assert [line for line in printed if line.isdigit()] == ["7000", "8000"]
    assert sum(line.removeprefix(">> ").startswith("offset ") for line in printed) == 2


@pytest.mark.slow
def test_a_live_image_continues_after_each_of_three_leaders_is_killed(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path)
    try:
        for node in quorum.ports:
            quorum.start(node)
        eventually(quorum.leader, 60)
        with LiveQuorum([("127.0.0.1", port) for port in quorum.ports.values()][:1], "test", 60) as live:
            for value in (1000, 2000, 3000):
                eventually(partial(led_to, quorum, value), 60)
                assert retention(live.update()) == str(value)
                # Also of voters that have not registered with this leader yet.
                assert {port for _, port in live.addresses} >= set(quorum.network.ports.values())
                killed = quorum.leader()
                quorum.signal(killed, signal.SIGKILL)
                assert retention(live.update()) == str(value)
                quorum.start(killed)
                eventually(quorum.leader, 60)
    finally:
        for node in quorum.ports:  # nothing is tested of how they end
            quorum.signal(node, signal.SIGKILL)
        quorum.close()


def led_to(quorum: Quorum, value: int) -> bool:
    leader = quorum.leader()
    if not leader:
        return False
    try:
        set_retention(quorum.ports[leader], value)
    except (AssertionError, OSError):
        return False
    return True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-C", "localhost"], "--controllers localhost: 'localhost' is not HOST:PORT"),
        (["-C", "a:1,,b:2"], "--controllers a:1,,b:2: '' is not HOST:PORT"),
        (["-C"], "-C needs a value"),
        (["-C", "a:1", "-d", "x"], "either --controllers or --directory is needed"),
        (["-c", "file"], "either --controllers or --directory is needed"),
        (["-d", "x", "-c", "y"], "--config goes with --controllers"),
        (["-C", "a:1", "-C", "b:1"], "--controllers is given twice"),
        (["-C", "a:1", "--snapshot", "f"],
         "--snapshot cannot be used here: use --snapshot alone; `--controllers -h` lists the options"),
        (["-d", "/nowhere"], "/nowhere: No such file or directory"),
        (["-C", "a:1", "-c", "/nowhere"], "/nowhere: No such file or directory"),
    ],
)  # fmt: skip
def test_each_error_is_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run([*arguments, "ls"] if arguments != ["-C"] else arguments)

    assert (code, capsys.readouterr()) == (1, ("", f"kafka-metadata-shell: {message}\n"))


def test_controllers_are_addresses_with_or_without_an_id() -> None:
    assert addresses_in("1@a:1, 2@[::1]:2,c:3") == [("a", 1), ("::1", 2), ("c", 3)]
    assert split(["--controllers=a:1", "cat", "-x"]) == ({"controllers": "a:1"}, ["cat", "-x"])


def test_controllers_that_do_not_answer_are_listed() -> None:
    port = free_port()

    with LiveQuorum([("127.0.0.1", port)], "test", 0.3) as quorum, pytest.raises(NoLeader) as error:
        quorum.update()

    assert str(error.value) == (
        f"no leader of the quorum answered within 0.3 s: 127.0.0.1:{port}: [Errno 111] Connection refused"
    )


def test_an_address_that_is_not_a_kafka_listener_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(100)
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        with LiveQuorum([("127.0.0.1", port)], "test", 0.3) as quorum, pytest.raises(NoLeader) as error:
            quorum.update()
        server.close()

    assert "this is no Kafka listener" in str(error.value)


def test_a_directory_without_metadata_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NoMetadata) as error:
        LiveDirectory(str(tmp_path)).update()

    assert str(error.value) == f"{tmp_path}: no checkpoint and no log of the metadata partition is here"
