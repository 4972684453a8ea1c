"""The reasons for which a server may close a connection, and none: W11."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from controller.core.apis import APIS
from raft.network.requests import ENTRIES_MAX
from records.messages.topics import DeleteTopicsRequest
from records.messages.versions import ApiVersionsRequest
from simulations.sockets.closes import check_close, held_bytes, may_refuse_next
from simulations.sockets.frames import API_VERSIONS, Asked, Tap
from simulations.sockets.rogue_clients import frame, request_bytes
from simulations.sockets.wire_rules import WireRules
from simulations.world.violation import Violation

NEWEST = APIS[API_VERSIONS].versions[1]
VALID = request_bytes(ApiVersionsRequest(client_software_name="me", client_software_version="1"), NEWEST, 1)
UNSUPPORTED = VALID[:2] + (NEWEST + 1).to_bytes(2, "big") + VALID[4:]
UNSERVED = b"\x7f\x7f" + VALID[2:]
TRUNCATED = VALID[:-1]
BOUNDS = {"idle_ms_max": 2_000, "held_bytes_max": 200, "unsent_bytes_max": 100, "connections_max": 3}
WIRE_RULES: Any = WireRules(SimpleNamespace(world=SimpleNamespace(now=0)))  # type: ignore[arg-type]


def make_connection(*written: bytes) -> Any:
    """A connection of which the server has read all that its client has written, and handled nothing."""
    connection: Any = SimpleNamespace(requests={}, client=SimpleNamespace(node=SimpleNamespace(id=901)))

    def add(data: bytes) -> Any:
        place = len(connection.requests) + 1
        connection.requests[place] = Asked(connection, data, place)
        return connection.requests[place]

    end = {"is_gone": False, "is_reset": False, "saw_end": False, "under_way": 0}
    connection.client_end = SimpleNamespace(**end, tap=Tap(add, is_answer=False), unsent=b"")
    connection.server_end = SimpleNamespace(**end, arrived=b"", unsent=b"")
    for data in written:
        connection.client_end.tap.cut(data)
    return connection


def make_process(*connections: Any) -> Any:
    numbered = dict(enumerate(connections, 1))
    return SimpleNamespace(
        node=SimpleNamespace(id=1), bounds=BOUNDS, connections=numbered, loop=SimpleNamespace(listener=object()),
        network=SimpleNamespace(wire_rules=WIRE_RULES), server=SimpleNamespace(connections=dict(numbered)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ((), "which it has answered"),
        ((frame(VALID),), f"ApiVersions v{NEWEST} it has not answered"),
        ((frame(UNSUPPORTED),), f"v{NEWEST + 1} it has not answered"),
        ((frame(UNSUPPORTED), frame(VALID), frame(UNSERVED)), f"v{NEWEST + 1} it has not answered"),
    ],
)
def test_a_connection_is_not_closed_without_a_reason(written: tuple[bytes, ...], what: str) -> None:
    connection = make_connection(*written)

    with pytest.raises(Violation, match=f"W11: node 1 closes a connection of 901, .*{what}"):
        check_close(make_process(connection), connection, 1.9)


@pytest.mark.parametrize(
    "end", ["client_end.is_gone", "server_end.is_gone", "server_end.is_reset", "server_end.saw_end"]
)
def test_a_connection_that_has_ended_is_closed(end: str) -> None:
    connection = make_connection(frame(VALID))
    side, _, flag = end.partition(".")
    setattr(getattr(connection, side), flag, True)

    check_close(make_process(connection), connection, 0)


def test_a_server_that_shuts_down_closes_its_connections() -> None:
    connection = make_connection(frame(VALID))
    process = make_process(connection)
    process.loop.listener = None

    check_close(process, connection, 0)


def test_a_silent_connection_is_closed() -> None:
    connection = make_connection()

    check_close(make_process(connection), connection, 2.0)


def test_a_connection_is_closed_when_there_are_too_many() -> None:
    connection = make_connection()

    check_close(make_process(*[connection] * 4), connection, 0)


def test_a_connection_with_waiting_frames_is_closed_when_all_hold_too_many_bytes() -> None:
    idle, half, waiting = make_connection(), make_connection(frame(bytes(150))[:-1]), make_connection(frame(VALID) * 3)

    check_close(make_process(idle, half, waiting), half, 0)
    check_close(make_process(idle, half, waiting), waiting, 0)
    with pytest.raises(Violation, match="W11"):
        check_close(make_process(idle, half, waiting), idle, 0)
    with pytest.raises(Violation, match="W11"):
        check_close(make_process(idle, half), half, 0)


def test_a_connection_whose_client_does_not_read_is_closed_when_all_have_too_many_unsent_bytes() -> None:
    reading, deaf = make_connection(frame(VALID)), make_connection(frame(VALID))
    deaf.server_end.unsent = bytes(60)
    deaf.requests[1].said = bytes(41)

    check_close(make_process(reading, deaf), deaf, 0)
    with pytest.raises(Violation, match="W11"):
        check_close(make_process(reading, deaf), reading, 0)


@pytest.mark.parametrize(
    ("written", "may"),
    [
        ((frame(UNSERVED), frame(VALID)), True),
        ((frame(TRUNCATED),), True),
        ((frame(UNSUPPORTED[:9]),), True),
        ((frame(UNSUPPORTED[:5]),), True),
        ((frame(VALID), frame(UNSERVED)), False),
        ((frame(UNSUPPORTED), frame(UNSERVED)), True),
        (((-1).to_bytes(4, "big", signed=True),), True),
        ((frame(VALID), (1 << 30).to_bytes(4, "big")), False),
        ((frame(UNSUPPORTED), frame(VALID)[:9]), False),
    ],
)
def test_the_next_frame_decides_whether_a_connection_may_be_refused(written: tuple[bytes, ...], may: bool) -> None:
    assert may_refuse_next(make_connection(*written), WIRE_RULES) is may


def test_a_frame_behind_an_answered_request_may_be_refused() -> None:
    connection = make_connection(frame(VALID), frame(UNSERVED))
    connection.requests[1].said = b"an answer"

    assert may_refuse_next(connection, WIRE_RULES)


@pytest.mark.parametrize(("count", "may"), [(ENTRIES_MAX, False), (ENTRIES_MAX + 1, True)])
def test_a_request_with_too_many_entries_may_be_refused(count: int, may: bool) -> None:
    request = DeleteTopicsRequest(topic_names=("topic",) * count, timeout_ms=1)
    connection = make_connection(frame(request_bytes(request, 5, 1)))

    assert may_refuse_next(connection, WIRE_RULES) is may


def test_held_bytes_are_those_that_the_server_has_read_and_not_handled() -> None:
    connection = make_connection(frame(VALID), frame(VALID), frame(VALID)[:10])
    connection.requests[1].taken_at = 7
    connection.client_end.under_way, connection.server_end.arrived = 3, bytes(2)

    assert held_bytes(connection) == len(frame(VALID)) + 5
