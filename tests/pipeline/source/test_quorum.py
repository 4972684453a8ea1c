"""A live quorum as a source gives the committed records that its nodes have in their directories."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from pipeline.commands.options import add_source, exit_code, failure, source_options
from pipeline.source import quorum
from pipeline.source.logs import logs_of
from pipeline.source.reading import Wanted
from pipeline.source.rows import NO_OP
from pipeline.source.watched import WatchEnded
from records.messages.configs import IncrementalAlterConfigsRequest
from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import free_port, running
from tests.pipeline.logs import NAMES, fetched, read
from tests.raft.network.certificates import needs_openssl
from tests.tools.kraftctl.run.test_up import output_until_a_leader, up
from tests.tools.kraftctl.test_command_config import _sasl, ann
from tools.client.connection import Connection
from tools.client.observer import Observer
from tools.client.quorum import NoLeader, NotAnswered, Refused

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["_sasl"]  # the fixture `sasl`

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


def test_a_quorum_without_a_reachable_node_is_reported_in_one_line(tmp_path: Path) -> None:
    port, config = free_port(), tmp_path / "client.properties"
    config.write_text("default.api.timeout.ms=100\n")

    with pytest.raises(NoLeader) as error:
        logs_of({"quorum": f"127.0.0.1:{port}", "commandConfig": str(config)}).plans({}, is_live=True)

    text = f"no leader of the quorum answered within 0.1 s: 127.0.0.1:{port}: [Errno 111] Connection refused"
    assert str(error.value) == text
    assert failure(Exception(f"Job aborted\n  tools.client.quorum.NoLeader: {text}\n  at Task")) == text


def test_a_leader_that_repeats_old_batches_ends_the_read(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(range(9))
    monkeypatch.setattr(Observer, "fetch", lambda *_: SimpleNamespace(records=bytes([next(answers)])))
    monkeypatch.setattr(quorum, "_whole", lambda data, _offset: (data, 4))
    monkeypatch.setattr(quorum, "decode", lambda *_: iter(()))
    asked = quorum.QuorumRange(quorum.Quorum(()), "c", 5, 9)

    with pytest.raises(NotAnswered, match="no records at offset 5, expected up to 9"):
        list(asked.read(None, Wanted()))

    assert next(answers) == 1


@needs_openssl
def test_a_quorum_with_tls_and_sasl_is_read_by_the_command_config(
    sasl: tuple[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    port, root = sasl
    options = {"quorum": f"localhost:{port}", "commandConfig": ann(root)}

    rows, end = fetched(options, {}, Wanted())

    assert rows["offset"].to_pylist()[-1] == end - 1
    assert rows["name"].to_pylist().count("LEADER_CHANGE") >= 1
    stored = read(root / "data", names=NAMES)
    stored = stored.filter(pa.compute.less(stored["offset"], end))
    assert rows.to_pylist() == stored.filter(pa.compute.equal(stored["origin"], "log")).to_pylist()

    with pytest.raises(Refused, match="authentication with SASL mechanism PLAIN is refused"):
        fetched({**options, "commandConfig": ann(root, "wrong")}, {}, Wanted())

    # The command hands the file to the source.
    parser = ArgumentParser()
    add_source(parser)
    given = parser.parse_args(["--quorum", options["quorum"], "--command-config", options["commandConfig"]])
    assert source_options(given) == options
    (root / "bad.properties").write_text("security.protocol=NOPE\n")
    given = parser.parse_args(["--quorum", options["quorum"], "--command-config", str(root / "bad.properties")])
    assert exit_code(lambda: source_options(given)) == 1
    assert capsys.readouterr().err.startswith(f"kraft-pipeline: commandConfig: {root}/bad.properties: ")
