"""The layout of a quorum that is rehearsed: its voters, their sites, latencies, disks and timeouts.

Texts of an operator become a layout here, and every error says what was given and what would be accepted.
"""

from __future__ import annotations

import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VOTERS_MAX = 15
NODE_ID_MAX = (1 << 31) - 1
ONE_SITE = "all"
"""The site of voters for which none is given."""

_SITE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,30}")
# By key of a layout file: its least and largest value.
NUMBERS = {
    "round_trip_ms": (0.01, 10_000.0),
    "between_round_trip_ms": (0.01, 10_000.0),
    "disk_sync_ms": (0.01, 10_000.0),
    "start_ms": (0.0, 600_000.0),
    "records_per_s": (100.0, 100_000_000.0),
    "slow_sync_ms": (0.01, 3_000.0),
    "slow_link_ms": (0.01, 10_000.0),
}
# Keys of controller.properties that a rehearsal takes over; all are in milliseconds.
PROPERTIES = (
    "broker.session.timeout.ms", "controller.quorum.append.linger.ms", "controller.quorum.election.backoff.max.ms",
    "controller.quorum.election.timeout.ms", "controller.quorum.fetch.timeout.ms",
    "controller.quorum.request.timeout.ms", "controller.quorum.retry.backoff.ms", "metadata.max.idle.interval.ms",
)  # fmt: skip
_PROPERTY_MAX = 3_600_000
_KEYS = ("sites", "links", "properties", "kraft_version", *NUMBERS)


class BadLayout(ValueError):
    """A layout that cannot be rehearsed; the text is one line."""


@dataclass(slots=True, frozen=True)
class Layout:
    """sites: by voter, ascending. links: by pair of sites, in order, the round trip in ms where it is not
    between_round_trip_ms. properties: keys of controller.properties that are not Kafka's defaults.

    round_trip_ms: within a site; disk_sync_ms: one fsync; start_ms: from the start of a process until it listens, with
    no metadata; records_per_s: how fast a start replays records. slow_sync_ms, slow_link_ms: of the scenarios with a
    slow disk and a slow link, the latter added to a round trip. kraft_version: 0 for static voters.
    """

    sites: Mapping[int, str]
    links: Mapping[tuple[str, str], float] = field(default_factory=dict)
    properties: Mapping[str, int] = field(default_factory=dict)
    kraft_version: int = 1
    round_trip_ms: float = 0.5
    between_round_trip_ms: float = 5.0
    disk_sync_ms: float = 1.0
    start_ms: float = 1000.0
    records_per_s: float = 200_000.0
    slow_sync_ms: float = 500.0
    slow_link_ms: float = 500.0

    @property
    def voters(self) -> tuple[int, ...]:
        return tuple(self.sites)

    @property
    def site_names(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.sites.values())))

    @property
    def majority(self) -> int:
        return len(self.sites) // 2 + 1

    def at(self, site: str) -> tuple[int, ...]:
        """The voters of a site."""
        return tuple(voter for voter, where in self.sites.items() if where == site)

    def pairs_of_sites(self) -> list[tuple[str, str]]:
        return list(combinations(self.site_names, 2))

    def round_trip(self, one: int, other: int) -> float:
        """Between two voters, in ms."""
        here, there = sorted((self.sites[one], self.sites[other]))
        if here == there:
            return self.round_trip_ms
        return self.links.get((here, there), self.between_round_trip_ms)

    def number(self, key: str, otherwise: int) -> int:
        """The value of a key of controller.properties."""
        return self.properties.get(key, otherwise)

    def voters_text(self) -> str:
        """The voters as `--voters` takes them."""
        return voters_text(self.sites)


def voters_text(sites: Mapping[int, str]) -> str:
    return ",".join(f"{voter}@{site}" for voter, site in sorted(sites.items()))


def parse_voters(text: str) -> dict[int, str]:
    """The site of each voter, from `1@a,2@a,3@b`. Raises BadLayout."""
    voters: dict[int, str] = {}
    for part in text.split(","):
        number, at, site = part.strip().partition("@")
        if not at:
            raise BadLayout(f"--voters: {part.strip()!r} names no site; give ID@SITE, such as 1@a,2@a,3@b")
        _put(voters, _node_id(number, "--voters"), site, "--voters")
    return check_voters(voters)


def in_one_site(voters: Iterable[int]) -> dict[int, str]:
    """Voters of which no site is known."""
    return check_voters(dict.fromkeys(voters, ONE_SITE))


def check_voters(voters: dict[int, str]) -> dict[int, str]:
    """The same, ascending. Raises BadLayout if there are none, or too many."""
    if not voters:
        raise BadLayout("the layout has no voters; give --voters 1@a,2@a,3@b, --layout FILE, or a quorum")
    if len(voters) > VOTERS_MAX:
        raise BadLayout(f"the layout has {len(voters)} voters; a rehearsal takes at most {VOTERS_MAX}")
    return dict(sorted(voters.items()))


def _put(voters: dict[int, str], voter: int, site: str, where: str) -> None:
    if not _SITE.fullmatch(site):
        text = "a letter or digit, then letters, digits, '_', '.' or '-', 31 at most"
        raise BadLayout(f"{where}: {site!r} cannot name a site; give {text}")
    if voter in voters:
        raise BadLayout(f"{where}: voter {voter} stands twice, at {voters[voter]!r} and at {site!r}")
    voters[voter] = site


def _node_id(text: object, where: str) -> int:
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 10:
        text = int(text)
    if isinstance(text, bool) or not isinstance(text, int) or not 0 <= text <= NODE_ID_MAX:
        raise BadLayout(f"{where}: {text!r} is no node id; give a number from 0 to {NODE_ID_MAX}")
    return text


def parse_layout(text: str, name: str) -> dict[str, Any]:
    """The fields of a layout file that are given. name: of the file, for errors. Raises BadLayout."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadLayout(f"{name} is not TOML: {error}") from None
    unknown = sorted(set(tree) - set(_KEYS))
    if unknown:
        raise BadLayout(f"{name}: there is no key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}")
    fields: dict[str, Any] = {}
    for key in NUMBERS:
        if key in tree:
            fields[key] = number_of(tree[key], key, f"{name}: {key}")
    if "kraft_version" in tree:
        if tree["kraft_version"] not in (0, 1) or isinstance(tree["kraft_version"], bool):
            raise BadLayout(f"{name}: kraft_version is {tree['kraft_version']!r}; give 0 (static voters) or 1")
        fields["kraft_version"] = tree["kraft_version"]
    if "sites" in tree:
        fields["sites"] = _sites(tree["sites"], name)
    if "links" in tree:
        fields["links"] = _links(tree["links"], fields.get("sites"), name)
    if "properties" in tree:
        if not isinstance(tree["properties"], dict):
            raise BadLayout(f"{name}: properties is no table")
        fields["properties"] = properties_of(tree["properties"], f"{name}: properties")
    return fields


def number_of(value: object, key: str, where: str) -> float:
    """The value of one of NUMBERS. Raises BadLayout."""
    least, largest = NUMBERS[key]
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= largest:
        raise BadLayout(f"{where} is {value!r}; give a number from {least:g} to {largest:g}")
    return float(value)


def _sites(tree: object, name: str) -> dict[int, str]:
    if not isinstance(tree, dict):
        raise BadLayout(f"{name}: sites is no table; give a list of voters by site, such as a = [1, 2]")
    site_by_voter: dict[int, str] = {}
    for site, voters in tree.items():
        if not isinstance(voters, list) or not voters:
            raise BadLayout(f"{name}: site {site!r} is {voters!r}; give its voters, such as [1, 2]")
        for voter in voters:
            _put(site_by_voter, _node_id(voter, f"{name}: site {site!r}"), site, name)
    return check_voters(site_by_voter)


def _links(tree: object, sites: Mapping[int, str] | None, name: str) -> dict[tuple[str, str], float]:
    links: dict[tuple[str, str], float] = {}
    known = sorted(set((sites or {}).values()))
    for link in tree if isinstance(tree, list) else [tree]:
        ends = link.get("sites") if isinstance(link, dict) else None
        is_pair = isinstance(ends, list) and len(ends) == 2 and all(isinstance(each, str) for each in ends)
        if not isinstance(link, dict) or ends is None or not is_pair or set(link) != {"sites", "round_trip_ms"}:
            raise BadLayout(f'{name}: a link is {link!r}; give [[links]] with sites = ["a", "b"] and round_trip_ms')
        for site in ends:
            if site not in known:
                raise BadLayout(f"{name}: a link names the site {site!r}; the sites are: {', '.join(known) or 'none'}")
        one, other = sorted(ends)
        if one == other:
            raise BadLayout(f"{name}: a link joins the site {one!r} to itself; give round_trip_ms at the top for that")
        where = f"{name}: round_trip_ms of {one}, {other}"
        links[one, other] = number_of(link["round_trip_ms"], "round_trip_ms", where)
    return links


def properties_of(given: Mapping[str, object], where: str) -> dict[str, int]:
    """Those keys that a rehearsal knows, as numbers of milliseconds. Raises BadLayout for another key or value."""
    properties = {}
    for key, value in given.items():
        if key not in PROPERTIES:
            raise BadLayout(f"{where}: a rehearsal has no use for {key!r}; known are {', '.join(PROPERTIES)}")
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 10:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _PROPERTY_MAX:
            raise BadLayout(f"{where}: {key} is {value!r}; give milliseconds from 0 to {_PROPERTY_MAX}")
        properties[key] = value
    return properties


def warnings_of(layout: Layout) -> list[str]:
    """What an operator should know of a layout before it is rehearsed; a sentence each."""
    count = len(layout.voters)
    warnings = []
    if count == 1:
        warnings.append("One voter is no quorum: its loss ends writes, and its disk holds the only copy.")
    elif count % 2 == 0:
        warnings.append(
            f"{count} voters are an even number: a majority is {layout.majority}, so they survive the loss of "
            f"{count - layout.majority}, no more than {count - 1} voters would."
        )
    slowest = max((layout.round_trip(one, other) for one, other in combinations(layout.voters, 2)), default=0.0)
    fetch_ms = layout.number("controller.quorum.fetch.timeout.ms", 2000)
    if slowest * 4 > fetch_ms:
        warnings.append(
            f"A round trip of {slowest:g} ms is much for controller.quorum.fetch.timeout.ms={fetch_ms}: leaders will "
            "change without a failure."
        )
    return warnings


def move_sites(layout: Layout, sites: Mapping[int, str]) -> Layout:
    """The same with other sites; links of sites that are gone are left out."""
    names = set(sites.values())
    links = {pair: ms for pair, ms in layout.links.items() if set(pair) <= names}
    return replace(layout, sites=dict(sorted(sites.items())), links=links)
