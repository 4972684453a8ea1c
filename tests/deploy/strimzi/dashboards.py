"""The names of metrics in Strimzi's dashboards and alerts for Kafka and KRaft.

`python -m tests.deploy.strimzi.dashboards CHECKOUT` reads a checkout of its repository and writes them to
tests/data/strimzi/metric-names.tsv.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

NAMES = Path(__file__).parents[2] / "data" / "strimzi" / "metric-names.tsv"
# Whose names they are -> the files with those of controllers.
SOURCES = {
    "exporter": (
        "examples/metrics/grafana-dashboards/strimzi-kraft.json",
        "examples/metrics/grafana-dashboards/strimzi-kafka.json",
        "examples/metrics/prometheus-install/prometheus-rules/prometheus-kafka-rules.yaml",
    ),
    "reporter": (
        "examples/metrics/strimzi-metrics-reporter/grafana-dashboards/strimzi-kraft.json",
        "examples/metrics/strimzi-metrics-reporter/grafana-dashboards/strimzi-kafka.json",
    ),
}
_EXPRESSIONS = re.compile(r'"(?:expr|query)": *"((?:[^"\\]|\\.)*)"|^ *expr: (.*)$', re.MULTILINE)
_LABELS = re.compile(r'"[^"]*"|\{[^}]*\}|\[[^]]*\]|\b(?:by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)')
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[A-Za-z0-9_]+)+\b(?!\s*\()|\bup\b")


def names_in(text: str) -> set[str]:
    """The names of metrics in the expressions of a dashboard or of rules; no functions and no labels."""
    found = set()
    for dashboard, rule in _EXPRESSIONS.findall(text):
        found.update(_NAME.findall(_LABELS.sub("", (dashboard or rule).replace('\\"', '"'))))
    return found


def stored_names() -> list[tuple[str, str, str]]:
    """Whose names they are, the file that uses one, and the name."""
    rows = [line.split("\t") for line in NAMES.read_text().splitlines() if not line.startswith("#")]
    return [(naming, file, name) for naming, file, name in rows]


def main() -> None:
    checkout = Path(sys.argv[1])
    lines = ["# Written by tests.deploy.strimzi.dashboards"]
    for naming, files in SOURCES.items():
        for file in files:
            names = sorted(names_in((checkout / file).read_text()))
            lines += [f"{naming}\t{file.rpartition('/')[2]}\t{name}" for name in names]
    NAMES.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
