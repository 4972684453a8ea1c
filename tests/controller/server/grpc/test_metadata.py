"""A stream of the watch service, message by message, on a log that the test writes."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

import grpc
import msgpack
import pytest

from controller.config.edges import GRPC
from controller.config.node import NodeConfig
from controller.security.edges import EdgeSecurity
from controller.server.grpc import metadata
from controller.server.grpc.changes import CHUNK_RECORDS_MAX
from controller.server.grpc.metadata import Limits, Metadata
from controller.server.grpc.time_slices import TimeSlices
from controller.server.http.probes import Check
from tests.controller.config.test_edges import NODE
from tests.controller.server.grpc.test_changes import Written


class Ended(Exception):
    """The stream was ended by the service."""


# Without keys anybody may watch.
OPEN = EdgeSecurity(NodeConfig(NODE), GRPC, now=lambda: 0.0, note=lambda _name, _fields: None)


class Stream:
    """A call as the service sees it: it takes messages and the final status."""

    def __init__(self) -> None:
        self.messages: deque[dict[str, Any]] = deque()
        self.ended: tuple[grpc.StatusCode, str, dict[str, str]] | None = None

    def auth_context(self) -> dict[str, Any]:
        return {}

    def invocation_metadata(self) -> None:
        return None

    def peer(self) -> str:
        return "ipv4:127.0.0.1:1"

    async def write(self, body: bytes) -> None:
        self.messages.append(msgpack.unpackb(body))

    async def abort(self, code: grpc.StatusCode, text: str, trailers: Any) -> None:
        self.ended = (code, text, dict(trailers))
        raise Ended


@pytest.fixture(name="in_touch", autouse=True)
def _in_touch(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """Whether the node has a quorum, as its probes report."""
    state = {"joined": True}
    monkeypatch.setattr(metadata, "ready", lambda _node, _now: [Check("joined", state["joined"], "")])
    monkeypatch.setattr(metadata, "TOUCH_S", 0.01)
    return state


async def _watched(written: Written, request: dict[str, Any], until: Any) -> Stream:
    closing = asyncio.get_running_loop().create_future()
    written.node.now_ms = lambda: 0
    written.node.note = lambda _name, _fields: None
    service = Metadata(written.node, Limits(4, 1.0), OPEN, TimeSlices(), closing)
    stream = Stream()
    call = asyncio.ensure_future(service.watch(msgpack.packb(request), stream))
    end = asyncio.get_running_loop().time() + 5
    while not call.done() and not until(stream):
        assert asyncio.get_running_loop().time() < end, f"it has come to {stream.messages}"
        await asyncio.sleep(0.002)
    if not call.done():
        closing.set_result(None)
    with pytest.raises(Ended):
        await call
    service.close()
    assert service.watchers == 0
    return stream


def watch(written: Written, request: dict[str, Any], messages: int = 10**9) -> Stream:
    """A stream that is ended after this many messages, if it does not end before."""
    return asyncio.run(_watched(written, request, lambda stream: len(stream.messages) >= messages))


def test_a_stream_ends_with_its_resume_offset_when_the_port_closes() -> None:
    stream = watch(Written(["a"], ["b"]), {"from_offset": 0}, messages=1)

    code, text, trailers = stream.ended or (None, "", {})
    assert (code, text) == (grpc.StatusCode.UNAVAILABLE, "the node is stopping; use another node")
    assert trailers == {"kraft-resume-offset": str(stream.messages[-1]["next_offset"])}


def test_an_offset_below_the_log_start_ends_the_stream_with_the_log_start() -> None:
    written = Written(*[[f"t{number}"] for number in range(40)])
    written.log.advance_start(99, 20)

    stream = watch(written, {"from_offset": 0})

    code, text, trailers = stream.ended or (None, "", {})
    start = written.log.first_offset
    assert code is grpc.StatusCode.OUT_OF_RANGE
    assert text == (
        f"offset 0 was asked for, and the log of this node begins at offset {start}: read the image, and watch from its"
        " next_offset"
    )
    assert trailers == {"kraft-log-start-offset": str(start)}


def test_an_offset_within_an_aborted_transaction_ends_the_stream() -> None:
    stream = watch(Written(["begin"], ["a"], ["abort"], ["b"]), {"from_offset": 1})

    code, _, trailers = stream.ended or (None, "", {})
    assert (code, trailers) == (grpc.StatusCode.ABORTED, {"kraft-resume-offset": "3"})


def test_a_node_without_contact_to_the_quorum_ends_its_streams(
    in_touch: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "STALE_S", 0.05)
    in_touch["joined"] = False

    stream = watch(Written(["a"]), {"from_offset": 0})

    code, text, _ = stream.ended or (None, "", {})
    assert (code, text) == (
        grpc.StatusCode.UNAVAILABLE,
        "the node has no contact with the quorum; use another node",
    )


def test_a_node_without_a_state_ends_requests_for_the_image(
    in_touch: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "STALE_S", 0.05)
    in_touch["joined"] = False

    stream = watch(Written(), {})

    code, text, trailers = stream.ended or (None, "", {})
    assert (code, text, trailers) == (
        grpc.StatusCode.UNAVAILABLE,
        "the node has no contact with the quorum; use another node",
        {},
    )


def test_allow_stale_permits_a_node_without_contact_to_the_quorum(
    in_touch: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "STALE_S", 0.02)
    monkeypatch.setattr(metadata, "POSITION_S", 0.05)
    in_touch["joined"] = False

    stream = watch(Written(["a"]), {"from_offset": 0, "allow_stale": True}, messages=3)

    assert [message["kind"] for message in stream.messages] == ["changes", "position", "position"]


def test_a_watcher_without_matching_records_gets_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "POSITION_S", 0.02)

    stream = watch(Written(["a"], ["b"]), {"from_offset": 0, "filter": {"types": ["CONFIG_RECORD"]}}, messages=1)

    assert stream.messages[0] == {
        "kind": "position",
        "next_offset": 2,
        "more": False,
        "end_offset": 2,
        "changes": [],
    }


def test_a_position_inside_a_batch_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "POSITION_S", 0.0)
    names = [f"t{number}" for number in range(CHUNK_RECORDS_MAX * 2)]

    stream = watch(Written(names), {"from_offset": 0, "filter": {"types": ["CONFIG_RECORD"]}}, messages=2)

    assert {message["next_offset"] for message in stream.messages} == {len(names)}


def test_a_sent_part_of_a_batch_is_closed_if_the_rest_does_not_match() -> None:
    names = ["wanted", *(f"t{number}" for number in range(CHUNK_RECORDS_MAX * 2))]

    stream = watch(Written(names), {"from_offset": 0, "filter": {"where": {"name": ["wanted"]}}}, messages=2)

    received = [([change["offset"] for change in message["changes"]], message["more"]) for message in stream.messages]
    assert received == [([0], True), ([], False)]
