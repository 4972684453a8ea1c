"""`python -m tests.porcupine.play`: controllers under faults, and clients on franz-go, whose history Porcupine checks.

The clients and the check are a program in Go beside this module; the faults are those of `simulations chaos`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import NamedTuple

from simulations.chaos.brokers import IDS, Brokers
from simulations.chaos.nemesis import Nemesis
from simulations.chaos.quorum import NODES, Quorum
from simulations.commands.chaos import SETTINGS
from tests.porcupine.planted import ROWS

HERE = Path(__file__).parent
# Beyond the time of the clients: the check has two minutes.
END_S = 180
START_S = 60
# Without an authorizer there are no ACLs. A client that is not authenticated has all rights. No session of a broker
# ends while the controllers are away: the model of a partition has no change by the controller itself.
CHECKED = {
    "broker.session.timeout.ms": "3600000",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


def build(directory: Path) -> Path:
    """The program of the clients and the check; its modules come through the proxy of Go modules, by their hashes."""
    program = directory / "clients"
    subprocess.run(["go", "build", "-o", program, "."], cwd=HERE, check=True)
    return program


class Planted(Quorum):
    """A quorum whose nodes have a fault. plant: a row of `planted`; None for none."""

    def __init__(self, directory: Path, settings: dict[str, str], plant: str | None) -> None:
        self._plant = plant
        super().__init__(directory, settings)

    def command(self, node: int) -> list[str]:
        program, *arguments = super().command(node)
        if self._plant is None:
            return [program, *arguments]
        return [sys.executable, "-m", "tests.porcupine.planted", self._plant, *arguments]


class Outcome(NamedTuple):
    """Of a history. result: "Ok" if it is linearizable, "Illegal" if it is not. counts: by operation and answer."""

    result: str
    operations: int
    counts: dict[str, int]
    check_seconds: float


def play(
    directory: Path, seconds: int, seed: int, *, plant: str | None = None, clients: int = 4, faults: bool = True
) -> Outcome:
    """directory: empty; gets the files of the nodes, and a page about a history that is not linearizable.

    plant: a row of `planted`, which all nodes have. faults: whether nodes are killed, stopped and cut off.
    """
    program = build(directory)
    nodes = directory / "nodes"
    nodes.mkdir()
    quorum = Planted(nodes, {**SETTINGS, **CHECKED}, plant)
    nemesis = Nemesis(quorum, Random(f"porcupine {seed}"), lambda line: sys.stdout.write(f"{line}\n"))
    with ExitStack() as ending:
        ending.callback(quorum.close)
        for each in NODES:
            quorum.start(each)
        brokers = Brokers(quorum)
        ending.callback(brokers.close)
        end = time.monotonic() + START_S
        while len(brokers.epochs) < len(IDS):
            assert time.monotonic() < end, "not all brokers are registered"
            time.sleep(0.1)
        registered = ",".join(f"{broker}:{epoch}" for broker, epoch in sorted(brokers.epochs.items()))
        addresses = ",".join(f"127.0.0.1:{port}" for port in quorum.ports.values())
        asked = [
            f"-seeds={addresses}", f"-seconds={seconds}", f"-seed={seed}", f"-clients={clients}",
            f"-brokers={registered}", f"-page={directory / 'history.html'}",
        ]  # fmt: skip
        process = subprocess.Popen([program, *asked], stdout=subprocess.PIPE, text=True)
        ending.callback(process.kill)
        # The first line: the topics that are altered exist.
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if faults:
            nemesis.run(time.monotonic() + seconds)
        text, _ = process.communicate(timeout=seconds + END_S)
        quorum.look()
    assert quorum.died == []
    return Outcome(**json.loads(text))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.porcupine.play", description=main.__doc__)
    parser.add_argument("--seconds", type=int, default=180, help="how long (180)")
    parser.add_argument("--seed", type=int, default=1, help="of the faults and the clients (1)")
    parser.add_argument("--clients", type=int, default=4, help="how many (4)")
    parser.add_argument("--plant", choices=sorted(ROWS), help="a fault that the check must find")
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="porcupine-"))
    outcome = play(directory, options.seconds, options.seed, plant=options.plant, clients=options.clients)
    sys.stdout.write(f"{outcome.counts}\n{outcome.operations} operations, checked in {outcome.check_seconds:.1f} s: ")
    sys.stdout.write(f"{outcome.result}\n")
    if outcome.result != "Ok":
        sys.stdout.write(f"the files of the nodes and a page about the history are in {directory}\n")
        return 1
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
