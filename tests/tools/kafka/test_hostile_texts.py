"""Every kafka-… tool, with names and messages of an attacker: nothing reaches a terminal that it would obey.

A node that is not authenticated yet, a log of another machine and a file may hold any text. In a pipe the tools print
as stock's do, byte for byte.
"""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from tests.tools.kafka.hostile import HOSTILE, SHOWN, hostile_directory, hostile_node, obeyed
from tests.tools.offline.stock_directories import SEGMENT
from tools.command_line.standard_streams import running
from tools.registry import KAFKA_TOOLS, tool_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tools.kafka.hostile import HostileNode

QUORUM = {"topic_name": "__cluster_metadata"}
POLICY_VIOLATION = 44
SASL = (
    "default.api.timeout.ms=2000\nrequest.timeout.ms=1000\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config="
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";\n'
)
TOPICS = {"name": "x", "resource_type": 2, "resource_name": "x"}
BROKER = {"resource_type": 4, "resource_name": "1"}

# By tool: its arguments, and values of the node's answers. AT stands for the node, DIR for the directory of the log.
ASKING: list[tuple[str, str, dict[str, object]]] = [
    ("kafka-acls", "--bootstrap-server AT --list", {}),
    ("kafka-broker-api-versions", "--bootstrap-server AT", {}),
    ("kafka-cluster", "cluster-id --bootstrap-server AT", {}),
    ("kafka-cluster", "list-endpoints --bootstrap-server AT", {}),
    (
        "kafka-configs",
        "--bootstrap-server AT --describe --entity-type topics --all",
        {"name": "x", "resource_type": 2, "resource_name": "x"},
    ),
    (
        "kafka-configs",
        "--bootstrap-server AT --describe --entity-type brokers --entity-name 1 --all",
        {"resource_type": 4, "resource_name": "1"},
    ),
    ("kafka-configs", "--bootstrap-server AT --describe --entity-type users", {"entity_type": "user"}),
    ("kafka-delegation-tokens", "--bootstrap-server AT --describe --command-config DIR/plain", {}),
    ("kafka-features", "--bootstrap-server AT --command-config DIR/quick describe", {}),
    ("kafka-leader-election", "--bootstrap-server AT --election-type preferred --all-topic-partitions", {}),
    ("kafka-metadata-quorum", "--bootstrap-server AT describe --status", QUORUM),
    ("kafka-metadata-quorum", "--bootstrap-server AT describe --replication", {"topic_name": HOSTILE}),
    ("kafka-reassign-partitions", "--bootstrap-server AT --list", {}),
    ("kafka-topics", "--bootstrap-server AT --list", {"is_internal": False}),
    ("kafka-topics", "--bootstrap-server AT --describe", {"next_cursor": None, "resource_type": 2}),
]
READING = [
    ("kafka-dump-log", f"--cluster-metadata-decoder --files DIR/{SEGMENT}"),
    ("kafka-metadata-shell", "--directory DIR/__cluster_metadata-0 tree /image"),
    ("kafka-metadata-shell", "--directory DIR/__cluster_metadata-0 find /image/configs"),
    ("kafka-metadata-shell", "--directory DIR/__cluster_metadata-0 ls /image/topics/byName"),
    ("kafka-storage", "info --config DIR/hostile.properties"),
]


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def told(tool: str, arguments: list[str], kind: type[io.TextIOWrapper]) -> str:
    """What a tool writes to both streams. kind: of the streams."""
    module = tool_of(tool).load()
    data = [io.BytesIO(), io.BytesIO()]
    out, error = (kind(each, encoding="utf-8", newline="") for each in data)
    with (
        patch.object(sys, "stdout", out),
        patch.object(sys, "stderr", error),
        patch.object(sys, "argv", [tool, *arguments]),
    ):
        running(module.run, tool)
        out.flush()
        error.flush()
    return "\n".join(each.getvalue().decode("utf-8", "surrogateescape") for each in data)


@pytest.fixture(name="directory", scope="module")
def _directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = hostile_directory(tmp_path_factory.mktemp("log"))
    (directory / "plain").write_text(SASL)
    (directory / "quick").write_text("default.api.timeout.ms=2000\nrequest.timeout.ms=1000\n")
    (directory / "meta.properties").write_text(
        f"version=1\nnode.id=1\ncluster.id={HOSTILE.encode('unicode_escape').decode()}\n"
    )
    (directory / "hostile.properties").write_text(
        f"process.roles=controller\nnode.id=1\nlog.dirs={directory}\ncontroller.listener.names=C\nlisteners=C://:1\ncontroller.quorum.voters=1@h:1\nlistener.security.protocol.map=C:PLAINTEXT\n"
    )
    return directory


def given(arguments: str, directory: Path, node: HostileNode | None = None) -> list[str]:
    at = "" if node is None else f"127.0.0.1:{node.port}"
    return [each.replace("AT", at).replace("DIR", str(directory)) for each in arguments.split()]


@pytest.mark.parametrize(("tool", "arguments", "values"), ASKING, ids=lambda each: str(each)[:60])
def test_no_name_of_a_node_moves_the_terminal(
    tool: str, arguments: str, values: dict[str, object], directory: Path
) -> None:
    with hostile_node(HOSTILE, values) as node:
        shown = told(tool, given(arguments, directory, node), Terminal)
        piped = told(tool, given(arguments, directory, node), io.TextIOWrapper)

    assert (obeyed(shown), SHOWN in shown) == ([], True), shown
    assert HOSTILE in piped


@pytest.mark.parametrize(("tool", "arguments", "values"), ASKING, ids=lambda each: str(each)[:60])
def test_no_error_of_a_node_moves_the_terminal(
    tool: str, arguments: str, values: dict[str, object], directory: Path
) -> None:
    with hostile_node(HOSTILE, {**values, "error_code": POLICY_VIOLATION}) as node:
        shown = told(tool, given(arguments, directory, node), Terminal)

    assert (obeyed(shown), bool(shown.strip())) == ([], True), shown


@pytest.mark.parametrize(("tool", "arguments"), READING, ids=lambda each: str(each)[:60])
def test_no_name_in_a_log_or_a_file_moves_the_terminal(tool: str, arguments: str, directory: Path) -> None:
    shown = told(tool, given(arguments, directory), Terminal)
    piped = told(tool, given(arguments, directory), io.TextIOWrapper)

    assert (obeyed(shown), r"\u202e" in shown) == ([], True), shown
    assert "\u202e" in piped


def test_each_tool_is_among_these_cases() -> None:
    assert {tool for tool, *_ in (*ASKING, *READING)} == {tool.name for tool in KAFKA_TOOLS}


def test_a_process_whose_output_is_a_terminal_escapes_names(directory: Path) -> None:
    script = "from tools.kafka.topics.topics import main; raise SystemExit(main())"
    master, slave = pty.openpty()
    with hostile_node(HOSTILE) as node:
        command = [sys.executable, "-c", script, "--bootstrap-server", f"127.0.0.1:{node.port}", "--list"]
        done = subprocess.run(command, stdin=slave, stdout=slave, stderr=slave, timeout=60, check=False)
    shown = os.read(master, 1 << 16)
    os.close(slave)
    os.close(master)

    assert (done.returncode, shown.decode()) == (0, f"{SHOWN}\r\n")
