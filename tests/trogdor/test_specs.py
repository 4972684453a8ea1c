"""The checks of a task's end state find each error; the states have the form that Trogdor's coordinator gives them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trogdor import specs
from tests.trogdor.rounds import is_creating


def done(status: Any, error: str = "") -> dict[str, Any]:
    """A task that has ended; Trogdor leaves out an empty error."""
    return {"state": "DONE", "startedMs": 1, "doneMs": 2, "status": status, **({"error": error} if error else {})}


def consumer(messages: int) -> dict[str, Any]:
    return {"consumer.consume-1-0": {"assignedPartitions": [], "totalMessagesReceived": messages}}


def test_a_round_trip_that_ends_with_all_messages_is_well() -> None:
    ended = done({"totalUniqueSent": 2500, "totalReceived": 2500})

    assert specs.check_counts("round-trip-1", ended, totalUniqueSent=2500, totalReceived=2500) == []


@pytest.mark.parametrize(
    ("ended", "wrong"),
    [
        (
            done({"totalReceived": 2499, "totalUniqueSent": 2500}),
            [
                (
                    "t ended with totalReceived 2499 where 2500 is expected: "
                    "{'totalReceived': 2499, 'totalUniqueSent': 2500}"
                )
            ],
        ),
        (
            done({"totalUniqueSent": 2500, "totalReceived": 2500}, "The topic is gone."),
            ["t ended with the error 'The topic is gone.'"],
        ),
        (
            done("Creating 3 topic(s)"),
            [
                "t ended with totalUniqueSent None where 2500 is expected: Creating 3 topic(s)",
                "t ended with totalReceived None where 2500 is expected: Creating 3 topic(s)",
            ],
        ),
    ],
)
def test_a_round_trip_that_lacks_a_message_or_has_an_error_is_reported(ended: dict[str, Any], wrong: list[str]) -> None:
    assert specs.check_counts("t", ended, totalUniqueSent=2500, totalReceived=2500) == wrong


def test_a_consumer_that_lacks_a_message_is_reported() -> None:
    assert specs.check_consumed("t", done(consumer(10)), 10) == []
    assert specs.check_consumed("t", done(consumer(9)), 10) == ["t ended with [9] of 10 messages"]
    assert specs.check_consumed("t", done({}), 10) == ["t ended with [] of 10 messages"]


def test_a_process_that_was_not_resumed_is_reported() -> None:
    assert specs.check_resumed("t", done("resumed node-1.properties"), "node-1.properties") == []
    assert specs.check_resumed("t", done("stopped node-1.properties"), "node-1.properties") == [
        "t ended with the status 'stopped node-1.properties'"
    ]


def test_the_end_offsets_of_a_round_are_summed_up() -> None:
    text = "round-trip-1-1:0:7\nround-trip-1-2:0:5\nround-trip-11-1:0:100\nround-trip-1-2:1:0\na warning\n"

    assert specs.end_offsets(text, "round-trip-1-") == 12


@pytest.mark.parametrize(
    ("state", "creating"),
    [
        ({"state": "PENDING"}, True),
        ({"state": "RUNNING", "status": None}, True),
        ({"state": "RUNNING", "status": "Creating 8 topic(s)"}, True),
        ({"state": "RUNNING", "status": "Created 8 topic(s)"}, False),
        ({"state": "RUNNING", "status": {"totalSent": 1}}, False),
        ({"state": "DONE", "error": "no topic", "status": "Creating 8 topic(s)"}, False),
    ],
)
def test_a_consumer_waits_until_the_topics_are_created(state: dict[str, Any], creating: bool) -> None:
    assert is_creating(state) is creating
