"""Faults of the node level beside those of any network: rogue clients and rogue servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from simulations.faults.table import pick
from simulations.plans.plan import Fault
from simulations.sockets import rogue_envelopes
from simulations.sockets.rogue_clients import FIRST_ID, IMPOSTURES, MANNERS, RogueClient, RogueServer, Visit
from simulations.world.machine import endpoint
from simulations.world.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.sockets.network import SocketNetwork
    from simulations.sockets.plan import SocketPlan
    from simulations.world.process import Process

Args = dict[str, Any]
# With a smaller window very large requests take long.
BULK_WINDOW = 256 << 10


class Visited(Protocol):
    """See `sockets.run.SocketRun`."""

    network: SocketNetwork
    rogue_hosts: list[RogueClient]

    def stream(self, *names: str | int) -> Random: ...
    def later(self, delay_ms: int, act: Callable[..., Any], *args: Any) -> None: ...


def visit(run: Visited, args: Args, _struck: Process | None) -> bool:
    """Rogue clients connect to a node. whom: its id; manner: of MANNERS, here or in `rogue_envelopes`; times: how many;
    size: of the data they send.
    """
    rogue = RogueClient(run.network, FIRST_ID + len(run.rogue_hosts), run.stream("stranger", args["number"]))
    run.rogue_hosts.append(rogue)
    host = endpoint(args["whom"]).host
    manner = MANNERS.get(args["manner"]) or rogue_envelopes.MANNERS[args["manner"]]
    for time in range(args["times"]):
        run.later(time * args["gap_ms"], Visit, rogue, host, manner, args["size"])
    return True


def impostor(run: Visited, args: Args, _struck: Process | None) -> bool:
    """For a while a rogue server has the address of a node. whom, other: ids; how: of IMPOSTURES."""
    whom, host = args["whom"], endpoint(args["other"]).host
    network = run.network
    rogue = RogueServer(network, FIRST_ID + len(run.rogue_hosts), run.stream("stranger", args["number"]), args["how"])
    run.rogue_hosts.append(rogue)
    network.crossed[whom, host] = rogue  # type: ignore[assignment]
    _break_off(run, whom, host)

    def undo() -> None:
        current: Any = network.crossed.get((whom, host))
        if current is rogue:
            del network.crossed[whom, host]
        rogue.leave()

    run.later(args["for_ms"], undo)
    return True


def _break_off(run: Visited, whom: int, host: str) -> None:
    """Break the connections to that address, so that new ones are made."""
    for connection in run.network.open_connections():
        if connection.client.node.id == whom and connection.channel.host == host:
            run.network.reset(connection)


KINDS: dict[str, Callable[[Any, Args, Process | None], bool]] = {"visit": visit, "impostor": impostor}


def draw_fault(rng: Random, plan: SocketPlan) -> Fault:
    """One of these faults, at a random time."""
    number = int(rng.random() * 1_000_000)
    at_ms = between(rng, 100, plan.chaos_ms * 9 // 10)
    if rng.random() < 0.3 and len(plan.ids) > 1:
        whom = pick(rng, tuple(plan.ids))
        other = pick(rng, tuple(each for each in plan.ids if each != whom))
        args = {"whom": whom, "other": other, "how": pick(rng, tuple(IMPOSTURES)), "number": number}
        return Fault("impostor", {**args, "for_ms": pick(rng, (30, 300, 1500, 4000))}, at_ms=at_ms)
    manner = pick(rng, tuple(MANNERS))
    args = {"whom": pick(rng, tuple(plan.ids)), "manner": manner, "number": number}
    many = manner in {"silent", "half", "half_and_gone", "garbage", "unserved"}
    args |= {"times": pick(rng, (1, 3, 40) if many else (1, 2)), "gap_ms": pick(rng, (1, 5, 40))}
    args["size"] = pick(rng, (150, 400, 1500) if manner in {"flood", "slow", "deaf"} else (1, 3, 40, 700, 9000))
    return Fault("visit", args, at_ms=at_ms)


def draw_envelopes(rng: Random, plan: SocketPlan) -> list[Fault]:
    """Rogue clients that send envelopes, and very large requests if the links can carry those in time."""
    kinds = ["letters"] * between(rng, 1, 3)
    if plan.segments in ("whole", "mtu") and plan.window >= BULK_WINDOW and rng.random() < 0.8:
        kinds.append("bulky")
    return [
        Fault(
            "visit",
            {
                "whom": pick(rng, tuple(plan.ids)), "manner": kind, "number": int(rng.random() * 1_000_000),
                "times": 1, "gap_ms": 1, "size": between(rng, 1, 2),
            },
            at_ms=between(rng, 100, plan.chaos_ms * 9 // 10),
        )
        for kind in kinds
    ]  # fmt: skip
