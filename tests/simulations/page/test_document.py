"""The page of a run: whole in itself, and with everything on it that a reader needs."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

from simulations.page.document import page
from simulations.page.scene import fold, newest
from simulations.plans import Fault, Load, Plan
from simulations.raft_level import FIELDS, play, show
from simulations.trace import MESSAGE

PLAN = Plan(
    1, chaos_ms=4000, load=Load(every_ms=100),
    faults=[
        Fault("isolate", {"whom": "leader", "direction": "both", "for_ms": 3000}, at_ms=500),
        Fault("power", {"whom": "follower", "down_ms": 300}, at_ms=1500),
    ],
)  # fmt: skip


class Tags(HTMLParser):
    """Counts tags, and that each is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in {"meta", "p"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        if tag != "p":
            assert self.open.pop() == tag


def test_a_page_tells_all_by_itself() -> None:
    outcome, entries = play(PLAN)
    broken = replace(outcome, property_id="S07", text="node 1 commits <b>alone</b>")

    html = page(broken, entries, show(PLAN), "python -m simulations run --seed 1", FIELDS)

    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert {"svg", "rect", "line", "path", "circle", "script", "style", "table"} <= set(tags.counts)
    assert re.findall(r"(?:src|href|@import|url\()[^>]*", html) == []
    assert "node 1 commits &lt;b&gt;alone&lt;/b&gt;" in html
    assert "S07 is broken" in html
    assert "python -m simulations run --seed 1" in html
    assert "&quot;kind&quot;: &quot;isolate&quot;" in html
    assert "nothing passes from" in html
    assert len(html) < 3 << 20


def test_what_arrived_has_two_ends_and_what_was_lost_one() -> None:
    _, entries = play(PLAN)

    scene = fold(entries, PLAN.chaos_ms * 1000)

    assert sum(entry[1] == MESSAGE for entry in entries) == len(scene.arrows)
    assert any(not arrow.arrived for arrow in scene.arrows)
    assert all(arrow.arrived > arrow.sent for arrow in scene.arrows if arrow.arrived)
    assert sum(bool(arrow.arrived) for arrow in scene.arrows) > len(scene.arrows) * 0.9


def test_bands_of_a_lane_follow_each_other_without_a_gap() -> None:
    _, entries = play(PLAN)

    scene = fold(entries, entries[-1][0])

    for lane in scene.lanes.values():
        assert [band.begin for band in lane.bands[1:]] == [band.end for band in lane.bands[:-1]]
        assert lane.bands[-1].end == scene.end
    assert {"down"} <= {band.what for lane in scene.lanes.values() for band in lane.bands}


def test_cuts_begin_and_end() -> None:
    _, entries = play(PLAN)

    cuts = fold(entries, entries[-1][0]).cuts

    assert {(cut.begin, cut.end) for cut in cuts} == {(500_000, 3_500_000)}
    assert len(cuts) == 4


def test_of_a_long_run_the_newest_is_drawn() -> None:
    entries = [(at, MESSAGE, 1, 2, "Fetch") for at in range(10_000)]

    assert newest(entries) == entries[-3000:]
