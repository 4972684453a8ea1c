"""`kraftctl quorum status` is `kraftctl status`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.controller.server.processes import free_port, running
from tools.kraftctl.cluster.quorum_verbs import arguments_parser
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from pathlib import Path


def test_both_names_print_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    with running(tmp_path, port):
        assert main(["wait", "-c", str(tmp_path / "controller.properties"), "--timeout", "20"]) == 0
        said = []
        for verb in (["status"], ["quorum", "status"]):
            assert main([*verb, "--bootstrap-controller", f"127.0.0.1:{port}", "--json"]) == 0
            report = json.loads(capsys.readouterr().out)
            said.append((report["leader_id"], sorted(report), [sorted(voter) for voter in report["voters"]]))

    assert said[0] == said[1]


def test_without_a_leader_both_end_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--bootstrap-controller", f"127.0.0.1:{free_port()}", "--field", "epoch"]

    assert main(["quorum", "status", *where]) == 2
    assert capsys.readouterr().err.startswith("kraftctl quorum status: no leader: ")


@pytest.mark.parametrize("given", [["replace"], ["migrate"], ["migrate", "--to", "static"], []])
def test_what_is_missing_is_an_error_of_the_arguments(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        arguments_parser().parse_args(given)

    assert ended.value.code == 1
    assert "kraftctl quorum" in capsys.readouterr().err
