"""A live quorum as a source gives the committed records that its nodes have in their directories."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from pipeline.source.logs import logs_of
from pipeline.source.quorum import Unreachable
from pipeline.source.reading import Wanted
from pipeline.source.rows import NO_OP
from pipeline.source.watched import WatchEnded
from records.messages.configs import IncrementalAlterConfigsRequest
from tests.controller.server.processes import free_port, free_ports_in_a_row, running
from tests.pipeline.logs import NAMES, fetched, read
from tests.tools.kraftctl.run.test_up import output_until_a_leader, up
from tools.client.connection import Connection

if TYPE_CHECKING:
    from pathlib import Path

NO_CHANGES = (NO_OP, 23, 24, 25)  # the last three begin and end metadata transactions


def test_a_live_quorum_gives_the_rows_of_its_directories(tmp_path: Path) -> None:
    port = free_ports_in_a_row(3)
    with up(tmp_path / "data", port) as process:
        output_until_a_leader(process)
        options = {"quorum": f"127.0.0.1:{port + 1},127.0.0.1:{port}"}
        whole, end = fetched(options, {}, Wanted())
        cluster = whole["cluster"][0].as_py()
        behind, _ = fetched(options, {cluster: {"offset": end - 3, "epoch": 1}}, Wanted())

    stored = read(tmp_path / "data", names=NAMES)
    stored = stored.filter(pa.compute.less(stored["offset"], end))
    if whole["origin"][0].as_py() == "log":
        assert whole.to_pylist() == stored.filter(pa.compute.equal(stored["origin"], "log")).to_pylist()
    assert behind["offset"].to_pylist()[:3] == [end - 3, end - 2, end - 1]
    assert whole["offset"].to_pylist()[-1] == end - 1
    assert whole["name"].to_pylist().count("LEADER_CHANGE") >= 1


def test_the_watch_service_gives_the_same_rows(tmp_path: Path) -> None:
    port, grpc_port = free_port(), free_port()
    with running(tmp_path, port, kraft_grpc_listener=f"127.0.0.1:{grpc_port}"):
        set_config(port, "ssl.key.password", "do-not-tell")
        set_config(port, "max.connections", "7")
        watched, end = awaited({"watch": f"127.0.0.1:{grpc_port}"}, "max.connections")

    stored = read(tmp_path / "data", names=NAMES).to_pylist()
    stored = [
        row for row in stored if row["kind"] == "record" and row["type"] not in NO_CHANGES and row["offset"] < end
    ]
    assert watched.to_pylist() == stored
    assert "[hidden]" in str(stored)
    assert "do-not-tell" not in str(stored)


def awaited(options: dict[str, str], text: str) -> tuple[Any, int]:
    """The rows, as soon as one of them has this text."""
    deadline = time.monotonic() + 30
    while True:
        try:
            found, end = fetched(options, {}, Wanted())
        except WatchEnded:
            found, end = None, 0
        if found is not None and text in str(found["json"].to_pylist()):
            return found, end
        assert time.monotonic() < deadline, text
        time.sleep(0.1)


def set_config(port: int, name: str, value: str) -> None:
    """Set a config of all nodes; a leader that is not there yet is waited for."""
    alteration = IncrementalAlterConfigsRequest.AlterConfigsResource
    config = alteration.AlterableConfig(name=name, config_operation=0, value=value)
    resource = alteration(resource_type=4, resource_name="", configs=(config,))
    request = IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)
    deadline = time.monotonic() + 20
    while True:
        with Connection("127.0.0.1", port, "test") as connection:
            code = connection.ask(request).responses[0].error_code
        if not code:
            return
        assert time.monotonic() < deadline, code
        time.sleep(0.1)


def test_a_quorum_without_a_reachable_node_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.source.quorum.ATTEMPT_S_MAX", 0.0)

    with pytest.raises(Unreachable, match="no leader of the quorum found"):
        logs_of({"quorum": f"127.0.0.1:{free_port()}"}).plans({}, is_live=True)


def test_a_leader_that_repeats_old_batches_ends_the_read(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    from pipeline.source import quorum

    answers = iter(range(9))
    monkeypatch.setattr(quorum, "leader_of", lambda *_: object())
    monkeypatch.setattr(quorum, "_fetch", lambda *_: SimpleNamespace(records=bytes([next(answers)])))
    monkeypatch.setattr(quorum, "_whole", lambda data, _offset: (data, 4))
    monkeypatch.setattr(quorum, "decode", lambda *_: iter(()))
    client = SimpleNamespace(client=None, endpoints=())
    asked = quorum.QuorumRange(client, "c", 5, 9)

    with pytest.raises(Unreachable, match="no records at offset 5, expected up to 9"):
        list(asked.read(None, Wanted()))

    assert next(answers) == 1
