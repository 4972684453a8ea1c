"""The asyncio client against the scripts of the other client's tests: both make the same of each end of a stream."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import grpc
import pytest

from kraft_quorum.aio import AsyncClient
from kraft_quorum.client import Update, WatchFailed
from tests.kraft_quorum.test_client import changes, image, offsets, played, position, watched

if TYPE_CHECKING:
    from tests.kraft_quorum.test_client import Scene

Code = grpc.StatusCode
SCRIPTS: list[tuple[list[Scene], int | None]] = [
    ([([changes(5, 6), changes(9)], Code.UNAVAILABLE), ([changes(12)], Code.RESOURCE_EXHAUSTED)], 5),
    ([([changes(5, 6, more=True)], Code.UNAVAILABLE), ([changes(5, 6, more=True), changes(7)], Code.UNAVAILABLE)], 5),
    ([([image(8, "a", more=True), image(8, "b"), changes(8)], Code.INTERNAL), ([changes(9)], Code.INTERNAL)], None),
    ([([], Code.OUT_OF_RANGE), ([image(20, "a"), changes(21)], Code.UNAVAILABLE)], 5),
    ([([changes(5, more=True)], Code.ABORTED), ([image(5, "a"), changes(5)], Code.UNAVAILABLE)], 5),
    ([([position(7)], Code.UNAVAILABLE), ([changes(7)], Code.UNAVAILABLE)], 5),
]


async def all_of(target: str, from_offset: int | None) -> list[Update]:
    """All updates, up to the refusal that ends each script."""
    found: list[Update] = []
    async with AsyncClient([target]) as client:
        with contextlib.suppress(WatchFailed):
            async for update in client.watch(from_offset):
                found.append(update)  # noqa: PERF401 - what came before the error counts
    return found


@pytest.mark.parametrize(("scenes", "from_offset"), SCRIPTS)
def test_both_clients_deliver_the_same(scenes: list[Scene], from_offset: int | None) -> None:
    with played(*scenes) as (client, script):
        expected = watched(client, from_offset)
        asked = script.asked
    with played(*scenes) as (client, script):
        found = asyncio.run(all_of(client.target, from_offset))

    assert found == expected
    assert script.asked == asked


def test_a_watch_without_an_answer_fails_after_its_patience() -> None:
    async def watch() -> None:
        async with AsyncClient(["127.0.0.1:1"]) as client:
            async for _ in client.watch(patience_s=0.0):
                pass

    with pytest.raises(WatchFailed, match=r"127\.0\.0\.1:1: UNAVAILABLE"):
        asyncio.run(watch())


def test_a_snapshot_ends_by_itself_or_fails() -> None:
    async def read(target: str) -> list[Update]:
        async with AsyncClient([target]) as client:
            return [update async for update in client.snapshot()]

    with (
        played(([image(8, "a", more=True), image(8, "b")], Code.UNAVAILABLE)) as (client, _),
        pytest.raises(WatchFailed, match="UNAVAILABLE"),
    ):
        asyncio.run(read(client.target))


def test_leaving_the_loop_ends_the_watch() -> None:
    async def first(target: str) -> Update:
        async with AsyncClient([target]) as client:
            async for update in client.watch(5):
                return update
        raise AssertionError("no update")

    with played(([changes(5), changes(6)], Code.UNAVAILABLE)) as (client, _):
        found = asyncio.run(first(client.target))

    assert offsets([found]) == [5]
