"""The targets of a fault: nodes by id or by their present role, groups of nodes, links between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.state.roles import Candidate, Leader

if TYPE_CHECKING:
    from simulations.faults.interfaces import StruckRun
    from simulations.world.process import Node, Process

Whom = int | str

NAMES = ("leader", "follower", "candidate", "struck", "shortest", "longest")


def find(run: StruckRun, whom: Whom, struck: Process | None) -> Node | None:
    """The target node; None if there is none now.

    leader: of the highest epoch; follower: the voter with the lowest id that runs and does not lead; candidate: a node
    that is a candidate; struck: the node that reached the trigger; shortest, longest: of the voters that run, by the
    end of the log.
    """
    if isinstance(whom, int):
        return run.nodes.get(whom)
    if whom == "struck":
        return None if struck is None else struck.node
    running = [each for each in run.ledger.running() if each.steps and each.node.id in run.ledger.voter_ids]
    leaders = [each for each in running if isinstance(each.replica.role, Leader)]
    if whom == "leader":
        target = max(leaders, key=lambda each: each.replica.epoch, default=None)
    elif whom == "follower":
        target = next((each for each in running if not isinstance(each.replica.role, Leader)), None)
    elif whom == "candidate":
        target = next((each for each in running if isinstance(each.replica.role, Candidate)), None)
    else:
        ordered = sorted(running, key=lambda each: (each.replica.log.end, each.node.id), reverse=whom == "longest")
        target = ordered[0] if ordered else None
    return None if target is None else target.node


def between(run: StruckRun, ones: list[int], others: list[int], direction: str = "both") -> list[tuple[int, int]]:
    """The links from some nodes to others: out, in, or both."""
    ways = []
    for one in ones:
        for other in others:
            if one != other and one in run.nodes and other in run.nodes:
                if direction in {"both", "out"}:
                    ways.append((one, other))
                if direction in {"both", "in"}:
                    ways.append((other, one))
    return ways


def rest(run: StruckRun, ids: list[int]) -> list[int]:
    """All other nodes."""
    return [node_id for node_id in run.nodes if node_id not in ids]
