"""The stored results of Kafka's own integration tests, and the page of docs/conformance that shows them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.kafka.harness import Ended, Side

DOCS = Path(__file__).parents[2] / "docs" / "conformance"
RESULTS = DOCS / "kafka-tests.tsv"
PAGE = DOCS / "kafka-tests.md"
REASON_MAX = 200
SIDES: tuple[Side, ...] = ("stock", "ours", "kills")
PAGE_TEXT = """\
# Kafka's own integration tests

`make kafka-tests` runs test classes of Kafka 4.3.1 with processes of ours in place of Kafka's controllers, as
CONTRIBUTING.md says. A cell is the number of tests that passed; a cell without a number was not measured. *Failed* is
a failure of the test. *In memory* is a test that asks a controller inside its own JVM for what no request answers, or
gives it a Java class: only Kafka's own controller can pass it. *Combined* is a test of nodes that are brokers and
controllers at once, which ours never are. Under kills, the active controller of a cluster gets SIGKILL half a second
after the first one became active, then every 20 s, and is started anew; the cell has the number of kills. A test that
failed under kills ran once more by itself: a kill between a commit and its answer has the client, or the broker, send
CreateTopics again, and get TopicExistsException, and some tests ask the only controller over a connection of their own.

`python -m tests.kafka --all --side stock --side ours --side kills --record` measures the cells that are empty and
writes this page from [kafka-tests.tsv](kafka-tests.tsv), which has the seconds and the date of each run too.

{summary}

| class | tests | stock | ours | ours under kills |
|---|---|---|---|---|
{rows}

## Classes that were not measured

{others}

## Tests that did not pass

| class | test | side | ended | reason |
|---|---|---|---|---|
{failures}
"""


class Row(NamedTuple):
    """One class on one side. ended: each test that did not pass, as JSON: its name, outcome and reason."""

    name: str
    side: Side
    passed: int
    failed: int
    in_memory: int
    combined: int
    skipped: int
    kills: int
    seconds: int
    date: str
    ended: str

    @property
    def tests(self) -> int:
        """Those that were run or that could only be run otherwise; without those that Kafka itself turns off."""
        return self.passed + self.failed + self.in_memory + self.combined


def row_of(name: str, side: Side, tests: Sequence[Ended], kills: int, seconds: float, date: str) -> Row:
    """The row of what a class came to."""
    outcomes = [test.outcome for test in tests]
    ended = [
        test._replace(reason=" ".join(test.reason.split())[:REASON_MAX])
        for test in tests
        if test.outcome in {"failed", "in memory"}
    ]
    return Row(
        name=name, side=side, passed=outcomes.count("passed"), failed=outcomes.count("failed"),
        in_memory=outcomes.count("in memory"), combined=outcomes.count("combined"), skipped=outcomes.count("skipped"),
        kills=kills, seconds=round(seconds), date=date, ended=json.dumps(ended),
    )  # fmt: skip


def read(path: Path = RESULTS) -> list[Row]:
    """The stored rows; none where there is no file."""
    if not path.exists():
        return []
    cells = (line.split("\t") for line in path.read_text().splitlines()[1:])
    return [_row(*each) for each in cells]


def store(row: Row, path: Path = RESULTS) -> None:
    """Put a row in place of the one of its class and side, if there is one, and write both files."""
    rows = [each for each in read(path) if (each.name, each.side) != (row.name, row.side)]
    rows = sorted([*rows, row], key=lambda each: (each.name, SIDES.index(each.side)))
    lines = ["\t".join(Row._fields), *("\t".join(map(str, each)) for each in rows)]
    path.write_text("\n".join(lines) + "\n")


def store_again(name: str, side: Side, tests: Iterable[Ended], date: str, path: Path = RESULTS) -> None:
    """Put tests that ran once more into the stored row of their class, if there is one."""
    for row in [each for each in read(path) if (each.name, each.side) == (name, side)]:
        store(with_tests(row, tests)._replace(date=date), path)


def with_tests(row: Row, tests: Iterable[Ended]) -> Row:
    """The row with what tests of its class came to when they ran once more."""
    ended = {test: (outcome, reason) for test, outcome, reason in json.loads(row.ended)}
    counts = Counter({"passed": row.passed, "failed": row.failed, "in memory": row.in_memory})
    for test in tests:
        if test.outcome in counts:
            counts[ended.pop(test.name, ("passed", ""))[0]] -= 1
            counts[test.outcome] += 1
            if test.outcome != "passed":
                ended[test.name] = (test.outcome, " ".join(test.reason.split())[:REASON_MAX])
    return row._replace(
        passed=counts["passed"], failed=counts["failed"], in_memory=counts["in memory"],
        ended=json.dumps([[test, *how] for test, how in ended.items()]),
    )  # fmt: skip


def page(names: Iterable[str], rows: Sequence[Row]) -> str:
    """The page for all classes of the list: a cell that was not measured is empty."""
    cells = {(row.name, row.side): row for row in rows}
    measured = sorted({row.name for row in rows})
    others = sorted({*names} - {*measured})
    lines = [_line(name, [cells.get((name, side)) for side in SIDES]) for name in measured]
    failures = [
        "| " + " | ".join(text.replace("|", "/") for text in (row.name, name, row.side, outcome, reason)) + " |"
        for row in rows
        for name, outcome, reason in json.loads(row.ended)
    ]
    return PAGE_TEXT.format(
        summary=_summary(len(measured) + len(others), rows), rows="\n".join(lines), failures="\n".join(failures),
        others="\n".join(f"- {name}" for name in others),
    )  # fmt: skip


def _line(name: str, row_of_sides: list[Row | None]) -> str:
    tests = max((row.tests for row in row_of_sides if row), default="")
    return f"| {name} | {tests} | " + " | ".join(_cell(row) if row else "" for row in row_of_sides) + " |"


def _cell(row: Row) -> str:
    others = (row.failed, "failed"), (row.in_memory, "in memory"), (row.combined, "combined")
    kills = [f"{row.kills} kills"] if row.side == "kills" else []
    return ", ".join([str(row.passed), *(f"{count} {what}" for count, what in others if count), *kills])


def _summary(classes: int, rows: Sequence[Row]) -> str:
    parts = []
    for side, title in zip(SIDES, ("stock", "ours", "ours under kills"), strict=True):
        of_side = [row for row in rows if row.side == side]
        passed, failed = sum(row.passed for row in of_side), sum(row.failed for row in of_side)
        parts.append(f"{title}: {len(of_side)} of {classes} classes, {passed} tests passed, {failed} failed")
    return "Measured " + ";\n".join(parts) + "."


def _row(name: str, side: str, *cells: str) -> Row:
    *counts, date, ended = cells
    passed, failed, in_memory, combined, skipped, kills, seconds = map(int, counts)
    known = next(each for each in SIDES if each == side)
    return Row(name, known, passed, failed, in_memory, combined, skipped, kills, seconds, date, ended)
