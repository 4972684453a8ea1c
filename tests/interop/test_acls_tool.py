"""kafka-acls of stock and ours say the same, through a stock broker and through a controller of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.interop.both_tools import Both, Said
from tests.interop.cluster import OURS, cluster, eventually
from tests.interop.secured import AUTHORIZER
from tests.interop.tools.stock_calls import StockCalls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.interop.stock import Stock

SETTINGS = {"authorizer.class.name": AUTHORIZER, "super.users": "User:ANONYMOUS"}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, stock: Stock) -> Iterator[Both]:
    root = tmp_path_factory.mktemp("acls")
    with cluster(root, stock, [OURS], 1, settings=SETTINGS) as found, StockCalls(stock) as calls:
        made = Both(found, calls)
        (root / "fast").write_text("default.api.timeout.ms=1500\nrequest.timeout.ms=1000\n")
        fast = "--command-config DIR/fast --list"
        eventually(lambda: made.by_ours("acls", f"SERVER {fast}").exit == 0, "the broker serves")
        yield made


# Each list begins and ends without ACLs.
STEPS = {
    "one topic": [
        "--list",
        "--add --topic t --allow-principal User:ann --allow-principal User:bob --operation Read --operation describe",
        "--add --topic t --allow-principal User:ann --operation Read --operation Write",
        "--add --topic t --allow-principal User:ann --operation Read --operation Write",
        "--add --topic t --deny-principal User:eve --deny-host 10.0.0.7 --deny-host 10.0.0.8",
        "--list",
        "--list --topic t",
        "--list --topic other",
        "--list --topic t --principal User:ann",
        "--list --principal User:eve --principal User:ann --principal User:nobody",
        "--list --principal",
        "--remove --force --topic t --allow-principal User:ann --operation Write",
        "--remove --force --topic t --allow-principal User:nobody",
        "--list --topic t",
        "--remove --force --topic t",
        "--list",
    ],
    "patterns": [
        "--add --topic pay --resource-pattern-type prefixed --allow-principal User:ann",
        "--add --topic * --allow-principal User:ann --operation Describe",
        "--add --topic payments --allow-principal User:bob --operation All",
        "--list --topic payments",
        "--list --topic payments --resource-pattern-type match",
        "--list --topic payments --resource-pattern-type any",
        "--list --topic pay --resource-pattern-type any",
        "--list --topic pay --resource-pattern-type prefixed",
        "--remove --force --topic payments --resource-pattern-type match",
        "--list",
    ],
    "all kinds of resources": [
        "--add --cluster --topic t --group g --transactional-id i --delegation-token d --allow-principal U:a",
        "--add --cluster --topic t --group g --transactional-id i --allow-principal User:ann --operation Describe",
        "--add --user-principal U:a --allow-principal User:bob --operation CreateTokens --operation DescribeTokens",
        "--list",
        "--list --cluster --group g",
        "--list --user-principal U:a --delegation-token d --transactional-id i",
        "--remove --force --cluster --topic t --group g --transactional-id i --delegation-token d --user-principal U:a",
        "--list",
    ],
    "producers and consumers": [
        "--add --producer --topic t --transactional-id i --allow-principal User:ann",
        "--add --producer --idempotent --topic u --allow-principal User:ann",
        "--add --consumer --topic t --topic u --group g --allow-principal User:bob --allow-host 10.0.0.9",
        "--add --producer --consumer --topic v --group g --allow-principal User:carl",
        "--list",
        "--remove --force --consumer --topic t --group g --allow-principal User:bob --allow-host 10.0.0.9",
        "--list",
        "--remove --force --producer --topic t --transactional-id i",
        "--remove --force --producer --idempotent --topic u",
        "--remove --force --producer --consumer --topic t --topic u --topic v --group g",
        "--list",
    ],
    "what the cluster refuses": [
        "--add --topic '' --allow-principal User:ann",
        "--add --group '' --allow-principal User:ann",
        "--add --topic t --allow-principal :",
        "--add --topic t --allow-principal User:ann --allow-host ''",
        "--add --cluster --resource-pattern-type prefixed --allow-principal User:ann",
        "--add --topic t --allow-principal User:ann --operation Read --operation IdempotentWrite",
        "--list --topic ''",
        "--remove --force --topic ''",
        "--remove --force --topic t",
        "--remove --force --resource-pattern-type any --topic '*'",
        "--list",
    ],
}


@pytest.mark.parametrize("where", ["SERVER", "CONTROLLER"])
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_the_same_steps_print_the_same(both: Both, steps: list[str], where: str) -> None:
    by_stock = [done(both, both.by_stock, f"{where} {step}") for step in steps]
    by_ours = [done(both, both.by_ours, f"{where} {step}") for step in steps]

    assert by_ours == by_stock
    assert by_ours[-1].stdout == ""


def done(both: Both, by: Callable[[str, str], Said], step: str) -> Said:
    """What a tool says, once the broker knows the ACLs that the controller has."""
    found = by("acls", step)
    eventually(
        lambda: both.by_ours("acls", "SERVER --list") == both.by_ours("acls", "CONTROLLER --list"), "the ACLs are known"
    )
    return found


def test_a_cluster_without_an_authorizer_refuses_the_same(
    tmp_path_factory: pytest.TempPathFactory, stock: Stock
) -> None:
    with cluster(tmp_path_factory.mktemp("open"), stock, [OURS], 0) as found, StockCalls(stock) as calls:
        open_to_all = Both(found, calls)
        for step in ("--list", "--add --topic t --allow-principal User:ann", "--remove --force --topic t"):
            said = open_to_all.by_ours("acls", f"CONTROLLER {step}")

            assert said == open_to_all.by_stock("acls", f"CONTROLLER {step}")
            assert said.exit == 1
