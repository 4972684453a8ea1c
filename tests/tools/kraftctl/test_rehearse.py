"""`kraftctl rehearse`: what it takes, what it refuses, and what it says where the simulator is not installed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tools.kraftctl import rehearse
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from pathlib import Path

TWO_SITES = ["--voters", "1@a,2@a,3@b"]
ONE_RUN = ["--seed", "3", "--scenario", "site-a", "--jobs", "1"]


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["rehearse", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_site_with_two_of_three_voters_is_said_to_be_fatal(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, *TWO_SITES, *ONE_RUN)

    assert (code, err) == (0, "")
    assert "Not survived:\n  site a lost (voters 1, 2): 1 of 3 voters is left, and a majority is 2" in out


def test_voters_and_timeouts_come_from_a_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "controller.properties"
    config.write_text(
        "process.roles=controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\nlisteners=CONTROLLER://c1:9093\n"
        "controller.quorum.voters=1@c1:9093,2@c2:9093,3@c3:9093\ncontroller.quorum.fetch.timeout.ms=700\n"
        f"log.dirs={tmp_path}\nssl.key.password=secret\n"
    )

    code, out, _ = said(capsys, "-c", str(config), *TWO_SITES, *ONE_RUN, "--json")

    layout = json.loads(out)["layout"]
    assert code == 0
    assert layout["properties"] == {"controller.quorum.fetch.timeout.ms": 700}
    assert layout["kraft_version"] == 0
    assert "secret" not in out


def test_an_even_number_of_voters_gets_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, "--voters", "1@a,2@a,3@b,4@b", *ONE_RUN)

    assert code == 0
    assert err.startswith("kraftctl rehearse: warning: 4 voters are an even number")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "the layout has no voters; give --voters 1@a,2@a,3@b, --layout FILE, or a quorum"),
        (["--voters", "1"], "'1' names no site"),
        ([*TWO_SITES, "--layout", "MISSING"], "MISSING"),
        ([*TWO_SITES, "-c", "MISSING"], "MISSING"),
        ([*TWO_SITES, "--directory", "MISSING"], "MISSING: there is no such directory or file"),
        ([*TWO_SITES, "--scenario", "site-x"], "--scenario site-x: there is none of this name"),
        ([*TWO_SITES, "--disk-sync-ms", "fast"], "--disk-sync-ms is 'fast'; give a number from 0.01 to 10000"),
        (["--bootstrap-controller", "nowhere"], "HOST:PORT,… is expected"),
    ],
)
def test_bad_input_is_one_line_on_stderr(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, *arguments)

    assert (code, out) == (1, "")
    assert err.startswith("kraftctl rehearse: ")
    assert text in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--seeds", "0"], ["--seed", "-1"], ["--seeds", "x"], ["--jobs", "0"]])
def test_wrong_numbers_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["rehearse", *TWO_SITES, *arguments])

    assert "is no number from" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("missing", "text"),
    [
        ("greenlet", "greenlet is not installed; pip install 'greenlet>=3.1' 'msgpack>=1.1'"),
        ("simulations", "the simulator is not installed; it is a part of the wheel of kraft-quorum"),
    ],
)
def test_without_the_simulator_one_line_says_what_to_install(
    missing: str, text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_found(name: str) -> None:
        raise ModuleNotFoundError(name, name=missing)

    monkeypatch.setattr(rehearse, "import_module", not_found)

    assert said(capsys, *TWO_SITES) == (1, "", f"kraftctl rehearse: {text}\n")


def test_a_module_that_is_missing_for_another_reason_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_found(name: str) -> None:
        raise ModuleNotFoundError(name, name="records.nothing")

    monkeypatch.setattr(rehearse, "import_module", not_found)

    with pytest.raises(ModuleNotFoundError):
        main(["rehearse", *TWO_SITES])
