"""Each node, pair, site and link of a layout has its scenario, with what the arithmetic of majorities says of it."""

from __future__ import annotations

from simulations.rehearsal.layout import Layout
from simulations.rehearsal.scenarios import can_commit, reach, scenarios

TWO_SITES = Layout({1: "a", 2: "a", 3: "b"})


def by_name(layout: Layout) -> dict[str, bool]:
    return {each.name: can_commit(layout, each) for each in scenarios(layout)}


def test_two_voters_in_one_of_two_sites() -> None:
    assert by_name(TWO_SITES) == {
        "steady": True,
        "node-1": True, "node-2": True, "node-3": True,
        "pair-1-2": False, "pair-1-3": False, "pair-2-3": False,
        "site-a": False, "site-b": True,
        "cut-a-b": True, "cut-a-to-b": True, "cut-b-to-a": True,
        "leader-kill": True, "leader-stop": True, "rolling": True, "slow-disk": True, "slow-link": True,
    }  # fmt: skip


def test_in_one_site_the_links_are_those_between_nodes() -> None:
    names = list(by_name(Layout({1: "a", 2: "a", 3: "a"})))

    assert [name for name in names if name.startswith("cut")] == [
        "cut-1-2", "cut-1-to-2", "cut-2-to-1", "cut-1-3", "cut-1-to-3", "cut-3-to-1", "cut-2-3", "cut-2-to-3",
        "cut-3-to-2",
    ]  # fmt: skip
    assert not [name for name in names if name.startswith("site")]


def test_no_side_of_two_equal_halves_can_commit() -> None:
    found = by_name(Layout({1: "a", 2: "a", 3: "b", 4: "b"}))

    assert [name for name in ("cut-a-b", "cut-a-to-b", "site-a", "site-b") if found[name]] == []


def test_a_third_site_that_reaches_both_others_leads_while_they_are_cut_off() -> None:
    layout = Layout({1: "a", 2: "b", 3: "c"})
    cut = next(each for each in scenarios(layout) if each.name == "cut-a-b")

    assert reach(layout, cut) == {1: [1, 3], 2: [2, 3], 3: [1, 2, 3]}
    assert all(by_name(layout)[f"site-{site}"] for site in "abc")


def test_one_voter_has_neither_pairs_nor_links() -> None:
    assert list(by_name(Layout({1: "a"}))) == ["steady", "node-1", "leader-kill", "leader-stop", "rolling", "slow-disk"]
