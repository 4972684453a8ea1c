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
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from typing import IO, NamedTuple

from simulations.chaos.brokers import IDS, Brokers
from simulations.chaos.equipment import OF_THE_MACHINE, Equipment, equip
from simulations.chaos.nemesis import Fault, Nemesis
from simulations.chaos.quorum import NODES, Quorum
from simulations.commands.chaos import SETTINGS
from tests.porcupine.planted import ROWS

HERE = Path(__file__).parent
# Beyond the time of the clients: the check has two minutes, and once more as long for the page.
END_S = 360
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

    # A run of an hour goes on beside other work, with the lowest priority.
    start_s = end_s = 60.0

    def __init__(self, directory: Path, settings: dict[str, str], plant: str | None, equipment: Equipment) -> None:
        self._plant = plant
        super().__init__(directory, settings, equipment)

    def command(self, node: int) -> list[str]:
        program, *arguments = super().command(node)
        if self._plant is None:
            return [program, *arguments]
        return [sys.executable, "-m", "tests.porcupine.planted", self._plant, *arguments]


class Announcer(Nemesis):
    """A nemesis that tells the clients, a line each, which fault begins, and, by an empty line, that it has ended."""

    clients: IO[str]

    def inject(self, fault: Fault, until: float) -> None:
        self._tell(f"{fault.name} of the leader" if fault.of_leader else fault.name)
        super().inject(fault, until)
        self._tell("")

    def _tell(self, line: str) -> None:
        # The clients may have ended just before the last fault does.
        with suppress(BrokenPipeError):
            self.clients.write(f"{line}\n")
            self.clients.flush()


class Outcome(NamedTuple):
    """Of a history. result: "Ok" if it is linearizable, "Illegal" if it is not. counts: by operation and answer;
    during: the same for each fault, of the operations that were answered while it lasted; faults: how often each was
    injected; died: the nodes that ended unexpectedly.
    """

    result: str
    operations: int
    counts: dict[str, int]
    check_seconds: float
    during: dict[str, dict[str, int]]
    faults: dict[str, int]
    died: list[str]

    @property
    def is_well(self) -> bool:
        return self.result == "Ok" and not self.died


def play(
    directory: Path, seconds: int, seed: int, *, plant: str | None = None, clients: int = 4, faults: bool = True
) -> Outcome:
    """directory: empty; gets the files of the nodes, and a page about a history that is not linearizable.

    plant: a row of `planted`, which all nodes have. faults: whether nodes are killed, stopped and cut off, and their
    disks filled and their clocks moved, where this machine allows it.
    """
    program = build(directory)
    nodes = directory / "nodes"
    nodes.mkdir()
    with ExitStack() as ending:
        equipment = equip(nodes, NODES, ending, _say) if faults else OF_THE_MACHINE
        quorum = Planted(nodes, {**SETTINGS, **CHECKED}, plant, equipment._replace(syncs=None))
        ending.callback(quorum.close)
        nemesis = Announcer(quorum, Random(f"porcupine {seed}"), _say)
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
        process = subprocess.Popen([program, *asked], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ending.callback(process.kill)
        # The first line: the topics that are altered exist.
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        nemesis.clients = process.stdin
        if faults:
            nemesis.run(time.monotonic() + seconds)
        text, _ = process.communicate(timeout=seconds + END_S)
        quorum.look()
    return Outcome(**json.loads(text), faults=nemesis.counts, died=quorum.died)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def tell(outcome: Outcome) -> str:
    """A line for each fault, and one for the whole."""
    lines = [f"{count:6} x {name}" for name, count in sorted(outcome.faults.items())]
    lines += [
        f"during {name or 'no fault'}: {sum(counts.values())} operations, {_accepted(counts)} accepted,"
        f" {counts.get('alter ok', 0)} of them AlterPartition"
        for name, counts in sorted(outcome.during.items())
    ]
    operations = f"{outcome.operations} operations, {_accepted(outcome.counts)} accepted"
    check = f"checked in {outcome.check_seconds:.1f} s: {outcome.result}"
    lines += [*outcome.died, str(outcome.counts), f"{sum(outcome.faults.values())} faults, {operations}, {check}"]
    return "".join(f"{line}\n" for line in lines)


def _accepted(counts: dict[str, int]) -> int:
    return sum(count for name, count in counts.items() if name.endswith(" ok"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.porcupine.play", description=main.__doc__)
    parser.add_argument("--seconds", type=int, default=180, help="how long (180)")
    parser.add_argument("--seed", type=int, default=1, help="of the faults and the clients (1)")
    parser.add_argument("--clients", type=int, default=4, help="how many (4)")
    parser.add_argument("--plant", choices=sorted(ROWS), help="a fault that the check must find")
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="porcupine-"))
    outcome = play(directory, options.seconds, options.seed, plant=options.plant, clients=options.clients)
    sys.stdout.write(tell(outcome))
    if not outcome.is_well:
        sys.stdout.write(f"the files of the nodes and a page about the history are in {directory}\n")
        return 1
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
