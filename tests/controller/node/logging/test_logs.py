"""The log: which events are written, and the form of a line."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from controller.node.logging.logs import LINES_MAX, WINDOW_S, Log
from tests.controller.server.alterations import BROKER_LOGGER, alteration
from tests.controller.server.processes import free_port, running
from tools.client.connection import Connection

if TYPE_CHECKING:
    from pathlib import Path


def lines(out: StringIO) -> list[str]:
    return out.getvalue().splitlines()


def names(out: StringIO) -> list[str]:
    return [json.loads(line)["event"] for line in lines(out)]


def test_an_event_is_one_object_of_json_with_time_level_logger_and_fields() -> None:
    out = StringIO()

    Log("json", "INFO", out)("role_changed", was="Follower", now="Leader", epoch=7, leader_id=1)

    (line,) = map(json.loads, lines(out))
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "role_changed",
        "level": "info",
        "logger": "raft",
        "was": "Follower",
        "now": "Leader",
        "epoch": 7,
        "leader_id": 1,
    }


def test_events_below_the_level_of_their_logger_are_not_written() -> None:
    out = StringIO()
    log = Log("json", "WARN", out)

    log("role_changed")
    log("quorum_lost")
    log.set_level("raft", "INFO")
    log("role_changed")
    log("snapshot_loaded")
    log.set_level("raft", None)
    log("role_changed")

    assert names(out) == ["quorum_lost", "role_changed"]


def test_a_logger_inherits_the_level_of_its_parent_up_to_the_root() -> None:
    out = StringIO()
    log = Log("json", "ERROR", out)

    log.set_level("controller", "DEBUG")
    log("request_received", api="Vote")
    log.set_level("controller.requests", "INFO")
    log("request_received", api="Vote")
    log.set_level("root", "DEBUG")
    log("request_received", api="Vote")
    log("snapshot_taken")

    assert [name for name in names(out) if name != "log_level_changed"] == ["request_received", "snapshot_taken"]


def test_the_change_of_a_level_is_logged() -> None:
    out = StringIO()

    Log("json", "INFO", out).set_level("raft.storage", "DEBUG")

    assert [(line["of"], line["to"]) for line in map(json.loads, lines(out))] == [("raft.storage", "DEBUG")]


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_text_from_a_peer_cannot_start_a_new_line_or_move_the_cursor(form: str) -> None:
    out = StringIO()

    Log(form, "INFO", out)("peer_misbehaved", reason="no\r\n2026 [info] forged\x1b[2J\x9b2J\u2028end")

    assert len(out.getvalue().splitlines()) == 1
    assert out.getvalue()[:-1].isprintable()


@pytest.mark.parametrize("form", ["console", "json"])
def test_an_exception_is_on_the_line_of_its_event(form: str) -> None:
    out = StringIO()
    log = Log(form, "INFO", out)

    try:
        raise OSError(28, "No space left on device")
    except OSError as error:
        log("node_failed", error=str(error), exc_info=error)

    (line,) = lines(out)
    assert "test_logs.py" in line
    assert "No space left on device" in line


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_field_that_is_named_for_a_secret_is_not_written(form: str) -> None:
    out = StringIO()

    Log(form, "INFO", out)("configuration_warning", keystore_password="hunter2", saslJaasConfig="hunter2", text="x")

    assert "hunter2" not in out.getvalue()
    assert out.getvalue().count("[hidden]") == 2


@pytest.mark.parametrize(("event", "level"), [("connection_refused", "WARN"), ("vote_answered", "INFO")])
def test_a_flood_of_one_event_is_cut_and_counted(event: str, level: str) -> None:
    out, now = StringIO(), [100.0]
    log = Log("json", "INFO", out, clock_s=lambda: now[0])
    most = LINES_MAX[level]

    for _ in range(most + 50):
        log(event, reason="garbage")
    log("quorum_lost")
    now[0] += WINDOW_S
    log(event, reason="garbage")
    log(event, reason="garbage")

    events = [json.loads(line) for line in lines(out)]
    assert [line.get("left_out") for line in events if line["event"] == event] == [None] * most + [50, None]
    assert len(events) == most + 3


def test_at_debug_level_each_request_is_logged() -> None:
    out = StringIO()
    log = Log("json", "DEBUG", out)

    for _ in range(2000):
        log("request_received", api="Fetch")

    assert len(lines(out)) == 2000


def test_a_line_that_cannot_be_written_is_left_out() -> None:
    class FullDisk(StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    full = FullDisk()

    Log("json", "INFO", full)("node_starting")
    Log("console", "INFO", full)("node_starting")

    assert full.getvalue() == ""


def test_an_event_without_a_row_is_written_as_a_warning() -> None:
    out = StringIO()

    Log("json", "FATAL", out)("unknown_event", what=1)

    (line,) = map(json.loads, lines(out))
    assert (line["level"], line["event"], line["what"]) == ("warn", "unknown_event", 1)


def test_a_level_is_changed_while_the_node_runs(tmp_path: Path) -> None:
    port = free_port()
    with (
        running(tmp_path, port, kraft_log_format="json") as node,
        Connection("127.0.0.1", port, "kafka-configs") as connection,
    ):
        connection.ask(alteration(BROKER_LOGGER, "1", "controller.requests", "DEBUG"))
        connection.ask(alteration(BROKER_LOGGER, "1", "controller.requests", "INFO"))
        connection.ask(alteration(BROKER_LOGGER, "1", "controller.requests", "INFO"))
        node.terminate()
        node.wait()

    events = [json.loads(line) for line in (tmp_path / "node.log").read_text().splitlines()]
    ours = [
        (line["event"], line.get("api"), line.get("to"))
        for line in events
        if line.get("client_id") == "kafka-configs" or line["event"] == "log_level_changed"
    ]
    assert ours == [
        ("log_level_changed", None, "DEBUG"),
        ("request_received", "IncrementalAlterConfigsRequest", None),
        ("log_level_changed", None, "INFO"),
        ("log_level_changed", None, "INFO"),
    ]
