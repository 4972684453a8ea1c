"""Injects faults into the quorum: drawn from a seed, one after the other, each with an end."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.chaos.network import OUTSIDE
from simulations.chaos.quorum import NODES

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.chaos.quorum import Quorum

# Below, about and above each timeout of the quorum, in seconds: 1 s to an election, 2 s between fetches, 3 s of
# check-quorum.
DURATIONS_S = (0.05, 0.3, 1.0, 2.0, 3.5, 7.0, 12.0)
WEIGHTS = (8, 8, 8, 6, 4, 2, 1)
# The leader appends a record twice a second, and soon after it each follower whom no earlier fault keeps away.
FULL_S = 60.0
HOURS = 5
# By how much each sync takes longer on a slow disk, and on one that a leader does not get over.
SLOW_S, STALLED_S = 0.5, 5.0


class Fault(NamedTuple):
    """One fault. name: a key of `faults_of`; nodes: the nodes it affects, the first one most; seconds: how long.

    of_leader: whether the first was the leader.
    """

    name: str
    nodes: tuple[int, ...]
    seconds: float
    of_leader: bool = False


class Injected(NamedTuple):
    """A fault that was injected, in milliseconds after the nemesis began."""

    at_ms: int
    fault: Fault


class Nemesis:
    """Draws faults and injects them. injected: the faults so far; counts: how often each kind was injected; story: what
    happened, with the second.
    """

    def __init__(self, quorum: Quorum, rng: Random, say: Callable[[str], object]) -> None:
        self.quorum = quorum
        self.injected: list[Injected] = []
        self.faults = faults_of(quorum)
        self.counts: dict[str, int] = dict.fromkeys(self.faults, 0)
        self.story: list[str] = []
        self._rng = rng
        self._say = say
        self._begin = time.monotonic()

    def run(self, until: float) -> None:
        """Inject faults until `until`, of the monotonic clock; then end them all."""
        while time.monotonic() < until:
            self.inject(self.draw(self._share_s(until)), until)
            self.quorum.look()
            self._sleep(min(self._rng.choice((0.1, 0.5, 2.0)), self._share_s(until) / 4), until)
        self.mend()

    def draw(self, share_s: float = DURATIONS_S[-1] * 2) -> Fault:
        """Draw the next fault, of a kind that was not injected yet as long as there is one; half affect the leader.

        share_s: the time for this kind; the fault is shorter than half of it.
        """
        nodes = list(NODES)
        self._rng.shuffle(nodes)
        leader = self.quorum.leader()
        if leader and self._rng.random() < 0.5:
            nodes.remove(leader)
            nodes.insert(0, leader)
        name = self._rng.choice(sorted(self._missing() or self.faults))
        seconds = min(self._rng.choices(DURATIONS_S, WEIGHTS)[0], round(share_s / 2, 2))
        return Fault(name, tuple(nodes), seconds, of_leader=nodes[0] == leader)

    def inject(self, fault: Fault, until: float) -> None:
        """Inject one fault, wait, and end it."""
        self.report(f"{fault.name} of node {fault.nodes[0]} for {fault.seconds} s")
        self.counts[fault.name] += 1
        self.injected.append(Injected(int((time.monotonic() - self._begin) * 1000), fault))
        self.faults[fault.name](self.quorum, fault, lambda seconds: self._sleep(seconds, until))

    def mend(self) -> None:
        """End all faults: every node runs, and all can reach each other."""
        self.quorum.network.heal()
        for node in list(self.quorum.stopped):
            self.quorum.signal(node, signal.SIGCONT)
        for node in NODES:
            if node not in self.quorum.processes:
                self.quorum.start(node)
        self.report("all is well again")

    def report(self, text: str) -> None:
        line = f"{time.monotonic() - self._begin:7.1f} s  {text}"
        self.story.append(line)
        self._say(line)

    def _missing(self) -> list[str]:
        """The kinds that were not injected yet."""
        return [name for name, count in self.counts.items() if not count]

    def _share_s(self, until: float) -> float:
        """The time until then for each kind that was not injected yet: a short run has each kind, too."""
        missing = len(self._missing())
        return max(until - time.monotonic(), 0) / missing if missing else DURATIONS_S[-1] * 2

    def _sleep(self, seconds: float, until: float) -> None:
        time.sleep(max(min(seconds, until - time.monotonic()), 0))


Wait = Any


def kill(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    quorum.signal(fault.nodes[0], signal.SIGKILL)
    wait(fault.seconds)
    _start(quorum, fault.nodes[0])


def kill_two(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    for node in fault.nodes[:2]:
        quorum.signal(node, signal.SIGKILL)
    wait(fault.seconds)
    for node in fault.nodes[:2]:
        _start(quorum, node)


def kill_all(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    for node in fault.nodes:
        quorum.signal(node, signal.SIGKILL)
    wait(min(fault.seconds, 1.0))
    for node in fault.nodes:
        _start(quorum, node)


def kill_again(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    """Kill a node several times, each time soon after its start."""
    for pause in (0.15, 0.4, 0.8):
        quorum.signal(fault.nodes[0], signal.SIGKILL)
        _start(quorum, fault.nodes[0])
        wait(pause)


def restart(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    quorum.end(fault.nodes[0])
    wait(min(fault.seconds, 2.0))
    _start(quorum, fault.nodes[0])


def pause(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    quorum.signal(fault.nodes[0], signal.SIGSTOP)
    wait(fault.seconds)
    quorum.signal(fault.nodes[0], signal.SIGCONT)


def pause_and_kill(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    """Stop one node; kill another, which may lead by then; then let the first continue with its old state."""
    quorum.signal(fault.nodes[0], signal.SIGSTOP)
    wait(fault.seconds)
    quorum.signal(fault.nodes[1], signal.SIGKILL)
    wait(0.3)
    quorum.signal(fault.nodes[0], signal.SIGCONT)
    wait(1.0)
    _start(quorum, fault.nodes[1])


def isolate(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    for other in fault.nodes[1:]:
        quorum.network.cut(fault.nodes[0], other)
        quorum.network.cut(other, fault.nodes[0])
    wait(fault.seconds)
    quorum.network.heal()


def mute(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    """A node receives messages, and none that it sends arrives."""
    for other in fault.nodes[1:]:
        quorum.network.cut(fault.nodes[0], other)
    wait(fault.seconds)
    quorum.network.heal()


def deafen(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    """A node sends messages, and receives none."""
    for other in fault.nodes[1:]:
        quorum.network.cut(other, fault.nodes[0])
    wait(fault.seconds)
    quorum.network.heal()


def bridge(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    """Two nodes cannot reach each other, and both can reach the third."""
    quorum.network.cut(fault.nodes[0], fault.nodes[1])
    quorum.network.cut(fault.nodes[1], fault.nodes[0])
    wait(fault.seconds)
    quorum.network.heal()


def flap(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    """Cut a node off and reconnect it, several times."""
    for _ in range(5):
        isolate(quorum, fault._replace(seconds=0.3), wait)
        wait(0.3)


def break_connections(quorum: Quorum, fault: Fault, _wait: Wait) -> None:
    for other in (*fault.nodes[1:], OUTSIDE):
        quorum.network.reset(fault.nodes[0], other)


def delay(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    for other in fault.nodes[1:]:
        quorum.network.slow(fault.nodes[0], other, 0.05)
        quorum.network.slow(other, fault.nodes[0], 0.05)
    wait(fault.seconds)
    quorum.network.heal()


def fill(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    """Leave no room on a node's disk until the node has ended with an error; make room, and start it again."""
    assert quorum.disks is not None
    node = fault.nodes[0]
    quorum.disks.fill(node)
    quorum.await_failure(node, FULL_S)
    wait(fault.seconds)
    quorum.disks.free(node)
    _start(quorum, node)


def set_ahead(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    _move(quorum, fault, wait, HOURS)


def set_back(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    _move(quorum, fault, wait, -HOURS)


def slow_disk(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    _delay_syncs(quorum, fault, wait, SLOW_S)


def stall_disk(quorum: Quorum, fault: Fault, wait: Wait) -> None:
    _delay_syncs(quorum, fault, wait, STALLED_S)


def _delay_syncs(quorum: Quorum, fault: Fault, wait: Wait, seconds: float) -> None:
    """Have each sync of a node take so much longer, for long enough that some do."""
    assert quorum.syncs is not None
    quorum.syncs.delay(seconds, fault.nodes[0])
    wait(max(fault.seconds, seconds))
    quorum.syncs.delay(0, fault.nodes[0])


def _move(quorum: Quorum, fault: Fault, wait: Wait, hours: int) -> None:
    """Move a node's wall clock, and back again. The node notices each move within a second."""
    assert quorum.clocks is not None
    quorum.clocks.move(fault.nodes[0], hours)
    wait(max(fault.seconds, 1.5))
    quorum.clocks.move(fault.nodes[0], 0)


def _start(quorum: Quorum, node: int) -> None:
    if node not in quorum.processes:
        quorum.start(node)


FAULTS: dict[str, Callable[[Quorum, Fault, Wait], None]] = {
    "bridge": bridge,
    "broken connections": break_connections,
    "crash": kill,
    "crash loop": kill_again,
    "crash of all": kill_all,
    "crash of two": kill_two,
    "deaf": deafen,
    "delay": delay,
    "flapping": flap,
    "isolation": isolate,
    "mute": mute,
    "pause": pause,
    "pause, and a crash of another": pause_and_kill,
    "restart": restart,
}
FAULTS_OF_DISKS = {"full disk": fill}
FAULTS_OF_CLOCKS = {"clock ahead": set_ahead, "clock behind": set_back}
FAULTS_OF_SYNCS = {"slow disk": slow_disk, "stalled disk": stall_disk}


def faults_of(quorum: Quorum) -> dict[str, Callable[[Quorum, Fault, Wait], None]]:
    """Those that are possible: nodes may have the machine's own disk, clock and syncs."""
    disks, clocks = FAULTS_OF_DISKS if quorum.disks else {}, FAULTS_OF_CLOCKS if quorum.clocks else {}
    syncs = FAULTS_OF_SYNCS if quorum.syncs else {}
    return {**FAULTS, **disks, **clocks, **syncs}
