"""Nodes as processes that cannot form a quorum: the cause stands in the log once, in /readyz and in /quorum."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from tests.controller.server.processes import CLUSTER_ID, free_ports_in_a_row, running, start_command, write_properties

if TYPE_CHECKING:
    from pathlib import Path

OTHER_CLUSTER_ID = "Z2xyVGVzdENsdXN0ZXJJZA"


def get(port: int, path: str) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()


def reason_with(port: int, part: str) -> str:
    """The text of /readyz once it has this part."""
    end = time.monotonic() + 60
    while part not in (found := get(port, "/readyz")):
        assert time.monotonic() < end, found
        time.sleep(0.1)
    return found


def test_two_nodes_with_different_cluster_ids_name_both_ids(tmp_path: Path) -> None:
    first = free_ports_in_a_row(4)
    voters = f"1@127.0.0.1:{first},2@127.0.0.1:{first + 1}"
    with ExitStack() as stack:
        for node, cluster_id in ((1, CLUSTER_ID), (2, OTHER_CLUSTER_ID)):
            root = tmp_path / str(node)
            root.mkdir()
            port = first + node - 1
            changes = {"node_id": str(node), "controller_quorum_voters": voters}
            properties = write_properties(root, port, **changes)
            _format(properties, cluster_id)
            stack.enter_context(
                running(root, port, **changes, kraft_http_listener=f"127.0.0.1:{port + 2}", kraft_log_format="json")
            )

        reason = reason_with(first + 2, OTHER_CLUSTER_ID)
        assert CLUSTER_ID in reason
        assert "refuses this node" in reason_with(first + 2, "refuses this node")
        view: dict[str, Any] = json.loads(get(first + 2, "/quorum"))
        assert view["quorum"]["leader_id"] is None
        assert any(OTHER_CLUSTER_ID in problem["text"] and problem["lasts_ms"] >= 0 for problem in view["problems"])
        time.sleep(2)
    events = [json.loads(line)["event"] for line in (tmp_path / "1" / "node.log").read_text().splitlines()]
    assert events.count("peer_answered_error") == 1
    assert events.count("peer_in_other_cluster") == 1


def test_a_peer_that_does_not_run_is_named_with_its_address(tmp_path: Path) -> None:
    first = free_ports_in_a_row(3)
    changes = {"controller_quorum_voters": f"1@127.0.0.1:{first},2@127.0.0.1:{first + 1}"}
    with running(tmp_path, first, **changes, kraft_http_listener=f"127.0.0.1:{first + 2}"):
        reason = reason_with(first + 2, "cannot connect")

    assert f"cannot connect to node 2 at 127.0.0.1:{first + 1}: " in reason


def _format(properties: Path, cluster_id: str) -> None:
    tool = "import sys; from controller.tools.storage import main; sys.exit(main())"
    subprocess.run(
        [start_command(properties)[0], "-c", tool, "format", "-t", cluster_id, "-c", str(properties)],
        check=True, capture_output=True,
    )  # fmt: skip
