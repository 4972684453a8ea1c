"""`python -m tests.kafka`: Kafka's own integration tests, with processes of ours as the controllers.

Each class runs in a JVM of its own, and on request with Kafka's own controllers too. A failure that stock does not
have ends the command with exit code 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tests.kafka import table
from tests.kafka.harness import Ended, Harness

if TYPE_CHECKING:
    from tests.kafka.harness import Side

GATE = Path(__file__).with_name("gate.txt")
CLASS_SECONDS_MAX = 3600
ALONE_IN_TABLE = threading.Lock()


def main() -> int:
    options = arguments_parser().parse_args()
    harness = Harness.prepare()
    if options.list:
        print("\n".join(harness.classes()))
        return 0
    names = options.classes or (harness.classes() if options.all else GATE.read_text().split())
    sides: list[Side] = options.side or ["ours"]
    measured = {(row.name, row.side) for row in table.read()} if options.record else set()
    end = time.monotonic() + 60 * options.minutes

    def run_sides(name: str) -> int:
        found: dict[Side, list[Ended]] = {}
        for side in sides:
            if (name, side) not in measured and time.monotonic() < end:
                found[side] = run(harness, name, side, options, end)
        return sum(report_failures(found[side], found.get("stock")) for side in found if side != "stock")

    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            failures = sum(pool.map(run_sides, names))
        except KeyboardInterrupt:
            harness.kill()  # the pool waits for classes that are running
            raise
    if options.record:
        table.PAGE.write_text(table.page(harness.classes(), table.read()))
    print(f"{failures} failures that stock does not have" if "stock" in sides else f"{failures} failures")
    return 1 if failures else 0


def run(harness: Harness, name: str, side: Side, options: argparse.Namespace, end: float) -> list[Ended]:
    """The tests of a class that was run, with a line printed; none where it did not end in its time."""
    begin = time.monotonic()
    out = options.out / side / name
    try:
        tests = harness.run(name, side, out, min(CLASS_SECONDS_MAX, max(60, end - begin)))
    except (subprocess.TimeoutExpired, FileNotFoundError) as error:
        how = "not ended in its time" if isinstance(error, subprocess.TimeoutExpired) else "the JVM wrote no report"
        print(f"    {how}, {time.monotonic() - begin:.0f} s: {side}  {name}", flush=True)
        return [] if side == "stock" else [Ended(name, "failed", how)]
    seconds = time.monotonic() - begin
    print(f"{line_of(tests)}  {seconds:5.0f} s  {side:5}  {name}", flush=True)
    if not tests:
        tests = [Ended(name, "failed", "no tests are in the class, or it could not be loaded")]
    if options.record:
        with ALONE_IN_TABLE:
            store(name, side, tests, out, seconds)
    return tests


def store(name: str, side: Side, tests: list[Ended], out: Path, seconds: float) -> None:
    """Put what a class, or one test of it, came to into the table. out: the directory of its reports and logs."""
    date = datetime.now(UTC).date().isoformat()
    if "#" in name:
        table.store_again(name.partition("#")[0], side, tests, date)
        return
    kills = out / "logs" / "kills.txt"
    count = len(kills.read_text().splitlines()) if kills.exists() else 0
    table.store(table.row_of(name, side, tests, count, seconds, date))


def arguments_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.kafka", description=__doc__)
    parser.add_argument(
        "classes",
        nargs="*",
        metavar="CLASS",
        help="names of test classes, or CLASS#METHOD, which --record measures again (default: those of the gate)",
    )
    parser.add_argument("--all", action="store_true", help="run all classes that start a cluster")
    parser.add_argument("--list", action="store_true", help="print the names of all such classes")
    parser.add_argument(
        "--side", action="append", choices=table.SIDES,
        help="whose controllers: Kafka's, ours, or ours under kills; may be given several times (default: ours)",
    )  # fmt: skip
    parser.add_argument(
        "--record", action="store_true",
        help=f"store results in {table.RESULTS.name}, measure only what it does not have, and write {table.PAGE.name}",
    )  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="how many classes run side by side (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=6000, help="begin no class after these, and end what runs")
    parser.add_argument("--out", type=Path, default=Path(".cache/kafka-tests"), help="directory of reports and logs")
    return parser


def line_of(tests: list[Ended]) -> str:
    """How many tests ended how."""
    counts = Counter(test.outcome for test in tests)
    return "  ".join(f"{counts[outcome]:3} {outcome}" for outcome in ("passed", "failed", "in memory", "combined"))


def report_failures(ours: list[Ended], stock: list[Ended] | None) -> int:
    """Print the failures that stock does not have; returns their number. stock: None where it did not run."""
    also = Counter(test.name for test in stock or () if test.outcome == "failed")
    count = 0
    for test in ours:
        if test.outcome == "failed" and also[test.name]:
            also[test.name] -= 1
        elif test.outcome == "failed":
            count += 1
            print(f"    {test.name}: {test.reason}", flush=True)
    return count


if __name__ == "__main__":
    sys.exit(main())
