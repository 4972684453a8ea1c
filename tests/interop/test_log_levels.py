"""Levels of a node's loggers, set at run time by stock's own tool (KIP-412)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.controller.server.processes import await_port, free_port, running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock


def test_stocks_tool_sets_describes_and_deletes_a_level(stock: Stock, tmp_path: Path) -> None:
    port = free_port()

    def configs(*arguments: str) -> str:
        loggers = ("--entity-type", "broker-loggers", "--entity-name", "1")
        done = stock.tool("configs", "--bootstrap-controller", f"127.0.0.1:{port}", *loggers, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with running(tmp_path, port, kraft_log_format="json") as process:
        await_port(process, port)
        set_ = configs("--alter", "--add-config", "controller.requests=DEBUG")
        described = configs("--describe")
        configs("--alter", "--delete-config", "controller.requests")

    events = [json.loads(line) for line in (tmp_path / "node.log").read_text().splitlines()]
    changes = [(event["of"], event["to"]) for event in events if event["event"] == "log_level_changed"]
    assert set_ == "Completed updating config for broker-logger 1.\n"
    assert "  controller.requests=DEBUG sensitive=false synonyms={}\n" in described
    assert "  root=INFO sensitive=false synonyms={}\n" in described
    assert changes == [("controller.requests", "DEBUG"), ("controller.requests", None)]
    assert "DescribeConfigsRequest" in {event.get("api") for event in events}
