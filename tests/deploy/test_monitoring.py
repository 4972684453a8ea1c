"""Alerts and dashboard: each metric that they use is served, and each alert has a section in the runbook."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.server.http.rows import HISTOGRAM, KAFKA, OWN
from tools.kraftctl.main import VERBS

ROOT = Path(__file__).parents[2]
ALERTS: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
PANELS: list[dict[str, Any]] = json.loads((ROOT / "deploy" / "grafana" / "kraft-quorum.json").read_text())["panels"]
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
# Prometheus' own, and those of every Prometheus client.
OTHERS = {"up", "process_resident_memory_bytes"}


def served() -> set[str]:
    """Names as a query uses them: a histogram by its parts."""
    parts = [
        f"{row.name}{end}" for row in KAFKA + OWN if row.kind == HISTOGRAM for end in ("_bucket", "_sum", "_count")
    ]
    return {row.name for row in KAFKA + OWN if row.kind != HISTOGRAM} | set(parts) | OTHERS


def named(expression: str) -> set[str]:
    """The metrics of a query: each name before a selector."""
    return set(re.findall(r"([a-z_:]\w*)\{", expression))


def sections(text: str) -> dict[str, str]:
    """Heading of the second level -> the text under it."""
    parts = re.split(r"(?m)^## (.+)$", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_uses_served_metrics_and_has_a_severity(alert: dict[str, Any]) -> None:
    assert named(alert["expr"])
    assert named(alert["expr"]) - served() == set()
    assert alert["labels"]["severity"] in {"critical", "warning", "info"}
    assert 'job="kraft-controllers"' in alert["expr"]


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_each_alert_has_a_section_in_the_runbook_with_a_kraftctl_command(alert: dict[str, Any]) -> None:
    name = alert["alert"]

    text = sections(RUNBOOK)[name]

    assert alert["annotations"]["runbook_url"] == f"docs/runbook.md#{name.lower()}"
    commands = re.findall(r"(?m)^ {4}kraftctl (\w+)", text)
    assert commands, f"{name}: which kraftctl command answers?"
    assert set(commands) <= VERBS.keys()


def test_the_runbook_has_no_section_for_an_alert_that_does_not_exist() -> None:
    explained = {name for name in sections(RUNBOOK) if name.startswith("Kraft")}

    assert explained == {alert["alert"] for alert in ALERTS}


def test_each_log_event_in_the_runbook_exists() -> None:
    events = set(re.findall(r"(?m)^\| `(\w+)` \| `", (ROOT / "docs" / "logs.md").read_text()))
    named_events = set(re.findall(r"event `(\w+)`", RUNBOOK))

    assert named_events
    assert named_events - events == set()


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_uses_served_metrics_and_has_a_description(panel: dict[str, Any]) -> None:
    assert panel["description"]
    for target in panel["targets"]:
        assert named(target["expr"])
        assert named(target["expr"]) - served() == set()
        assert '{job="$job"}' in target["expr"]


def test_panels_have_unique_ids_and_do_not_overlap() -> None:
    cells = [
        (x, y)
        for panel in PANELS
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]

    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
