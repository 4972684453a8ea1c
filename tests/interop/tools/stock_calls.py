"""Runs stock Kafka's tool classes and records their output: `python -m tests.interop.tools.stock_calls`."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from tests.interop.jvm import Jvm
from tests.interop.stock import TOOL_CALLS as SOURCE
from tests.interop.stock import Stock
from tests.tools.kafka.cases import (
    GOLDEN,
    STOCK,
    Case,
    acls_in_order,
    arguments,
    cases,
    left_in,
    prepare,
    said,
    without_frames,
    without_places,
)

SHELL_SOURCE = Path(__file__).with_name("ShellCalls.java")
# The tool with the texts of the release before: kafka-shell 4.4.0 is not on Maven Central.
OLDER_RELEASE = "4.3.1"
OLDER = {"metadata-shell"}


class StockCalls(Jvm):
    """One JVM that answers many questions; a context manager."""

    def __init__(self, stock: Stock, columns: str | None = None, source: Path = SOURCE) -> None:
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        if columns is not None:
            environment["COLUMNS"] = columns
        super().__init__(stock.program(source), environment)

    def call(self, tool: str, case: Case) -> Case:
        """The answer to a case, in the form that is kept."""
        directory = Path(tempfile.mkdtemp(prefix="case"))
        try:
            prepare(case, directory)
            answer = self.ask({"tool": tool, "args": arguments(case, directory)})
            stdout, stderr = (without_places(answer[name], directory) for name in ("stdout", "stderr"))
            if tool == "acls":
                stdout, stderr = acls_in_order(stdout), acls_in_order(stderr)
            found = said(stdout, stderr, answer["exit"])
            if "left" in case:
                found["left"] = left_in(directory, random=case.get("random", False))
            return found
        finally:
            shutil.rmtree(directory)


def answered(stock: Stock) -> dict[str, list[Case]]:
    """Every file of cases with the answers that stock gives now."""
    found = {}
    older = Stock(OLDER_RELEASE)
    older.bring()
    for tool in ("storage", "dump-log", "acls", "topics", "configs", "reassign-partitions"):
        with StockCalls(stock) as calls:
            found[tool] = [{**case, **calls.call(tool, case)} for case in cases(tool)]
    kept = cases("arguments")
    by_columns: dict[tuple[bool, str | None], list[int]] = {}
    for number, case in enumerate(kept):
        by_columns.setdefault((case["tool"] in OLDER, case["columns"]), []).append(number)
    for (is_older, columns), numbers in by_columns.items():
        with StockCalls(older if is_older else stock, columns) as calls:
            for number in numbers:
                kept[number] = {**kept[number], **calls.call(kept[number]["tool"], kept[number])}
    found["arguments"] = kept
    with StockCalls(older, source=SHELL_SOURCE) as calls:
        found["shell"] = []
        for case in cases("shell"):
            file = case["file"].replace("GOLDEN", str(GOLDEN)).replace("STOCK", str(STOCK))
            answer = calls.ask({**case, "file": file})
            found["shell"].append({**case, "outputs": [without_frames(text) for text in answer["outputs"]]})
        found["words"] = _texts(calls, "words")
    with StockCalls(stock) as calls:
        found["breaks"] = _texts(calls, "breaks")
    return found


def _texts(calls: StockCalls, name: str) -> list[Case]:
    kept = cases(name)
    answers = calls.ask({name: [case["text"] for case in kept]})["answers"]
    return [{**case, name: answer} for case, answer in zip(kept, answers, strict=True)]


def main() -> None:
    stock = Stock("4.4.0")
    stock.bring()
    for name, kept in answered(stock).items():
        lines = [json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in kept]
        (STOCK / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
