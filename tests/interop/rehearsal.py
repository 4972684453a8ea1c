"""Rounds of kill, wipe, recover and restore of three controllers of ours, drawn from a seed.

`python -m tests.interop.rehearsal --rounds 200 --seed 1` runs as many; test_rehearsal.py runs a few.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from controller.state.tables.configs import CLIENT_METRICS
from records.messages.configs import IncrementalAlterConfigsRequest
from records.uuids import uuid_text
from tests.interop.cluster import OURS, Cluster, eventually
from tests.interop.dynamic import Dynamic, format_node
from tests.interop.stock import Stock
from tests.interop.test_log_repair import kraftctl
from tools.client.connection import Connection
from tools.offline.live_directory import LiveDirectory

if TYPE_CHECKING:
    from subprocess import CompletedProcess

WRITES = 20


class Outcome(NamedTuple):
    """A round. way: start, recover or restore; promised: the writes that had to be kept; kept: those that were."""

    way: str
    killed: tuple[int, ...]
    wiped: tuple[int, ...]
    promised: frozenset[str]
    kept: frozenset[str]

    @property
    def lost(self) -> list[str]:
        return sorted(self.promised - self.kept)


def rehearse(directory: Path, seed: int) -> Outcome:
    """One round: write, save a backup, write on while nodes are killed, wipe disks, and take the way that is left."""
    rng = Random(seed)
    found = Dynamic(directory, Stock(quick=True))
    try:
        begin(found, rng)
        acknowledged = write(found, 0, rng.randrange(1, WRITES))
        backup = directory / "backup"
        done(kraftctl("backup", "save", "--bootstrap-controller", found.bootstrap_controller, str(backup)))
        saved = frozenset(acknowledged)
        acknowledged += write(found, len(acknowledged), rng.randrange(1, WRITES))
        killed = tuple(sorted(rng.sample((1, 2, 3), rng.randrange(1, 4))))
        for number in killed:
            found.controllers[number].kill()
            acknowledged += write(found, 1000 * number, 2)
        for number, node in found.controllers.items():
            if number not in killed:
                node.stop()
        wiped = tuple(sorted(rng.sample((1, 2, 3), rng.randrange(1, 4))))
        for number in wiped:
            shutil.rmtree(found.controllers[number].directory)
        way, promised = take_way_out(found, directory, wiped, saved, frozenset(acknowledged))
        alive = next(number for number in found.controllers if found.controllers[number].process is not None)
        found.await_leader()
        eventually(lambda: write(found, 9000, 1), "the quorum takes a new write")
        found.controllers[found.leader()].stop()
        kept = names_in(found.controllers[alive].directory)
    finally:
        found.close()
    return Outcome(way, killed, wiped, promised, kept)


def take_way_out(
    found: Cluster, directory: Path, wiped: tuple[int, ...], saved: frozenset[str], acknowledged: frozenset[str]
) -> tuple[str, frozenset[str]]:
    """Start a quorum from what is left; the way, and the writes that it promised to keep."""
    left = [number for number in found.controllers if number not in wiped]
    if len(left) >= 2:
        for number in left:
            found.controllers[number].start()
        return "start", acknowledged
    if not left:
        node = found.controllers[1]
        done(kraftctl("backup", "restore", str(directory / "backup"), "-c", str(node.properties)))
        node.start()
        return "restore", saved
    node = found.controllers[left[0]]
    survived = names_in(node.directory)
    plan = str(directory / "plan.json")
    made = done(kraftctl("recover", "plan", "--json", "--output", plan, str(node.directory)))
    done(kraftctl("recover", "apply", plan))
    node.start()
    # The plan promises the log of the survivor, and no more than that where it says that writes may be lost.
    return "recover", survived if json.loads(made.stdout)["may_lose"] else acknowledged


def begin(found: Dynamic, rng: Random) -> None:
    """Format and start three voters."""
    found.plan([OURS] * 3, 0)
    ids = {number: uuid_text(rng.randbytes(15) + b"\1").replace("-", "A") for number in found.controllers}
    voters = ",".join(f"{number}@127.0.0.1:{found.controllers[number].port}:{ids[number]}" for number in ids)
    for number in found.controllers:
        format_node(found, number, "--initial-controllers", voters)
    found.start()
    found.await_leader()
    eventually(lambda: found.voters_now() == [1, 2, 3], "three voters")


def write(found: Cluster, first: int, count: int) -> list[str]:
    """Create configs of client metrics, one after another; the names of those that were acknowledged."""
    acknowledged: list[str] = []
    kind = IncrementalAlterConfigsRequest.AlterConfigsResource
    for number in range(first, first + count):
        name = f"write-{number}"
        config = kind.AlterableConfig(name="metrics", config_operation=0, value="*")
        request = IncrementalAlterConfigsRequest(
            resources=(kind(resource_type=CLIENT_METRICS, resource_name=name, configs=(config,)),), validate_only=False
        )
        try:
            leader = found.leader()
            if not leader:
                continue
            with Connection("127.0.0.1", found.controllers[leader].port, "rehearsal", 5.0) as connection:
                answer = connection.ask(request)
        except OSError:
            continue
        if all(response.error_code == 0 for response in answer.responses):
            acknowledged.append(name)
    return acknowledged


def names_in(log_directory: Path) -> frozenset[str]:
    """The writes in the log of a stopped node."""
    image = LiveDirectory(str(log_directory)).update()
    return frozenset(name for kind, name in image.configs if kind == CLIENT_METRICS)


def done(process: CompletedProcess[str]) -> CompletedProcess[str]:
    assert process.returncode == 0, process.stdout + process.stderr
    return process


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.rehearsal", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first round; the next ones follow")
    options = parser.parse_args()
    failed = 0
    ways: dict[str, int] = {}
    for seed in range(options.seed, options.seed + options.rounds):
        with tempfile.TemporaryDirectory() as directory:
            outcome = rehearse(Path(directory), seed)
        ways[outcome.way] = ways.get(outcome.way, 0) + 1
        failed += bool(outcome.lost)
        counts = f"{len(outcome.kept)} writes kept, {len(outcome.lost)} lost"
        sys.stdout.write(f"seed {seed}: {outcome.way}, wiped {list(outcome.wiped)}: {counts}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{options.rounds} rounds, {ways}: {failed} lost a write that was promised\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
