"""`python -m tests.kafka`: Kafka's own integration tests, with processes of ours as the controllers.

Each class runs in a JVM of its own, and on request with Kafka's own controllers too. A failure that stock does not
have ends the command with exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.kafka.harness import Harness

if TYPE_CHECKING:
    from tests.kafka.harness import Ended, Side

GATE = Path(__file__).with_name("gate.txt")


def main() -> int:
    options = arguments_parser().parse_args()
    harness = Harness.prepare()
    if options.list:
        print("\n".join(harness.classes()))
        return 0
    names = options.classes or (harness.classes() if options.all else GATE.read_text().split())
    sides: tuple[Side, ...] = ("ours", "stock") if options.stock else ("ours",)
    failures = 0
    for name in names:
        found = {}
        for side in sides:
            begin = time.monotonic()
            found[side] = harness.run(name, side, options.out / side / name)
            print(f"{line_of(found[side])}  {time.monotonic() - begin:5.0f} s  {side:5}  {name}", flush=True)
        if not found["ours"]:
            print(f"    no tests are in {name}", flush=True)
            failures += 1
        failures += report_failures(found["ours"], found.get("stock"))
    print(f"{failures} failures that stock does not have" if options.stock else f"{failures} failures")
    return 1 if failures else 0


def arguments_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.kafka", description=__doc__)
    parser.add_argument(
        "classes", nargs="*", metavar="CLASS", help="names of test classes (default: those of the gate)"
    )
    parser.add_argument("--all", action="store_true", help="run all classes that start a cluster")
    parser.add_argument("--list", action="store_true", help="print the names of all such classes")
    parser.add_argument("--stock", action="store_true", help="run each class with Kafka's own controllers too")
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
