"""Nodes as processes whose voters the autopilot changes (KIP-853): grown, healed and paused, while a client writes."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.configs import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.quorum import DescribeQuorumRequest
from records.metadata_log import METADATA_TOPIC
from records.resource_types import ResourceType
from records.uuids import uuid_text
from simulations.chaos.ports import free_ports_in_a_row
from tests.controller.server.processes import called, format_directory, running, write_properties
from tests.deploy.watched import eventually
from tests.interop.ask import ask
from tools.kraftctl.cluster.autopilot import run as run_autopilot
from tools.kraftctl.cluster.controllers import run as run_controllers

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

VOTERS = (1, 2, 3)
STABILIZATION_MS, DEAD_AFTER_MS = 1500, 4000
HEALED_S = 30
Topic = DescribeQuorumRequest.TopicData
DESCRIBED = DescribeQuorumRequest(
    topics=(Topic(topic_name=METADATA_TOPIC, partitions=(Topic.PartitionData(partition_index=0),)),)
)


class Nodes:
    """Nodes under one directory, at consecutive ports: node 1 to 3 are the first voters, the others join."""

    def __init__(self, root: Path, stack: ExitStack, **settings: str | None) -> None:
        self.root, self.stack, self.given = root, stack, settings
        self.port = free_ports_in_a_row(10)
        self.ids = VOTERS
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.acknowledged: list[str] = []

    def port_of(self, node: int) -> int:
        return self.port + node - 1

    def settings(self, node: int) -> dict[str, str | None]:
        return {
            "node_id": str(node), "controller_quorum_voters": None,
            "controller_quorum_bootstrap_servers": ",".join(f"127.0.0.1:{self.port_of(each)}" for each in VOTERS),
            "kraft_log_format": "json", "kraft_audit_log": str(self.root / str(node) / "audit.log"),
            "kraft_autopilot_enable": "true", "kraft_autopilot_stabilization_ms": str(STABILIZATION_MS),
            "kraft_http_listener": f"127.0.0.1:{self.port_of(node) + 5}",
            "kraft_autopilot_dead_after_ms": str(DEAD_AFTER_MS), **self.given,
        }  # fmt: skip

    def start(self, *nodes: int) -> None:
        voters = ",".join(f"{each}@127.0.0.1:{self.port_of(each)}:{uuid_text(bytes([each]) * 16)}" for each in VOTERS)
        for node in nodes:
            directory = self.root / str(node)
            if not (directory / "data").exists():
                is_first = not directory.exists() and node in VOTERS
                directory.mkdir(exist_ok=True)
                properties = write_properties(directory, self.port_of(node), **self.settings(node))
                given = ("--initial-controllers", voters) if is_first else ("--no-initial-controllers",)
                format_directory(properties, *given)
            self.processes[node] = self.stack.enter_context(
                running(directory, self.port_of(node), **self.settings(node))
            )
        self.ids = tuple(sorted({*self.ids, *nodes}))

    def stop(self, node: int) -> None:
        self.processes[node].kill()
        self.processes[node].wait()

    def terminate(self, node: int) -> float:
        """Stop a node by SIGTERM; the seconds until its end, in which a client writes."""
        self.processes[node].terminate()
        return self.write_until(lambda: self.processes[node].poll() is not None, f"the end of node {node}")

    def epoch(self) -> int:
        return int(self.ask_leader(DESCRIBED).topics[0].partitions[0].leader_epoch)

    def replace_disk(self, node: int) -> None:
        self.stop(node)
        shutil.rmtree(self.root / str(node) / "data")
        self.start(node)

    def ask_leader(self, request: Any) -> Any:
        """The first answer of a node that leads; None where none does."""
        for node in self.ids:
            with contextlib.suppress(OSError):
                described = ask(self.port_of(node), DESCRIBED, 2).topics[0].partitions[0]
                if described.leader_id == node and not described.error_code:
                    return ask(self.port_of(node), request, 2 if request is DESCRIBED else 1)
        return None

    def leader_id(self) -> int:
        return int(self.ask_leader(DESCRIBED).topics[0].partitions[0].leader_id)

    def voters(self) -> dict[int, bytes]:
        answer = self.ask_leader(DESCRIBED)
        if answer is None:
            return {}
        return {each.replica_id: each.replica_directory_id for each in answer.topics[0].partitions[0].current_voters}

    def set_config(self, name: str, value: str | None) -> bool:
        """Whether the change of a dynamic config of all nodes was acknowledged."""
        change = IncrementalAlterConfigsRequest.AlterConfigsResource.AlterableConfig(
            name=name, config_operation=0 if value is not None else 1, value=value
        )
        resource = IncrementalAlterConfigsRequest.AlterConfigsResource(
            resource_type=ResourceType.BROKER, resource_name="", configs=(change,)
        )
        answer = self.ask_leader(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False))
        return answer is not None and answer.responses[0].error_code == Error.NONE

    def write(self) -> None:
        """Write a record of its own, and note it once it is acknowledged."""
        name = f"written.{len(self.acknowledged)}"
        if self.set_config(name, "1"):
            self.acknowledged.append(name)

    def write_until(self, is_so: Any, what: str) -> float:
        """Write all the while; the seconds that it took."""
        begin = time.monotonic()

        def check() -> bool:
            self.write()
            return bool(is_so())

        eventually(check, what, HEALED_S)
        return time.monotonic() - begin

    def kept(self) -> list[str]:
        """The acknowledged records that the leader has."""
        resource = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=ResourceType.BROKER, resource_name="", configuration_keys=None
        )
        answer = self.ask_leader(DescribeConfigsRequest(resources=(resource,)))
        names = {each.name for each in answer.results[0].configs}
        return [name for name in self.acknowledged if name in names]

    def kraftctl(self, verb: str, *options: str) -> subprocess.CompletedProcess[str]:
        servers = ",".join(f"127.0.0.1:{self.port_of(each)}" for each in self.ids)
        return called(run_autopilot, [verb, "--bootstrap-controller", servers, *options])

    def state(self) -> dict[str, Any]:
        """What `kraftctl autopilot state` says once the quorum is healthy, and its text names each voter."""

        def is_healthy() -> bool:
            shown = self.kraftctl("state")
            return shown.returncode == 0 and all(f"voter    {node}@" in shown.stdout for node in self.ids)

        eventually(is_healthy, "a healthy quorum")
        return dict(json.loads(self.kraftctl("state", "--json").stdout))

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = [line for node in self.ids for line in (self.root / str(node) / "node.log").read_text().splitlines()]
        return [event for event in map(json.loads, lines) if event["event"] == name]

    def audited(self) -> list[dict[str, Any]]:
        """The lines of the audit logs for steps of the autopilot."""
        lines = []
        for node in self.ids:
            path = self.root / str(node) / "audit.log"
            lines += path.read_text().splitlines() if path.exists() else []
        return [line for line in map(json.loads, lines) if line["client_id"] == "kraft-autopilot"]


def test_a_quorum_of_three_grows_to_five_and_heals_a_lost_disk_while_a_client_writes(tmp_path: Path) -> None:
    with ExitStack() as stack:
        nodes = Nodes(tmp_path, stack)
        nodes.start(*VOTERS)
        nodes.write_until(lambda: len(nodes.voters()) == 3 and nodes.acknowledged, "a leader")
        nodes.start(4, 5)
        nodes.write_until(lambda: sorted(nodes.voters()) == [1, 2, 3, 4, 5], "five voters")
        before = nodes.voters()
        follower = next(each for each in (2, 3) if each != nodes.leader_id())
        nodes.replace_disk(follower)

        def is_replaced() -> bool:
            voters = nodes.voters()
            return len(voters) == 5 and voters[follower] != before[follower]

        healed_s = nodes.write_until(is_replaced, "the new directory")

        state = nodes.state()
        assert (state["healthy"], state["held_by"], state["next_step"]) == (True, [], None)
        assert [(each["node"], each["role"], each["health"]) for each in state["nodes"] if each["role"] == "voter"] == [
            (node, "voter", "healthy") for node in (1, 2, 3, 4, 5)
        ]
        assert nodes.kept() == nodes.acknowledged
        assert len(nodes.acknowledged) > 10
        assert healed_s < HEALED_S
        eventually(lambda: len(nodes.audited()) >= 4, "a line of the audit log for each step")
    assert nodes.events("autopilot_step_failed") == []
    steps = [(step["step"], step["node"]) for step in nodes.events("autopilot_step")]
    assert steps == [("add", 4), ("add", 5), ("remove", follower), ("add", follower)]
    assert [line["outcome"] for line in nodes.audited()] == ["committed"] * 4


def test_a_dead_voter_is_replaced_by_a_spare_unless_the_autopilot_is_paused(tmp_path: Path) -> None:
    with ExitStack() as stack:
        nodes = Nodes(tmp_path, stack, kraft_autopilot_voters_max="3")
        nodes.start(*VOTERS, 4)
        eventually(lambda: nodes.kraftctl("pause").returncode == 0, "a leader, which is paused")
        leader = nodes.leader_id()
        # The pause is in the metadata, so that it holds under the next leader: this one stops.
        nodes.stop(leader)
        nodes.write_until(lambda: len(nodes.voters()) == 3, "another leader")
        time.sleep((DEAD_AFTER_MS + 2 * STABILIZATION_MS) / 1000)
        assert sorted(nodes.voters()) == [1, 2, 3]
        assert nodes.events("autopilot_step") == []

        state = nodes.kraftctl("state")
        assert state.returncode == 2
        assert "is paused" in state.stdout
        assert f"voter    {leader}@" in state.stdout
        assert json.loads(nodes.kraftctl("resume", "--json").stdout) == {"paused": False}
        nodes.write_until(lambda: sorted(nodes.voters()) == sorted({1, 2, 3, 4} - {leader}), "the spare in its place")
        nodes.write_until(lambda: len(nodes.events("autopilot_step_done")) == 3, "its registration is removed")

        assert nodes.kept() == nodes.acknowledged
    assert [(step["step"], step["node"]) for step in nodes.events("autopilot_step_done")] == [
        ("remove", leader), ("add", 4), ("unregister", leader),
    ]  # fmt: skip


def test_drained_voters_leave_and_no_autopilot_adds_them_again_until_that_is_undone(tmp_path: Path) -> None:
    def drain(node: int, *options: str) -> subprocess.CompletedProcess[str]:
        servers = ",".join(f"127.0.0.1:{nodes.port_of(each)}" for each in nodes.ids)
        given = ["drain", "--id", str(node), "--bootstrap-controller", servers, "--yes", *options]
        return called(run_controllers, given)

    with ExitStack() as stack:
        nodes = Nodes(tmp_path, stack)
        nodes.start(*VOTERS, 4, 5)
        nodes.write_until(lambda: sorted(nodes.voters()) == [1, 2, 3, 4, 5], "five voters")
        leader = nodes.leader_id()
        other = next(each for each in nodes.ids if each != leader)
        for node in (other, leader):  # one that follows, and then the one that leads
            done = drain(node)
            assert done.returncode == 0, done.stderr
            nodes.write()
        staying = sorted({*nodes.ids} - {other, leader})
        nodes.write_until(lambda: sorted(nodes.voters()) == staying, "three voters")
        time.sleep(2 * STABILIZATION_MS / 1000)
        nodes.write()
        assert sorted(nodes.voters()) == staying
        nodes.stop(leader)
        nodes.stop(other)
        nodes.write_until(lambda: nodes.kept() == nodes.acknowledged, "all records")

        nodes.stop(staying[0])
        eventually(lambda: len(nodes.voters()) == 3, "a leader of two of three")
        refused = drain(staying[1])

        assert refused.returncode == 1
        assert f"without voter {staying[1]}, the quorum has 2 voters and needs 2" in refused.stderr
        assert sorted(nodes.voters()) == staying
        assert drain(staying[1], "--undo").returncode == 0


def test_two_of_five_voters_leave_when_they_are_stopped_and_one_of_three_stays(tmp_path: Path) -> None:
    with ExitStack() as stack:
        nodes = Nodes(tmp_path, stack, kraft_autopilot_leave_on_stop="true", kraft_autopilot_dead_after_ms="0")
        nodes.start(*VOTERS, 4, 5)
        nodes.write_until(lambda: sorted(nodes.voters()) == [1, 2, 3, 4, 5], "five voters")
        leader, epoch = nodes.leader_id(), nodes.epoch()
        follower = next(each for each in nodes.ids if each != leader)

        took_s = [nodes.terminate(follower)]
        assert nodes.epoch() == epoch, "a follower leaves without an election"
        took_s.append(nodes.terminate(leader))
        nodes.ids = tuple(sorted({*nodes.ids} - {leader, follower}))
        nodes.write_until(lambda: sorted(nodes.voters()) == list(nodes.ids), "three voters")

        assert max(took_s) < 5, took_s
        assert nodes.kept() == nodes.acknowledged
        staying, later = nodes.ids[:2]
        assert nodes.terminate(staying) < 5
        nodes.write_until(lambda: staying in nodes.voters(), "a voter of three that is away")

        nodes.start(follower, staying)  # as a rolling restart does
        nodes.write_until(lambda: nodes.voters().keys() >= {staying, later}, "all three")
        nodes.start(leader)
        nodes.write_until(lambda: sorted(nodes.voters()) == [1, 2, 3, 4, 5], "five voters again")
        nodes.state()
        assert nodes.kept() == nodes.acknowledged
    assert [event["node"] for event in nodes.events("voter_left")] == sorted([follower, leader])
    (stays,) = nodes.events("voter_stays")
    assert stays["node"] == staying
    assert "of 3 voters none leaves by itself" in stays["reason"]


def test_a_voter_that_cannot_leave_stops_in_time_and_at_once_when_told_again(tmp_path: Path) -> None:
    with ExitStack() as stack:
        nodes = Nodes(tmp_path, stack, kraft_autopilot_leave_on_stop="true", kraft_autopilot_dead_after_ms="0")
        nodes.start(*VOTERS, 4, 5)
        nodes.write_until(lambda: sorted(nodes.voters()) == [1, 2, 3, 4, 5], "five voters")
        followers = [each for each in nodes.ids if each != nodes.leader_id()]
        for node in followers[:2]:
            nodes.stop(node)
        nodes.write_until(lambda: nodes.kraftctl("state").returncode == 2, "two silent voters")
        first, second = followers[2:]

        begin = time.monotonic()
        for node in (first, second):
            nodes.processes[node].terminate()
        time.sleep(0.5)
        nodes.processes[second].terminate()
        assert nodes.processes[second].wait(10) == 0
        told_again_s = time.monotonic() - begin
        assert nodes.processes[first].wait(20) == 0
        took_s = time.monotonic() - begin
    assert told_again_s < 5
    assert 8 <= took_s < 13
    reasons = {event["node"]: event["reason"] for event in nodes.events("voter_stays")}
    assert reasons[second] == "the node was told again to stop"
    assert reasons[first].startswith("not within 8 s: ")
