"""Problems with peers: logged once for each cause, repeats counted, shown while they last."""

from __future__ import annotations

import io
import json
from typing import Any

from controller.node.logging.logs import Log
from controller.node.logging.problems import DATA_LOST, KEPT_MAX, OVER_S, REPEAT_S


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def lines(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_repeated_refusal_is_one_line_and_later_one_with_the_number_of_repeats() -> None:
    clock, out = Clock(), io.StringIO()
    log = Log("json", "INFO", out, clock)
    for _ in range(200):
        log("peer_answered_error", peer=2, error="INCONSISTENT_CLUSTER_ID")
        clock.now_s += 0.08
    log("peer_answered_error", peer=3, error="INCONSISTENT_CLUSTER_ID")

    assert [line["peer"] for line in lines(out)] == [2, 3]
    assert lines(out)[0]["text"].startswith(
        "node 2 refuses this node: the two were formatted with different cluster ids"
    )

    clock.now_s = 100 + REPEAT_S
    log("peer_answered_error", peer=2, error="INCONSISTENT_CLUSTER_ID")

    assert (lines(out)[-1]["peer"], lines(out)[-1]["repeated"]) == (2, 200)


def test_a_problem_is_over_when_it_has_not_repeated_for_a_minute() -> None:
    clock = Clock()
    log = Log("json", "INFO", io.StringIO(), clock)
    log("disk_slow", directory="/data", limit_s=2)
    clock.now_s += REPEAT_S - 1
    assert [(problem.occurrences, problem.since_s) for problem in log.problems.current()] == [(1, 100.0)]

    clock.now_s += 1

    assert log.problems.current() == []


def test_a_problem_that_repeats_while_it_lasts_is_over_for_those_who_look_after_ten_seconds() -> None:
    clock = Clock()
    log = Log("json", "INFO", io.StringIO(), clock)
    log("peer_answered_error", peer=2, error="INCONSISTENT_CLUSTER_ID")
    log("clock_jumped", by_ms=4000)
    clock.now_s += OVER_S - 1
    assert [problem.event for problem in log.problems.current()] == ["peer_answered_error", "clock_jumped"]

    clock.now_s += 1

    assert [problem.event for problem in log.problems.current()] == ["clock_jumped"]


def test_a_bootstrap_server_is_no_node_with_a_negative_id() -> None:
    log = Log("json", "INFO", io.StringIO())
    log("peer_answered_error", peer=-2, error="UNKNOWN_SERVER_ERROR")

    assert log.problems.current()[0].text == (
        "bootstrap server 1 of controller.quorum.bootstrap.servers refuses requests of this node with "
        "UNKNOWN_SERVER_ERROR"
    )


def test_both_cluster_ids_are_named() -> None:
    log = Log("json", "INFO", io.StringIO())
    log("peer_in_other_cluster", found="AAAA", expected="BBBB", sender="node 2", address="127.0.0.1:50001")

    (problem,) = log.problems.current()

    assert problem.text.startswith(
        "node 2 at 127.0.0.1:50001 sends requests with the cluster id AAAA to this node, whose cluster id is BBBB. "
    )


def test_a_node_of_another_cluster_that_connects_again_is_one_problem_with_its_last_address() -> None:
    clock, out = Clock(), io.StringIO()
    log = Log("json", "INFO", out, clock)
    for port in range(50001, 50031):
        log("peer_in_other_cluster", found="A", expected="B", sender="node 2", address=f"127.0.0.1:{port}")
    log("peer_in_other_cluster", found="A", expected="B", sender="node 2", address="127.0.0.2:50001")

    texts = [problem.text.partition(" sends")[0] for problem in log.problems.current()]

    assert texts == ["node 2 at 127.0.0.1:50030", "node 2 at 127.0.0.2:50001"]
    assert [line["address"] for line in lines(out)] == ["127.0.0.1:50001", "127.0.0.2:50001"]


def test_a_peer_that_refuses_is_named_with_its_address() -> None:
    log = Log("json", "INFO", io.StringIO())
    log("peer_answered_error", peer=2, error="INCONSISTENT_CLUSTER_ID", address="c2:9093")

    assert log.problems.current()[0].text.startswith("node 2 at c2:9093 refuses this node: the two were formatted")


def test_peers_cannot_make_the_list_grow_without_end() -> None:
    out = io.StringIO()
    log = Log("json", "INFO", out)
    for number in range(10 * KEPT_MAX):
        log("peer_in_other_cluster", found=str(number), expected="B")

    assert len(log.problems.current()) == len(lines(out)) == KEPT_MAX


def test_events_that_are_no_problem_are_all_logged() -> None:
    out = io.StringIO()
    log = Log("json", "INFO", out)
    for _ in range(3):
        log("controller_active", epoch=1)

    assert [line["event"] for line in lines(out)] == ["controller_active"] * 3


def test_lost_data_is_a_line_once_a_minute_with_both_offsets_and_the_section_to_read() -> None:
    clock, out = Clock(), io.StringIO()
    log = Log("json", "INFO", out, clock)
    for _ in range(1000):
        log("truncation_refused", leader_id=2, epoch=7, end_offset=0, committed=1042)
        clock.now_s += 0.1

    assert [line.get("repeated") for line in lines(out)] == [None, 601]
    assert log.problems.is_current(DATA_LOST)
    assert log.problems.current()[0].text == (
        "the quorum has lost data: node 2, which leads epoch 7, has another log from offset 0 on, and this node has "
        "committed all records below 1042. It keeps them, and does not follow. Stop the other controllers, and do not "
        'format this node: docs/operations.md, "The quorum has lost data"'
    )
