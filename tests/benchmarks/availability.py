"""`python -m tests.benchmarks.availability`: the longest time without a commit while voters are replaced or removed.

A client creates topics, with a pause of 1 ms, on whichever of three controllers is active; the voters are dynamic
(KIP-853). The longest time between two acknowledged topics is taken, from the first step of a change until all voters
have caught up again.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest
from records.uuids import parse_uuid
from tests.benchmarks.client import Connection
from tests.benchmarks.quorum import STOCK_HEAP
from tests.interop.ask import describe_quorum
from tests.interop.cluster import CLUSTER_ID, OURS, STOCK, eventually
from tests.interop.dynamic import Dynamic, directory_id, format_node
from tests.interop.stock import Stock
from tests.interop.writer import SESSION, Writer

if TYPE_CHECKING:
    from collections.abc import Callable

# The pause between two requests of a client (s): short against every time that is measured.
PAUSE = 0.001
# For how long a thread of this process holds the interpreter while another one waits for it (s). With Python's 5 ms the
# times would be those of the clients.
SWITCH_INTERVAL = 0.0005
# After a change, clients go on for this long (s), so that what it delays is seen.
AFTER = 3.0

Figures = dict[str, list[float]]


class Quorum(Dynamic):
    """Three controllers, all voters. Directories are formatted by our tool, which takes little CPU time."""

    def grow(self, kind: str) -> None:
        self.plan([kind] * 3, 0)
        self.format_one(1, "--standalone")
        for node_id in (2, 3):
            self.format_one(node_id, "--no-initial-controllers")
        self.start()
        self.await_leader()
        for node_id in (2, 3):
            self.add(node_id)

    def format_one(self, node_id: int, *options: str) -> None:
        node = self.controllers[node_id]
        kind, node.kind = node.kind, OURS
        try:
            format_node(self, node_id, *options)
        finally:
            node.kind = kind

    def add(self, node_id: int) -> None:
        """Wait until the controller has caught up, and add it to the voters."""
        self.await_caught_up(node_id)
        node = self.controllers[node_id]
        listener = AddRaftVoterRequest.Listener(name="CONTROLLER", host="127.0.0.1", port=node.port)
        request = AddRaftVoterRequest(
            cluster_id=CLUSTER_ID, timeout_ms=30000, voter_id=node_id,
            voter_directory_id=parse_uuid(directory_id(node)), listeners=(listener,),
        )  # fmt: skip
        eventually(lambda: self._ask_leader(request, 1) == Error.NONE, f"voter {node_id} is added")

    def remove_voter(self, node_id: int, directory: str) -> None:
        request = RemoveRaftVoterRequest(
            cluster_id=CLUSTER_ID, voter_id=node_id, voter_directory_id=parse_uuid(directory)
        )
        done = (Error.NONE, Error.VOTER_NOT_FOUND)
        eventually(lambda: self._ask_leader(request, 0) in done, f"voter {node_id} is removed")

    def _ask_leader(self, request: Any, version: int) -> int:
        connection = Connection(self.controllers[self.await_leader()].port)
        with contextlib.closing(connection):
            return int(connection.ask(request, version).error_code)

    def await_level(self) -> None:
        """Wait until all three are voters that fetch, and have all committed records."""
        began = time.time() * 1000

        def is_level() -> bool:
            leader = self.leader()
            found = describe_quorum(self.controllers[leader].port)
            return len(found.current_voters) == 3 and all(
                voter.log_end_offset >= found.high_watermark - 50
                and (voter.replica_id == leader or voter.last_fetch_timestamp > began)
                for voter in found.current_voters
            )

        eventually(lambda: self.leader() and is_level(), "three level voters")

    def followers(self) -> list[int]:
        leader = self.await_leader()
        return [node_id for node_id in self.controllers if node_id != leader]


def change_nothing(_found: Quorum) -> None:
    """The longest of the usual times between two commits, beside which the other figures are to be read."""
    time.sleep(AFTER)


def replace_a_follower(found: Quorum) -> None:
    """SIGKILL of a follower, whose disk is lost: its voter is removed, and one with an empty directory is added."""
    node = found.controllers[found.followers()[0]]
    lost = directory_id(node)
    node.kill()
    shutil.rmtree(node.directory)
    found.format_one(node.id, "--no-initial-controllers")
    node.start()
    found.remove_voter(node.id, lost)
    found.add(node.id)


def remove_the_leader(found: Quorum) -> None:
    """The leader is removed from the voters; when another leads, it is added again."""
    led = found.await_leader()
    found.remove_voter(led, directory_id(found.controllers[led]))
    eventually(lambda: found.leader() not in {0, led}, "another leader")
    time.sleep(AFTER)
    found.add(led)


def roll(kind: str | None) -> Callable[[Quorum], None]:
    """Stop and start each controller, the leader last. kind: what it is afterwards; None: what it was."""

    def rolled(found: Quorum) -> None:
        for node_id in [*found.followers(), found.await_leader()]:
            node = found.controllers[node_id]
            node.stop()
            node.kind = kind or node.kind
            node.start()
            found.await_level()

    return rolled


def measure(kind: str, changes: dict[str, Callable[[Quorum], None]], rounds: int, stock: Stock) -> Figures:
    """Change -> the longest time without a commit (ms) of each round."""
    root = Path(tempfile.mkdtemp(prefix=f"availability-{kind}-"))
    found = Quorum(root, stock, settings=SESSION)
    found.heap = STOCK_HEAP
    figures: Figures = {name: [] for name in changes}
    with contextlib.closing(found):
        found.grow(kind)
        with Writer(found, PAUSE) as writer:
            time.sleep(AFTER)
            for _ in range(rounds):
                for name, change in changes.items():
                    found.await_level()
                    begin = time.perf_counter()
                    change(found)
                    found.await_level()
                    time.sleep(AFTER)
                    longest = writer.longest_pause_ms(begin, time.perf_counter())
                    figures[name].append(longest)
                    print(f"{kind}: {name}: {longest:.0f} ms", file=sys.stderr, flush=True)
        missing = writer.missing()
        assert not missing, f"acknowledged topics are missing: {missing[:10]}"
    shutil.rmtree(root)
    return figures


CHANGES = {
    "none": change_nothing,
    "a follower loses its disk and is replaced": replace_a_follower,
    "the leader is removed": remove_the_leader,
    "rolling restart, the leader last": roll(None),
}
MIXED = {"rolling replacement, stock → ours": roll(OURS), "rolling replacement, ours → stock": roll(STOCK)}


def cell(values: list[float]) -> str:
    return f"{statistics.median(values):.0f} [{min(values):.0f}–{max(values):.0f}]"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.availability", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of each change (default 5)")
    options = parser.parse_args()
    sys.setswitchinterval(SWITCH_INTERVAL)
    stock = Stock("4.3.1")
    stock.bring()
    ours = measure(OURS, CHANGES, options.rounds, stock)
    theirs = measure(STOCK, CHANGES, options.rounds, stock)
    mixed = measure(STOCK, MIXED, options.rounds, stock)
    print("Longest time without a commit (ms): median [min–max]\n")
    print("| change | ours | stock | ours / stock, medians | ours / stock, longest |\n|---|---|---|---|---|")
    for name, values in ours.items():
        medians = statistics.median(values) / statistics.median(theirs[name])
        longest = max(values) / max(theirs[name])
        print(f"| {name} | {cell(values)} | {cell(theirs[name])} | {medians:.3f} | {longest:.3f} |")
    print("\n| change | a mixed quorum |\n|---|---|")
    for name, values in mixed.items():
        print(f"| {name} | {cell(values)} |")


if __name__ == "__main__":
    main()
