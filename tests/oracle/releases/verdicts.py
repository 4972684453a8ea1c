"""`python -m tests.oracle.releases.verdicts`: record anew what stock says of configuration (tests/data/kafka-configs).

The questions are those of the files; only the answers are asked again: of the classes, or of a controller that runs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.controller.config import test_node, test_resources
from tests.controller.config.test_node import DATA, NODE
from tests.controller.handlers.test_describe_configs import FILE
from tests.interop.class_archive import CLUSTER_ID
from tests.interop.stock import Stock

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).with_name("Verdicts.java")
# A check without a text of its own prints the object.
UNNAMED = re.compile(r".*@[0-9a-f]+")
COLUMNS = "resource\tname\ttype\tdefault\tvalid\timportance\tinternal"
KINDS = ("topic", "server", "group", "client-metrics")
# The releases, and where their answers stand in a case: that of the older one only where it is another.
NEWER, OLDER = "4.4.0", "4.3.1"
ANSWER, OLDER_ANSWER = "answer", "answer_4_3"


class Verdicts:
    """A JVM that answers questions about configuration; a context manager. properties: of a controller to start."""

    def __init__(self, stock: Stock, properties: Path | None = None) -> None:
        arguments = () if properties is None else (str(properties),)
        command = stock.java(str(PROGRAM), *arguments, heap="-Xmx512m", level="OFF", target="SYSTEM_ERR")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)  # it exits at the end of its input

    def ask(self, question: dict[str, Any]) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def rows_of(stocks: Verdicts) -> list[str]:
    """The keys of a release, a line each."""
    found = sorted(stocks.ask({}), key=lambda row: (KINDS.index(row[0]), row[1]))
    return ["\t".join(UNNAMED.sub("", cell) for cell in row) for row in found]


def of_classes(newer: Verdicts, older: Verdicts) -> Iterator[tuple[str, str]]:
    """Name and text of each file whose answers the classes give."""
    rows, added = rows_of(older), rows_of(newer)
    assert set(rows) <= set(added), set(rows) - set(added)
    yield "configs.tsv", "".join(f"{row}\n" for row in (COLUMNS, *rows))
    yield "configs-4.4.tsv", "".join(f"{row}\n" for row in (COLUMNS, *(row for row in added if row not in rows)))
    for name, question, is_newer in (
        ("nodes.jsonl", of_node, test_node.is_newer),
        ("resources.jsonl", of_resource, test_resources.is_newer),
    ):
        cases = read(name)
        for case in cases:
            case[ANSWER] = newer.ask(question(case))
            case.pop(OLDER_ANSWER, None)
            if not is_newer(case) and (answer := older.ask(question(case))) != case[ANSWER]:
                case[OLDER_ANSWER] = answer
        yield name, written(cases)


def of_node(case: dict[str, Any]) -> dict[str, Any]:
    return {"node": {key: value for key, value in (NODE | case["set"]).items() if key not in case["unset"]}}


def of_resource(case: dict[str, Any]) -> dict[str, Any]:
    return {**case, "file": NODE}


def of_a_controller(stock: Stock, file_name: str) -> str:
    """The text of a file whose answers a controller gives."""
    with tempfile.TemporaryDirectory() as name:
        directory, properties = f"{name}/data", Path(name) / "controller.properties"
        file = FILE | {"log.dirs": directory}
        properties.write_text("".join(f"{key}={value}\n" for key, value in file.items()))
        done = stock.tool("storage", "format", "-t", CLUSTER_ID, "-c", str(properties))
        assert done.returncode == 0, done.stderr
        steps = read(file_name)
        with Verdicts(stock, properties) as stocks:
            for step in steps:
                step[ANSWER] = stocks.ask({key: value for key, value in step.items() if key != ANSWER})
        return written(steps, compact=True).replace(directory, FILE["log.dirs"])


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def written(cases: list[dict[str, Any]], *, compact: bool = False) -> str:
    separators = (",", ":") if compact else (", ", ": ")
    return "".join(f"{json.dumps(case, separators=separators)}\n" for case in cases)


def main() -> int:
    newer, older = Stock(NEWER), Stock(OLDER)
    newer.bring()
    older.bring()
    with Verdicts(newer) as of_newer, Verdicts(older) as of_older:
        for name, text in of_classes(of_newer, of_older):
            (DATA / name).write_text(text)
    for name, stock in (("controller.jsonl", older), ("controller-4.4.jsonl", newer)):
        (DATA / name).write_text(of_a_controller(stock, name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
