"""Plans of the secured level, drawn from a seed."""

from __future__ import annotations

from dataclasses import fields

from simulations.faults.table import pick
from simulations.secured.faults import ANSWERING, draw_exchange, draw_intrusion, draw_meddling
from simulations.secured.plan import MECHANISMS, PROTOCOLS, SecuredPlan
from simulations.sockets import swarm
from simulations.world.streams import between, stream

# Clients of the node level are not authenticated; those of `intruders` replace them.
_NOT_HERE = {"visit", "impostor"}


def draw(seed: int) -> SecuredPlan:
    """The plan of a seed."""
    base = swarm.draw(seed)
    rng = stream(seed, "secured plan")
    plan = SecuredPlan(**{each.name: getattr(base, each.name) for each in fields(base)})
    plan.protocol = pick(rng, PROTOCOLS)
    plan.reauth_ms = pick(rng, (0, 1200, 1200, 3000))
    plan.delay_ms = pick(rng, (0, 20, 100))
    plan.allows_without_acls = rng.random() < 0.25
    plan.broker_releases, plan.releases = {}, {}
    plan.bounds |= {"handshake_s_max": pick(rng, (1, 2, 10)), "authentication_s_max": pick(rng, (1, 2, 30))}
    if rng.random() < 0.7:
        plan.bounds["connections_max"] = swarm.CONNECTIONS
    # Fewer faults, so that there is a leader most of the time.
    plan.faults = [fault for fault in plan.faults if fault.kind not in _NOT_HERE][: between(rng, 0, 6)]
    if base.faults:
        plan.faults += [draw_intrusion(rng, plan) for _ in range(between(rng, 6, 14))]
        if plan.protocol != "SASL_PLAINTEXT" and rng.random() < 0.6:
            plan.faults += [draw_exchange(rng, plan) for _ in range(between(rng, 1, 2))]
    apart = stream(seed, "scram plan")
    plan.mechanism = pick(apart, (*MECHANISMS, *MECHANISMS[1:]))
    if base.faults:
        plan.faults += [draw_intrusion(apart, plan, ("all_but_one",)) for _ in range(between(apart, 0, 2))]
        if plan.protocol != "SSL":
            plan.faults += [draw_intrusion(apart, plan, ANSWERING) for _ in range(between(apart, 2, 6))]
        if plan.protocol == "SASL_PLAINTEXT" and plan.mechanism != "PLAIN":
            plan.faults += [draw_meddling(apart, plan) for _ in range(between(apart, 3, 6))]
        if plan.protocol != "SSL":
            brief = stream(seed, "brief plan")
            plan.faults += [draw_intrusion(brief, plan, ("shortened",)) for _ in range(between(brief, 0, 2))]
        kinds = stream(seed, "two kinds plan")
        plan.faults += [draw_intrusion(kinds, plan, ("two_kinds",)) for _ in range(between(kinds, 0, 2))]
        tokens = stream(seed, "tokens plan")
        plan.faults += [draw_intrusion(tokens, plan, ("tokens",)) for _ in range(between(tokens, 0, 1))]
    return plan
