"""The page in a real browser: it is drawn, reacts to clicks and keys, and is accessible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulations import corpus
from simulations.commands.run import write_page
from simulations.levels.table import load
from tests.deploy.browser import Browser, browser, found_browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
POWER = '{"kind": "power", "args": {"whom": "leader", "down_ms": 200}, "at_ms": 400}'
STRIKES = f'{{"seed": 3, "chaos_ms": 900, "faults": [{POWER}]}}'


@pytest.fixture(name="page", scope="module")
def _page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = found_browser()
    if path is None:
        pytest.skip("no browser is here: apt-get install chromium")
    with browser(path, tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(name="url", scope="module")
def _url(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("pages") / "page.html"
    level = load("raft")
    write_page(path, level, level.read(STRIKES), "again", corpus.find("R01").original)
    return path.as_uri()


def test_a_click_shows_the_state_and_its_changes(page: Browser, url: str) -> None:
    page.open(url)
    page.await_text("#when", "after the step")
    before = page.text("#states")

    page.value(
        "(() => { const box = document.getElementById('scene').getBoundingClientRect();"
        "document.getElementById('scene').dispatchEvent(new MouseEvent('click', {clientX: box.left + 700})); })()"
    )

    assert page.text("#states") != before
    assert "node" in page.text("#changes")
    assert page.value("document.querySelectorAll('td.changed').length") > 0
    assert page.troubles() == []


def test_buttons_step_through_the_events(page: Browser, url: str) -> None:
    page.open(url)
    page.await_text("#when", "after the step")
    last = page.text("#when")

    page.value("for (let i = 0; i < 5; i++) document.getElementById('earlier').click()")
    earlier = page.text("#when")
    page.value("for (let i = 0; i < 5; i++) document.getElementById('later').click()")

    assert earlier != last
    assert page.text("#when").split(" after ")[1] == last.split(" after ")[1]


def test_the_page_is_accessible_to_screen_readers(page: Browser, url: str) -> None:
    page.open(url)
    page.await_text("#when", "after the step")

    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    found = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]

    roles = [role for role, _ in found]
    assert {"banner", "main", "slider", "status", "table", "columnheader", "rowheader"} <= set(roles)
    assert [name for role, name in found if role == "slider"] == ["Moment"]
    assert ("group", "Lanes of nodes and clients") in found
    assert [name for role, name in found if role in {"button", "image"} and not name] == []


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_has_a_light_and_a_dark_style(page: Browser, url: str, dark: bool) -> None:
    page.open(url, dark=dark)
    page.await_text("#when", "after the step")

    paper = page.value("getComputedStyle(document.body).backgroundColor")
    counts = page.value(
        "['rect.Leader', 'rect.Follower', 'line.message', 'path.watermark', 'rect.sync', 'rect.asked', 'circle.point',"
        " 'circle.k-fault', 'rect.held'].map((one) => document.querySelectorAll(one).length)"
    )

    assert (paper == "rgb(13, 17, 23)") == dark
    assert all(count > 0 for count in counts), counts
    assert len(page.screenshot()) > 30_000
