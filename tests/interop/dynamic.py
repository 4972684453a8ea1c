"""Controllers whose voters are in the log (KIP-853), of ours, of stock Kafka or of both; stock's tools change them."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from records.uuids import uuid_text
from tests.interop.ask import describe_quorum
from tests.interop.cluster import BIN, CLUSTER_ID, OURS, Cluster, eventually

if TYPE_CHECKING:
    from tests.interop.cluster import NodeProcess

Done = subprocess.CompletedProcess[str]


def format_node(found: Cluster, node_id: int, *options: str) -> None:
    """Format the directory of one controller by the tool of its own kind."""
    node = found.controllers[node_id]
    arguments = ("format", "-t", CLUSTER_ID, "-c", str(node.properties), *options)
    if node.kind == OURS:
        subprocess.run([str(BIN / "kafka-storage"), *arguments], check=True, capture_output=True)
    else:
        found.tool("storage", *arguments)


def directory_id(node: NodeProcess) -> str:
    """The directory id in meta.properties; empty if the directory is not formatted."""
    try:
        text = (node.directory / "meta.properties").read_text()
    except FileNotFoundError:
        return ""
    found = re.search(r"^directory\.id=(.*)$", text, re.MULTILINE)
    return "" if found is None else found[1].replace("\\", "")


# The tool may ask a node before that knows the metadata version; and a leader that could not connect to a node, as
# while it was down, waits up to 0.5 s before it tries again.
TOO_EARLY = ("Direct-to-controller communication is not supported", "is not ready to receive requests")


class Dynamic(Cluster):
    """Controllers that know each other's addresses alone: the voters are in the log."""

    def _write(self, node: NodeProcess) -> None:
        super()._write(node)
        old = f"controller.quorum.voters={self.voters}\n"
        new = f"controller.quorum.bootstrap.servers={self.bootstrap_controller}\n"
        node.properties.write_text(node.properties.read_text().replace(old, new))

    def begin(self, kinds: list[str]) -> None:
        """Controllers of these kinds, all running; the first is the only voter and leads."""
        self.plan(kinds, 0)
        format_node(self, 1, "--standalone")
        for node_id in range(2, len(kinds) + 1):
            format_node(self, node_id, "--no-initial-controllers")
        self.start()
        self.await_leader()
        self.await_admin_clients()

    def close(self) -> None:
        self.end()

    def quorum(self, *arguments: str, config: int = 0) -> Done:
        """Stock's kafka-metadata-quorum; config: the controller whose properties file it reads, 0: none."""
        options = ["--command-config", str(self.controllers[config].properties)] if config else []
        servers = ",".join(f"127.0.0.1:{node.port}" for node in self.controllers.values() if node.process is not None)
        return self.stock.tool("metadata-quorum", "--bootstrap-controller", servers, *options, *arguments)

    def add_when_ready(self, node_id: int) -> Done:
        """Add a controller that has just started with stock's tool, as soon as that is answered (see `TOO_EARLY`)."""
        tried: list[Done] = []

        def is_ready() -> bool:
            tried.append(self.quorum("add-controller", config=node_id))
            return not any(text in tried[-1].stderr for text in TOO_EARLY)

        eventually(is_ready, f"an answer to add-controller of {node_id}")
        return tried[-1]

    def remove(self, node_id: int, directory: str) -> Done:
        return self.quorum("remove-controller", "--controller-id", str(node_id), "--controller-directory-id", directory)

    def voters_now(self) -> list[int]:
        """The ids of the voters, ascending; empty while there is no active controller."""
        leader = self.leader()
        if not leader:
            return []
        return sorted(voter.replica_id for voter in describe_quorum(self.controllers[leader].port).current_voters)

    def await_caught_up(self, node_id: int) -> None:
        """Wait until a controller follows with its present directory and has all committed records."""
        wanted = directory_id(self.controllers[node_id])

        def is_caught_up() -> bool:
            found = describe_quorum(self.controllers[self.leader()].port)
            known = [*found.current_voters, *found.observers]
            ends = [each.log_end_offset for each in known if uuid_text(each.replica_directory_id) == wanted]
            return bool(ends) and ends[0] >= found.high_watermark - 1

        eventually(lambda: self.leader() and is_caught_up(), f"controller {node_id} has caught up")
        self.await_admin_clients()
