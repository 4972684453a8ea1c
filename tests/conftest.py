"""Shared by all tests: the option that enables the tests against stock Kafka, and bounded Hypothesis profiles."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    import pytest

# A test must give the same verdict twice: examples are derived from the test, never from the clock or a database.
settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("ci"), derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

collect_ignore: list[str] = []

# The files that take longest, begun first so that all test processes end at about the same time (`make test` and
# `make interop`, with --no-loadscope-reorder). The others follow in the order of their paths.
LONGEST = (
    "interop/test_migration", "deploy/strimzi/stock/test_life", "interop/test_voters", "interop/test_mixed_quorum",
    "interop/test_quorum_life", "oracle/test_explore",
    "interop/test_security_failover", "interop/test_security_tools", "interop/test_security_mechanisms",
    "interop/test_security_page", "oracle/wire/test_wire", "interop/test_troubles",
    "deploy/test_watch_through_faults", "tools/kraftctl/run/test_up", "simulations/raft/test_targeted_plans",
    "pipeline/planner/test_plan", "records/test_round_trips", "deploy/test_through_faults",
    "tools/kafka/shell/test_live_shell", "simulations/raft/test_run", "simulations/histories/test_porcupine",
    "tools/kraftctl/history/test_watch", "deploy/test_page", "simulations/raft/test_recovery_phase",
    "test_installed_names",
    "simulations/test_false_alarms", "simulations/test_real_code", "controller/security/test_java_stores",
    "deploy/test_rolling_restart",
)  # fmt: skip
HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--interop", action="store_true", help="run the tests against stock Kafka (JDK 17+, Maven)")
    parser.addoption("--deploy", action="store_true", help="run the checks of deploy/ (`make deploy-check`)")
    parser.addoption("--spark", action="store_true", help="run the tests on Spark (JDK 17+, `make pipeline`)")
    parser.addoption("--rewrite", action="store_true", help="accept what the scenarios' commands now print")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {HERE / f"{name}.py": number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(LONGEST)))


def pytest_configure(config: pytest.Config) -> None:
    # A run in the background of a script ignores both, and so would the commands that tests end by them.
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    config.addinivalue_line("markers", "slow: takes seconds; left out of `.ci/run quick`")
    if not config.getoption("--interop"):
        collect_ignore.extend(("interop", "oracle", "deploy/strimzi/stock", "porcupine"))
    if not config.getoption("--spark"):
        collect_ignore.extend(("pipeline/spark", "pipeline/stream"))
    if not config.getoption("--deploy"):
        collect_ignore.append("deploy/checks")
