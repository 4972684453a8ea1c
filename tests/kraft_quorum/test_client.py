"""The client of the watch service against a server that follows a script: what it makes of each end of a stream."""

from __future__ import annotations

import contextlib
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import grpc
import msgpack
import pytest

from kraft_quorum.client import Client, Update, WatchFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

Code = grpc.StatusCode
Scene = tuple[list[dict[str, Any]], grpc.StatusCode]


def image(offset: int, *names: str, more: bool = False) -> dict[str, Any]:
    changes = [{"type": "TOPIC_RECORD", "version": 0, "data": {"name": name}} for name in names]
    return {"kind": "image", "next_offset": offset, "more": more, "changes": changes}


def changes(*offsets: int, next_offset: int | None = None, more: bool = False) -> dict[str, Any]:
    end = offsets[-1] + 1 if next_offset is None else next_offset
    rows = [{"offset": offset} for offset in offsets]
    return {"kind": "changes", "next_offset": end, "more": more, "end_offset": 99, "changes": rows}


def position(offset: int) -> dict[str, Any]:
    return {"kind": "position", "next_offset": offset, "more": False, "end_offset": 99, "changes": []}


class Script:
    """A server that plays one scene for each call: messages, then how the stream ends. asked: from which offsets."""

    def __init__(self, *scenes: Scene) -> None:
        self.scenes = list(scenes)
        self.asked: list[int | None] = []

    def play(self, body: bytes, context: Any) -> Iterator[bytes]:
        self.asked.append(msgpack.unpackb(body).get("from_offset"))
        messages, code = self.scenes.pop(0) if self.scenes else ([], Code.PERMISSION_DENIED)
        yield from (msgpack.packb(message) for message in messages)
        context.abort(code, "as the script says")


@contextlib.contextmanager
def played(*scenes: Scene) -> Iterator[tuple[Client, Script]]:
    script = Script(*scenes)
    with ThreadPoolExecutor(2) as pool:
        server = grpc.server(pool)
        handler = grpc.unary_stream_rpc_method_handler(script.play)
        methods = {"Watch": handler, "Snapshot": handler}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("kraft.v1.Metadata", methods),))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        with Client([f"127.0.0.1:{port}"]) as client:
            yield client, script
        server.stop(0).wait()


def watched(client: Client, from_offset: int | None) -> list[Update]:
    """All updates, up to the refusal that ends each script."""
    found: list[Update] = []
    with pytest.raises(WatchFailed, match="PERMISSION_DENIED"):
        found.extend(client.watch(from_offset))
    return found


def offsets(updates: list[Update]) -> list[int]:
    return [change["offset"] for update in updates for change in update.changes if "offset" in change]


@pytest.mark.parametrize("code", [Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED, Code.INTERNAL, Code.CANCELLED])
def test_the_client_resumes_from_its_offset(code: grpc.StatusCode) -> None:
    with played(([changes(5, 6), changes(9)], code), ([changes(12)], code)) as (client, script):
        updates = watched(client, 5)

    assert offsets(updates) == [5, 6, 9, 12]
    assert script.asked == [5, 10, 13]


def test_a_client_resumes_after_a_position_message() -> None:
    with played(([changes(5), position(50)], Code.UNAVAILABLE)) as (client, script):
        updates = watched(client, 5)

    assert [update.kind for update in updates] == ["changes", "position"]
    assert script.asked == [5, 50]


def test_a_batch_that_was_cut_off_is_requested_again_and_delivered_once() -> None:
    scenes: list[Scene] = [
        ([changes(5), changes(6, 7, more=True), changes(8, more=True)], Code.UNAVAILABLE),
        ([changes(6, 7, more=True)], Code.UNAVAILABLE),
        ([changes(6, 7, 8, more=True), changes(9)], Code.UNAVAILABLE),
    ]
    with played(*scenes) as (client, script):
        updates = watched(client, 5)

    assert offsets(updates) == [5, 6, 7, 8, 9]
    assert [update.more for update in updates] == [False, True, True, False]
    assert script.asked == [5, 6, 6, 10]


def test_a_batch_of_which_only_the_end_was_missing_is_closed() -> None:
    scenes: list[Scene] = [
        ([changes(5, more=True)], Code.UNAVAILABLE),
        ([changes(5, next_offset=7)], Code.UNAVAILABLE),
    ]
    with played(*scenes) as (client, script):
        updates = watched(client, 5)

    assert [(update.changes, update.more) for update in updates] == [([{"offset": 5}], True), ([], False)]
    assert script.asked == [5, 5, 7]


def test_an_image_that_was_cut_off_starts_again() -> None:
    scenes: list[Scene] = [
        ([image(20, "a", more=True)], Code.UNAVAILABLE),
        ([image(22, "a", more=True), image(22, "b"), changes(22)], Code.UNAVAILABLE),
    ]
    with played(*scenes) as (client, script):
        updates = watched(client, None)

    assert [(update.kind, update.begins, update.more) for update in updates] == [
        ("image", True, True),
        ("image", True, True),
        ("image", False, False),
        ("changes", False, False),
    ]
    assert script.asked == [None, None, 23]


@pytest.mark.parametrize("code", [Code.OUT_OF_RANGE, Code.ABORTED])
def test_the_client_reads_an_image_if_its_offset_is_gone(code: grpc.StatusCode) -> None:
    scenes: list[Scene] = [
        ([changes(5, more=True)], code),
        ([image(3, "a"), changes(3, 4)], Code.UNAVAILABLE),
    ]
    with played(*scenes) as (client, script):
        updates = watched(client, 5)

    assert [update.begins for update in updates] == [False, True, False]
    assert offsets(updates) == [5, 3, 4]
    assert script.asked == [5, None, 5]


def test_a_snapshot_that_is_cut_off_is_an_error() -> None:
    with played(([image(20, "a", more=True)], Code.UNAVAILABLE)) as (client, _):
        updates = client.snapshot()
        first = next(updates)

        with pytest.raises(WatchFailed, match="UNAVAILABLE: as the script says"):
            next(updates)

    assert (first.begins, first.more) == (True, True)


@pytest.mark.parametrize("package", ["grpc", "msgpack"])
def test_the_client_names_the_packages_that_are_missing(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "kraft_quorum.client", raising=False)
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(ImportError, match=r"needs grpcio and msgpack \(.*\): pip install grpcio msgpack") as raised:
        import kraft_quorum.client  # noqa: F401

    assert raised.value.__suppress_context__
