"""The tables of docs/releases.md are those versions that the tests run."""

from __future__ import annotations

import re
from pathlib import Path

from records.release import KAFKA_VERSION, VERSION
from tests.deploy.checks.pythons import VERSIONS
from tests.interop.stock import RELEASES

TEXT = (Path(__file__).parents[2] / "docs" / "releases.md").read_text("utf-8")
MINOR = VERSION.rpartition(".")[0]


def table(begin: str) -> list[list[str]]:
    """The cells of a table, with its head; without the line between."""
    lines = TEXT[TEXT.index(f"\n| kraft-quorum | {begin}") + 1 :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|--")]


def test_there_is_a_row_for_our_version() -> None:
    assert [row[0] for row in table("Kafka")] == ["kraft-quorum", MINOR, f"{MINOR}, when"]
    assert [row[0] for row in table("Python")] == ["kraft-quorum", MINOR, f"{MINOR}, when"]


def test_a_cell_names_the_release_of_kafka_that_runs_in_tests_or_says_that_none_does() -> None:
    head, cells, _ = table("Kafka")
    # tests/interop/conftest.py brings the oldest.
    run = {release.rpartition(".")[0]: release for release in (*RELEASES, "4.0.2")}

    assert head[1:] == [f"Kafka 4.{minor}" for minor in range(5)]
    assert KAFKA_VERSION in cells[-1]
    for name, cell in zip(head[1:], cells[1:], strict=True):
        release = name.removeprefix("Kafka ")
        assert re.findall(r"\b\d\.\d\.\d\b", cell) == ([run[release]] if release in run else [])
        assert ("make interop" in cell) is (release in run)
        assert (f"no node of {release} runs" in cell) is (release not in run)


def test_the_versions_of_python_are_those_of_make_pythons() -> None:
    head, _, _ = table("Python")

    assert head[1:] == [f"Python {version}" for version in VERSIONS]
