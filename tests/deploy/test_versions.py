"""The tables of docs/releases.md are those versions that the tests run."""

from __future__ import annotations

import re
from pathlib import Path

from records.release import KAFKA_VERSION, VERSION
from tests.deploy.checks.pythons import VERSIONS
from tests.interop.stock import OLDER, RELEASES

TEXT = (Path(__file__).parents[2] / "docs" / "releases.md").read_text("utf-8")
MINOR = VERSION.rpartition(".")[0]


def table(begin: str) -> list[list[str]]:
    """The cells of a table, with its head; without the line between."""
    lines = TEXT[TEXT.index(f"\n| kraft-quorum | {begin}") + 1 :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|--")]


def test_there_is_a_row_for_our_version() -> None:
    assert [row[0] for row in table("Kafka")] == ["kraft-quorum", MINOR, f"{MINOR}, when"]
    assert [row[0] for row in table("Python")] == ["kraft-quorum", MINOR, f"{MINOR}, when"]


def test_a_cell_names_the_release_of_kafka_that_runs_in_tests() -> None:
    head, cells, _ = table("Kafka")
    run = {release.rpartition(".")[0]: release for release in (*RELEASES, *OLDER)}

    assert head[1:] == [f"Kafka 4.{minor}" for minor in range(5)]
    assert KAFKA_VERSION in cells[-1]
    for name, cell in zip(head[1:], cells[1:], strict=True):
        assert re.findall(r"\b\d\.\d\.\d\b", cell) == [run[name.removeprefix("Kafka ")]]
        assert "make interop" in cell


def test_the_versions_of_python_are_those_of_make_pythons() -> None:
    head, _, _ = table("Python")

    assert head[1:] == [f"Python {version}" for version in VERSIONS]
