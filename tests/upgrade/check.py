"""A rolling upgrade and rollback of three controllers under a writer, at every step; and what must hold at the end."""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING

from records.metadata.configs import ConfigRecord
from records.metadata_log import PARTITION_DIRECTORY
from simulations.chaos.ports import free_ports
from tests.upgrade.writer import KEY, Writer
from tools.offline.log_file import LogFile
from tools.offline.metadata_values import metadata_record
from tools.offline.stored_records import records_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.upgrade.installed import Installation

CLUSTER_ID = "VXBncmFkZUNoZWNrQ2hlYw"
NODES = (1, 2, 3)
STATIC, DYNAMIC = "static", "dynamic"
# So small that nodes of both versions write snapshots, and start from those of the other.
SNAPSHOT_BYTES = 20_000
STOP_S = 20.0


class Nodes:
    """Three controllers, each of one of the installations. version: of each, while it runs."""

    def __init__(self, root: Path, kind: str, older: Installation) -> None:
        self.root = root
        self.kind = kind
        self.ports = dict(zip(NODES, free_ports(len(NODES)), strict=True))
        self.version: dict[int, Installation] = {}
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._directory_ids = {1: "AAAAAAAAAAEAAAAAAAAAAQ", 2: "AAAAAAAAAAIAAAAAAAAAAg", 3: "AAAAAAAAAAMAAAAAAAAAAw"}
        for node in NODES:
            self._properties(node).write_text(self._text(node))
            initial = () if kind == STATIC else ("--initial-controllers", self._initial())
            done = older.run("kafka-storage", "format", "-t", CLUSTER_ID, "-c", str(self._properties(node)), *initial)
            assert done.returncode == 0, done.stderr

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def directory(self, node: int) -> Path:
        return self.root / f"node-{node}"

    def audit_logs(self) -> list[str]:
        return sorted(str(path) for path in self.root.glob("audit-*.log*"))

    def start(self, node: int, version: Installation) -> None:
        with (self.root / f"node-{node}.log").open("ab") as log:
            command = [str(version.bin / "kraftctl"), "start", "-c", str(self._properties(node))]
            self._processes[node] = subprocess.Popen(command, stdout=log, stderr=log, cwd="/")
        self.version[node] = version

    def stop(self, node: int) -> None:
        process = self._processes.pop(node)
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_S) == 0, f"node {node} of {self.version[node].name} ended with {process.returncode}"

    def switch(self, node: int, version: Installation) -> None:
        """Restart a node with another version, and wait until all voters have all committed records."""
        self.stop(node)
        self.start(node, version)
        self.await_level(version)

    def await_level(self, version: Installation) -> None:
        done = version.run("kraftctl", "wait", "--bootstrap-controller", self.bootstrap, "--timeout", "60", seconds=90)
        assert done.returncode == 0, done.stderr

    def kill(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()

    def _initial(self) -> str:
        return ",".join(f"{node}@127.0.0.1:{self.ports[node]}:{self._directory_ids[node]}" for node in NODES)

    def _properties(self, node: int) -> Path:
        return self.root / f"node-{node}.properties"

    def _text(self, node: int) -> str:
        voters = ",".join(f"{each}@127.0.0.1:{port}" for each, port in self.ports.items())
        quorum = f"quorum.voters={voters}" if self.kind == STATIC else f"quorum.bootstrap.servers={self.bootstrap}"
        return (
            f"process.roles=controller\nnode.id={node}\ncontroller.{quorum}\ncontroller.listener.names=CONTROLLER\n"
            f"listeners=CONTROLLER://127.0.0.1:{self.ports[node]}\n"
            f"listener.security.protocol.map=CONTROLLER:PLAINTEXT\nlog.dirs={self.directory(node)}\n"
            f"metadata.log.max.record.bytes.between.snapshots={SNAPSHOT_BYTES}\n"
            f"kraft.audit.log={self.root}/audit-{node}.log\n"
        )


def check(root: Path, kind: str, older: Installation, present: Installation, say: Callable[[str], None]) -> str:
    """One upgrade with a rollback at each step, and the way back of all nodes; the figures. Raises AssertionError."""
    nodes = Nodes(root, kind, older)
    with ExitStack() as ends:
        ends.callback(nodes.kill)
        for node in NODES:
            nodes.start(node, older)
        nodes.await_level(older)
        writer = ends.enter_context(Writer(list(nodes.ports.values())))
        writer.await_progress()
        save_and_verify(nodes, older, present)
        for node in NODES:
            for version in (present, older, present):
                say(f"{kind}: node {node} to {version.name}; {len(writer.acknowledged)} writes are acknowledged")
                nodes.switch(node, version)
                writer.await_progress()
        save_and_verify(nodes, present, older)
        found = present.run(
            "kraftctl", "quorum", "hash", "--bootstrap-controller", nodes.bootstrap, *directories(nodes)
        )
        assert found.returncode == 0, found.stdout + found.stderr
        for node in NODES:
            say(f"{kind}: node {node} back to {older.name}; {len(writer.acknowledged)} writes are acknowledged")
            nodes.switch(node, older)
            writer.await_progress()
        writer.__exit__(None, None, None)
        nodes.await_level(older)
        for node in NODES:
            nodes.stop(node)
    for node in NODES:
        missing = faults_of(list(numbers_in(nodes.directory(node))), writer.acknowledged)
        assert not missing, f"node {node}: {missing}"
    check_audit(nodes, present, writer.acknowledged)
    snapshots = [len(list(nodes.directory(node).rglob("*.checkpoint"))) for node in NODES]
    assert min(snapshots) >= 2, f"snapshots of each node: {snapshots}"
    return f"{kind}: {len(writer.acknowledged)} acknowledged of {writer.sent} writes, none lost, none twice"


def directories(nodes: Nodes) -> Iterator[str]:
    for node in NODES:
        yield from ("--directory", str(nodes.directory(node)))


def save_and_verify(nodes: Nodes, one: Installation, other: Installation) -> None:
    """A backup of one version is whole to the other."""
    target = nodes.root / f"backup-of-{one.name}"
    saved = one.run("kraftctl", "backup", "save", "--bootstrap-controller", nodes.bootstrap, str(target))
    assert saved.returncode == 0, saved.stderr
    verified = other.run("kraftctl", "backup", "verify", str(target))
    assert verified.returncode == 0, verified.stderr


def check_audit(nodes: Nodes, version: Installation, acknowledged: list[int]) -> None:
    """The audit logs of both versions name the request behind each acknowledged write."""
    words = ("history", "--config", "broker:default", "--directory", str(nodes.directory(1)), "--json")
    found = version.run("kraftctl", *words, "--audit", *nodes.audit_logs())
    assert found.returncode == 0, found.stderr
    changes = json.loads(found.stdout)["changes"]
    named = {
        change["fields"][KEY]["after"]
        for change in changes
        if change["request"] is not None and KEY in change["fields"]
    }
    missing = [number for number in acknowledged if str(number) not in named]
    assert not missing, f"{len(missing)} writes have no request in the audit logs, the first is {missing[0]}"


def numbers_in(directory: Path) -> Iterator[int]:
    """The writer's numbers in a log, in order."""
    for segment in sorted((directory / PARTITION_DIRECTORY).glob("*.log")):
        with LogFile(str(segment)) as log:
            for batch in log.batches():
                for stored in () if batch.is_control else records_of(batch):
                    record, _ = metadata_record(stored.value)
                    if isinstance(record, ConfigRecord) and record.name == KEY:
                        yield int(record.value)


def faults_of(numbers: list[int], acknowledged: list[int]) -> str:
    """What is wrong with the numbers of one log; empty if nothing is."""
    lost = sorted(set(acknowledged) - set(numbers))
    if lost:
        return f"{len(lost)} acknowledged writes are lost, the first is {lost[0]}"
    unordered = next((later for early, later in pairwise(numbers) if later <= early), None)
    return "" if unordered is None else f"{unordered} was written twice, or behind a later one"
