"""The page: valid self-contained HTML, a table for each plot, and no injection through names."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from pipeline.report.figures import ControllerFailover
from pipeline.report.page import page
from tests.pipeline.report.rows import empty, fleet

VOID = {"meta", "rect", "circle", "path", "input"}


class Reader(HTMLParser):
    """Elements, text by element, and whether all elements are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def cells(text: str, caption: str) -> list[list[str]]:
    """The rows of a table, as text."""
    body = re.search(rf"<caption>{re.escape(caption)}</caption>.*?<tbody>(.*?)</tbody>", text, re.DOTALL)
    assert body is not None, caption
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", body[1])
    ]


def test_the_page_is_self_contained() -> None:
    text = page(fleet())

    reader = Reader(text)
    loaded = {"link", "img", "iframe", "object", "embed", "use", "image", "foreignobject"}
    assert loaded.isdisjoint(name for name, _ in reader.tags)
    assert reader.of("script") == [{}]
    assert all(attributes["href"].startswith("#") for attributes in reader.of("a") if attributes["href"])
    assert "url(" not in text
    assert "@import" not in text
    assert set(re.findall(r"https?://[^\"]*", text)) == {"http://www.w3.org/2000/svg"}
    assert "prefers-color-scheme: dark" in text


def test_every_plot_has_a_name_and_every_table_a_heading() -> None:
    reader = Reader(page(fleet()))

    plots, tables = reader.of("svg"), reader.of("table")
    assert len(plots) == 8
    assert all(plot["role"] == "img" and plot["aria-label"] for plot in plots)
    assert len(reader.texts["caption"]) == len(tables) == 9
    assert {head["scope"] for head in reader.of("th")} == {"col", "row"}
    assert reader.of("html") == [{"lang": "en"}]
    links = [attributes["href"] for attributes in reader.of("a")]
    assert links == [f"#{attributes['id']}" for attributes in reader.of("section")]


def test_the_tile_of_the_slowest_failover_counts_those_of_the_active_controller() -> None:
    """A fleet without brokers has failovers of controllers alone."""
    lost = ControllerFailover("north", 0, 7, 1, 3, 41_400)
    text = page(fleet()._replace(failovers=(), controllers=(lost,)))

    assert "partitions: none; active controller: 41.4 s; 2 unclean elections" in text
    assert cells(text, "The slowest failovers of the active controller")[0][3] == "41.4 s"
    assert re.search(r"41\.4 s[^|]{0,200}partitions: none", text)
    assert "No record for" in text
    assert "Silence" not in text


def test_the_tables_contain_the_figures() -> None:
    text = page(fleet())

    assert cells(text, "Topics by the time that their partitions had no leader") == [
        ["orders", "north", "12", "4", "1 h 30 min", "1 h", "1 down", "2 unclean"],
        ["clicks", "south", "1", "1", "250 ms", "250 ms", "0", "0"],
    ]
    assert cells(text, "The slowest failovers: partitions that lost one leader at one time") == [
        ["1 min 2 s", "800 ms", "2026-11-29 01:00:00", "north", "2", "1,200", "14 topics", "2 unclean"],
        ["250 ms", "250 ms", "2026-11-29 02:00:00", "south", "9", "1", "clicks", "0"],
    ]
    assert cells(text, "The slowest failovers of the active controller") == [
        ["epoch 7", "north", "2026-11-29 01:00:00", "1.5 s", "1", "3"]
    ]
    assert cells(text, "Topics by changes of their partitions' leaders".replace("'", "&#x27;")) == [
        ["orders", "north", "40", "20", "2", "7"]
    ]
    assert cells(text, "Brokers by what they lead")[0] == [
        "1", "north", "a", "active", "30", "1.50×", "60", "3 d 18 h", "0", "0 ms",
    ]  # fmt: skip
    assert cells(text, "Replicas of brokers") == [
        ["north", "3", "50", "30 (3)", "60 (1)", "1.20×", "1.50× (1)"],
        ["south", "1", "6", "6 (9)", "6 (9)", "1.00×", "1.00× (9)"],
    ]
    assert cells(text, "Anomalies, the newest first") == [
        ["flapping broker", "north", "broker 2", "2026-11-29 00:00:00", "1 h", "It fell 3 times."]
    ]
    assert cells(text, "The last changes of configs") == [
        ["retention.ms", "north", "2026-11-29 01:00:00", "TOPIC orders", "none", "86400000"]
    ]


def test_marks_of_plots_have_their_values() -> None:
    titles = Reader(page(fleet())).texts["title"]

    assert "orders · north: 1 h 30 min" in titles
    assert "2026-11-29 01:00: 30 changes" in titles
    assert "north, broker 3: 0.60×" in titles


def test_an_empty_fleet_has_a_page_that_says_so() -> None:
    text = page(empty())

    Reader(text)
    assert "The tables are empty." in text
    assert "Every partition had a leader all the time." in text
    assert "<table>" not in text


def test_names_are_escaped() -> None:
    evil = '"><script>alert(1)</script>&<b>'
    figures = fleet()
    text = page(
        figures._replace(
            clusters=tuple(one._replace(cluster=evil + one.cluster) for one in figures.clusters),
            outages=tuple(one._replace(topic=evil) for one in figures.outages),
            configs=tuple(one._replace(after=evil, resource=evil) for one in figures.configs),
            brokers=tuple(one._replace(cluster=evil, rack=evil) for one in figures.brokers),
            anomalies=tuple(one._replace(seen=evil) for one in figures.anomalies),
            moments=tuple(one._replace(cluster=evil) for one in figures.moments),
        )
    )

    assert Reader(text).of("script") == [{}]
    assert text.count("<script") == 1


def test_a_page_of_a_large_fleet_stays_small() -> None:
    figures = fleet()
    many = tuple(one._replace(cluster=f"cluster-{number}") for number in range(60) for one in figures.moments)
    brokers = tuple(
        figures.brokers[0]._replace(cluster=f"cluster-{number % 60}", broker=number) for number in range(3000)
    )  # fmt: skip

    assert len(page(figures._replace(moments=many, brokers=brokers))) < 250_000
