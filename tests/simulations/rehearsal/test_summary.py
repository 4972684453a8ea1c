"""The summary says what a layout survives, why, what differs from the arithmetic, and what other layouts survive."""

from __future__ import annotations

import pytest

from simulations.rehearsal.layout import Layout, parse_voters
from simulations.rehearsal.play import Played
from simulations.rehearsal.scenarios import Scenario, can_commit, scenarios
from simulations.rehearsal.summary import (
    STOPS,
    SURVIVES,
    UNSTABLE,
    Result,
    Times,
    advice,
    milliseconds,
    results,
    spread,
    times,
)

LAYOUT = Layout({1: "a", 2: "a", 3: "b"})
BY_NAME = {each.name: each for each in scenarios(LAYOUT)}
GONE_ON = Played(
    "node-1", 1, led_by=1, is_struck=True, gap_ms=2000.0, goes_on=True, stopped_after_ms=-1.0, back_ms=-1.0,
    elections=1, epochs=1, before_ms=2.0, after_ms=3.0, told=400, lost=0, serving=(2, 3), fenced=0, failures=(),
    roles=(), commits=(), marks=(),
)  # fmt: skip
STOPPED = GONE_ON._replace(scenario="site-a", goes_on=False, stopped_after_ms=0.0, serving=(), gap_ms=12_000.0)


def one(scenario: Scenario, *played: Played) -> Result:
    (found,) = results(LAYOUT, [scenario], list(played))
    return found


def test_percentiles_are_of_the_runs() -> None:
    assert times([3, 1, 2]) == Times(3, 2, 3, 3)
    assert times(range(1, 101)) == Times(100, 50.5, 95, 100)
    assert times([]) == Times(0)


def test_runs_in_which_the_leader_was_struck_are_counted_apart() -> None:
    runs = [GONE_ON, GONE_ON._replace(seed=2, gap_ms=3000.0), GONE_ON._replace(seed=3, is_struck=False, gap_ms=50.0)]

    found = one(BY_NAME["node-1"], *runs)

    assert (found.struck, found.others) == (Times(2, 2500.0, 3000.0, 3000.0), Times(1, 50.0, 50.0, 50.0))
    assert (found.writes, found.agrees, found.is_finding) == (SURVIVES, True, False)
    assert found.why == (
        "2 of 3 voters are left, and 2 are a majority. Where it struck the leader (2 of 3 runs), the longest time "
        "without a commit was 2.5 s in the median, 3.0 s at worst. Otherwise it was 50 ms at worst."
    )
    assert found.shown.seed == 2


def test_a_lost_majority_stops_writes_and_is_no_finding() -> None:
    found = one(BY_NAME["site-a"], STOPPED, STOPPED._replace(seed=2, lost=3))

    assert (found.writes, found.agrees, found.is_finding) == (STOPS, True, False)
    assert "1 of 3 voters is left, and a majority is 2: no leader can be elected." in found.why
    assert "In 1 of them, up to 3 acknowledged writes are missing in the best log that is left" in found.why


@pytest.mark.parametrize(
    ("name", "played", "said"),
    [
        ("node-1", GONE_ON._replace(lost=1), "this must not be"),
        ("node-1", STOPPED._replace(scenario="node-1"), "the arithmetic of majorities differ"),
        ("site-a", GONE_ON._replace(scenario="site-a"), "the arithmetic of majorities differ"),
        ("node-1", GONE_ON._replace(failures=((2, "disk"),)), "A process stopped by itself: node 2: disk."),
    ],
)
def test_what_a_sound_quorum_never_does_is_a_finding(name: str, played: Played, said: str) -> None:
    found = one(BY_NAME[name], played)

    assert found.is_finding
    assert said in found.why


def test_writes_that_go_on_in_some_runs_only_are_unstable() -> None:
    found = one(BY_NAME["node-1"], GONE_ON, STOPPED._replace(scenario="node-1"))

    assert (found.writes, found.is_finding) == (UNSTABLE, True)


def test_fenced_brokers_are_named() -> None:
    assert "Up to 4 brokers were fenced" in one(BY_NAME["node-1"], GONE_ON._replace(fenced=4)).why


def test_a_layout_of_two_sites_is_told_of_a_third() -> None:
    first, second = advice(LAYOUT)

    assert first == (
        "No placement of 3 voters in two sites survives the loss of each: one site always holds at least 2 of 3, which "
        "leaves fewer than 2."
    )
    assert "With a further site (c)" in second
    suggested = Layout(parse_voters(second.rpartition("--voters ")[2]))
    assert [can_commit(suggested, each) for each in scenarios(suggested) if each.name.startswith("site")] == [True] * 3


@pytest.mark.parametrize("voters", range(3, 10))
@pytest.mark.parametrize("sites", range(3, 6))
def test_voters_that_are_spread_survive_the_loss_of_any_site(voters: int, sites: int) -> None:
    layout = Layout({voter: "a" if voter < voters else "b" for voter in range(1, voters + 1)})

    found = spread(layout, sites)

    if found is None:
        assert (voters - layout.majority) * sites < voters
    else:
        assert max(list(found.values()).count(site) for site in set(found.values())) <= voters - layout.majority


def test_three_sites_need_no_advice_and_an_even_number_gets_its_own() -> None:
    assert advice(Layout({1: "a", 2: "b", 3: "c"})) == ["No site holds so many voters that its loss ends writes."]
    assert advice(Layout(dict.fromkeys(range(1, 5), "a")))[0].startswith("With 3 voters a majority is 2")
    assert advice(Layout({1: "a"})) == ["Three voters are the fewest of which one may be lost."]


def test_times_are_written_for_people() -> None:
    assert [milliseconds(value) for value in (0.4, 999.4, 1000.0, 12_345.0)] == ["0 ms", "999 ms", "1.0 s", "12.3 s"]
