"""The version: one place, and what every command prints."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from records.release import KAFKA_VERSION, VERSION, project_urls, version_text

ROOT = Path(__file__).parents[2]
TEXT = f"(kraft-quorum {VERSION}, Apache Kafka {KAFKA_VERSION})"


def test_the_distribution_has_this_version_and_the_changelog_describes_it() -> None:
    assert version("kraft-quorum") == VERSION
    assert re.search(rf"(?m)^## {re.escape(VERSION)} ", (ROOT / "CHANGELOG.md").read_text())


def test_the_addresses_are_below_the_one_of_the_repository() -> None:
    found = project_urls("https://git.example.org/kraft/quorum")

    assert found == {
        "Homepage": "https://git.example.org/kraft/quorum",
        "Documentation": f"https://git.example.org/kraft/quorum/blob/v{VERSION}/docs/README.md",
        "Source": "https://git.example.org/kraft/quorum",
        "Changelog": f"https://git.example.org/kraft/quorum/blob/v{VERSION}/CHANGELOG.md",
        "Issues": "https://git.example.org/kraft/quorum/issues",
    }
    assert (ROOT / "docs/README.md").exists()


def test_without_a_public_repository_there_are_no_addresses() -> None:
    assert project_urls("") == {}


@pytest.mark.parametrize(
    "url",
    ["http://example.org/a", "https://example.org", "https://example.org/", "https://example.org/a/", "https://host/a",
     "https://user@example.org/a", "https://example.org/a?b", "https://example.org/a#b", "https://example.org/a b",
     "a", "https://example.org/a.git", 'https://example.org/a"b', "https://example.org:x/a", "https://./a"],
)  # fmt: skip
def test_what_is_no_address_of_a_repository_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="https://HOST/PATH is expected"):
        project_urls(url)


def test_the_text_names_the_command_and_both_versions() -> None:
    assert version_text("kraftctl") == f"kraftctl {TEXT}"


@pytest.mark.parametrize(
    ("module", "printed"),
    [
        ("tools.kraftctl.main", f"kraftctl {TEXT}"),
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
        ("shell.metadata_shell", f"kafka-metadata-shell {TEXT}"),
        # As stock's does.
        ("dump_log.dump_log", KAFKA_VERSION),
    ],
)
def test_a_tool_prints_its_version(tool: str, printed: str) -> None:
    code = f"import sys; from tools.kafka.{tool} import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{printed}\n", "")
