"""What is to be done after `kraftctl recover apply` or `backup restore`: commands and lines of configurations."""

from __future__ import annotations

from tools.kraftctl.plain_streams import YELLOW
from tools.kraftctl.terminal import colour_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from raft.interface.config import Endpoint
    from tools.offline.recovery_plan import Plan

VOTERS, SERVERS = "controller.quorum.voters", "controller.quorum.bootstrap.servers"


def plan_lines(plan: Plan) -> list[str]:
    """What a plan does, and which nodes stay switched off."""
    end = f"which ends at offset {plan.end_offset} in epoch {plan.epoch}; the new epoch is {plan.new_epoch}"
    lines = [
        colour_text(plan.warning, YELLOW),
        f"node {plan.node_id} becomes the only voter, with the log of {plan.directory}, {end}",
    ]
    if plan.new_kraft_version != plan.kraft_version:
        lines.append("the static voters become dynamic (kraft.version 1); no way leads back")
    if plan.new_kraft_version:
        where = ", ".join(f"{each.listener}://{each.host}:{each.port}" for each in plan.voter.endpoints)
        lines.append(f"its endpoints in the log: {where or 'none'}")
    if plan.lost or not plan.old_voters:
        lost = ", ".join(map(str, plan.lost)) or "those that were not measured"
        lines.append(f"keep switched off until their directories are empty: voters {lost}")
    if plan.damaged:
        lines += [
            f"damaged, and not used: survivors {', '.join(map(str, plan.damaged))}",
            "  where only quorum-state or a spare checkpoint is damaged, do first what `kraftctl doctor` says there",
        ]
    others = [each for each in plan.survivors if each != plan.node_id]
    if others:
        lines.append(f"they join again with empty directories: survivors {', '.join(map(str, others))}")
    return lines


def steps(
    node_id: int, cluster_id: str, others: Iterable[int], endpoints: Sequence[Endpoint], *, is_dynamic: bool
) -> list[str]:
    """What is to be done, in this order, until a node that was made the only voter has the others beside it again.

    others: the ids of the former voters, empty if unknown. endpoints: of the node in the voter set, empty with static
    voters, which is_dynamic says too.
    """
    former = sorted({*others} - {node_id})
    named = f"Nodes {', '.join(map(str, former))}" if former else "Each other controller"
    servers = f"{endpoints[0].host}:{endpoints[0].port}" if endpoints else "HOST:PORT"
    properties = [f"     - {VOTERS}=...", f"     + {SERVERS}={servers}"]
    wait = f"     kraftctl wait --bootstrap-controller {servers}"
    if is_dynamic:
        first = [
            f"1. Node {node_id}, in its properties:",
            *properties,
            "   Start it, and wait until it leads:",
            wait,
        ]
    else:
        first = [
            f"1. Node {node_id}, in its properties, as the only voter:",
            f"     + {VOTERS}={node_id}@{servers}",
            "   Start it, wait until it leads, and make its voters dynamic. Do not list other voters again: nodes with",
            "   empty directories would be a majority, and elect a leader without the metadata.",
            wait,
            f"     kraftctl quorum migrate --to dynamic --yes --bootstrap-controller {servers}",
            "   Then, in its properties, and restart it:",
            *properties,
        ]
    return [
        *first,
        f"2. {named}, one after the other: empty the directories of log.dirs and metadata.log.dir. In the properties:",
        *properties,
        "   Format it, start it, wait until it has the log, and add it to the voters:",
        f"     kafka-storage format --cluster-id={cluster_id} -c FILE --no-initial-controllers",
        f"     kraftctl wait --observers --node ID --bootstrap-controller {servers}",
        f"     kafka-metadata-quorum --bootstrap-controller {servers} --command-config FILE add-controller",
        f"3. Every broker: the same two lines in its properties, with all controllers in {SERVERS}.",
        "   Restart it: a broker that has records beyond the end of this log must drop them.",
    ]
