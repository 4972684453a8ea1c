"""Nodes as processes that cannot form a quorum: the cause stands in the log once, in /readyz and in /quorum."""

from __future__ import annotations

import json
import re
import shutil
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from raft.storage.committed_prefix import parse_prefix
from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import (
    CLUSTER_ID,
    format_directory,
    running,
    write_properties,
)
from tests.deploy.watched import eventually
from tests.http_answers import http_answer
from tools.kraftctl.main import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NODES = (1, 2, 3)
OTHER_CLUSTER_ID = "Z2xyVGVzdENsdXN0ZXJJZA"


def get(port: int, path: str) -> str:
    return http_answer(f"http://127.0.0.1:{port}{path}")[1]


def reason_with(port: int, part: str) -> str:
    """The text of /readyz once it has this part."""
    end = time.monotonic() + 60
    while part not in (found := get(port, "/readyz")):
        assert time.monotonic() < end, found
        time.sleep(0.1)
    return found


def test_two_nodes_with_different_cluster_ids_name_both_ids_and_where_the_other_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = free_ports_in_a_row(4)
    voters = f"1@127.0.0.1:{first},2@127.0.0.1:{first + 1}"
    with ExitStack() as stack:
        for node, cluster_id in ((1, CLUSTER_ID), (2, OTHER_CLUSTER_ID)):
            root = tmp_path / str(node)
            root.mkdir()
            port = first + node - 1
            changes = {"node_id": str(node), "controller_quorum_voters": voters}
            properties = write_properties(root, port, **changes)
            format_directory(properties, cluster_id=cluster_id)
            stack.enter_context(
                running(root, port, **changes, kraft_http_listener=f"127.0.0.1:{port + 2}", kraft_log_format="json")
            )

        reason = reason_with(first + 2, OTHER_CLUSTER_ID)
        assert CLUSTER_ID in reason
        assert "refuses this node" in reason_with(first + 2, "refuses this node")
        view: dict[str, Any] = json.loads(get(first + 2, "/quorum"))
        assert view["quorum"]["leader_id"] is None
        assert any(OTHER_CLUSTER_ID in problem["text"] and problem["lasts_ms"] >= 0 for problem in view["problems"])
        texts = [problem["text"] for problem in view["problems"]]
        asks = rf"node 2 at 127\.0\.0\.1:\d+ sends requests with the cluster id {OTHER_CLUSTER_ID} to this node"
        refuses = rf"node 2 at 127\.0\.0\.1:{first + 1} refuses this node: "
        assert [len([text for text in texts if re.match(form, text)]) for form in (asks, refuses)] == [1, 1]
        main(["status", "-c", str(tmp_path / "1/controller.properties")])
        shown = capsys.readouterr().out
        assert re.search(asks, shown)
        assert re.search(refuses, shown)
        time.sleep(2)
    log = [json.loads(line) for line in (tmp_path / "1" / "node.log").read_text().splitlines()]
    events = [line["event"] for line in log]
    (found,) = [line for line in log if line["event"] == "peer_in_other_cluster"]
    assert re.fullmatch(r"127\.0\.0\.1:\d+", found["address"])
    assert (found["sender"], found["found"]) == ("node 2", OTHER_CLUSTER_ID)
    assert events.count("peer_answered_error") == 1
    assert events.count("peer_in_other_cluster") == 1


def test_a_peer_that_does_not_run_is_named_with_its_address(tmp_path: Path) -> None:
    first = free_ports_in_a_row(3)
    changes = {"controller_quorum_voters": f"1@127.0.0.1:{first},2@127.0.0.1:{first + 1}"}
    with running(tmp_path, first, **changes, kraft_http_listener=f"127.0.0.1:{first + 2}"):
        reason = reason_with(first + 2, "cannot connect")

    assert f"cannot connect to node 2 at 127.0.0.1:{first + 1}: " in reason


def test_two_nodes_with_one_id_are_named_by_the_leader_in_the_same_words_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = free_ports_in_a_row(7)
    voters = ",".join(f"{node}@127.0.0.1:{first + node}" for node in NODES)

    def start(stack: ExitStack, name: str, node: int, port: int, **keys: str) -> None:
        (tmp_path / name).mkdir()
        keys |= {"node_id": str(node), "controller_quorum_voters": voters, "kraft_log_format": "json"}
        stack.enter_context(running(tmp_path / name, port, **keys))

    def view(node: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(get(first + 3 + node, "/quorum"))
        return found

    def texts_of(node: int) -> list[str]:
        return [one["text"] for one in view(node)["problems"] if one["text"].startswith("two processes")]

    def leaders() -> set[int | None]:
        return {view(node)["quorum"]["leader_id"] for node in NODES}

    with ExitStack() as stack:
        for node in NODES:
            start(stack, str(node), node, first + node, kraft_http_listener=f"127.0.0.1:{first + 3 + node}")
        eventually(lambda: len(leaders()) == 1 and leaders() != {None}, "all know the leader")
        (leader,) = leaders()
        assert leader is not None
        shared = next(node for node in NODES if node != leader)
        # A second process with the id of a follower, on another port, with a directory of its own.
        start(stack, "copy", shared, first)
        eventually(lambda: texts_of(leader), "the leader reports it")
        (text,) = texts_of(leader)
        reasons = [check["reason"] for check in json.loads(get(first + 3 + leader, "/readyz"))["checks"]]
        addresses = ",".join(f"127.0.0.1:{first + node}" for node in NODES)
        code = main(["status", "--bootstrap-controller", addresses])
        shown = capsys.readouterr().out

    directories = sorted(
        re.findall("(?m)^directory.id=(.*)$", (tmp_path / name / "data" / "meta.properties").read_text())[0]
        for name in (str(shared), "copy")
    )
    assert text.startswith(
        f"two processes fetch with node id {shared}, which must belong to one: one on 127.0.0.1 with directory id "
        f"{directories[0]}, one on 127.0.0.1 with directory id {directories[1]}. Stop the wrong one"
    )
    assert any(text in reason for reason in reasons)
    assert code == 0
    assert [line for line in shown.splitlines() if line.startswith(f"node {leader}: {text} (for ")] != []
    events = [json.loads(line) for line in (tmp_path / str(leader) / "node.log").read_text().splitlines()]
    assert [event["text"] for event in events if event["event"] == "node_id_shared"] == [text]


def test_a_second_process_with_the_id_of_the_leader_is_named_by_the_leader(tmp_path: Path) -> None:
    first = free_ports_in_a_row(3)
    voters = f"1@127.0.0.1:{first}"
    for name in ("one", "copy"):
        (tmp_path / name).mkdir()
    with running(
        tmp_path / "one", first, kraft_http_listener=f"127.0.0.1:{first + 1}", controller_quorum_voters=voters
    ):
        reason_with(first + 1, "leads epoch 1")
        # An observer with the same id, which finds the leader by its address.
        observer = {"controller_quorum_voters": None, "controller_quorum_bootstrap_servers": f"127.0.0.1:{first}"}
        properties = write_properties(tmp_path / "copy", first + 2, **observer)
        format_directory(properties, "--no-initial-controllers")
        with running(tmp_path / "copy", first + 2, **observer):
            reason = reason_with(first + 1, "another process fetches with the id of this node")

    assert "two nodes have the same node.id. Give one of them another node.id and directory" in reason


def test_a_survivor_of_a_wiped_majority_says_everywhere_that_the_quorum_has_lost_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = free_ports_in_a_row(6)
    voters = ",".join(f"{node}@127.0.0.1:{first + node - 1}" for node in NODES)

    def run(stack: ExitStack, node: int, idle_ms: int) -> None:
        root, port = tmp_path / str(node), first + node - 1
        root.mkdir(exist_ok=True)
        stack.enter_context(
            running(
                root,
                port,
                node_id=str(node),
                controller_quorum_voters=voters,
                metadata_max_idle_interval_ms=str(idle_ms),
                kraft_http_listener=f"127.0.0.1:{port + 3}",
                kraft_log_format="json",
            )
        )

    def committed_end() -> int:
        path = tmp_path / "1/data/__cluster_metadata-0/committed-prefix-checkpoint"
        return parse_prefix(path.read_bytes()).end_offset if path.exists() else 0

    with ExitStack() as stack:
        for node in NODES:
            run(stack, node, idle_ms=5)
        eventually(lambda: committed_end() >= 200, "a prefix of 200 records")
    for node in (2, 3):
        shutil.rmtree(tmp_path / str(node))
    for _ in range(4):  # each start is an election: the empty quorum comes to an epoch above that of the survivor
        with ExitStack() as stack:
            # Few records: a log that has more of them in an epoch of the survivor does not diverge from its own.
            run(stack, 2, idle_ms=600_000)
            run(stack, 3, idle_ms=600_000)
            reason_with(first + 4, '"ready"')
    with ExitStack() as stack:
        for node in (2, 3, 1):
            run(stack, node, idle_ms=600_000)
        reason = reason_with(first + 3, "the quorum has lost data: node ")
        problems = json.loads(get(first + 3, "/quorum"))["problems"]
        path = str(tmp_path / "1/controller.properties")

        assert json.loads(reason)["status"] == "not ready"
        assert problems[0]["text"].startswith("the quorum has lost data: node ")
        eventually(lambda: "\nkraft_data_lost 1.0\n" in get(first + 3, "/metrics"), "the metric")
        assert "\nkraft_data_lost 0.0\n" in get(first + 4, "/metrics")
        for verb, code in ((["status"], 1), (["probe", "ready"], 1), (["doctor", "--timeout", "1.5"], 2)):
            assert main([*verb, "-c", path]) == code
            assert "the quorum has lost data: node " in capsys.readouterr().out
    events = [json.loads(line)["event"] for line in (tmp_path / "1/node.log").read_text().splitlines()]
    assert events.count("truncation_refused") == 1
    assert "truncated" not in events
