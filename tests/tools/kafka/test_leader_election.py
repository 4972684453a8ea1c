"""kafka-leader-election on a running node of ours, without stock: tests/interop/test_stock_tools.py compares both."""

from __future__ import annotations

from tests.tools.kafka.cases import answer


def test_an_election_without_partitions_prints_nothing_and_an_unknown_partition_is_named(address: str) -> None:
    begin = ("--bootstrap-controller", "ADDRESS", "--election-type", "preferred")
    nothing = answer("leader-election", address, *begin, "--all-topic-partitions")
    unknown = answer("leader-election", address, *begin, "--topic", "t", "--partition", "0")

    assert nothing == {"stdout": "", "stderr": "", "exit": 0}
    assert unknown["stdout"].startswith("Error completing leader election (PREFERRED) for partition: t-0: org.apache.")
    assert unknown["stderr"].startswith("1 replica(s) could not be elected\n")
    assert unknown["exit"] == 1
