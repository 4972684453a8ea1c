"""The version: one place, and what every command prints."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from records.release import KAFKA_VERSION, VERSION, version_text

ROOT = Path(__file__).parents[2]
TEXT = f"(kraft-quorum {VERSION}, Apache Kafka {KAFKA_VERSION})"


def test_the_distribution_has_this_version_and_the_changelog_describes_it() -> None:
    assert version("kraft-quorum") == VERSION
    assert re.search(rf"(?m)^## {re.escape(VERSION)} ", (ROOT / "CHANGELOG.md").read_text())


def test_the_text_names_the_command_and_both_versions() -> None:
    assert version_text("kraftctl") == f"kraftctl {TEXT}"


@pytest.mark.parametrize(
    ("module", "printed"),
    [
        ("controller.ctl.main", f"kraftctl {TEXT}"),
        ("pipeline.commands.main", f"kraft-pipeline {TEXT}"),
        ("simulations", f"python -m simulations {TEXT}"),
    ],
)
def test_a_command_of_ours_prints_its_version(module: str, printed: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{printed}\n", "")


@pytest.mark.parametrize(
    ("tool", "printed"),
    [
        ("storage", f"kafka-storage {TEXT}"),
        ("metadata_shell", f"kafka-metadata-shell {TEXT}"),
        # As stock's does.
        ("dump_log", KAFKA_VERSION),
    ],
)
def test_a_tool_prints_its_version(tool: str, printed: str) -> None:
    code = f"import sys; from controller.tools.{tool} import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{printed}\n", "")
