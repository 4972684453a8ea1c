"""Faults of brokers, and of the responses to brokers and admin clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.cluster import upkeep
from simulations.cluster.upkeep import one_broker
from simulations.faults.table import FaultKind, pick
from simulations.nodes.wire import NAMES
from simulations.plans.plan import Fault
from simulations.world.streams import between
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.cluster.clients.brokers import BrokerMachine
    from simulations.cluster.world import ClusterWorld
    from simulations.plans.cluster_plan import ClusterPlan
    from simulations.world.process import Process

Args = dict[str, Any]


def _machine(run: Any, args: Args) -> BrokerMachine:
    machine: BrokerMachine = run.brokers[args["broker"] % len(run.brokers)]
    return machine


def crash(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """A broker crashes, and restarts after down_ms without a clean shutdown file."""
    machine = _machine(run, args)
    if machine.current is None:
        return False
    machine.crash()
    run.later(args["down_ms"], machine.start)
    return True


def crash_all(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """All brokers crash, one after the other every gap_ms, and restart down_ms later."""
    for place, machine in enumerate(run.brokers):
        run.later(1 + place * args["gap_ms"], machine.crash)
        run.later(2 + place * args["gap_ms"] + args["down_ms"], machine.start)
    return True


def leave(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """A broker requests controlled shutdown (KIP-841), and restarts. With `directory` that one fails at the same time,
    so that one heartbeat tells of both.
    """
    machine = _machine(run, args)
    if machine.current is None:
        return False
    machine.leave(args["down_ms"])
    if "directory" in args:
        machine.fail(machine.directories[args["directory"] % len(machine.directories)])
        run.later(3 * args["down_ms"], machine.repair)
    return True


def pause(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """A broker stops running (SIGSTOP), and continues later."""
    machine = _machine(run, args)
    process = machine.current
    if process is None:
        return False
    process.pause(is_paused=True)
    run.later(args["for_ms"], lambda: process.pause(is_paused=False))
    return True


def replace(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """A broker stops running, another process with its id starts, and then the first continues: a zombie."""
    machine = _machine(run, args)
    if machine.current is None:
        return False
    machine.replace()
    run.later(args["for_ms"], machine.wake_stale)
    return True


def cut(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """A broker reaches no controller, or receives nothing from them."""
    machine = _machine(run, args)
    ways = []
    for node_id in run.nodes:
        if args["direction"] in {"both", "out"}:
            ways.append((machine.id, node_id))
        if args["direction"] in {"both", "in"}:
            ways.append((node_id, machine.id))
    for way in ways:
        run.network.links.cut(*way)

    def heal() -> None:
        for way in ways:
            run.network.links.heal(*way)

    run.later(args["for_ms"], heal)
    return True


def lose(run: ClusterWorld, args: Args, _struck: Process | None) -> bool:
    """For a while each message of a name is lost with its connection, with a probability: a
    request, or its response.
    """
    rng = run.stream("lose", args["number"])

    def rule(connection: Any, frame: Any, _is_answer: bool) -> bool:
        if frame.name != args["name"] or rng.random() >= args["share"]:
            return False
        run.network.reset(connection)
        return True

    run.network.rules.append(rule)
    run.later(args["for_ms"], run.network.rules.remove, rule)
    return True


def _span(rng: Random, plan: ClusterPlan) -> int:
    """A duration far below, about, or far above a session timeout."""
    low, high = pick(rng, ((5, 50), (60, 130), (130, 300)))
    return max(1, plan.session_ms * between(rng, low, high) // 100)


DRAW: dict[str, Callable[[Random, ClusterPlan], Args]] = {
    "broker_crash": lambda rng, plan: {**one_broker(rng, plan), "down_ms": _span(rng, plan)},
    "brokers_crash": lambda rng, plan: {
        "gap_ms": pick(rng, (0, 100, _span(rng, plan))), "down_ms": _span(rng, plan),
    },
    "broker_leaves": lambda rng, plan: {**one_broker(rng, plan), "down_ms": _span(rng, plan)},
    "broker_pauses": lambda rng, plan: {**one_broker(rng, plan), "for_ms": _span(rng, plan)},
    "broker_doubles": lambda rng, plan: {**one_broker(rng, plan), "for_ms": _span(rng, plan)},
    "broker_cut": lambda rng, plan: {
        **one_broker(rng, plan), "direction": pick(rng, ("both", "in", "out")), "for_ms": _span(rng, plan),
    },
    "lose": lambda rng, plan: {
        "name": pick(rng, NAMES), "share": pick(rng, (0.2, 0.6)), "number": int(rng.random() * 1_000_000),
        "for_ms": _span(rng, plan) * 3,
    },
}  # fmt: skip

BROKER_KINDS: dict[str, Callable[[Any, Args, Process | None], bool]] = {
    "broker_crash": crash,
    "brokers_crash": crash_all,
    "broker_leaves": leave,
    "broker_pauses": pause,
    "broker_doubles": replace,
    "broker_cut": cut,
    "lose": lose,
}


def draw_broker_fault(rng: Random, plan: ClusterPlan, kinds: list[str]) -> Fault:
    """A fault of one of these kinds, at a random time."""
    kind = pick(rng, kinds)
    draw = DRAW.get(kind) or upkeep.DRAW[kind]
    return Fault(kind, draw(rng, plan), at_ms=between(rng, 200, plan.chaos_ms * 9 // 10))


def strike(run: ClusterWorld, fault: Fault, struck: Process | None, kinds: dict[str, FaultKind]) -> bool:
    """Inject the fault; returns whether it had a target."""
    own = BROKER_KINDS.get(fault.kind) or upkeep.KINDS.get(fault.kind)
    return own(run, fault.args, struck) if own is not None else kinds[fault.kind].strike(run, fault.args, struck)


def mend(run: ClusterWorld) -> None:
    """End all broker faults."""
    for machine in run.brokers:
        machine.end_stale()
        machine.back_after_ms = 0  # a broker that shuts down goes, and comes back
        machine.repair()
        if machine.cordoned:
            machine.cordoned = ()
        if machine.current is not None:
            machine.current.pause(is_paused=False)
        run.world.after(MS, machine.start)
