"""A progress bar is shown on a terminal alone, not before some time, and is removed at the end."""

from __future__ import annotations

import io
import sys

import pytest

from tests.records.golden import files
from tools.command_line import progress as progress_module
from tools.command_line.progress import SHOW_AFTER_S, SHOW_AFTER_S_OF_KAFKA, Progress
from tools.kafka.dump_log import dump_log
from tools.kafka.shell import metadata_shell

CHECKPOINT = str(next(path for path in files("*.checkpoint") if path.name[0] == "0"))


class Screen(io.StringIO):
    """A stream that is a terminal, or not."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


class Clock:
    """A clock that the test moves, or that moves by itself with each look."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 100.0
        self.step = step

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress_module, "time", made)
    return made


def streams(monkeypatch: pytest.MonkeyPatch, *, stdout: bool, stderr: bool) -> tuple[Screen, Screen]:
    """stdout and stderr: whether they are terminals."""
    made = Screen(is_terminal=stdout), Screen(is_terminal=stderr)
    monkeypatch.setattr(sys, "stdout", made[0])
    monkeypatch.setattr(sys, "stderr", made[1])
    return made


def test_a_bar_is_shown_after_some_time_and_removed_at_the_end(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    _, stderr = streams(monkeypatch, stdout=True, stderr=True)

    with Progress("reading", 200) as note:
        note(10)
        early = stderr.getvalue()
        clock.now += SHOW_AFTER_S
        note(50)
        note(60)  # too soon after the one before
        shown = stderr.getvalue()
        clock.now += 1
        note.show(90, 100)

    assert (early, shown) == ("", f"\rreading [{'#' * 7:<30}]  25%")
    assert stderr.getvalue() == f"{shown}\rreading [{'#' * 27:<30}]  90%\r\x1b[K"


@pytest.mark.parametrize(
    ("stdout", "stderr", "prints", "is_shown"),
    [
        (True, True, False, True),
        (False, True, False, True),
        (True, False, False, False),
        (True, True, True, False),
        (False, True, True, True),
        (False, False, True, False),
    ],
)
def test_a_bar_goes_to_a_terminal_without_results_between(
    stdout: bool, stderr: bool, prints: bool, is_shown: bool, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, screen = streams(monkeypatch, stdout=stdout, stderr=stderr)

    with Progress("reading", 10, after_s=5, prints=prints) as note:
        clock.now += 4.9
        note(1)
        early = screen.getvalue()
        clock.now += 0.1
        note(2)

    assert (early, screen.getvalue() != "") == ("", is_shown)


@pytest.mark.parametrize(("step", "is_shown"), [(SHOW_AFTER_S_OF_KAFKA, True), (0.0, False)])
def test_a_dump_to_a_file_shows_a_bar_on_a_terminal(
    step: float, is_shown: bool, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.step = step
    expected, _ = streams(monkeypatch, stdout=False, stderr=False)
    dump_log.run(["--files", CHECKPOINT])
    stdout, stderr = streams(monkeypatch, stdout=False, stderr=True)

    dump_log.run(["--files", CHECKPOINT])

    assert stdout.getvalue() == expected.getvalue() != ""
    assert (stderr.getvalue() != "", stderr.getvalue().endswith("\r\x1b[K")) == (is_shown, is_shown)


def test_a_dump_to_a_terminal_shows_no_bar(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    clock.step = SHOW_AFTER_S_OF_KAFKA
    _, stderr = streams(monkeypatch, stdout=True, stderr=True)

    dump_log.run(["--files", CHECKPOINT])

    assert stderr.getvalue() == ""


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_shell_shows_a_bar_while_it_loads(is_terminal: bool, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    clock.step = SHOW_AFTER_S_OF_KAFKA
    stdout, stderr = streams(monkeypatch, stdout=False, stderr=is_terminal)

    metadata_shell.run(["-s", CHECKPOINT, "ls", "/"])

    assert stdout.getvalue() == "image\nlocal\n"
    assert ("Loading [" in stderr.getvalue(), stderr.getvalue().endswith("\r\x1b[K")) == (is_terminal, is_terminal)
