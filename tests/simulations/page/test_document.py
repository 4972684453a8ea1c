"""The page of a run: self-contained, and with everything that a reader needs."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from simulations.page.clients import operations
from simulations.page.document import page
from simulations.page.scene import fold, newest
from simulations.plans.plan import Fault, Load, Plan, RecoveryPlan
from simulations.raft.level import FIELDS, play, show
from simulations.world.trace import DEED, DISK, MESSAGE, OPERATION, SYNC

if TYPE_CHECKING:
    from simulations.outcomes.outcome import Outcome
    from simulations.world.trace import Entry

PLAN = Plan(
    1, chaos_ms=4000, load=Load(every_ms=100), recovery=RecoveryPlan(skipped=True),
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
        if tag not in {"meta", "p", "link", "input"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        if tag != "p":
            assert self.open.pop() == tag


@cache
def looked_at() -> tuple[Outcome, list[Entry], list[Entry]]:
    """A run with all its details."""
    details: list[Entry] = []
    outcome, entries = play(PLAN, on_detail=details.append)
    return outcome, entries, details


def test_a_page_needs_no_other_file() -> None:
    outcome, entries, details = looked_at()
    broken = replace(outcome, property_id="S07", text="node 1 commits <b>alone</b>")
    original = replace(PLAN, faults=[*PLAN.faults, Fault("reset", {"whom": 1}, at_ms=900)])

    html = page(broken, entries, show(PLAN), "python -m simulations run --seed 1", FIELDS, show(original), details)

    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert {"svg", "rect", "line", "path", "circle", "script", "style", "table"} <= set(tags.counts)
    assert re.findall(r"(?:src=|href=\"(?!data:,|#)|@import|url\()[^>]*", html) == []
    assert "node 1 commits &lt;b&gt;alone&lt;/b&gt;" in html
    assert "S07 is broken" in html
    assert 'class="blamed"' in html
    assert "python -m simulations run --seed 1" in html
    assert "nothing passes from" in html
    assert "Minimal: 2 faults" in html
    assert "As it was found: 3 faults" in html
    assert "reset at 900 ms: whom 1 <small>left out</small>" in html
    assert html.count("left out</small>") == 1
    assert len(html) < 3 << 20


def test_reporting_details_does_not_change_the_trace() -> None:
    assert looked_at()[0].trace_hash == play(PLAN)[0].trace_hash


def test_an_arrow_has_two_ends_if_the_message_arrived_and_one_if_it_was_lost() -> None:
    _, entries, _ = looked_at()

    scene = fold(entries, PLAN.chaos_ms * 1000)

    assert sum(entry[1] == MESSAGE for entry in entries) == len(scene.arrows)
    assert any(not arrow.arrived for arrow in scene.arrows)
    assert all(arrow.arrived > arrow.sent for arrow in scene.arrows if arrow.arrived)
    assert sum(bool(arrow.arrived) for arrow in scene.arrows) > len(scene.arrows) * 0.9


def test_the_bands_of_a_lane_have_no_gaps() -> None:
    _, entries, _ = looked_at()

    scene = fold(entries, entries[-1][0])

    for lane in scene.lanes.values():
        assert [band.begin for band in lane.bands[1:]] == [band.end for band in lane.bands[:-1]]
        assert lane.bands[-1].end == scene.end
    assert {"down"} <= {band.what for lane in scene.lanes.values() for band in lane.bands}


def test_all_syncs_of_a_disk_are_drawn_with_their_durations() -> None:
    outcome, entries, details = looked_at()

    scene = fold(entries, outcome.at_us, details)
    syncs = [each for lane in scene.lanes.values() for each in lane.disk if each.operation == "sync"]

    begun = [entry for entry in details if entry[1] == SYNC and entry[0] >= scene.begin]
    done = [entry for entry in details if entry[1] == DISK and entry[3] == "sync" and entry[0] >= scene.begin]
    assert sum(each.how == "done" for each in syncs) == len(done) > 20
    assert all(each.end > each.begin for each in syncs)
    assert sum(each.how == "never done" for each in syncs) == len(begun) - len(done)


def test_a_write_takes_effect_between_its_call_and_its_answer() -> None:
    _, entries, details = looked_at()

    found = operations(entries, details)["clients"]

    answered = [each for each in found if each.end is not None]
    acknowledged = sum(len(entry) - 4 for entry in entries if entry[1] == DEED and entry[3] == "acknowledges")
    assert len(answered) == acknowledged > 5
    assert all(each.point is not None and each.begin <= each.point <= (each.end or 0) for each in answered)
    assert any(each.end is None for each in found), "writes to a leader that is cut off get no answer"


def test_concurrent_operations_do_not_overlap() -> None:
    def timed_entry(begin: int, end: int | None) -> Entry:
        return begin, OPERATION, 0, "admin-1", "read", "ok", end, None

    found = operations(
        [], [timed_entry(1, 9), timed_entry(2, 5), timed_entry(6, 7), timed_entry(9, None), timed_entry(10, 12)]
    )["admin-1"]

    assert [(each.begin, each.row) for each in found] == [(1, 0), (2, 1), (6, 1), (9, 0), (10, 0)]


def test_cuts_have_a_start_and_an_end() -> None:
    _, entries, _ = looked_at()

    cuts = fold(entries, entries[-1][0]).cuts

    assert {(cut.begin, cut.end) for cut in cuts} == {(500_000, 3_500_000)}
    assert len(cuts) == 4


def test_only_the_newest_entries_of_a_long_run_are_drawn() -> None:
    entries = [(at, MESSAGE, 1, 2, "Fetch") for at in range(10_000)]

    assert newest(entries) == entries[-3000:]
