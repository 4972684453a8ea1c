"""The commands that install optional packages work, in hints and documents."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from records.extras import EXTRAS, IS_PUBLISHED, install_command

ROOT = Path(__file__).parents[2]
PACKAGES = ("records", "raft", "controller", "tools", "simulations", "pipeline", "kraft_quorum", "pyspark_kraft")
# Not the file of a wheel, which has a version.
OWN = re.compile(r"pip\s+install[^`#\n]*?\s'?(kraft[-_]quorum|pyspark[-_]kraft)(?!-\d).*|kraft-quorum\[.*")


def test_the_extras_are_those_of_the_project_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert {name: list(wanted) for name, wanted in EXTRAS.items()} == project["optional-dependencies"]


def test_the_command_names_the_distribution_only_once_it_is_published() -> None:
    assert install_command("grpc", is_published=False) == "pip install 'grpcio>=1.70' 'msgpack>=1.1'"
    assert install_command("grpc", is_published=True) == "pip install 'kraft-quorum[grpc]'"


@pytest.mark.skipif(IS_PUBLISHED, reason="an index has the distributions")
def test_no_hint_and_no_document_installs_a_distribution_that_is_not_published() -> None:
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py")]
    files += [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md")]

    found = {
        f"{path.relative_to(ROOT)}: {hint[0]}"
        for path in files
        if path != ROOT / "records/extras.py"
        for hint in OWN.finditer(path.read_text("utf-8"))
    }

    assert found == set()


def test_each_command_in_the_documents_is_that_of_an_extra() -> None:
    commands = {install_command(extra) for extra in EXTRAS}
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")}

    named = {(name, hint) for name, text in texts.items() for hint in re.findall(r"pip install '[a-zA-Z][^`\n]*", text)}

    assert {hint for _, hint in named} <= commands
    assert len(named) >= 5
