"""An archive of Kafka's classes (JEP 310), as the official image has: a stock tool or server starts with less CPU time.

It is made once per release and JDK, from the classes that a server and the tools load.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from simulations.chaos.ports import free_ports

if TYPE_CHECKING:
    from tests.interop.stock import Stock

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=CONTROLLER://127.0.0.1:{controller},PLAINTEXT://127.0.0.1:{broker}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
log.dirs={directory}
offsets.topic.replication.factor=1
"""
# What is run on the server; each loads the classes of its tool, of the client, and of the server's side.
TOOLS = (
    "topics --bootstrap-server {server} --create --topic t --partitions 3",
    "configs --bootstrap-server {server} --describe --all --entity-type topics --entity-name t",
    "acls --bootstrap-server {server} --add --allow-principal User:u --operation Read --topic t",
    "features --bootstrap-server {server} describe",
    "metadata-quorum --bootstrap-controller {controller} describe --status",
    "console-producer --bootstrap-server {server} --topic t",
    "console-consumer --bootstrap-server {server} --topic t --from-beginning --max-messages 1 --timeout-ms 9000",
    "reassign-partitions --bootstrap-server {server} --list",
    "dump-log --cluster-metadata-decoder --files {directory}/__cluster_metadata-0/00000000000000000000.log",
)
SECONDS_MAX = 120


def path_in(directory: Path) -> Path:
    """Where the archive is; another JDK has another."""
    java = Path(shutil.which("java") or "java").resolve()
    made = int(java.stat().st_mtime) if java.exists() else 0
    return directory / f"{made}.jsa"


def flags(archive: Path) -> list[str]:
    """What uses an archive; one that does not fit is passed over in silence."""
    return [f"-XX:SharedArchiveFile={archive}", "-Xlog:cds*=off"]


def make(stock: Stock, archive: Path) -> None:
    """Run a server and tools, note the classes that they load, and write these to the archive."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        broker, controller = free_ports(2)
        properties = directory / "server.properties"
        properties.write_text(PROPERTIES.format(directory=directory / "data", broker=broker, controller=controller))
        subprocess.run(
            noted(stock.tool_command("storage", "format", "-t", CLUSTER_ID, "-c", str(properties)), directory),
            check=True, capture_output=True, timeout=SECONDS_MAX,
        )  # fmt: skip
        _run_server_and_tools(stock, directory, broker, controller)
        classes = directory / "classes"
        noted_lines = {line for path in directory.glob("*.list") for line in path.read_text().splitlines(keepends=True)}
        classes.write_text("".join(sorted(noted_lines)))
        made = directory / "made.jsa"
        whole = [f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={made}", "-Xshare:dump"]
        command = stock.tool_command("storage")
        done = subprocess.run(
            [command[0], *whole, *[flag for flag in command[1:-1] if flag != "-Xshare:auto"]],
            check=False, capture_output=True, text=True, timeout=SECONDS_MAX,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]
        shutil.copy(made, archive.with_suffix(".new"))
        archive.with_suffix(".new").rename(archive)


def noted(command: list[str], directory: Path) -> list[str]:
    """A command of Java that notes the classes that it loads."""
    number = len(list(directory.glob("*.list")))
    (directory / f"{number}.list").touch()
    return [command[0], f"-XX:DumpLoadedClassList={directory / f'{number}.list'}", *command[1:]]


def _run_server_and_tools(stock: Stock, directory: Path, broker: int, controller: int) -> None:
    log = directory / "server.log"
    command = stock.server_command(directory / "server.properties")
    with log.open("wb") as out:
        server = subprocess.Popen(noted(command, directory), stdout=out, stderr=out, start_new_session=True)
    try:
        end = time.monotonic() + SECONDS_MAX
        while "Kafka Server started" not in log.read_text(errors="replace"):
            assert server.poll() is None, log.read_text(errors="replace")[-500:]
            assert time.monotonic() < end, f"no server within {SECONDS_MAX} s"
            time.sleep(0.05)
        for line in TOOLS:
            name, *arguments = line.format(
                server=f"127.0.0.1:{broker}", controller=f"127.0.0.1:{controller}", directory=directory / "data"
            ).split()
            subprocess.run(
                noted(stock.tool_command(name, *arguments), directory),
                input=b"record\n", check=False, capture_output=True, timeout=SECONDS_MAX,
            )  # fmt: skip
    finally:
        os.kill(server.pid, signal.SIGTERM)
        server.wait(SECONDS_MAX)
