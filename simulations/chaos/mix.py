"""Compares the requests between real nodes with those between simulated ones: a world with the same faults at the same
times, and as many records, and the shares of the kinds of requests in both.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from simulations.chaos.quorum import NODES
from simulations.plans.plan import Fault, Load, Plan
from simulations.raft.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulations.chaos.nemesis import Injected
    from simulations.world.messages import Frame
    from simulations.world.process import Connection

# The pause between two cuts of a flapping node, and their number.
FLAP_MS, FLAP_TIMES = 300, 5
DELAY_MS = 50
DIFFERENCE_MAX = 0.1
# A real process takes a while to start, which a simulated one does not.
START_MS = 700


class Mix(NamedTuple):
    """Requests by name, of a real run and of the simulated one beside it."""

    real: Mapping[str, int]
    simulated: Mapping[str, int]

    @property
    def difference(self) -> float:
        """The share of requests that are of another kind in the other run: half of the sum of the differences of the
        shares, from 0 to 1.
        """
        return sum(abs(real - simulated) for real, simulated in self.shares().values()) / 2

    def shares(self) -> dict[str, tuple[float, float]]:
        """The shares of all requests, real and simulated, by name."""
        real, simulated = max(sum(self.real.values()), 1), max(sum(self.simulated.values()), 1)
        names = sorted(self.real.keys() | self.simulated.keys())
        return {name: (self.real.get(name, 0) / real, self.simulated.get(name, 0) / simulated) for name in names}


def simulate(injected: list[Injected], seconds: float, batches_per_s: float) -> Counter[str]:
    """The requests between nodes, by name, in a world with these faults and this length. Raises RuntimeError if a
    property is violated.
    """
    counts: Counter[str] = Counter()
    run = Run(plan_of(injected, seconds, batches_per_s))
    leaves = run.network.seen

    def on_frame(connection: Connection, frame: Frame, is_answer: bool) -> None:
        if not is_answer:
            counts[frame.name] += 1
        leaves(connection, frame, is_answer)

    run.network.seen = on_frame
    run.events_max = max(run.events_max, int(seconds) * 20_000)
    outcome = run.execute()
    if not outcome.is_well:
        raise RuntimeError(f"the simulated run breaks {outcome.property_id}: {outcome.text}")
    return counts


def plan_of(injected: list[Injected], seconds: float, batches_per_s: float) -> Plan:
    """Three nodes with Kafka's own timeouts, and the same faults at the same times."""
    plan = Plan(1, voters=len(NODES), chaos_ms=int(seconds * 1000))
    plan.load = Load(every_ms=max(round(1000 / batches_per_s), 1) if batches_per_s else 0)
    plan.snapshot_every = 1000
    plan.faults = [fault for each in injected for fault in FAULTS[each.fault.name](each)]
    return plan


def _node(each: Injected, place: int = 0) -> int | str:
    """The target of a fault: the leader if it struck the leader, since another node leads in the simulated run."""
    return "leader" if place == 0 and each.fault.of_leader else each.fault.nodes[place]


def _fault(kind: str, each: Injected, **args: object) -> Fault:
    return Fault(kind, args, at_ms=each.at_ms)


def _crash(each: Injected) -> list[Fault]:
    return [_fault("kill", each, whom=_node(each), down_ms=_down_ms(each))]


def _crash_of_two(each: Injected) -> list[Fault]:
    return [_fault("kill", each, whom=_node(each, place), down_ms=_down_ms(each)) for place in (0, 1)]


def _crash_of_all(each: Injected) -> list[Fault]:
    down_ms = [min(_down_ms(each), 1000 + START_MS)] * len(NODES)
    return [_fault("everybody", each, how="kill", down_ms=down_ms)]


def _crash_loop(each: Injected) -> list[Fault]:
    return [_fault("crash_loop", each, whom=_node(each), how="kill", times=3, up_ms=100, down_ms=350)]


def _restart(each: Injected) -> list[Fault]:
    return [_fault("shut_down", each, whom=_node(each), down_ms=min(_span_ms(each), 2000) + START_MS)]


def _pause(each: Injected) -> list[Fault]:
    return [_fault("pause", each, whom=_node(each), for_ms=_span_ms(each))]


def _pause_and_crash(each: Injected) -> list[Fault]:
    paused = _fault("pause", each, whom=_node(each), for_ms=_span_ms(each) + 300)
    killed = _fault("kill", each, whom=each.fault.nodes[1], down_ms=1300 + START_MS)
    killed.at_ms += _span_ms(each)
    return [paused, killed]


def _cut(direction: str) -> Callable[[Injected], list[Fault]]:
    def make_isolation(each: Injected) -> list[Fault]:
        return [_fault("isolate", each, whom=_node(each), direction=direction, for_ms=_span_ms(each))]

    return make_isolation


def _bridge(each: Injected) -> list[Fault]:
    other = each.fault.nodes[1]
    return [_fault("part", each, whom=_node(each), other=other, direction="both", for_ms=_span_ms(each))]


def _flap(each: Injected) -> list[Fault]:
    times = {"on_ms": FLAP_MS, "off_ms": FLAP_MS, "times": FLAP_TIMES}
    return [_fault("flap", each, whom=_node(each), direction="both", **times)]


def _reset(each: Injected) -> list[Fault]:
    return [_fault("reset", each, whom=_node(each))]


def _delay(each: Injected) -> list[Fault]:
    return [_fault("slow", each, whom=_node(each), direction="both", extra_ms=DELAY_MS, for_ms=_span_ms(each))]


def _span_ms(each: Injected) -> int:
    return int(each.fault.seconds * 1000)


def _down_ms(each: Injected) -> int:
    return _span_ms(each) + START_MS


FAULTS: dict[str, Callable[[Injected], list[Fault]]] = {
    "bridge": _bridge,
    "broken connections": _reset,
    "crash": _crash,
    "crash loop": _crash_loop,
    "crash of all": _crash_of_all,
    "crash of two": _crash_of_two,
    "deaf": _cut("in"),
    "delay": _delay,
    "flapping": _flap,
    "isolation": _cut("both"),
    "mute": _cut("out"),
    "pause": _pause,
    "pause, and a crash of another": _pause_and_crash,
    "restart": _restart,
}
"""Name of a fault of the nemesis -> the same fault in a plan."""
