"""Troubles that operators of stock controllers report, first as stock shows them, then the way out.

docs/operations.md has a table of all of them.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.interop.ask import describe_quorum
from tests.interop.cluster import BIN, CLUSTER_ID, OURS, STOCK, Cluster, NodeProcess, cluster, eventually
from tests.interop.dynamic import Dynamic
from tests.interop.rehearsal import names_in, write
from tests.interop.secured import SCRAM_MODULE
from tests.interop.stock import WITH_SHELL
from tests.interop.test_log_repair import kraftctl

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.stock import Stock

OTHER_ID = "vQ2rlmvnRHuwAoEnjFwZ3g"
# Longer than several election timeouts of stock.
LONG_S = 6.0


def answers(node: NodeProcess) -> bool:
    """Whether a controller answers, with or without an error."""
    return describe_quorum(node.port) is not None


def test_a_controller_without_a_majority_looks_ready_and_stocks_tool_shows_nothing_of_it(
    tmp_path: Path, stock: Stock
) -> None:
    found = Cluster(tmp_path, stock)
    try:
        found.plan([STOCK, STOCK], 0)
        found.format()
        one, two = found.controllers.values()
        one.start()
        eventually(lambda: answers(one), "the controller answers")

        # The pain: the port is open, which is all that a probe of stock has; the tool prints no role, epoch or log end.
        with socket.create_connection(("127.0.0.1", one.port), timeout=5):
            pass
        assert one.process is not None
        assert one.process.poll() is None
        client = tmp_path / "client.properties"
        client.write_text("default.api.timeout.ms=3000\nrequest.timeout.ms=2000\n")
        done = stock.tool(
            "metadata-quorum", "--bootstrap-controller", f"127.0.0.1:{one.port}", "--command-config", str(client),
            "describe", "--status",
        )  # fmt: skip
        assert (done.returncode, done.stdout.count("LeaderId")) == (1, 0)

        # The way out: the status of a stock node too, and of a node of ours its own view and a port that says no.
        seen = kraftctl("status", "--bootstrap-controller", f"127.0.0.1:{one.port}", "--json")
        assert seen.returncode == 2
        assert json.loads(seen.stdout)["nodes"][0]["error"]
        one.kill()
        one.kind = OURS
        one.start()
        eventually(lambda: answers(one), "our controller answers")
        probe = kraftctl("probe", "ready", "--bootstrap-controller", f"127.0.0.1:{one.port}")
        assert probe.returncode != 0, probe.stdout
        two.start()
        found.await_leader()
    finally:
        found.end()


def test_controllers_of_two_clusters_do_not_name_the_ids_that_differ(tmp_path: Path, stock: Stock) -> None:
    found = Cluster(tmp_path, stock)
    try:
        found.plan([STOCK, STOCK], 0)
        for node, cluster_id in zip(found.controllers.values(), (CLUSTER_ID, OTHER_ID), strict=True):
            command = [str(BIN / "kafka-storage"), "format", "-t", cluster_id, "-c", str(node.properties)]
            subprocess.run(command, check=True, capture_output=True)
        found.start()
        one, two = found.controllers.values()
        eventually(lambda: answers(one) and answers(two), "both answer")

        # The pain: no leader, and neither log has the id of the other.
        time.sleep(LONG_S)
        assert found.leader() == 0
        assert OTHER_ID not in one.said()
        assert CLUSTER_ID not in two.said()

        # The way out: ours, on the same directories, names both.
        found.end()
        for node in (one, two):
            node.kind = OURS
            node.start()
        eventually(lambda: OTHER_ID in one.said() and CLUSTER_ID in two.said(), "each log has the id of the other")
    finally:
        found.end()


@pytest.mark.parametrize("stock", [WITH_SHELL], indirect=True)
def test_stocks_shell_does_not_show_the_directory_of_a_running_node(tmp_path: Path, stock: Stock) -> None:
    with cluster(tmp_path, stock, [STOCK], 0) as found:
        node = found.controllers[1]
        log = node.directory / "__cluster_metadata-0" / "00000000000000000000.log"

        # The pain.
        theirs = stock.tool("metadata-shell", "--snapshot", str(log), "ls", "/image")
        assert "lock" in (theirs.stdout + theirs.stderr).lower()
        assert "cluster" not in theirs.stdout.split()

        # The way out: without the lock, and by the network.
        for source in (("--directory", str(node.directory)), ("--controllers", f"127.0.0.1:{node.port}")):
            ours = subprocess.run(
                [str(BIN / "kafka-metadata-shell"), *source, "ls", "/image"],
                capture_output=True, text=True, check=False, timeout=60,
            )  # fmt: skip
            assert (ours.returncode, "cluster" in ours.stdout.split()) == (0, True), ours.stderr


def test_controllers_of_stock_cannot_authenticate_by_scram_before_they_have_a_log(tmp_path: Path, stock: Stock) -> None:
    login = f'{SCRAM_MODULE} required username="controller" password="scrams-secret";'
    settings = {
        "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "sasl.mechanism.controller.protocol": "SCRAM-SHA-512",
        "listener.name.controller.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.controller.scram-sha-512.sasl.jaas.config": login,
    }
    found = Cluster(tmp_path, stock, settings=settings)
    try:
        found.plan([STOCK, STOCK], 0)
        found.format("--add-scram", "SCRAM-SHA-512=[name=controller,password=scrams-secret]")
        found.start()

        # The pain: the credentials are in the directory of each, and are read once there is a leader.
        refused = "Authentication failed during authentication due to invalid credentials"
        eventually(lambda: any(refused in node.said() for node in found.controllers.values()), "a login is refused")
        time.sleep(LONG_S)
        assert not any("Completed transition to Leader" in node.said() for node in found.controllers.values())
        found.end()

        # The way out: a file of credentials; and the same directories.
        credentials = tmp_path / "credentials"
        credentials.write_text("SCRAM-SHA-512=[name=controller,password=scrams-secret]\n")
        for node in found.controllers.values():
            node.kind = OURS
            with node.properties.open("a") as properties:
                properties.write(f"kraft.scram.credentials.path={credentials}\n")
            node.start()
        eventually(lambda: any("now=Leader" in node.said() for node in found.controllers.values()), "a leader")
    finally:
        found.end()


def test_a_stock_node_whose_disk_was_lost_starts_without_its_metadata(tmp_path: Path, stock: Stock) -> None:
    found = Dynamic(tmp_path, stock)
    try:
        found.begin([STOCK])
        node = found.controllers[1]
        assert write(found, 0, 2) == ["write-0", "write-1"]
        backup = str(tmp_path / "backup")
        saved = kraftctl("backup", "save", "--bootstrap-controller", f"127.0.0.1:{node.port}", backup)
        assert saved.returncode == 0, saved.stderr
        found.end()
        shutil.rmtree(node.directory)

        # The pain: stock has no command that saves or restores; formatted anew, the node leads a quorum without data.
        found.tool("storage", "format", "-t", CLUSTER_ID, "-c", str(node.properties), "--standalone")
        node.start()
        found.await_leader()
        found.end()
        assert names_in(node.directory) == frozenset()
        shutil.rmtree(node.directory)

        # The way out.
        restored = kraftctl("backup", "restore", backup, "-c", str(node.properties))
        assert restored.returncode == 0, restored.stderr
        node.start()
        found.await_leader()
        found.end()
        assert names_in(node.directory) == {"write-0", "write-1"}
    finally:
        found.close()


def test_the_doctor_finds_a_stock_controller_of_another_cluster_that_has_no_leader(
    tmp_path: Path, stock: Stock
) -> None:
    found = Cluster(tmp_path, stock)

    def doctor() -> dict[str, tuple[str, str]]:
        command = [str(BIN / "kraftctl"), "doctor", "-c", str(ours.properties), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stderr
        return {each["where"]: (each["level"], each["text"]) for each in json.loads(done.stdout)["findings"]}

    try:
        found.plan([STOCK, STOCK, OURS], 0)
        found.format()
        one, _, ours = found.controllers.values()
        one.start()
        eventually(lambda: answers(one), "the controller answers")

        address = f"127.0.0.1:{one.port}"
        assert doctor()[address] == ("ok", f"it answers, and knows no leader; cluster.id={CLUSTER_ID}")

        mark = ours.directory / "meta.properties"
        mark.write_text(mark.read_text().replace(CLUSTER_ID, OTHER_ID))
        text = f"it refuses {OTHER_ID}, the cluster.id in {mark}: its own is another"
        assert doctor()[address] == ("error", text)
        assert one.process is not None
        assert one.process.poll() is None
    finally:
        found.end()
