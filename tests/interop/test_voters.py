"""Stock's kafka-metadata-quorum and kafka-features change the voters of ours, of stock and of both (KIP-853).

Each scenario runs on several quorums, while a client creates topics. Exit codes and texts of the tools are the same on
all, but for what `Transcript` replaces.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from records.errors import Error
from records.messages.cluster import DescribeClusterRequest
from records.uuids import uuid_text
from simulations.chaos.ports import free_ports
from tests.interop.ask import ask, describe_quorum
from tests.interop.cluster import OURS, STOCK, Cluster, cluster, eventually
from tests.interop.dynamic import Dynamic, directory_id, format_node
from tests.interop.writer import SESSION, Writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.interop.dynamic import Done
    from tests.interop.stock import Stock

QUORUMS = {
    "stock": [STOCK, STOCK, STOCK],
    "ours": [OURS, OURS, OURS],
    "both, stock leads": [STOCK, OURS, STOCK],
    "both, ours leads": [OURS, STOCK, OURS],
}

# Name, exit code, lines of stdout, lines of stderr.
Steps = list[tuple[str, int, list[str], list[str]]]


class Transcript:
    """What tools printed and how they ended, comparable between two quorums.

    Replaced are ports and directory ids, by their node; the leader's id; epochs, offsets, lags and times.
    A set of voters in an error is sorted: stock prints it in the order of a hash table. Left out are the lines of stack
    traces, and the client's warnings about a node that it does not reach.
    """

    def __init__(self, found: Cluster) -> None:
        self.found = found
        self.steps: Steps = []
        self._names: dict[str, str] = {f":{node.port}": f":PORT-{node.id}" for node in found.controllers.values()}

    def name(self, text: str, what: str) -> None:
        """Print `what` for this text."""
        self._names[text] = what

    def add(self, step: str, done: Done) -> Done:
        self.steps.append((step, done.returncode, self._plain(done.stdout), self._plain(done.stderr)))
        return done

    def _plain(self, text: str) -> list[str]:
        for old, new in self._names.items():
            text = text.replace(old, new)
        text = re.sub(
            r"(?m)^(LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs): .*", r"\1: N", text
        )
        text = re.sub(r"(?m)Epoch: \d+", "Epoch: N", text)
        text = re.sub(r"\[\d{4}-\d\d-\d\d [\d:,]+\]", "[TIME]", text)
        text = re.sub(r"\[ReplicaKey\(.*?\)\]", _in_order, text)
        return [line for line in text.splitlines() if not line.startswith(("\tat ", "[TIME] WARN [AdminClient"))]


def _in_order(keys: re.Match[str]) -> str:
    return str(sorted(re.findall(r"ReplicaKey\(.*?\)", keys[0])))


class Quorum:
    """A dynamic quorum with a writer and a transcript."""

    def __init__(self, found: Dynamic) -> None:
        self.found = found
        self.transcript = Transcript(found)
        for node in found.controllers.values():
            self.transcript.name(directory_id(node), f"DIRECTORY-{node.id}")

    def tool(self, step: str, *arguments: str, config: int = 0) -> None:
        self.transcript.add(step, self.found.quorum(*arguments, config=config))

    def remove(self, step: str, node_id: int, directory: str, *options: str) -> None:
        ids = ("--controller-id", str(node_id), "--controller-directory-id", directory)
        self.tool(step, "remove-controller", *ids, *options)

    def grow(self) -> None:
        found = self.found
        self.remove("remove the last voter", 1, directory_id(found.controllers[1]))
        for node_id in (2, 3):
            found.await_caught_up(node_id)
        self.tool("dry run", "add-controller", "--dry-run", config=2)
        self.tool("add 2", "add-controller", config=2)
        self.tool("add 3", "add-controller", config=3)
        self.tool("add 3 again", "add-controller", config=3)
        self.tool("three voters", "describe", "--status")

    def replace_a_disk(self) -> None:
        """Kill voter 3 and delete its directory; its voter is removed, and that of the new directory is added."""
        node = self.found.controllers[3]
        lost = directory_id(node)
        node.kill()
        shutil.rmtree(node.directory)
        format_node(self.found, 3, "--no-initial-controllers")
        self.transcript.name(directory_id(node), "DIRECTORY-3-NEW")
        node.start()
        self.found.await_admin_clients()
        self.tool("the old directory is in the way", "add-controller", config=3)
        self.remove("remove the directory that is not a voter", 3, directory_id(node))
        self.remove("dry run of removal", 3, lost, "--dry-run")
        self.remove("remove the lost directory", 3, lost)
        self.found.await_caught_up(3)
        self.transcript.add("add the new directory", self.found.add_when_ready(3))
        self.tool("three voters again", "describe", "--status")

    def remove_the_leader(self) -> None:
        led = directory_id(self.found.controllers[1])
        self.remove("remove the leader", 1, led)
        eventually(lambda: self.found.leader() in {2, 3}, "another leader")
        eventually(lambda: self.found.voters_now() == [2, 3], "two voters")
        # A tool may begin with any of them, also with the one that was removed; it waits in vain for a controller that
        # is not the leader any more.
        ports = [node.port for node in self.found.controllers.values()]
        eventually(lambda: all(named_controller(port) in {2, 3} for port in ports), "all know the other leader")
        self.remove("remove it again", 1, led)
        self.remove("not a directory id", 1, "none")


def named_controller(port: int) -> int | None:
    """The active controller that a controller names in DescribeCluster, -1 for none; None while it does not answer."""
    try:
        found = ask(port, DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2), 1)
    except OSError:
        return None
    return int(found.controller_id) if found.error_code == Error.NONE else None


def changed(found: Dynamic) -> Transcript:
    """Grow to three voters, replace a disk and remove the leader, while a client writes."""
    quorum = Quorum(found)
    with Writer(found) as writer:
        quorum.grow()
        quorum.replace_a_disk()
        quorum.remove_the_leader()
    assert writer.missing() == []
    return quorum.transcript


def upgraded(found: Cluster) -> Transcript:
    """Upgrade kraft.version of static voters while a client writes. Voters cannot change before; no way leads back."""
    transcript = Transcript(found)
    controllers = ("--bootstrap-controller", found.bootstrap_controller)
    upgrade = (*controllers, "upgrade", "--feature", "kraft.version=1")
    for node in found.controllers.values():
        transcript.name(directory_id(node), f"DIRECTORY-{node.id}")

    def run(step: str, tool: str, *arguments: str) -> None:
        transcript.add(step, found.stock.tool(tool, *controllers, *arguments))

    found.await_admin_clients()
    with Writer(found) as writer:
        ids = ("--controller-id", "3", "--controller-directory-id", directory_id(found.controllers[3]))
        run("static voters are not removed", "metadata-quorum", "remove-controller", *ids)
        run("static", "metadata-quorum", "describe", "--status")
        # The voters tell the leader their directory ids and versions some seconds after the start.
        eventually(
            lambda: found.stock.tool("features", *upgrade, "--dry-run").returncode == 0, "an upgrade is possible"
        )
        run("dry run", "features", "upgrade", "--feature", "kraft.version=1", "--dry-run")
        run("upgrade", "features", "upgrade", "--feature", "kraft.version=1")
        run("upgrade again", "features", "upgrade", "--release-version", found.stock.release)
        run("safe downgrade", "features", "downgrade", "--feature", "kraft.version=0")
        run("unsafe downgrade", "features", "downgrade", "--feature", "kraft.version=0", "--unsafe")
        run("features", "features", "describe")
        run("dynamic", "metadata-quorum", "describe", "--status")
        run("remove 3", "metadata-quorum", "remove-controller", *ids)
        # A leader that was elected since knows an observer from its first Fetch on.
        eventually(lambda: observers(found) == [3], "the removed voter observes")
        run("two voters", "metadata-quorum", "describe", "--status")
    assert writer.missing() == []
    return transcript


def observers(found: Cluster) -> list[int]:
    """The observers that the leader names; none without a leader."""
    answers = [describe_quorum(node.port) for node in found.controllers.values()]
    return [each.replica_id for answer in answers if not answer.error_code for each in answer.observers]


def on_each_quorum(root: Path, stock: Stock, names: list[str], scenario: Callable[[Path, list[str]], Steps]) -> Steps:
    """The steps of a scenario on stock; on all other quorums they are the same."""
    transcripts = {}
    for number, name in enumerate(names):
        (root / str(number)).mkdir()
        transcripts[name] = scenario(root / str(number), QUORUMS[name])
    for name in names:
        assert transcripts[name] == transcripts["stock"], name
    return transcripts["stock"]


def succeeded(steps: Steps) -> list[str]:
    return [step for step, code, _, _ in steps if code == 0]


def test_voters_change_with_the_same_texts_on_ours_on_stock_and_on_both(tmp_path: Path, stock: Stock) -> None:
    def scenario(root: Path, kinds: list[str]) -> Steps:
        found = Dynamic(root, stock, settings=SESSION)
        with contextlib.closing(found):
            found.begin(kinds)
            return changed(found).steps

    steps = on_each_quorum(tmp_path, stock, list(QUORUMS), scenario)

    assert succeeded(steps) == [
        "dry run", "add 2", "add 3", "three voters", "dry run of removal", "remove the lost directory",
        "add the new directory", "three voters again", "remove the leader",
    ]  # fmt: skip


def test_static_voters_become_dynamic_with_the_same_texts(tmp_path: Path, stock: Stock) -> None:
    def scenario(root: Path, kinds: list[str]) -> Steps:
        with cluster(root, stock, kinds, 0, settings=SESSION) as found:
            return upgraded(found).steps

    steps = on_each_quorum(tmp_path, stock, ["stock", "ours", "both, ours leads"], scenario)

    assert succeeded(steps) == [
        "static", "dry run", "upgrade", "upgrade again", "features", "dynamic", "remove 3", "two voters",
    ]  # fmt: skip


# With the preview, our leader asks a stock voter and one of ours at their new ports first.
@pytest.mark.parametrize(("kinds", "preview"), [("both, stock leads", ""), ("both, ours leads", "4.5")])
def test_a_voter_that_restarts_at_another_port_is_found_there(
    tmp_path: Path, stock: Stock, kinds: str, preview: str
) -> None:
    found = Dynamic(tmp_path, stock, settings={"kraft.preview.release": preview})
    with contextlib.closing(found):
        found.begin(QUORUMS[kinds])
        for node_id in (2, 3):
            found.await_caught_up(node_id)
            assert found.quorum("add-controller", config=node_id).returncode == 0

        for node_id in (2, 3):
            move(found, node_id)

        # The moved voters are a majority, and elect a leader at their new ports.
        found.controllers[1].kill()
        assert found.await_leader() in {2, 3}


def move(found: Dynamic, node_id: int) -> None:
    """Restart a controller at another port; the leader has it in the voter set."""
    node = found.controllers[node_id]
    node.stop()
    old, node.port = node.port, free_ports(1)[0]
    text = node.properties.read_text()
    node.properties.write_text(text.replace(f"CONTROLLER://127.0.0.1:{old}", f"CONTROLLER://127.0.0.1:{node.port}"))
    node.start()

    where = f'"CONTROLLER://127.0.0.1:{node.port}"'
    eventually(lambda: where in found.quorum("describe", "--status").stdout, f"controller {node_id} at its new port")


def test_controllers_join_by_themselves_also_with_an_empty_disk(tmp_path: Path, stock: Stock) -> None:
    found = Dynamic(tmp_path, stock, settings={"controller.quorum.auto.join.enable": "true"})
    with contextlib.closing(found):
        found.begin(QUORUMS["both, ours leads"])
        eventually(lambda: found.voters_now() == [1, 2, 3], "all have joined")
        # A stock voter and one of ours get an empty disk, one after the other.
        for node_id in (2, 3):
            node = found.controllers[node_id]
            node.kill()
            shutil.rmtree(node.directory)
            format_node(found, node_id, "--no-initial-controllers")
            node.start()
            await_voter(found, directory_id(node))
            eventually(lambda: found.voters_now() == [1, 2, 3], "three voters again")


def await_voter(found: Dynamic, directory: str) -> None:
    eventually(lambda: directory in voter_directories(found), "the new directory is a voter")


def voter_directories(found: Dynamic) -> list[str]:
    quorum = describe_quorum(found.controllers[found.leader()].port) if found.leader() else None
    return [] if quorum is None else [uuid_text(voter.replica_directory_id) for voter in quorum.current_voters]
