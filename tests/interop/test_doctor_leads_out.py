"""A node or a quorum is broken at random, and `kraftctl doctor`'s block is followed word for word until it runs again.

It never leads in a circle, and never to a quorum that lacks a write which a directory still had. KRAFT_DOCTOR_EXAMPLES
is the number of quorums that are tried, two in CI; KRAFT_DOCTOR_SEED draws others than CI's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from records.uuids import uuid_text
from tests.interop.cluster import BIN, OURS, STOCK, Cluster
from tests.interop.dynamic import Dynamic, format_node
from tests.interop.rehearsal import names_in, write
from tests.interop.stock import Stock
from tests.interop.test_recover import follow, voters_of

if TYPE_CHECKING:
    from tests.interop.cluster import NodeProcess

EXAMPLES = int(os.environ.get("KRAFT_DOCTOR_EXAMPLES", "2"))
SEED = os.environ.get("KRAFT_DOCTOR_SEED")
PASSES_MAX = 6
VOTER_IDS = tuple(uuid_text(bytes([number] * 16)) for number in range(4))
# Checkpoints after a few records, so that they are broken too.
SETTINGS = {"metadata.log.max.record.bytes.between.snapshots": "3000"}
PARTITION = "__cluster_metadata-0"


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    if data:
        data[len(data) // 2] ^= 4
        path.write_bytes(bytes(data))


def break_node(directory: Path, how: str) -> None:
    """Break a directory as disks and operators do."""
    mark, state = directory / "meta.properties", directory / PARTITION / "quorum-state"
    checkpoints = sorted((directory / PARTITION).glob("*.checkpoint"))
    # None where the node was killed while it started, and the two others elected a leader without it.
    logs = list((directory / PARTITION).glob("*.log"))
    if how == "lose the disk":
        shutil.rmtree(directory, ignore_errors=True)
    elif how == "lose the files":
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
    elif how == "remove meta.properties":
        mark.unlink(missing_ok=True)
    elif how == "garble meta.properties" and mark.exists():
        mark.write_text("garbage\n")
    elif how == "remove quorum-state":
        state.unlink(missing_ok=True)
    elif how == "cut quorum-state" and state.exists():
        state.write_bytes(state.read_bytes()[:20])
    elif how == "flip a bit in the log" and logs:
        flip(max(logs, key=lambda path: path.stat().st_size))
    elif how == "flip a bit in a checkpoint" and checkpoints:
        flip(checkpoints[-1])


BREAKS = (
    "lose the disk", "lose the files", "remove meta.properties", "garble meta.properties", "remove quorum-state",
    "cut quorum-state", "flip a bit in the log", "flip a bit in a checkpoint", "only kill it",
)  # fmt: skip


class Way(RuleBasedStateMachine):
    """Three controllers, of which some are broken; `heal` asks doctor."""

    kinds: tuple[str, ...] = (OURS,)

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="doctor-"))
        self.found: Cluster | None = None
        self.acknowledged: set[str] = set()
        self.written = 0
        self.told: list[str] = []
        self.is_kept = False

    @initialize(data=st.data(), is_dynamic=st.booleans())
    def begin(self, data: st.DataObject, *, is_dynamic: bool) -> None:
        kind = data.draw(st.sampled_from(self.kinds))
        made = Dynamic if is_dynamic else Cluster
        self.found = found = made(self.root, Stock(quick=True), settings=SETTINGS)
        found.plan([kind] * 3, 0)
        voters = ",".join(
            f"{number}@127.0.0.1:{node.port}:{VOTER_IDS[number]}" for number, node in found.controllers.items()
        )
        for number in found.controllers:
            format_node(found, number, *(("--initial-controllers", voters) if is_dynamic else ()))
        found.start()
        found.await_leader()
        self.write_more()
        self.told.append(f"{kind}, {'dynamic' if is_dynamic else 'static'} voters")

    def write_more(self) -> None:
        assert self.found is not None
        self.acknowledged.update(write(self.found, self.written, 12))
        self.written += 12

    @precondition(lambda self: self.found is not None)
    @rule(breaks=st.dictionaries(st.integers(1, 3), st.sampled_from(BREAKS), min_size=1))
    def break_and_heal(self, breaks: dict[int, str]) -> None:
        for number, how in breaks.items():
            self.break_one(number, how)
        self.heal()

    def break_one(self, number: int, how: str) -> None:
        assert self.found is not None
        node = self.found.controllers[number]
        node.kill()
        break_node(node.directory, how)
        self.told.append(f"node {number}: {how}")

    def heal(self) -> None:
        found = self.found
        assert found is not None
        self.told.append("heal")
        for _ in range(PASSES_MAX):
            for node in found.controllers.values():
                self.follow_doctor(node, is_lost=False)
            if self.is_well(12.0):
                break
            if found.leader() == 0 and not self.take_the_last_way():
                found.end()  # no directory is left, and doctor has said so
                self.found = None
                return
        assert self.is_well(30.0), self.explain("a circle")
        kept = names_in(found.controllers[found.leader()].directory)
        assert self.acknowledged <= kept, self.explain(f"lost: {self.acknowledged - kept}")
        self.write_more()

    def explain(self, fault: str) -> str:
        """What was done, and the end of each node's log. The directories are kept."""
        assert self.found is not None
        self.is_kept = True
        logs = [f"{node.log}:\n{node.said()[-2000:]}" for node in self.found.controllers.values()]
        return "\n".join([f"{fault}, in {self.root}:", *self.told, *logs])

    def is_well(self, seconds: float) -> bool:
        """Whether there is a leader, and all three nodes are voters with all records."""
        assert self.found is not None
        servers = self.found.bootstrap_controller
        done = self.run(f"kraftctl wait --timeout {seconds} --bootstrap-controller {servers}")
        return done.returncode == 0 and voters_of(self.found) == [1, 2, 3]

    def advice(self, node: NodeProcess) -> list[str]:
        done = self.run(f"kraftctl doctor --json --timeout 1 -c {node.properties}")
        return list(json.loads(done.stdout)["do"])

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
        return subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, timeout=150, check=False, env=environment,
            stdin=subprocess.DEVNULL, cwd=self.root,
        )  # fmt: skip

    def follow_doctor(self, node: NodeProcess, *, is_lost: bool) -> None:
        """Do what the block says. is_lost: whether a majority of the directories is lost for good."""
        assert self.found is not None
        variables = ""
        for line in self.advice(node):
            self.told.append(f"  node {node.id}: {line}")
            # Where nothing better is left, what this directory has is below that warning.
            if line.startswith("# only if the cluster is new") or (line.startswith("# do not format") and not is_lost):
                return
            if line.startswith(("# if a majority of the voters has lost", "# if this directory is the best")):
                if not is_lost:
                    return
                self.found.end()
            elif line.startswith("# the other controllers have lost"):
                self.found.end()
            elif line.startswith("# start the node"):
                self.start(node)
            elif line.startswith("plan="):
                variables = f"plan={self.root}/plan-{len(self.told)}; "
            elif line.startswith("#   printf") and is_lost:
                assert self.run(line.removeprefix("#").replace("CLUSTER_ID", self.cluster_id())).returncode == 0
            elif not line.startswith("#"):
                done = self.run(variables + line)
                self.told.append(f"    {done.returncode} {done.stdout[-200:]}{done.stderr[-300:]}")
                if done.returncode:
                    return
                if "recover apply" in line:
                    follow(done.stdout.partition("in this order:")[2], self.found, node.id)
                    return

    def start(self, node: NodeProcess) -> None:
        """Start it, also if it ended by itself since it was started last; nothing if it runs."""
        if node.process is not None and node.process.poll() is not None:
            self.told.append(f"    node {node.id} had ended, exit code {node.process.poll()}")
            node.kill()
        if node.process is None:
            node.start()

    def cluster_id(self) -> str:
        """That of another controller, which knows no leader; a new one if none is left: there are no brokers."""
        assert self.found is not None
        marks = [node.directory / "meta.properties" for node in self.found.controllers.values()]
        texts = [mark.read_text() for mark in marks if mark.exists()]
        found = re.search("(?m)^cluster.id=(.+)$", "\n".join(texts))
        return found[1] if found else self.run("kafka-storage random-uuid").stdout.strip()

    def take_the_last_way(self) -> bool:
        """No leader, although all that can run runs: the best directory that is left becomes the quorum."""
        assert self.found is not None
        self.found.end()
        nodes = [node for node in self.found.controllers.values() if any((node.directory / PARTITION).glob("*.log"))]
        measured = {}
        for node in nodes:
            done = self.run(f"kraftctl recover measure --json {node.directory}")
            if done.stdout:
                row = json.loads(done.stdout)["directories"][0]
                measured[node.id] = (row["epoch"], row["end_offset"], row["fault"] is None)
        if not measured:
            blocks = [self.advice(node) for node in self.found.controllers.values()]
            assert any("backup restore" in line for block in blocks for line in block), self.told
            return False
        best = self.found.controllers[max(measured, key=lambda number: (measured[number][2], measured[number]))]
        self.told.append(f"a majority is lost; {measured}, best {best.id}")
        self.follow_doctor(best, is_lost=True)
        self.acknowledged &= names_in(best.directory)
        return True

    def teardown(self) -> None:
        if self.found is not None:
            self.found.end()
        if not self.is_kept:
            shutil.rmtree(self.root, ignore_errors=True)


class WayOfStock(Way):
    """The same with controllers of stock Kafka."""

    kinds = (STOCK,)


def tried(machine: type[Way], examples: int) -> None:
    limits = settings(
        max_examples=examples, stateful_step_count=3, deadline=None, derandomize=SEED is None, database=None,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate],
    )  # fmt: skip
    if SEED is not None:
        machine = seed(int(SEED))(machine)
    run_state_machine_as_test(machine, settings=limits)  # type: ignore[no-untyped-call]


def test_doctors_block_leads_out_of_what_breaks_our_nodes() -> None:
    tried(Way, EXAMPLES)


def test_doctors_block_leads_out_of_what_breaks_stock_nodes(stock: Stock) -> None:
    tried(WayOfStock, max(EXAMPLES // 2, 1))
