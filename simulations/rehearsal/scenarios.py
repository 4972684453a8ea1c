"""The scenarios of a layout: what is lost, cut, stopped or slow, each as data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulations.rehearsal.layout import Layout

LOST, CUT, KILL, STOP, ROLLING, SLOW_DISK, SLOW_LINK, STEADY = (
    "lost", "cut", "kill", "stop", "rolling", "slow-disk", "slow-link", "steady",
)  # fmt: skip


@dataclass(slots=True, frozen=True)
class Scenario:
    """name: as `--scenario` takes it; title: for people. nodes: that are lost; ways: (from, to) that carry nothing.

    The other kinds find their node when they begin: the leader, or one voter after the other.
    """

    name: str
    title: str
    kind: str
    nodes: tuple[int, ...] = ()
    ways: tuple[tuple[int, int], ...] = ()


def scenarios(layout: Layout) -> list[Scenario]:
    """All scenarios of a layout, in the order in which they are shown."""
    voters = layout.voters
    all_scenarios = [Scenario("steady", "nothing fails", STEADY)]
    all_scenarios += [Scenario(f"node-{voter}", f"node {voter} lost with its disk", LOST, (voter,)) for voter in voters]
    if len(voters) > 2:
        all_scenarios += [
            Scenario(f"pair-{one}-{other}", f"nodes {one} and {other} lost", LOST, (one, other))
            for one, other in combinations(voters, 2)
        ]
    if len(layout.site_names) > 1:
        for site in layout.site_names:
            lost = layout.at(site)
            all_scenarios.append(
                Scenario(f"site-{site}", f"site {site} lost (voters {_list_voters(lost)})", LOST, lost)
            )
    all_scenarios += _cuts(layout)
    all_scenarios.append(Scenario("leader-kill", "leader killed (SIGKILL), started again", KILL))
    all_scenarios.append(Scenario("leader-stop", "leader stopped (SIGTERM)", STOP))
    all_scenarios.append(Scenario("rolling", "rolling restart of all voters", ROLLING))
    all_scenarios.append(Scenario("slow-disk", f"leader's disk slow: {layout.slow_sync_ms:g} ms a sync", SLOW_DISK))
    if len(voters) > 1:
        all_scenarios.append(Scenario("slow-link", f"leader's links slow: {layout.slow_link_ms:g} ms more", SLOW_LINK))
    return all_scenarios


def _cuts(layout: Layout) -> list[Scenario]:
    """Each link between two sites, or in one site between two nodes: cut both ways, and each way alone."""
    cuts = []
    if len(layout.site_names) > 1:
        for one, other in layout.pairs_of_sites():
            there = tuple(product(layout.at(one), layout.at(other)))
            back = tuple((target, source) for source, target in there)
            cuts += [
                Scenario(f"cut-{one}-{other}", f"no packets between sites {one} and {other}", CUT, ways=there + back),
                Scenario(f"cut-{one}-to-{other}", f"no packets from site {one} to {other}", CUT, ways=there),
                Scenario(f"cut-{other}-to-{one}", f"no packets from site {other} to {one}", CUT, ways=back),
            ]
        return cuts
    for own, peer in combinations(layout.voters, 2):
        both = ((own, peer), (peer, own))
        cuts += [
            Scenario(f"cut-{own}-{peer}", f"no packets between nodes {own} and {peer}", CUT, ways=both),
            Scenario(f"cut-{own}-to-{peer}", f"no packets from node {own} to {peer}", CUT, ways=both[:1]),
            Scenario(f"cut-{peer}-to-{own}", f"no packets from node {peer} to {own}", CUT, ways=both[1:]),
        ]
    return cuts


def _list_voters(voters: tuple[int, ...]) -> str:
    return ", ".join(map(str, voters))


def reach(layout: Layout, scenario: Scenario) -> dict[int, list[int]]:
    """By voter that is left: those that it reaches in both directions, itself included. TCP needs both."""
    left = [voter for voter in layout.voters if voter not in scenario.nodes]
    cut = set(scenario.ways)
    return {one: [other for other in left if not {(one, other), (other, one)} & cut] for one in left}


def can_commit(layout: Layout, scenario: Scenario) -> bool:
    """Whether, by the arithmetic of majorities, a leader is possible while the scenario lasts: a voter that reaches a
    majority of the voters.
    """
    return any(len(reached) >= layout.majority for reached in reach(layout, scenario).values())
