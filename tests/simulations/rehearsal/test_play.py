"""A scenario that is played shows what the protocol does: commits go on with a majority, and stop without one."""

from __future__ import annotations

import pytest

from simulations.rehearsal.layout import Layout
from simulations.rehearsal.play import CannotSettle, Played, Rehearsal, observed_us, play
from simulations.rehearsal.scenarios import Scenario, scenarios
from simulations.world.world import SECOND

TWO_SITES = Layout({1: "a", 2: "a", 3: "b"})
LED_BY = {1: 3, 2: 1, 3: 2}  # node: a seed with which it is elected first


def named(layout: Layout, name: str) -> Scenario:
    return next(each for each in scenarios(layout) if each.name == name)


def played(name: str, seed: int, layout: Layout = TWO_SITES) -> Played:
    return play(layout, None, named(layout, name), seed)


@pytest.mark.parametrize("node", [1, 2, 3])
def test_the_seed_decides_who_leads(node: int) -> None:
    assert played("steady", LED_BY[node]).led_by == node


def test_nothing_happens_while_nothing_fails() -> None:
    found = played("steady", 1)

    assert (found.goes_on, found.elections, found.epochs, found.lost) == (True, 0, 0, 0)
    assert found.gap_ms < 100
    assert found.told > 300
    assert found.serving == (found.led_by, *sorted({1, 2, 3} - {found.led_by}))


@pytest.mark.parametrize("node", [1, 2, 3])
def test_a_lost_leader_is_replaced_after_the_fetch_timeout(node: int) -> None:
    found = played(f"node-{node}", LED_BY[node])

    assert (found.led_by, found.is_struck, found.goes_on, found.lost) == (node, True, True, 0)
    assert found.elections >= 1
    assert 1500 <= found.gap_ms < 6000  # simulated time
    assert set(found.serving) == {1, 2, 3} - {node}


def test_a_shorter_fetch_timeout_makes_the_failover_shorter() -> None:
    layout = Layout(TWO_SITES.sites, properties={"controller.quorum.fetch.timeout.ms": 500})

    assert played("node-1", LED_BY[1], layout).gap_ms < 1500


def test_a_lost_follower_costs_no_election() -> None:
    found = played("node-3", LED_BY[1])

    assert (found.is_struck, found.goes_on, found.elections) == (False, True, 0)
    assert found.gap_ms < 200


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_losing_the_site_with_two_of_three_voters_ends_writes(seed: int) -> None:
    found = played("site-a", seed)

    assert (found.goes_on, found.serving) == (False, ())
    assert found.stopped_after_ms < 100


def test_writes_that_only_the_lost_site_has_are_counted() -> None:
    """A majority in one site commits before the other site has the record: RPO 0 is not given."""
    layout = Layout(TWO_SITES.sites, between_round_trip_ms=200.0)

    found = [played("site-a", seed, layout) for seed in (1, 3)]

    assert all(each.led_by in {1, 2} for each in found)
    assert all(0 < each.lost <= 20 for each in found)
    assert played("site-b", 1, layout).lost == 0


def test_the_side_with_the_majority_goes_on_while_the_link_is_cut() -> None:
    found = played("cut-a-b", LED_BY[3])

    assert (found.led_by, found.is_struck, found.goes_on, found.lost) == (3, True, True, 0)
    assert set(found.serving) == {1, 2}


def test_two_equal_halves_stop_until_the_link_is_back() -> None:
    found = played("cut-a-b", 1, Layout({1: "a", 2: "a", 3: "b", 4: "b"}))

    assert (found.goes_on, found.lost) == (False, 0)
    assert 0 < found.back_ms < 10_000


def test_a_leader_that_stops_hands_over_without_a_timeout() -> None:
    found = played("leader-stop", 1)

    assert (found.goes_on, found.elections, found.lost) == (True, 1, 0)
    assert found.gap_ms < 1000
    assert found.led_by not in found.serving


def test_after_a_rolling_restart_all_serve() -> None:
    found = played("rolling", 2)

    assert (found.goes_on, found.lost) == (True, 0)
    assert sorted(found.serving) == [1, 2, 3]
    assert [text for _, text in found.marks] == [f"SIGTERM of node {node}" for node in (1, 2, 3)]


def test_a_slow_disk_of_the_leader_does_not_hold_commits_up() -> None:
    found = played("slow-disk", 1)

    assert (found.goes_on, found.elections) == (True, 0)
    assert found.after_ms < 100


def test_slow_links_of_the_leader_make_writes_slow() -> None:
    found = played("slow-link", 1)

    assert found.goes_on
    assert found.before_ms < 50
    assert found.after_ms > 400


def test_one_voter_is_its_own_quorum() -> None:
    layout = Layout({7: "a"})

    assert played("leader-kill", 1, layout).goes_on
    assert not played("node-7", 1, layout).goes_on


def test_static_voters_fail_over_too() -> None:
    found = played("node-1", LED_BY[1], Layout(TWO_SITES.sites, kraft_version=0))

    assert (found.led_by, found.goes_on, found.lost) == (1, True, 0)


def test_a_quorum_that_cannot_have_a_stable_leader_is_not_rehearsed() -> None:
    layout = Layout({1: "a", 2: "b", 3: "c"}, between_round_trip_ms=9000.0)

    with pytest.raises(
        CannotSettle, match=r"the slowest round trip is 9000 ms, controller.quorum.fetch.timeout.ms 2000"
    ):
        Rehearsal(layout, None, 1)


def test_a_run_is_the_same_each_time() -> None:
    assert played("node-2", 5) == played("node-2", 5)
    assert played("node-2", 5) != played("node-2", 8)


def test_longer_timeouts_are_observed_for_longer() -> None:
    properties = {"controller.quorum.fetch.timeout.ms": 10_000, "controller.quorum.election.timeout.ms": 5_000}

    assert observed_us(TWO_SITES) == 12 * SECOND
    assert observed_us(Layout(TWO_SITES.sites, properties=properties)) == 52 * SECOND
