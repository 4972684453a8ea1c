"""The watch service of a node in a process of its own, as clients see it."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import msgpack
import pytest

from controller.server.grpc.bodies import Form, in_form, read_body
from controller.server.grpc.port import HEALTH_STREAMS_MAX
from kraft_quorum.client import Client, Update, WatchFailed
from tests.controller.server.alterations import BROKER, alteration
from tests.controller.server.processes import (
    CLUSTER_ID,
    format_directory,
    free_port,
    resident_kib,
    run_to_end,
    running,
    write_properties,
)
from tools.client.connection import Connection

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

KEY = "sasl.enabled.mechanisms"
SECRET = "hunter2-of-the-operator"


class Served:
    """A node with a watch service."""

    def __init__(self, process: subprocess.Popen[bytes], root: Path, port: int, grpc_port: int) -> None:
        self.process = process
        self.root = root
        self.port = port
        self.target = f"127.0.0.1:{grpc_port}"

    def put(self, *values: str, key: str = KEY) -> None:
        """Set a configuration to these values, one after the other; each is a batch of its own."""
        with Connection("127.0.0.1", self.port, "watch-test", 10) as connection:
            end = time.monotonic() + 10
            for value in values:
                while connection.ask(alteration(BROKER, "1", key, value)).responses[0].error_code:
                    assert time.monotonic() < end, "the node does not lead"

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.root / "node.log").read_text().splitlines()]


@pytest.fixture(name="node", scope="module")
def _node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root, port, grpc_port = tmp_path_factory.mktemp("node"), free_port(), free_port()
    keys = {"kraft_grpc_listener": f"127.0.0.1:{grpc_port}", "kraft_log_format": "json"}
    with running(root, port, **keys, kraft_grpc_watchers_max="3", kraft_grpc_write_timeout_ms="300") as process:
        yield Served(process, root, port, grpc_port)


@pytest.fixture(name="client")
def _client(node: Served) -> Iterator[Client]:
    with Client([node.target]) as client:
        yield client


def values_of(updates: Iterator[Update], last: str) -> list[str]:
    """The values of `KEY` in the order received, up to the last."""
    found: list[str] = []
    for update in updates:
        found += [change["data"]["value"] for change in update.changes if change["data"].get("name") == KEY]
        if last in found:
            return found
    raise AssertionError("a watch does not end")


def test_changes_come_in_order_and_a_watch_can_resume_from_each_offset(node: Served, client: Client) -> None:
    values = [f"A{number}" for number in range(60)]
    node.put(*values)

    seen: list[tuple[int, list[int]]] = []
    for update in client.watch(0):
        seen.append((update.next_offset, [change["offset"] for change in update.changes]))
        if any(change["data"].get("value") == "A59" for change in update.changes):
            break
    offsets = [offset for _, offsets in seen for offset in offsets]

    assert offsets == sorted(set(offsets))
    for next_offset, _ in seen[:-1]:
        first = next(update for update in client.watch(next_offset) if update.changes)
        assert first.changes[0]["offset"] == next(offset for offset in offsets if offset >= next_offset)
    assert values_of(client.watch(0), "A59")[-60:] == values


def test_a_change_is_sent_once_it_is_committed(node: Served, client: Client) -> None:
    node.put("B0")
    updates = client.watch()
    seen = next(updates)
    while seen.more:
        seen = next(updates)

    node.put("B1", "B2")

    assert values_of(updates, "B2") == ["B1", "B2"]


def test_the_image_and_the_later_changes_are_complete(node: Served, client: Client) -> None:
    node.put("C0")
    image = list(client.snapshot())
    node.put("C1")

    after = values_of(client.watch(image[-1].next_offset), "C1")

    records = [change for update in image for change in update.changes]
    assert [update.more for update in image] == [True] * (len(image) - 1) + [False]
    assert {update.kind for update in image} == {"image"}
    assert [change["data"]["value"] for change in records if change["data"].get("name") == KEY] == ["C0"]
    assert records[0]["data"]["name"] == "metadata.version"
    assert after == ["C1"]


def test_a_filter_selects_changes(node: Served, client: Client) -> None:
    node.put("D0", "D1")
    wanted = {"types": ["CONFIG_RECORD"], "where": {"value": ["D1"]}}

    update = next(update for update in client.watch(0, wanted) if update.changes)
    image = [change["data"]["value"] for update in client.snapshot(wanted) for change in update.changes]

    assert [change["data"]["value"] for change in update.changes] == ["D1"]
    assert image == ["D1"]


def test_no_secret_is_sent(node: Served, client: Client) -> None:
    node.put(SECRET, key="ssl.key.password")
    node.put("E0")

    received = []
    for update in client.watch(0):
        received.append(update)
        if "E0" in str(update):
            break
    image = list(client.snapshot())

    assert SECRET not in str(received) + str(image)
    hidden = [change for update in image for change in update.changes if "hidden" in change]
    assert [(change["data"]["name"], change["hidden"]) for change in hidden] == [("ssl.key.password", ["value"])]


def test_status_returns_the_view_of_the_quorum(node: Served, client: Client) -> None:
    node.put("F0")

    status = client.status()

    assert (status["cluster_id"], status["node_id"], status["leader_id"]) == (CLUSTER_ID, 1, 1)
    assert status["is_active_controller"] is True
    assert status["watch_end_offset"] == status["high_watermark"] <= status["log_end_offset"]
    assert status["voters"] == [
        {
            "id": 1, "directory_id": None, "endpoints": [f"CONTROLLER://127.0.0.1:{node.port}"], "is_leader": True,
            "end_offset": status["log_end_offset"], "lag": 0, "fetched_ago_ms": None, "caught_up_ago_ms": 0,
        }
    ]  # fmt: skip
    assert status["observers"] == []


@pytest.mark.parametrize("form", [Form.JSON, Form.MSGPACK])
def test_a_body_of_protobuf_gets_the_same_answers_in_its_own_form(node: Served, client: Client, form: Form) -> None:
    begin = client.status()["watch_end_offset"]
    node.put("F1", key=f"f1.{form.name.lower()}")
    expected = next(iter(client.watch(begin)))

    def asked(value: dict[str, Any]) -> bytes:
        return in_form(form, msgpack.packb(value))

    with grpc.insecure_channel(node.target) as channel:
        status = read_body(channel.unary_unary("/kraft.v1.Metadata/Status")(asked({}), timeout=10))
        stream = channel.unary_stream("/kraft.v1.Metadata/Watch")(asked({"from_offset": begin}), timeout=10)
        told = read_body(next(iter(stream)))
        images = [read_body(one) for one in channel.unary_stream("/kraft.v1.Metadata/Snapshot")(asked({}), timeout=10)]
        stream.cancel()

    assert (status[0], status[1]["cluster_id"]) == (form, CLUSTER_ID)
    assert (told[0], told[1]["changes"], told[1]["next_offset"]) == (form, expected.changes, expected.next_offset)
    assert [found for found, _ in images] == [form] * len(images)
    assert not images[-1][1]["more"]


@pytest.mark.parametrize(
    ("method", "request_", "code", "text"),
    [
        ("Watch", {"from_offset": -1}, "INVALID_ARGUMENT", "an offset from 0 to"),
        ("Watch", {"filter": {"types": ["TopicRecord"]}}, "INVALID_ARGUMENT", "known types"),
        ("Watch", {"cluster_id": "other"}, "FAILED_PRECONDITION", f"this node belongs to cluster '{CLUSTER_ID}'"),
        ("Snapshot", {"from_offset": 1}, "INVALID_ARGUMENT", "known keys: allow_stale, cluster_id, filter"),
        ("Watch", {"filter": {"where": {"x": ["y" * 70_000]}}}, "RESOURCE_EXHAUSTED", "larger than max"),
        ("Unwatch", {}, "UNIMPLEMENTED", ""),
    ],
)
def test_a_request_that_cannot_be_served_is_refused_with_the_reason(
    node: Served, method: str, request_: dict[str, Any], code: str, text: str
) -> None:
    with grpc.insecure_channel(node.target) as channel, pytest.raises(grpc.RpcError) as refused:
        list(channel.unary_stream(f"/kraft.v1.Metadata/{method}", msgpack.packb)(request_))

    assert refused.value.code().name == code
    assert text in refused.value.details()


def opened(watch: Any) -> Any:
    """An accepted stream; a stream of an earlier test may take a moment to close."""
    end = time.monotonic() + 5
    while True:
        call = watch({"from_offset": 0})
        try:
            next(call)
        except grpc.RpcError:
            assert time.monotonic() < end, "no stream is let in"
        else:
            return call


def test_streams_above_the_limit_are_refused_until_one_ends(node: Served, client: Client) -> None:
    node.put("G0")
    with grpc.insecure_channel(node.target) as channel:
        watch = channel.unary_stream("/kraft.v1.Metadata/Watch", msgpack.packb)
        calls = [opened(watch) for _ in range(3)]

        with pytest.raises(grpc.RpcError) as refused:
            next(watch({"from_offset": 0}))
        calls[0].cancel()

    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "3 streams are open, the limit of kraft.grpc.watchers.max" in refused.value.details()
    # The client retries, and there is room now.
    assert values_of(client.watch(0), "G0")[-1] == "G0"


def test_the_stream_of_a_slow_watcher_ends_with_its_resume_offset(node: Served, client: Client) -> None:
    start = client.status()["watch_end_offset"]
    values = [f"H{number}".ljust(20_000, "x") for number in range(60)]
    narrow = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_535)]
    with grpc.insecure_channel(node.target, narrow) as channel:
        call = channel.unary_stream("/kraft.v1.Metadata/Watch", msgpack.packb, msgpack.unpackb)({"from_offset": start})
        node.put(*values)
        end = time.monotonic() + 10
        while "watcher_cut_off" not in {event["event"] for event in node.events()}:
            assert time.monotonic() < end, "nobody was cut off"
            time.sleep(0.02)

        got: list[dict[str, Any]] = []
        with pytest.raises(grpc.RpcError) as cut_off:
            got.extend(call)

    trailers = {item.key: item.value for item in cut_off.value.trailing_metadata()}
    assert cut_off.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    resume = int(trailers["kraft-resume-offset"])
    before = [change["data"]["value"] for message in got for change in message["changes"]]
    after = values_of(client.watch(resume), values[-1])
    assert resume == got[-1]["next_offset"]
    assert 0 < len(before) < len(values)
    assert before + after == values


def test_the_health_service_has_a_service_for_each_check(node: Served) -> None:
    node.put("I0")
    with grpc.insecure_channel(node.target) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        names = [b"", b"live", b"started", b"ready", b"leader", b"kraft.v1.Metadata"]
        statuses = [check(b"\x0a" + bytes([len(name)]) + name) for name in names]
        with pytest.raises(grpc.RpcError) as unknown:
            check(b"\x0a\x05other")
        watched = channel.unary_stream("/grpc.health.v1.Health/Watch")(b"\x0a\x05other")
        first = next(watched)
        watched.cancel()

    assert statuses == [b"\x08\x01"] * 6
    assert unknown.value.code() is grpc.StatusCode.NOT_FOUND
    assert first == b"\x08\x03"


def test_refused_calls_do_not_grow_a_node_that_is_watched(node: Served) -> None:
    node.put(*(f"J{number}" for number in range(100)))
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client([node.target])) for _ in range(3)]
        for client in clients:
            values_of(client.watch(0), "J99")
        channel = stack.enter_context(grpc.insecure_channel(node.target))
        status = channel.unary_unary("/kraft.v1.Metadata/Status")

        def refused_calls() -> int:
            """Resident memory in KiB after 500 calls that are refused."""
            for _ in range(500):
                with pytest.raises(grpc.RpcError):
                    status(b"this is no msgpack")
            return resident_kib(node.process)

        before = refused_calls()
        # The absolute size of a node is measured on a fresh one by `tests.benchmarks.memory`.
        assert refused_calls() - before <= 1 << 10


def test_connections_above_the_limit_are_closed_until_one_ends(node: Served, client: Client) -> None:
    host, _, port = node.target.rpartition(":")
    bound = 3 + HEALTH_STREAMS_MAX
    with contextlib.ExitStack() as stack:
        sockets = [
            stack.enter_context(socket.create_connection((host, int(port)), timeout=5)) for _ in range(bound + 50)
        ]
        # The server sends first: its settings, or it closes the connection.
        said = [one.recv(9) for one in sockets]
        held = len(list(Path(f"/proc/{node.process.pid}/fd").iterdir()))

    assert held <= bound + 50
    assert said.count(b"") >= 50 - 20
    node.put("K0")
    assert values_of(client.watch(0), "K0")[-1] == "K0"


def test_grpc_is_not_imported_unless_it_is_configured(node: Served, tmp_path: Path) -> None:
    with running(tmp_path, free_port()) as without:
        loaded = Path(f"/proc/{without.pid}/maps").read_text()

    assert "cygrpc" not in loaded
    assert "msgpack" not in loaded
    assert "cygrpc" in Path(f"/proc/{node.process.pid}/maps").read_text()


def test_a_watch_continues_after_a_restart_without_gaps_or_duplicates(tmp_path: Path) -> None:
    port, grpc_port = free_port(), free_port()
    keys: dict[str, str | None] = {"kraft_grpc_listener": f"127.0.0.1:{grpc_port}"}
    with Client([f"127.0.0.1:{grpc_port}"]) as client:
        updates = client.watch(0, {"types": ["CONFIG_RECORD"]})
        found: list[str] = []
        for round_ in range(3):
            with running(tmp_path, port, **keys) as process:
                node = Served(process, tmp_path, port, grpc_port)
                node.put(f"{round_}-first")
                found += values_of(updates, f"{round_}-first")
                node.put(f"{round_}-last")
                if round_ == 1:
                    process.terminate()
                    process.wait()

    assert found == ["0-first", "0-last", "1-first", "1-last", "2-first"]


def test_closing_the_client_ends_its_watch(node: Served) -> None:
    client = Client([node.target])
    updates = client.watch(0)
    next(updates)
    timer = threading.Timer(0.2, client.close)
    timer.start()

    rest = list(updates)

    timer.join()
    assert all(update.kind != "image" for update in rest)


def test_a_client_that_times_out_names_the_nodes_that_did_not_answer() -> None:
    target = f"127.0.0.1:{free_port()}"

    with Client([target]) as client, pytest.raises(WatchFailed, match=f"{target}: UNAVAILABLE"):
        next(client.watch(0, patience_s=0.1))


def test_a_port_in_use_is_reported_before_the_log_is_opened(node: Served, tmp_path: Path) -> None:
    properties = write_properties(tmp_path, free_port(), kraft_grpc_listener=node.target)
    format_directory(properties)

    refused = run_to_end(properties)

    said = f"kraftctl start: kraft.grpc.listener cannot listen on {node.target}: the port is in use"
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1].startswith(said)
    assert list((tmp_path / "data").rglob("*.log")) == []
