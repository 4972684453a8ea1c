"""A layout is read from text, and each wrong text is refused with what would be accepted."""

from __future__ import annotations

import pytest

from simulations.rehearsal.entry import layout_of
from simulations.rehearsal.layout import (
    BadLayout,
    Layout,
    in_one_site,
    move_sites,
    parse_layout,
    parse_voters,
    properties_of,
    warnings_of,
)

TWO_SITES = Layout({1: "a", 2: "a", 3: "b"})
FILE = """
disk_sync_ms = 2.5
round_trip_ms = 1
kraft_version = 0
[sites]
a = [2, 1]
b = [3]
[[links]]
sites = ["b", "a"]
round_trip_ms = 40
[properties]
"controller.quorum.fetch.timeout.ms" = 3000
"""


def test_voters_are_read_with_their_sites() -> None:
    assert parse_voters("3@b, 1@a,2@a") == {1: "a", 2: "a", 3: "b"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no site"),
        ("1", "'1' names no site"),
        ("1@", "cannot name a site"),
        ("1@a b", "cannot name a site"),
        ("x@a", "'x' is no node id"),
        ("-1@a", "is no node id"),
        ("9999999999999@a", "is no node id"),
        ("2147483648@a", "is no node id"),
        ("1@a,1@b", "voter 1 stands twice"),
        (",".join(f"{number}@a" for number in range(16)), "has 16 voters"),
    ],
)
def test_wrong_voters_are_refused(text: str, said: str) -> None:
    with pytest.raises(BadLayout, match=said):
        parse_voters(text)


def test_a_layout_file_has_sites_links_latencies_and_timeouts() -> None:
    layout = Layout(**parse_layout(FILE, "file"))

    assert layout.sites == {1: "a", 2: "a", 3: "b"}
    assert (layout.round_trip(1, 2), layout.round_trip(1, 3), layout.disk_sync_ms) == (1.0, 40.0, 2.5)
    assert layout.kraft_version == 0
    assert layout.properties == {"controller.quorum.fetch.timeout.ms": 3000}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sites = ", "is not TOML"),
        ("voters = 3", "there is no key 'voters'; known are"),
        ("disk_sync_ms = -1", "give a number from 0.01 to 10000"),
        ("disk_sync_ms = nan", "give a number from"),
        ("disk_sync_ms = true", "give a number from"),
        ("kraft_version = 2", r"give 0 \(static voters\) or 1"),
        ("sites = 3", "sites is no table"),
        ("[sites]\na = 1", "give its voters"),
        ("[sites]\na = [true]", "is no node id"),
        ("[sites]", "has no voters"),
        ('[sites]\na = [1]\n[[links]]\nsites = ["a", "c"]\nround_trip_ms = 1', "the site 'c'; the sites are: a"),
        ('[sites]\na = [1]\n[[links]]\nsites = ["a", "a"]\nround_trip_ms = 1', "to itself"),
        ('[sites]\na = [1]\n[[links]]\nsites = ["a"]', "give \\[\\[links\\]\\]"),
        ('[properties]\n"process.roles" = "broker"', "has no use for 'process.roles'"),
        ('[properties]\n"controller.quorum.fetch.timeout.ms" = "x"', "give milliseconds"),
    ],
)
def test_a_wrong_layout_file_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadLayout, match=said):
        parse_layout(text, "file")


def test_properties_of_a_configuration_are_numbers_of_milliseconds() -> None:
    assert properties_of({"controller.quorum.fetch.timeout.ms": " 700 "}, "c") == {
        "controller.quorum.fetch.timeout.ms": 700
    }


def test_an_option_counts_before_the_file_and_that_before_the_configuration() -> None:
    given = {"controller.quorum.fetch.timeout.ms": "1", "controller.quorum.election.timeout.ms": "2"}

    layout = layout_of(
        "1@x,2@y,3@z", FILE.partition("[[links]]")[0], "file", [1, 2, 3], 1, given, {"disk_sync_ms": "9"}
    )

    assert layout.sites == {1: "x", 2: "y", 3: "z"}
    assert (layout.disk_sync_ms, layout.round_trip_ms, layout.kraft_version) == (9.0, 1.0, 0)
    assert layout.properties == {"controller.quorum.fetch.timeout.ms": 1, "controller.quorum.election.timeout.ms": 2}


def test_voters_without_sites_are_in_one_site() -> None:
    assert layout_of(None, None, "", [3, 1], 0, {}, {}).sites == {1: "all", 3: "all"} == in_one_site([1, 3])


@pytest.mark.parametrize(
    ("voters", "known", "said"),
    [
        (None, [], "the layout has no voters; give --voters"),
        ("1@a,2@a", [1, 2, 3], "the layout has the voters 1, 2, but the quorum has 1, 2, 3"),
    ],
)
def test_voters_that_are_missing_or_not_those_of_the_quorum_are_refused(
    voters: str | None, known: list[int], said: str
) -> None:
    with pytest.raises(BadLayout, match=said):
        layout_of(voters, None, "", known, None, {}, {})


def test_a_link_of_a_site_that_an_option_left_out_is_refused() -> None:
    with pytest.raises(BadLayout, match="the site 'a'; the sites are: x, z"):
        layout_of("1@x,2@x,3@z", FILE, "file", [], None, {}, {})


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        (Layout({1: "a"}), "One voter is no quorum"),
        (Layout(dict.fromkeys(range(1, 5), "a")), "4 voters are an even number"),
        (Layout({1: "a", 2: "b", 3: "c"}, between_round_trip_ms=600.0), "A round trip of 600 ms is much"),
    ],
)
def test_a_layout_that_an_operator_would_not_want_gets_a_warning(layout: Layout, said: str) -> None:
    (warning,) = warnings_of(layout)

    assert warning.startswith(said)
    assert warnings_of(TWO_SITES) == []


def test_a_moved_layout_has_no_link_of_a_site_that_is_gone() -> None:
    layout = Layout({1: "a", 2: "b", 3: "c"}, links={("a", "b"): 1.0, ("b", "c"): 2.0})

    assert move_sites(layout, {1: "a", 2: "b", 3: "b"}).links == {("a", "b"): 1.0}
