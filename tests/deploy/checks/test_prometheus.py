"""Prometheus' own tool accepts the rules, the scrape configuration and the queries of the dashboard."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
PROMETHEUS = ROOT / "deploy" / "prometheus"


def promtool(*arguments: str) -> str:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_rules_and_scrape_configuration_are_well_formed() -> None:
    promtool("check", "rules", str(PROMETHEUS / "alerts.yaml"))
    promtool("check", "config", "--syntax-only", str(PROMETHEUS / "scrape.yaml"))


def test_each_scenario_raises_its_alerts(tmp_path: Path) -> None:
    shutil.copy(PROMETHEUS / "alerts.yaml", tmp_path)
    shutil.copy(Path(__file__).parent / "alerts.test.yaml", tmp_path)

    promtool("test", "rules", str(tmp_path / "alerts.test.yaml"))


def test_every_query_of_the_dashboard_parses(tmp_path: Path) -> None:
    panels = json.loads((ROOT / "deploy" / "grafana" / "kraft-quorum.json").read_text())["panels"]
    queries = [target["expr"].replace("$__rate_interval", "1m") for panel in panels for target in panel["targets"]]
    rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]
    path = tmp_path / "queries.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))

    assert f"{len(queries)} rules found" in promtool("check", "rules", str(path))
