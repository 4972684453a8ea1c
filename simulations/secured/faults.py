"""Faults of the secured level: rogue clients connect, and all certificates are replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.faults.table import pick
from simulations.plans.plan import Fault
from simulations.secured import scram_clients, token_clients
from simulations.secured.intruders import MANNERS, WEIGHTS
from simulations.secured.meddling import CHANGES
from simulations.secured.people import NEW_ISSUER
from simulations.secured.scram_clients import AnsweringVisit
from simulations.sockets.rogue_clients import FIRST_ID, RogueClient, Visit
from simulations.world.machine import endpoint
from simulations.world.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.secured.plan import SecuredPlan

Args = dict[str, Any]
ALL_NODES = 0
# Manners that must reach the active controller.
EVERYWHERE = {"grant", "limited", "all_but_one", "two_kinds", "tokens"}
# Manners of clients that read their answers.
ANSWERING = ("by_scram", "unproven", "unproven", "unproven")


def intrude(run: Any, args: Args) -> bool:
    """Rogue clients connect. whom: the id of a node, or ALL_NODES; manner: of MANNERS; times: how many; gap_ms."""
    rogue = RogueClient(run.network, FIRST_ID + len(run.rogue_hosts), run.stream("intruder", args["number"]))
    run.rogue_hosts.append(rogue)
    nodes = list(run.plan.ids) if args["whom"] == ALL_NODES else [args["whom"]]
    answering = scram_clients.MANNERS | token_clients.MANNERS
    kind = AnsweringVisit if args["manner"] in answering else Visit
    manner = (MANNERS | answering)[args["manner"]]
    for time in range(args["times"]):
        for node in nodes:
            run.later(time * args["gap_ms"], kind, rogue, endpoint(node).host, manner, 0)
    return True


def exchange(run: Any, args: Args) -> bool:
    """Replace all certificates by those of a new authority; then stop trusting the old one."""
    identities = run.network.identities
    if identities.issuer == NEW_ISSUER:
        return False
    identities.trusted |= {NEW_ISSUER}
    old = identities.issuer

    def renew() -> None:
        identities.issuer = NEW_ISSUER

    def distrust() -> None:
        identities.trusted -= {old}

    run.later(args["gap_ms"], renew)
    # Handshakes that are under way use the old certificates.
    run.later(args["gap_ms"] + args["for_ms"], distrust)
    return True


def meddle(run: Any, args: Args) -> bool:
    """Alter the answers of SCRAM that the processes of a cluster get. what: of meddling.CHANGES; for_ms."""
    run.network.meddling = args["what"]

    def end() -> None:
        run.network.meddling = None

    run.later(args["for_ms"], end)
    return True


KINDS: dict[str, Callable[[Any, Args], bool]] = {"intrude": intrude, "exchange": exchange, "meddle": meddle}


def draw_intrusion(rng: Random, plan: SecuredPlan, weights: tuple[str, ...] = WEIGHTS) -> Fault:
    """Rogue clients of one manner, at some time. weights: of the manners."""
    manner = pick(rng, weights)
    many = manner in {"stall", "swell", "knock", "plain"}
    args = {
        "whom": ALL_NODES if manner in EVERYWHERE or rng.random() < 0.5 else pick(rng, tuple(plan.ids)),
        "manner": manner, "number": int(rng.random() * 1_000_000),
        "times": pick(rng, (3, 60, 60) if many else (1, 2, 4)), "gap_ms": pick(rng, (1, 5, 40, 200)),
    }  # fmt: skip
    return Fault("intrude", args, at_ms=between(rng, 200, plan.chaos_ms * 9 // 10))


def draw_meddling(rng: Random, plan: SecuredPlan) -> Fault:
    """Altered answers, at some time."""
    args = {"what": pick(rng, CHANGES), "for_ms": pick(rng, (300, 1000, 2000))}
    return Fault("meddle", args, at_ms=between(rng, 1, plan.chaos_ms * 9 // 10))


def draw_exchange(rng: Random, plan: SecuredPlan) -> Fault:
    """The certificates, at some time."""
    args = {"gap_ms": pick(rng, (1, 100)), "for_ms": pick(rng, (2000, 12_000))}
    return Fault("exchange", args, at_ms=between(rng, 100, plan.chaos_ms // 2))
