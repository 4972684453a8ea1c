"""A stock tool that is called in a JVM of many calls says what it says in a process of its own."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.interop.stock import OLDER, RELEASES
from tests.tools.kafka.cases import acls_in_order, without_frames

if TYPE_CHECKING:
    from tests.interop.stock import Stock

CALLS = (
    "storage version-mapping",
    "storage format",
    "topics --help",
    "configs --describe --entity-type topics",
    "configs --version",
    "dump-log --files none",
    "dump-log --unknown",
    "acls --bootstrap-server localhost:1 --list --unknown",
    "metadata-quorum --bootstrap-controller localhost:1 describe --unknown",
    "features --bootstrap-controller no:port describe",
)


@pytest.mark.parametrize("stock", RELEASES, indirect=True)
def test_a_tool_says_the_same_as_in_a_process_of_its_own(stock: Stock) -> None:
    calls_say_the_same(stock)


@pytest.mark.parametrize("older_stock", OLDER[:1], indirect=True)
def test_a_tool_of_an_older_release_does_too(older_stock: Stock) -> None:
    calls_say_the_same(older_stock)


def calls_say_the_same(stock: Stock) -> None:
    apart = replace(stock, quick=False, shares=False)

    for call in CALLS:
        first, again = said(stock.tool(*call.split())), said(stock.tool(*call.split()))
        assert first == again == said(apart.tool(*call.split())), call


def test_a_tool_inherits_the_environment_of_a_test(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    before = stock.tool("topics", "--help")
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-Dof.the=test")

    after = stock.tool("topics", "--help")

    assert "JDK_JAVA_OPTIONS" not in before.stderr
    assert after.stderr.startswith("NOTE: Picked up JDK_JAVA_OPTIONS: -Dof.the=test")


def test_a_tool_that_takes_too_long_is_ended_and_the_next_is_called(stock: Stock) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        stock.tool("topics", "--bootstrap-server", "127.0.0.1:1", "--list", seconds=0.5)

    assert stock.tool("storage", "version-mapping").returncode == 0


def said(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    """What a tool said, without the frames of an exception, which end in the caller; and names that stock prints in the
    order of a hash set, which no two processes share, in one order.
    """
    stdout, stderr = (acls_in_order(without_frames(text)) for text in (done.stdout, done.stderr))
    return done.returncode, stdout, stderr
