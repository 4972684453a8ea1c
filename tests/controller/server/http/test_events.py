"""Events for the status page: which log events are kept, and in which form."""

from __future__ import annotations

import asyncio
import io
import json

from controller.node.logging.logs import Log
from controller.server.http.events import KEPT, TEXT_CHARACTERS_MAX, Events


def kept_of(*lines: tuple[str, dict[str, object]], level: str = "INFO") -> Events:
    async def make() -> Events:
        events = Events(asyncio.get_running_loop(), lambda: None, lambda: 4711)
        log = Log("json", level, io.StringIO())
        log.seen_by.append(events.see)
        for name, fields in lines:
            log(name, **fields)
        return events

    return asyncio.run(make())


def test_a_logged_event_is_kept_with_its_level_and_logger() -> None:
    events = kept_of(("role_changed", {"was": "Follower", "now": "Prospective", "leader_id": None}))

    assert list(events.kept) == [
        {
            "time_ms": 4711,
            "level": "INFO",
            "logger": "raft",
            "event": "role_changed",
            "fields": {"was": "Follower", "now": "Prospective", "leader_id": None},
        }
    ]


def test_an_event_below_the_log_level_is_not_kept() -> None:
    assert not kept_of(("role_changed", {}), level="ERROR").kept


def test_fields_are_plain_bounded_and_without_secrets() -> None:
    fields: dict[str, object] = {
        "password": "s3cret",
        "error": ValueError("x" * 10_000),
        "ratio": float("nan"),
        "exc_info": ValueError("y"),
    }

    events = kept_of(("node_failed", fields))

    shown = events.kept[0]["fields"]
    assert "s3cret" not in json.dumps(list(events.kept), allow_nan=False)
    assert len(shown["error"]) == TEXT_CHARACTERS_MAX + 1
    assert shown["ratio"] == "nan"
    assert "exc_info" not in shown


def test_only_the_last_events_are_kept() -> None:
    events = kept_of(*[("role_changed", {"epoch": number}) for number in range(KEPT + 5)])

    assert [event["fields"]["epoch"] for event in events.kept] == list(range(5, KEPT + 5))
