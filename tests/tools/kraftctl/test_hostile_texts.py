"""Every verb of kraftctl, with names and messages of an attacker: nothing is printed that a terminal would obey.

A node that is not authenticated yet and a log of another machine may hold any text. `kraftctl` escapes it in a pipe,
too.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.tools.kafka.hostile import HOSTILE, SHOWN, hostile_directory, hostile_node, obeyed
from tools.client.live_quorum import LiveQuorum
from tools.kraftctl.cluster import quorum_hash
from tools.kraftctl.main import VERBS, main

if TYPE_CHECKING:
    from pathlib import Path

QUORUM = {"topic_name": "__cluster_metadata"}
NOT_LEADER, POLICY_VIOLATION = 6, 44
AT = "--bootstrap-controller AT"
# Each with a name or a message in its output.
READING = [
    "at 1050 /image --directory DIR",
    "diff --directory DIR 1039",
    "history --directory DIR --since 1039",
    "log verify DIR",
    "log replay DIR",
    "backup verify BACKUP",
    "features preflight 4.3 --directory DIR",
    "recover measure DIR",
    "doctor -c CONFIG",
    "debug bundle -c CONFIG --no-probe --seconds 0 --out OUT --log DIR",
]
ASKING = [
    f"status {AT}",
    f"status {AT} --field cluster_id",
    f"quorum status {AT}",
    f"quorum hash {AT}",
    f"quorum migrate --to dynamic {AT} --dry-run",
    f"quorum replace --id 1 {AT} --dry-run",
    f"wait {AT} --timeout 0",
    f"controllers unregister --id 7 --yes {AT}",
    f"bench {AT} --seconds 1",
    f"features preflight 4.3 {AT}",
    f"watch {AT}",
    f"rehearse {AT} --seeds 1",
    f"topic alter x --partitions 3 {AT} --dry-run --timeout 0.1",
    f"controllers prune {AT} --dry-run",
    f"controllers drain --id 1 {AT}",
    f"autopilot state {AT}",
    f"autopilot pause {AT}",
    "probe live -c CONFIG",
]
# They print nothing of others, or are a node, whose log has its own rule (tests/controller/node/logging/test_logs.py).
SILENT = {"completion", "manual", "start", "container", "up"}


@pytest.fixture(name="directory", scope="module")
def _directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = hostile_directory(tmp_path_factory.mktemp("log"))
    (directory / "controller.properties").write_text(
        "process.roles=controller\nnode.id=1\ncontroller.listener.names=C\nlisteners=C://127.0.0.1:1\n"
        f"controller.quorum.voters=1@127.0.0.1:1\nlog.dirs={directory}\nlistener.security.protocol.map=C:PLAINTEXT\n"
    )
    assert main(["backup", "save", "--directory", str(directory), str(directory.parent / "backup")]) == 0
    return directory


def given(arguments: str, directory: Path, port: int = 0) -> list[str]:
    names = {
        "AT": f"127.0.0.1:{port}", "BACKUP": str(directory.parent / "backup"),
        "CONFIG": str(directory / "controller.properties"), "OUT": str(directory.parent / f"{HOSTILE}.tar.gz"),
    }  # fmt: skip
    return [names.get(each, str(directory) if each == "DIR" else each) for each in arguments.split()]


def told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with contextlib.suppress(SystemExit):
        main(arguments)
    said = capsys.readouterr()
    return f"{said.out}\n{said.err}"


@pytest.mark.parametrize("arguments", READING)
def test_no_name_in_a_log_moves_the_terminal(
    arguments: str, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = told(given(arguments, directory), capsys)

    assert obeyed(shown) == []


_init = LiveQuorum.__init__


def impatient(quorum: LiveQuorum, addresses: Any, client_id: str, _wait_s: float, security: Any = None) -> None:
    """A live quorum of which a tool gives up at once, in place of after 30 s."""
    _init(quorum, addresses, client_id, 0.1, security)


@pytest.mark.parametrize("arguments", ASKING)
@pytest.mark.parametrize("code", [0, NOT_LEADER, POLICY_VIOLATION])
def test_no_text_of_a_node_moves_the_terminal(
    code: int, arguments: str, directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveQuorum, "__init__", impatient)
    monkeypatch.setattr(quorum_hash, "PAUSE_S", 0.01)
    with hostile_node(HOSTILE, {**QUORUM, "error_code": code}) as node:
        shown = told(given(arguments, directory, node.port), capsys)

    assert obeyed(shown) == []


def test_each_verb_is_among_these_cases() -> None:
    assert {each.split()[0] for each in (*READING, *ASKING)} | SILENT == VERBS.keys()


@pytest.mark.parametrize(
    "arguments", ["at 1050 /image --directory DIR", "diff --directory DIR 1039", "history --directory DIR --since 1039"]
)
def test_a_name_is_shown_in_one_readable_form(
    arguments: str, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert SHOWN in told(given(arguments, directory), capsys)


def test_an_exported_script_is_exact_in_a_file_and_escaped_on_a_terminal(
    directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["backup", "export", str(directory.parent / "backup")]

    in_a_file = told(arguments, capsys)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = told(arguments, capsys)

    assert HOSTILE in in_a_file
    assert (obeyed(shown), SHOWN in shown) == ([], True)
