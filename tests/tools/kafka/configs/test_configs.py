"""kafka-configs: stock's answers to each combination of arguments, and the tool on a node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.tools.kafka.cases import case_id, cases, ours
from tests.tools.kafka.test_stock_answers import answer, asked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tools.kafka.cases import Case

# In the echo of the arguments, and in the refusal of a credential.
_SECRET = re.compile(r"((?:SCRAM-SHA-\d+|ssl\.key\.password|sasl\.jaas\.config)=).*?(?= --|'$)", re.MULTILINE)
_CREDENTIAL = re.compile(r"(?<=Invalid credential property )(\w+)=.*")


@pytest.mark.parametrize("case", cases("configs"), ids=case_id)
def test_help_and_argument_errors_equal_those_of_stock(case: Case, tmp_path: Path) -> None:
    stock = answer(case)
    if stock["stderr"].startswith(("Error while executing", "Invalid credential")):
        stock["stderr"] = _CREDENTIAL.sub(r"\1=[hidden]", _SECRET.sub(r"\1[hidden]", stock["stderr"]))

    assert asked("configs", case, tmp_path) == stock


def said(address: str, given: str) -> Case:
    return ours("configs", ["--bootstrap-controller", address, *given.split()])


def test_a_config_of_all_brokers_is_set_shown_and_removed(address: str) -> None:
    entity = "--entity-type brokers --entity-default"
    done = {"stdout": "Completed updating default config for brokers in the cluster.\n", "stderr": "", "exit": 0}
    before = said(address, f"--describe {entity}")["stdout"]

    assert said(address, f"--alter {entity} --add-config log.roll.ms=7,log.cleanup.policy=[compact,delete]") == done
    added = [line for line in said(address, f"--describe {entity}")["stdout"].splitlines() if line not in before]
    assert [line.partition(" synonyms=")[::2] for line in added] == [
        (f"  {config} sensitive=false", f"{{DYNAMIC_DEFAULT_BROKER_CONFIG:{config}}}")
        for config in ("log.cleanup.policy=compact,delete", "log.roll.ms=7")
    ]
    assert said(address, f"--alter {entity} --delete-config log.roll.ms,log.cleanup.policy") == done
    assert said(address, f"--describe {entity}")["stdout"] == before


def test_the_level_of_a_logger_is_set_and_an_unknown_one_is_refused(address: str) -> None:
    entity = "--entity-type broker-loggers --entity-name 1"

    assert said(address, f"--alter {entity} --add-config raft=DEBUG")["stdout"] == (
        "Completed updating config for broker-logger 1.\n"
    )
    assert "  raft=DEBUG sensitive=false synonyms={}\n" in said(address, f"--describe {entity}")["stdout"]
    assert said(address, f"--alter {entity} --add-config nothing=DEBUG") == {
        "stdout": "", "stderr": "Invalid broker logger(s): nothing\n", "exit": 1
    }  # fmt: skip


def test_what_stock_asks_of_brokers_alone_is_refused_by_its_words(address: str) -> None:
    for given in (
        "--describe --entity-type users",
        "--describe --topic t",
        "--alter --user u --add-config SCRAM-SHA-256=[password=x]",
    ):
        found = said(address, given)

        shown = given.replace("[password=x]", "[hidden]")
        refused = (
            "org.apache.kafka.common.errors.UnsupportedEndpointTypeException: This Admin API is not yet supported when "
            "communicating directly with the controller quorum."
        )
        assert found["stderr"] == (
            f"Error while executing config command with args '--bootstrap-controller {address} {shown}'\n"
            f"java.util.concurrent.ExecutionException: {refused}\nCaused by: {refused}\n"
        )
        assert (found["stdout"], found["exit"]) == ("", 1)


def test_a_refusal_of_the_controller_is_printed_with_its_cause(address: str) -> None:
    found = said(address, "--alter --topic t --add-config retention.ms=5")

    refused = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: The topic 't' does not exist."
    assert found["exit"] == 1
    assert found["stderr"].endswith(f"\njava.util.concurrent.ExecutionException: {refused}\nCaused by: {refused}\n")
