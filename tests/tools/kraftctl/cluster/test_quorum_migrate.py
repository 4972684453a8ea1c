"""`kraftctl quorum migrate --to dynamic` on a quorum of one static voter, and what it says of the two keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.controller.server.processes import free_port, running
from tests.tools.kraftctl.cluster.test_quorum_calls import member, view
from tools.kraftctl.cluster.quorum_migrate import SERVERS, VOTERS, Setting, of_setting
from tools.kraftctl.findings import ERROR, OK, WARNING
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from pathlib import Path

STATIC, BOTH, DYNAMIC = Setting("1@a:1,2@b:1", ""), Setting("1@a:1,2@b:1", "a:1,b:1"), Setting("", "a:1,b:1")


@pytest.mark.parametrize(
    ("setting", "level", "expected", "text"),
    [
        (STATIC, 0, OK, f"it runs with {VOTERS}"),
        (BOTH, 0, OK, f"it runs with {VOTERS} and {SERVERS}"),
        (DYNAMIC, 0, ERROR, "it knows no voters, and does not vote"),
        (Setting("1@a:1,3@b:1", ""), 0, ERROR, "the leader has voters 1, 2"),
        (STATIC, 1, WARNING, "which kraft.version 1 ignores but for addresses to begin with"),
        (BOTH, 1, WARNING, "which kraft.version 1 ignores"),
        (DYNAMIC, 1, OK, f"without {VOTERS}"),
        (None, 1, WARNING, "it does not describe its configuration"),
    ],
)
def test_what_the_keys_of_a_node_mean_at_a_level(
    setting: Setting | None, level: int, expected: str, text: str
) -> None:  # fmt: skip
    finding = of_setting("controller 1", setting, level, view(member(1), member(2)))

    assert finding.level == expected
    assert text in finding.text


def test_a_static_voter_becomes_dynamic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    properties = str(tmp_path / "controller.properties")
    verb = ["quorum", "migrate", "--to", "dynamic", "--bootstrap-controller", f"127.0.0.1:{port}"]
    with running(tmp_path, port):
        assert main(["wait", "-c", properties, "--timeout", "20"]) == 0
        codes = [main([*verb, "--dry-run", "--check", properties])]
        planned = capsys.readouterr().out
        codes.append(main([*verb, "--verify"]))
        capsys.readouterr()
        codes.append(main([*verb, "--yes", "--json"]))
        done = json.loads(capsys.readouterr().out)
        codes.append(main([*verb, "--verify"]))
        verified = capsys.readouterr().out
        codes.append(main([*verb, "--yes", "--json"]))
        again = json.loads(capsys.readouterr().out)

    assert codes == [0, 2, 0, 2, 0]
    assert "plan: raise kraft.version from 0 to 1. kraft.version cannot be lowered" in planned
    assert f"    + {SERVERS}=127.0.0.1:{port}" in planned
    assert (done["raised"], done["kraft_version"]) == (True, 1)
    assert f"it runs with {VOTERS}=1@127.0.0.1:{port}, which kraft.version 1 ignores" in verified
    assert (again["raised"], again["kraft_version"]) == (False, 1)


def test_without_confirmation_nothing_is_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    verb = ["quorum", "migrate", "--to", "dynamic", "--bootstrap-controller", f"127.0.0.1:{port}"]
    with running(tmp_path, port):
        assert main(["wait", "-c", str(tmp_path / "controller.properties"), "--timeout", "20"]) == 0
        assert main(verb) == 1
        assert "--yes confirms the plan" in capsys.readouterr().err
        assert main([*verb, "--verify", "--json"]) == 2
        assert json.loads(capsys.readouterr().out)["kraft_version"] == 0
