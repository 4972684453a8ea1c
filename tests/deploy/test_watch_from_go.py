"""The Go program of docs/watch prints the topics of a real quorum, through the death of a node; the .proto is valid."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from controller.server.grpc import bodies, metadata
from simulations.chaos.ports import free_ports
from simulations.chaos.quorum import NODES
from tests.deploy.model_brokers import create, heartbeat, register
from tests.deploy.watched import eventually, watched

FOLDER = Path(__file__).parents[2] / "docs" / "watch"


def test_the_proto_names_the_service_its_methods_and_the_fields_of_a_body() -> None:
    text = re.sub(r"//.*", "", (FOLDER / "metadata.proto").read_text())

    assert f"{re.findall(r'package (.*);', text)[0]}.{re.findall(r'service (.*) {', text)[0]}" == metadata.NAME
    assert set(re.findall(r"rpc (\w+)", text)) == {"Watch", "Snapshot", "Status"}
    assert {name: int(number) << 3 | 2 for name, number in re.findall(r"(?:string|bytes) (\w+) = (\d+);", text)} == {
        "json": bodies.JSON_TAG, "msgpack": bodies.MSGPACK_TAG,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go here")
def test_the_program_in_go_prints_each_topic_once_through_the_death_of_a_node(tmp_path: Path) -> None:
    program = tmp_path / "watch"
    subprocess.run(
        ["go", "build", "-o", program, "."], cwd=FOLDER / "go", check=True, env={**os.environ, "GOFLAGS": ""}
    )
    targets = {node: f"127.0.0.1:{port}" for node, port in zip(NODES, free_ports(len(NODES)), strict=True)}

    def printed() -> list[str]:
        return [line.split()[0] for line in (tmp_path / "topics").read_text().splitlines()]

    with watched(tmp_path, own={node: {"kraft.grpc.listener": target} for node, target in targets.items()}) as quorum:
        leader = quorum.await_leader()
        heartbeat(quorum, leader, 101, register(quorum, leader, 101, "rack"))
        create(quorum, leader, "before", {0: (101,)})
        follower = next(node for node in NODES if node != leader)
        ordered = [targets[follower], *(target for node, target in targets.items() if node != follower)]
        with (tmp_path / "topics").open("w") as topics, (tmp_path / "errors").open("w") as errors:
            process = subprocess.Popen([program, *ordered], stdout=topics, stderr=errors)
        try:
            eventually(lambda: printed() == ["before"], "the first topic")
            quorum.signal(follower, signal.SIGKILL)
            create(quorum, leader, "after", {0: (101,)})
            eventually(lambda: "after" in printed(), "the topic that was created after the death of the node")
        finally:
            process.kill()
            process.wait()

        assert printed() == ["before", "after"]
        assert f"{targets[follower]} rpc error: code = Unavailable" in (tmp_path / "errors").read_text()
