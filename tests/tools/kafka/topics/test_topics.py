"""kafka-topics: stock's answers to each combination of arguments, and the tool on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tools.kafka.cases import case_id, cases, ours
from tests.tools.kafka.test_stock_answers import answer, asked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tools.kafka.cases import Case


FAILED = "Error while executing topic command : "
NO_BROKERS = (
    "Unable to replicate the partition 1 time(s): All brokers are currently fenced, or have all their log directories "
    "cordoned."
)


@pytest.mark.parametrize("case", cases("topics"), ids=case_id)
def test_help_and_argument_errors_equal_those_of_stock(case: Case, tmp_path: Path) -> None:
    assert asked("topics", case, tmp_path) == answer(case)


@pytest.mark.parametrize(
    ("given", "stdout", "code"),
    [
        ("--list", "\n", 0),
        ("--describe", "", 0),
        ("--describe --topic t", f"{FAILED}Topic 't' does not exist as expected\n", 1),
        ("--describe --topic t --if-exists", "", 0),
        ("--delete --topic t", f"{FAILED}Topic 't' does not exist as expected\n", 1),
        ("--delete --topic t --if-exists", "", 0),
        ("--alter --topic t --partitions 3 --if-exists", "", 0),
        (
            "--create --topic t --partitions 1 --replication-factor 1",
            f"{FAILED}{NO_BROKERS}\n",
            1,
        ),
    ],
)
def test_controllers_are_asked_where_there_are_no_brokers(address: str, given: str, stdout: str, code: int) -> None:
    found = ours("topics", ["--bootstrap-controller", address, *given.split()])

    assert found == {"stdout": stdout, "stderr": "", "exit": code}


def test_both_kinds_of_addresses_are_refused() -> None:
    found = ours("topics", ["--bootstrap-controller", "c:1", "--bootstrap-server", "b:1", "--list"])

    assert found["stderr"].startswith("You cannot specify both --bootstrap-controller and --bootstrap-server.\n")
    assert (found["stdout"], found["exit"]) == ("", 1)


def test_configs_are_not_altered_here() -> None:
    """Stock names the two options in an order that differs from run to run."""
    found = ours(
        "topics", ["--bootstrap-server", "b:1", "--alter", "--topic", "t", "--config", "a=b", "--partitions", "2"]
    )

    assert found["stderr"].splitlines()[0] == (
        'Option combination "[[bootstrap-server], [config]]" can\'t be used with option "[alter]" (To alter topic '
        "configurations, the kafka-configs tool can be used.)"
    )
    assert found["exit"] == 1
