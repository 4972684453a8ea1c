"""Our tools print the same texts as stock Kafka's, with the same exit codes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from records.features.levels import KAFKA_4_3
from records.release import KAFKA_VERSION
from tests.tools.kafka.cases import (
    GOLDEN,
    acls_in_order,
    arguments,
    case_id,
    cases,
    left_in,
    ours,
    prepare,
    without_places,
)
from tools.command_line import text_layout

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tools.kafka.cases import Case

# Where ours prints more than stock, or a clearer text. The rest of each output is compared.
JAVA_INTERNALS = (
    "Caused by: java.lang.IllegalArgumentException: newLimit > capacity",
    "Caused by: java.lang.IllegalArgumentException: Varint is too long",
    "Caused by: java.lang.IllegalArgumentException: Varlong is too long",
    "Caused by: java.nio.BufferUnderflowException",
)

FIRST_SNAPSHOT = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"
# The header of a snapshot of kraft.version 0 that covers no record.
EMPTY_HEADER = [0, 0, 0, 32, 83, [["00000003", "0000000000000000000000"]]]


def without_internals(text: str) -> str:
    """The text without Java's messages about its own buffers, which do not help a user."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(JAVA_INTERNALS))


def answer(case: Case) -> Case:
    # The shell was recorded from 4.3.1.
    stdout = f"{KAFKA_VERSION}\n" if case["stdout"] == "4.3.1\n" else case["stdout"]
    return {
        "stdout": stdout,
        "stderr": without_internals(case["stderr"]),
        "exit": case["exit"],
        "left": case.get("left"),
    }


def asked(tool: str, case: Case, directory: Path) -> Case:
    prepare(case, directory, wait_ms=60)
    found = ours(tool, arguments(case, directory))
    for name in ("stdout", "stderr"):
        found[name] = without_places(found[name], directory)
    found["left"] = left_in(directory, random=case.get("random", False)) if "left" in case else None
    return found


@pytest.mark.parametrize("case", cases("arguments"), ids=case_id)
def test_help_and_argument_errors_equal_those_of_stock(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if case["columns"] is None:
        monkeypatch.delenv("COLUMNS", raising=False)
        monkeypatch.setattr(text_layout, "_terminal_width", lambda: -1)
    else:
        monkeypatch.setenv("COLUMNS", case["columns"])

    assert asked(case["tool"], case, tmp_path) == answer(case)


def by_level(case: Case) -> Case:
    """The answer, with the first records of the log in `bootstrap.checkpoint` where a node of 4.3 supports their level.

    There ours writes this file, which each release of Kafka 4 reads, and stock's tool of 4.4 the snapshot 0-0.
    """
    found = answer(case)
    left = dict(found["left"] or {})
    snapshots = [path for path in left if path.endswith(FIRST_SNAPSHOT)]
    level = re.search(r"metadataVersionLevel=(\d+)", case["stdout"])
    if level is None or not KAFKA_4_3.knows(int(level[1])):
        return found
    for path in snapshots:
        directory, has_voters = path.removesuffix(FIRST_SNAPSHOT), "-s" in case["args"] or "-I" in case["args"]
        _, parts = left[path] if has_voters else left.pop(path)
        if not has_voters:
            del left[directory + FIRST_SNAPSHOT.partition("/")[0]]
        if parts is not None:
            _, data, footer = parts
            count = data[1] - data[0] + 1
            parts = [EMPTY_HEADER, [1, count, *data[2:]], [count + 1, count + 1, *footer[2:]]]
        left[f"{directory}bootstrap.checkpoint"] = ["0o600", parts]
    return {**found, "left": left}


@pytest.mark.parametrize("case", cases("storage"), ids=case_id)
def test_storage_prints_and_writes_the_same_as_stock(case: Case, tmp_path: Path) -> None:
    assert asked("storage", case, tmp_path) == by_level(case)


@pytest.mark.parametrize("case", cases("dump-log"), ids=case_id)
def test_dump_log_prints_the_same_as_stock(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert asked("dump-log", case, tmp_path) == answer(case)


@pytest.mark.parametrize("case", cases("acls"), ids=case_id)
def test_acls_prints_the_same_as_stock(case: Case, tmp_path: Path) -> None:
    found = asked("acls", case, tmp_path)
    for name in ("stdout", "stderr"):
        found[name] = acls_in_order(found[name])

    assert found == answer(case)


@pytest.mark.parametrize("case", cases("reassign-partitions"), ids=case_id)
def test_reassign_partitions_prints_the_same_as_stock(case: Case, tmp_path: Path) -> None:
    assert asked("reassign-partitions", case, tmp_path) == answer(case)


def golden_outputs() -> list[Path]:
    """The recorded runs of two of our tools that write nothing; those of the shell often came before it had loaded its
    file, and what format writes, test_storage_prints_and_writes_the_same_as_stock has.
    """
    names = ("storage-*.txt", "dump-*.txt")
    paths = sorted(path for name in names for path in GOLDEN.glob(f"4.3-*/outputs/{name}"))
    # The help of `format` names the latest level of 4.3; that of 4.4.0 is among the arguments above.
    paths = [path for path in paths if path.stem != "storage-format-help"]
    return [path for path in paths if not is_format(path.read_text(encoding="utf-8").split("\n", 1)[0])]


def is_format(command: str) -> bool:
    return " format " in command and "--help" not in command


@pytest.mark.parametrize("path", golden_outputs(), ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_golden_runs_are_reproduced(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_layout, "_terminal_width", lambda: -1)
    command, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    directory = path.parents[1]
    _, tool, *args = command.replace("DIR", str(directory)).split()
    for number, arg in enumerate(args):
        if arg.endswith(".properties"):
            # It was unformatted, or formatted, when the run was recorded; now it is formatted.
            place = tmp_path if "unformatted" in path.name else directory
            args[number] = str(tmp_path / "node.properties")
            (tmp_path / "node.properties").write_text((directory / arg).read_text().replace("DIR", str(place)))

    found = ours(tool, args)

    said = (found["stdout"] + found["stderr"]).replace(str(directory), "DIR").replace(str(tmp_path), "DIR")
    assert said + f"exit {found['exit']}\n" == "".join(lines)
