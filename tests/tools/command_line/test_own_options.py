"""What our tools have and stock's lack is in `--help-own`, the completion and the manual; `--help` equals stock's."""

from __future__ import annotations

import subprocess
import sys

import pytest

from records.release import KAFKA_VERSION, version_text
from tests.tools.kafka.test_start import ROOT
from tools.command_line.own_options import HELP_OWN, own_answer, own_options
from tools.kraftctl.command_trees import Command, trees
from tools.kraftctl.manual import pages
from tools.registry import KAFKA_TOOLS

TOOLS = [tool.name for tool in KAFKA_TOOLS]


def called(tool: str, *arguments: str) -> tuple[int, str]:
    """The exit code and the output of the installed command."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import kraft_quorum.commands as commands; "
        f"sys.exit(commands.{tool.replace('-', '_')}())"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_prints_a_version(tool: str) -> None:
    code, text = called(tool, "--version")

    assert code == 0
    assert text in {f"{version_text(tool)}\n", f"{KAFKA_VERSION}\n"}


@pytest.mark.parametrize("tool", TOOLS)
def test_own_help_lists_what_stock_does_not_have(tool: str) -> None:
    code, text = called(tool, HELP_OWN)

    assert (code, text) == (0, own_answer(tool, [HELP_OWN]))
    assert all(name in text for option in own_options(tool) for name in option.names)


def flags_of(command: Command) -> set[str]:
    names = {name for flag in command.flags for name in flag.names}
    return names.union(*(flags_of(each) for each in command.commands))


def test_the_completion_and_the_manual_have_the_own_options() -> None:
    found = {command.name: command for command in trees()}

    for tool in TOOLS:
        names = {name for option in own_options(tool) for name in option.names}
        page = pages(found[tool])[tool].replace("\\-", "-")
        assert names <= flags_of(found[tool])
        assert all(name in page for name in names)
    assert "--bootstrap-controller" in flags_of(found["kafka-topics"])


def test_the_pipeline_is_completed_and_has_a_page() -> None:
    found = {command.name: command for command in trees()}["kraft-pipeline"]

    assert {each.name for each in found.commands} >= {"ingest", "tables", "serve", "report", "plan", "history"}
    assert "--warehouse" in flags_of(found)
    assert "kraft-pipeline" in pages(found)
