"""The report as text, JSON and a page: the same figures, and the page without anything from elsewhere."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser

from simulations.rehearsal.layout import Layout, warnings_of
from simulations.rehearsal.page import page
from simulations.rehearsal.play import play
from simulations.rehearsal.report import Report, as_json, text_of
from simulations.rehearsal.scenarios import scenarios
from simulations.rehearsal.summary import results


@cache
def report() -> Report:
    layout = Layout({1: "a", 2: "a", 3: "b<c"}, links={("a", "b<c"): 8.0})
    chosen = [each for each in scenarios(layout) if each.name in {"node-1", "site-a", "rolling"}]
    played = [play(layout, None, each, seed) for each in chosen for seed in (3, 4)]
    return Report(layout, None, range(3, 5), results(layout, chosen, played), played, warnings_of(layout))


class Tags(HTMLParser):
    """Collects tags, and that each is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.counts: dict[str, int] = {}
        self.ids: list[str] = []
        self.labels: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        given = dict(attrs)
        self.ids += [given["id"]] if given.get("id") else []
        self.labels += (given.get("aria-labelledby") or "").split()
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag


def test_the_text_has_the_figures_and_what_is_survived() -> None:
    text = text_of(report())

    assert re.search(r"^node-1 +go on +1 of 2 ", text, re.MULTILINE)
    assert re.search(r"^site-a +stop +– ", text, re.MULTILINE)
    assert text.index("Survived:") < text.index("node 1 lost with its disk") < text.index("Not survived:")
    assert text.index("Not survived:") < text.index("site a lost (voters 1, 2): 1 of 3 voters is left")
    assert "seeds 3 to 4" in text


def test_the_json_has_each_run() -> None:
    tree = json.loads(as_json(report()))

    assert (tree["survived"], tree["not_survived"], tree["seeds"]) == (["node-1"], ["site-a"], [3, 4])
    assert tree["layout"]["voters"] == {"1": "a", "2": "a", "3": "b<c"}
    by_name = {each["name"]: each for each in tree["scenarios"]}
    assert [run["led_by"] for run in by_name["node-1"]["by_run"]] == [1, 2]
    assert by_name["node-1"]["struck"]["worst"] == round(by_name["node-1"]["by_run"][0]["gap_ms"], 1)
    assert by_name["site-a"]["expected"] is False


def test_the_page_is_well_formed_and_self_contained() -> None:
    text = page(report(), "kraftctl rehearse --voters '1@<a>'")
    tags = Tags()
    tags.feed(text)

    assert tags.open == []
    assert not re.search(r'(src|href)="(?!#|data:)', text)
    assert "<script" not in text
    assert "b<c" not in text
    assert "b&lt;c" in text


def test_each_picture_has_a_title_a_description_and_a_table_beside_it() -> None:
    text = page(report(), "")
    tags = Tags()
    tags.feed(text)

    pictures = re.findall(r'<svg role="img" aria-labelledby="([^"]+)"', text)
    assert len(pictures) == 2 + 3  # the layout, the bars, a timeline of each scenario
    assert set(tags.labels) <= set(tags.ids)
    assert len(tags.ids) == len(set(tags.ids))
    assert tags.counts["table"] == 1 + 3
    assert all(drawn.count("<title") >= 1 and "<desc" in drawn for drawn in text.split('<svg role="img"')[1:])


def test_the_page_shows_when_commits_stopped_and_which_roles_followed() -> None:
    text = page(report(), "")

    assert "no commits" in text
    assert "Leader of epoch 2" in text
    assert "without one" in text
